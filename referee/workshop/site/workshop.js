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
const seats = () => chosen().rules[rules.value];
/** The template of the chosen seat; where all seats are alike, there is one for all. */
const starter = () => chosen().starters[seat.value] ?? Object.values(chosen().starters)[0];

/** Gives a list its choices. */
function fill(select, names) {
  const before = select.value;
  select.replaceChildren(...names.map((name) => new Option(name)));
  select.value = names.includes(before) ? before : names[0];
}

function choices() {
  const room = chosen();
  fill(rules, Object.keys(room.rules));
  fill(seat, seats());
  const others = seats().filter((name) => name !== seat.value);
  const bots = room.bots.filter((bot) => bot.rules.includes(rules.value) && others.every((name) => bot.seats.includes(name)));
  fill(opponent, [...bots.map(({ name }) => name), tabs[1].name]);
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
    bots: seats().map((name) => (name === seat.value ? mine : other)),
  });
}

// Python

const [frame, viewer] = [byId("python"), byId("viewer")];
const python = { state: "loading", heard: 0, why: "", said: false };

function enter(state) {
  python.state = state;
  byId("run").disabled = state !== "ready";
  byId("stop").disabled = state !== "running";
}

async function unpacked(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  const bytes = await response.arrayBuffer();
  // Some servers name the compression, so that the browser has undone it already.
  if (new DataView(bytes).getUint16(0) !== 0x1f8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function load() {
  const files = await Promise.all(Object.entries(data.files).map(async ([name, address]) => [name, await unpacked(address)]));
  frame.contentWindow.postMessage({ kind: "files", files: Object.fromEntries(files) }, "*");
  setTimeout(() => {
    if (python.state === "loading") say("Python didn't start. Reload the page; if that doesn't help, use another browser.");
  }, START_MS);
}

function run() {
  if (python.state !== "ready" || !byId("wish").reportValidity()) return;
  store();
  for (const id of ["traceback", "prints"]) byId(id).replaceChildren();
  byId("save").hidden = true;
  editor.mark(0);
  replay = null;
  enter("running");
  Object.assign(python, { heard: Infinity, why: "", said: false });
  say("The match begins as soon as Python has started…");
  frame.contentWindow.postMessage({ kind: "run", job: wished() }, "*");
}

function stop(why) {
  if (python.state !== "running") return;
  Object.assign(python, { why, heard: Infinity });
  frame.contentWindow.postMessage({ kind: "stop" }, "*");
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
  say(python.why || message.text);
  append("traceback", message.traceback);
  // Examples have no marked lines: any other seat is that of the second bot.
  const marked = [seat.value, ...seats()].find((name) => Number.isInteger(message.lines?.[name]));
  if (marked) {
    show(marked === seat.value ? 0 : 1);
    editor.mark(message.lines[marked]);
  }
  if (typeof message.replay === "string") {
    replay = { replay: message.replay, findings: message.findings };
    for (const id of ["save", "match", "opening"]) byId(id).hidden = false;
    viewer.src = "viewer.html";
  }
  // On a phone all this stands below the editor.
  byId("output").scrollIntoView({ block: "nearest" });
}

function append(id, text) {
  if (typeof text !== "string") return;
  const place = byId(id);
  if (place.textContent.length < MOST_SHOWN) place.append(text.slice(0, MOST_SHOWN));
}

/** A message of the frame. @param {any} message */
function hear(message) {
  if (message?.kind === "waiting") load().catch((error) => say(`The files of the workshop can't be loaded (${error.message}).`));
  else if (message?.kind === "ready" && python.state === "loading") {
    enter("ready");
    say("Python is ready: press Run.");
  } else if (message?.kind === "message" && typeof message.text === "string") {
    try {
      take(JSON.parse(message.text));
    } catch {
      // No message of ours.
    }
  } else if (message?.kind === "ended") {
    if (python.state === "loading") say(`Python didn't start: ${message.text}`);
    else if (python.state === "running" && !python.said) say(python.why || `The match was stopped. ${message.text}`);
    if (python.state === "running") enter("ready");
  }
}

addEventListener("message", ({ source, data: message }) => {
  if (source === frame.contentWindow) hear(message);
  else if (source === viewer.contentWindow && message?.kind === "waiting" && replay) {
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
const templates = new Map([["First bot", data.first]]);
for (const { name, starters } of data.games) for (const [role, text] of Object.entries(starters)) templates.set(`${name}: ${role}`, text);
for (const name of templates.keys()) template.append(new Option(name));
const isTemplate = (text) => [...templates.values()].includes(text);

template.addEventListener("change", () => {
  const text = templates.get(template.value);
  template.value = "";
  if (isTemplate(editor.text()) || confirm(`Replace the text of ${tabs[current].name}?`)) replace(text);
});
tabs.forEach(({ button }, number) => button.addEventListener("click", () => show(number)));
byId("wish").addEventListener("change", ({ target }) => {
  choices();
  if ((target === game || target === seat) && isTemplate(tabs[0].text)) {
    show(0);
    editor.setText(starter());
  }
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
frame.src = "frame.html";
