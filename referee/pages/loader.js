// Loads the replay of one match into viewer.html. A page that is opened from its file can't read other files, but it can load scripts:
// each replay stands in a script of its own below pages/, which calls `replay`.
"use strict";

(() => {
  const wanted = new URLSearchParams(location.search).get("match") ?? "";
  const held = document.getElementById("replay");
  const message = document.getElementById("message");
  /** @param {string} text */
  const fail = (text) => {
    begin({ mode: "empty", name: "" });
    if (!message) return;
    message.textContent = text;
    message.hidden = false;
  };
  if (!/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/.test(wanted)) {
    fail("The address doesn't name a match: open a match from report.html, or drop a replay here.");
    return;
  }
  const file = `${wanted}.replay.jsonl.gz`;
  let isTaken = false;
  /** @param {string} key @param {string} data @param {object} [found] what the referee found when it played the replay again */
  globalThis.replay = (key, data, found) => {
    if (key !== wanted || isTaken || !held) return;
    isTaken = true;
    held.textContent = data;
    // Who wrote the report has the replays from its own matches: a chip that says "not checked" would only worry.
    begin({ mode: "export", name: file.split("/").at(-1), logs: {}, check: { status: "", text: "" }, ...found });
  };
  const missing = () => {
    if (!isTaken) fail(`This match is not in the folder pages. In the folder of report.html, this command shows it: referee watch ${file}`);
  };
  // Only a checked name gets here, so the address can't leave the folder.
  const trusted = globalThis.trustedTypes?.createPolicy("pages", { createScriptURL: (/** @type {string} */ key) => `pages/${key}.js` });
  const script = document.createElement("script");
  script.src = trusted ? trusted.createScriptURL(wanted) : `pages/${wanted}.js`;
  script.addEventListener("error", missing);
  script.addEventListener("load", missing);
  document.head.append(script);
})();
