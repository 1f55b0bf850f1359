/** A command line that a page prints is quoted for the shell. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";

globalThis.document = { documentElement: { dataset: {} } };
const { debugLine, playOn } = await import("../../referee/pages/viewer/app/conversation.js");

test("the shell takes every word as it is meant", () => {
  const replay = "it's a `replay`; $HOME.gz";
  const commands = { program: "printf '%s|'", replay, bots: {} };
  const words = (line) => execFileSync("/bin/sh", ["-c", line], { encoding: "utf-8" }).split("|").slice(0, -1);
  assert.deepEqual(words(debugLine(commands, "hunter", 12, "node 'a b.js' --fast")), [
    "debug", replay, "--seat", "hunter", "--turn", "12", "node 'a b.js' --fast",
  ]);
  assert.deepEqual(words(playOn(commands, 12, ["my bot.py", "", "-x"])), ["play", "--from", `${replay}@12`, "my bot.py", "human", "-x"]);
});
