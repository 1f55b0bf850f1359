// The page of the workshop: texts of bots in an editor, a match of them in a worker, and the viewer beside it. What comes from the worker was
// written by a bot as far as this page knows: it is shown as text, and it is never trusted.

const KEY = "referee-workshop";
/** How long a bot may think, how long the match may be judged after it, and how long Python may take to start, in milliseconds. */
const [SILENCE_MS, JUDGING_MS, START_MS] = [10_000, 60_000, 300_000];
const [MOST_TEXT, MOST_SHOWN] = [1_000_000, 100_000];
const WISHES = ["game", "rules", "seat", "opponent", "seed", "steps"];

const byId = (id) => document.getElementById(id);
const [game, rules, seat, opponent, template] = ["game", "rules", "seat", "opponent", "template"].map(byId);
const tabs = [
  { name: "my_bot.py", text: "", button: byId("tab-0") },
  { name: "second_bot.py", text: "", button: byId("tab-1") },
];
let current = 0;
let data;
let editor;
/** The replay of the last match, as base64, with what the engine found in it. */
let replay = null;

// Texts

function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

function store() {
  tabs[current].text = editor.text();
  const wish = Object.fromEntries(WISHES.map((id) => [id, byId(id).value]));
  try {
    localStorage.setItem(KEY, JSON.stringify({ texts: tabs.map(({ text }) => text), wish }));
  } catch {
    // A browser that keeps nothing: the page says that texts must be downloaded.
  }
}

function show(number) {
  if (number === current) return;
  tabs[current].text = editor.text();
  current = number;
  tabs.forEach(({ button }, each) => button.setAttribute("aria-pressed", String(each === number)));
  editor.setText(tabs[number].text);
}

function replace(text) {
  editor.setText(text);
  store();
  editor.focus();
}

/** The editor, or a plain text field where it fails. */
async function open() {
  try {
    const { edit } = await import("./editor.js");
    return edit(byId("editor").attachShadow({ mode: "open" }), "The bot's code", store);
  } catch {
    const plain = byId("plain");
    byId("editor").hidden = true;
    plain.hidden = false;
    plain.addEventListener("input", store);
    return { text: () => plain.value, setText: (text) => { plain.value = text; }, mark: () => {}, focus: () => plain.focus() };
  }
}

/** @param {BlobPart} content @param {string} name */
function download(content, name) {
  const address = URL.createObjectURL(new Blob([content]));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// The wish

const chosen = () => data.games.find(({ name }) => name === game.value);

/** Gives a list its choices. What can't be chosen is shown, too. */
function fill(select, names, isOut = (_) => false) {
  const before = select.value;
  select.replaceChildren(...names.map((name) => Object.assign(new Option(name), { disabled: isOut(name) })));
  const free = names.filter((name) => !isOut(name));
  select.value = free.includes(before) ? before : free[0];
}

function choices() {
  const room = chosen();
  fill(rules, room.rules);
  fill(seat, room.seats);
  const others = room.seats.filter((name) => name !== seat.value);
  const bots = room.bots.filter((bot) => others.every((name) => bot.seats.includes(name)));
  const out = bots.filter((bot) => bot.rules.length && !bot.rules.includes(rules.value)).map(({ name }) => name);
  fill(opponent, [...bots.map(({ name }) => name), tabs[1].name], (name) => out.includes(name));
  opponent.title = bots.find(({ name }) => name === opponent.value)?.idea ?? "";
  byId("steps-label").hidden = !room.limits;
}

function wished() {
  const [mine, second] = tabs.map(({ name, text }) => ({ name, text }));
  const other = opponent.value === second.name ? second : { name: opponent.value, text: null };
  return JSON.stringify({
    game: game.value,
    rules: rules.value,
    settings: chosen().limits ? { max_steps: Number(byId("steps").value) } : {},
    seed: Number(byId("seed").value),
    bots: chosen().seats.map((name) => (name === seat.value ? mine : other)),
  });
}

// Python

const frame = byId("python");
const python = { state: "loading", heard: 0, why: "", said: false };

async function unpacked(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  const bytes = await response.arrayBuffer();
  const [first, second] = new Uint8Array(bytes, 0, 2);
  // Some servers name the compression, so that the browser has undone it already.
  if (first !== 0x1f || second !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function load() {
  const parts = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];
  const addresses = { "worker.js": "worker.js", "referee.zip": "referee.zip" };
  for (const part of parts) addresses[part] = `${data.pyodide}/${part}.gz`;
  const files = await Promise.all(Object.entries(addresses).map(async ([name, address]) => [name, await unpacked(address)]));
  frame.contentWindow.postMessage({ kind: "files", files: Object.fromEntries(files) }, "*");
  setTimeout(() => {
    if (python.state === "loading") say("Python didn't start. Reload the page; if that doesn't help, use another browser.");
  }, START_MS);
}

function run() {
  if (python.state !== "ready" || !byId("wish").reportValidity()) return;
  store();
  for (const id of ["traceback", "prints"]) byId(id).replaceChildren();
  for (const id of ["traceback", "prints", "save"]) byId(id).hidden = true;
  editor.mark(0);
  replay = null;
  Object.assign(python, { state: "running", heard: Infinity, why: "", said: false });
  controls();
  say("The match is running…");
  frame.contentWindow.postMessage({ kind: "run", job: wished() }, "*");
}

function stop(why) {
  if (python.state !== "running") return;
  Object.assign(python, { why, heard: Infinity });
  frame.contentWindow.postMessage({ kind: "stop" }, "*");
}

function controls() {
  byId("run").disabled = python.state !== "ready";
  byId("stop").disabled = python.state !== "running";
}

function say(text) {
  byId("sentence").textContent = String(text).slice(0, MOST_SHOWN);
}

/** A message of the worker. @param {any} message */
function take(message) {
  if (python.state !== "running" || message === null || typeof message !== "object") return;
  python.heard = performance.now();
  if (message.kind === "beat" && Number.isInteger(message.turn)) say(`The match is running: step ${message.turn.toLocaleString("en")}…`);
  if (message.kind === "played") {
    say(message.text);
    python.heard += JUDGING_MS;
  }
  if (message.kind === "printed") append("prints", message.text);
  if (message.kind !== "over" && message.kind !== "failed") return;
  python.said = true;
  const rate = message.steps > 0 && message.seconds > 0 ? ` (${Math.round(message.steps / message.seconds).toLocaleString("en")} steps a second)` : "";
  say(python.why || `${message.text}${rate}`);
  append("traceback", message.traceback);
  // Examples have no marked lines: any other seat is that of the second bot.
  const [mark] = Object.entries(message.lines ?? {}).sort(([a], [b]) => (b === seat.value) - (a === seat.value));
  if (Number.isInteger(mark?.[1])) {
    show(mark[0] === seat.value ? 0 : 1);
    editor.mark(mark[1]);
  }
  if (typeof message.replay !== "string") return;
  replay = { replay: message.replay, findings: message.findings };
  for (const id of ["save", "match", "opening"]) byId(id).hidden = false;
  byId("viewer").src = "viewer.html";
}

function append(id, text) {
  if (typeof text !== "string" || text === "") return;
  const place = byId(id);
  place.hidden = false;
  if (place.textContent.length < MOST_SHOWN) place.append(text.slice(0, MOST_SHOWN));
}

/** A message of the frame. @param {any} message */
function hear(message) {
  if (message?.kind === "waiting") load().catch((error) => say(`The files of the workshop can't be loaded (${error.message}).`));
  else if (message?.kind === "ready" && python.state === "loading") {
    python.state = "ready";
    say("Python is ready: press Run.");
  } else if (message?.kind === "message" && typeof message.text === "string") {
    try {
      take(JSON.parse(message.text));
    } catch {
      // No message of ours.
    }
  } else if (["end", "stopped", "broken"].includes(message?.kind)) {
    if (python.state === "loading") say(`Python didn't start: ${message.text}`);
    else if (python.state === "running" && !python.said) say(python.why || `The match was stopped. ${message.text ?? ""}`);
    if (python.state === "running") python.state = "ready";
  }
  controls();
}

addEventListener("message", ({ source, data: message }) => {
  if (source === frame.contentWindow) hear(message);
  else if (source === byId("viewer").contentWindow && message?.kind === "waiting" && replay) {
    byId("opening").hidden = true;
    source.postMessage(replay, "*");
  }
});
setInterval(() => {
  if (python.state === "running" && performance.now() - python.heard > SILENCE_MS) stop(`The bot thought for more than ${SILENCE_MS / 1000} s in one step, so it was stopped. Does it have an endless loop?`);
}, 500);

// In an arena

/** Hands the text in the editor in, as the team that is signed in. */
async function handIn() {
  const { name } = tabs[current];
  const form = new FormData();
  form.append("note", byId("note").value);
  form.append("file", new Blob([editor.text()]), name);
  byId("send").disabled = true;
  byId("sent").textContent = "Handing in…";
  try {
    const response = await fetch("../api/submissions", { method: "POST", body: form });
    const { id, error } = await response.json();
    if (!response.ok) throw new Error(response.status === 401 ? "Sign in first, with your team's invitation." : error);
    const link = Object.assign(document.createElement("a"), { href: `../submissions/${encodeURIComponent(id)}`, textContent: "See how its check goes." });
    byId("sent").replaceChildren(`${name} is handed in. `, link);
  } catch (error) {
    byId("sent").textContent = `It was not handed in: ${error.message}`;
  }
  byId("send").disabled = false;
}

// The beginning

data = await (await fetch("workshop.json")).json();
editor = await open();
const { texts = [], wish = {} } = stored();
tabs.forEach((tab, number) => { tab.text = typeof texts[number] === "string" ? texts[number] : data.first; });
editor.setText(tabs[0].text);
fill(game, data.games.map(({ name }) => name));
for (const id of WISHES) {
  if (typeof wish[id] === "string") byId(id).value = wish[id];
  choices();
}
if (!wish.opponent) opponent.value = "evader";
const starters = data.games.flatMap(({ name, starters: all }) => Object.entries(all).map(([role, text]) => [`${name}: ${role}`, text]));
const templates = [["First bot", data.first], ...starters];
templates.forEach(([name], number) => template.append(new Option(name, String(number))));

template.addEventListener("change", () => {
  const text = templates[Number(template.value)]?.[1];
  template.value = "";
  if (text && (tabs[current].text === text || templates.some((each) => each[1] === editor.text()) || confirm(`Replace the text of ${tabs[current].name}?`))) replace(text);
});
tabs.forEach(({ button }, number) => button.addEventListener("click", () => show(number)));
byId("wish").addEventListener("change", () => {
  choices();
  store();
});
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", async () => {
  const [file] = byId("file").files;
  byId("file").value = "";
  if (file && file.size <= MOST_TEXT) replace(await file.text());
  else if (file) say("The file is larger than 1 MB, so it is no bot's text.");
});
byId("download").addEventListener("click", () => download(editor.text(), tabs[current].name));
byId("save").addEventListener("click", () => replay && download(Uint8Array.from(atob(replay.replay), (sign) => sign.charCodeAt(0)), "match.replay.jsonl.gz"));
byId("wish").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
byId("send").addEventListener("click", handIn);
for (const id of ["home", "hand-in"]) byId(id).hidden = !("arena" in document.documentElement.dataset);
byId("stop").addEventListener("click", () => stop("You stopped the match."));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  run();
});
controls();
frame.src = "frame.html";
