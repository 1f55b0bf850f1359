// A student's results: replays open in the viewer, in a frame over the page. The address says which one is open, and at which step.

import { save } from "./viewer/app/clip.js";
import { byId, closeButton, el, part } from "./viewer/kit/dom.js";
import { bytesOf, unpacked } from "./viewer/kit/packed.js";
import { configured, listenToButtons } from "./common.js";

/** The replays of the page by their names, each with its title and the student's own logs. @type {Record<string, { title: string, seats: string[], logs: Record<string, string> }>} */
const replays = configured().replays;
const stage = part("stage", HTMLDialogElement);
/** The viewer as text, which comes with the page: nothing else becomes a page in the frame. */
const trusted = globalThis.trustedTypes?.createPolicy("viewer", { createHTML: (/** @type {string} */ text) => text });
/** Whether the reader came here from the page itself, so that the way back is one step in the browser's history. */
let isOpened = false;

/** What a replay's element holds, as base64. @param {string} name */
const packed = (name) => byId(`replay-${name}`).textContent ?? "";

/** @param {string} name */
const keep = (name) => save(new Blob([bytesOf(packed(name))], { type: "application/gzip" }), `${name}.replay.jsonl.gz`);

/** The viewer with a replay at a step, as the text of a page. @param {string} name @param {string} step */
async function viewer(name, step) {
  const { seats, logs } = replays[name];
  const text = await unpacked(byId("viewer").textContent ?? "").text();
  const file = `${name}.replay.jsonl.gz`;
  const bots = Object.fromEntries(seats.map((seat) => [seat, null]));
  const { version } = configured();
  const config = {
    mode: "export", name: file, server: false, version, logs, hash: step ? `#t=${step}` : "", check: { status: "", text: "" }, commands: { program: "referee", replay: file, bots },
  };
  const theme = document.documentElement.dataset.theme;
  const data = JSON.stringify(config).replaceAll("<", "\\u003c");
  const filled = text
    .replace(/id="page">[^<]*</, () => `id="page">${data}<`)
    .replace("<!--replay-->", () => `<script type="text/plain" id="replay">${packed(name).replaceAll(/[^\w+/=]/g, "")}</${"script"}>`);
  return theme === "dark" || theme === "light" ? filled.replace('<html lang="en">', `<html lang="en" data-theme="${theme}">`) : filled;
}

/** Open what the address names, or close it. */
async function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const name = wanted.get("replay") ?? "";
  if (!Object.hasOwn(replays, name)) {
    if (stage.open) stage.close();
    return;
  }
  const step = /^\d{1,9}$/.test(wanted.get("t") ?? "") ? (wanted.get("t") ?? "") : "";
  const { title } = replays[name];
  // Its scripts run without the origin of this page.
  const frame = el("iframe", { title: `Replay: ${title}`, sandbox: "allow-scripts allow-downloads" });
  const text = await viewer(name, step);
  // @ts-ignore - only the policy's text is accepted here
  frame.srcdoc = trusted ? trusted.createHTML(text) : text;
  frame.addEventListener("load", () => frame.focus());
  byId("stage-title").textContent = title;
  byId("stage-save").onclick = () => keep(name);
  byId("stage-frame").replaceChildren(frame);
  if (!stage.open) stage.showModal();
}

byId("stage-bar").append(closeButton(stage));
stage.addEventListener("close", () => {
  byId("stage-frame").replaceChildren();
  if (!new URLSearchParams(location.hash.slice(1)).has("replay")) return;
  if (isOpened) history.back();
  else location.hash = "#main";
  isOpened = false;
});
document.addEventListener("click", ({ target }) => {
  const found = target instanceof Element ? target.closest("[data-save], a.watch") : null;
  const name = found?.getAttribute("data-save") ?? "";
  if (Object.hasOwn(replays, name)) keep(name);
  if (found?.matches("a.watch")) isOpened = true;
});
listenToButtons();
globalThis.addEventListener("hashchange", () => void follow());
void follow();
