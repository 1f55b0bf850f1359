// Every team against every other: a table of links, or a picture that is read with the pointer or the arrow keys if there are many teams.

import { counted, el } from "../../web/viewer/kit/dom.js";
import { address, clean, points } from "./shared.js";

/** From how many teams on the crosstable is a picture. */
const MOST_LINKS = 28;
const DARK_RAMP = { loss: [240, 133, 58], win: [86, 180, 233], paper: [20, 24, 28], tie: [70, 78, 86] };
const LIGHT_RAMP = { loss: [192, 79, 0], win: [0, 114, 178], paper: [255, 255, 255], tie: [222, 225, 222] };

/** @typedef {import("./league.js").League} League */
/** @typedef {import("./types.js").Wanted} Wanted */

/** Which cell the arrow keys have reached. */
const cursor = { row: 0, column: 1 };

/** What a cell says in words. @param {League} league @param {number} row @param {number} column */
function words(league, row, column) {
  const a = league.summary.standings[row];
  const b = league.summary.standings[column];
  if (row === column) return `${clean(a.team)} (place ${a.place})`;
  const cell = league.crosstable.cell(row, column);
  if (!cell.count) return `${clean(a.team)} against ${clean(b.team)}: no duel is over`;
  return `${clean(a.team)} ${points(cell.points)}, ${clean(b.team)} ${points(cell.against)} in ${counted(cell.count, "duel")}`;
}

/** @param {League} league @param {Wanted} wanted @param {boolean} isDark */
export function crosstable(league, wanted, isDark) {
  const count = league.summary.standings.length;
  if (count < 2) return [el("p", { class: "note" }, "There is nobody to compare yet.")];
  if (count <= MOST_LINKS) return table(league, wanted);
  return picture(league, wanted, isDark);
}

/** Move by an arrow key; null for another key. @param {string} key @param {{ row: number, column: number }} from @param {number} count @param {number} page */
function moved(key, from, count, page) {
  const clamp = (/** @type {number} */ value) => Math.max(0, Math.min(count - 1, value));
  const { row, column } = from;
  switch (key) {
    case "ArrowUp": return { row: clamp(row - 1), column };
    case "ArrowDown": return { row: clamp(row + 1), column };
    case "ArrowLeft": return { row, column: clamp(column - 1) };
    case "ArrowRight": return { row, column: clamp(column + 1) };
    case "Home": return { row, column: 0 };
    case "End": return { row, column: count - 1 };
    case "PageUp": return { row: clamp(row - page), column };
    case "PageDown": return { row: clamp(row + page), column };
    default: return null;
  }
}

/** @param {League} league @param {Wanted} wanted */
function table(league, wanted) {
  const { standings } = league.summary;
  const cross = league.crosstable;
  const count = standings.length;
  const isChosen = (/** @type {string} */ team) => (wanted.team === team || wanted.against === team ? "chosen" : "");
  cursor.row = Math.min(cursor.row, count - 1);
  cursor.column = Math.min(cursor.column, count - 1);
  const head = el("tr", {}, el("th", { scope: "col" }, el("span", { class: "unseen" }, "Team")), ...standings.map((row) =>
    el("th", { scope: "col", class: `number ${isChosen(row.team)}`, title: clean(row.team) }, el("span", { "aria-hidden": "true" }, String(row.place)), el("span", { class: "unseen" }, clean(row.team)))));
  const body = standings.map((row, at) => el("tr", { class: isChosen(row.team) },
    el("th", { scope: "row" }, el("span", { class: "rank" }, `${row.place} `), clean(row.team)),
    ...standings.map((other, column) => {
      const isStop = at === cursor.row && column === cursor.column;
      const given = { "data-row": at, "data-column": column, tabindex: isStop ? 0 : -1, "aria-label": words(league, at, column), title: words(league, at, column) };
      if (at === column) return el("td", { class: "self" }, el("span", { ...given, role: "img" }, ""));
      const cell = cross.cell(at, column);
      if (!cell.count) return el("td", {}, el("span", { ...given, role: "img" }, "·"));
      const share = cell.points / Math.max(1e-9, cell.points + cell.against);
      const made = el("td", { class: share > 0.5 ? "ahead" : share < 0.5 ? "behind" : "level" },
        el("a", { ...given, href: address({ team: row.team, against: other.team }), "data-key": `cross-${at}-${column}` }, points(cell.points)));
      made.style.setProperty("--share", `${Math.round(18 + 44 * Math.abs(2 * share - 1))}%`);
      return made;
    })));
  const grid = el("table", { class: "cross", onkeydown: step }, el("caption", { class: "unseen" }, "Points of the team of the row against the team of the column"),
    el("thead", {}, head), el("tbody", {}, ...body));
  grid.style.setProperty("--count", String(count));
  return [el("div", { class: "wide", role: "group", "aria-label": "Crosstable" }, grid),
    el("p", { class: "note" }, "Points of the team on the left against the team of that place. Blue and above half is ahead, orange is behind. The arrow keys move from cell to cell; Enter shows the duels.")];

  /** @param {KeyboardEvent} event */
  function step(event) {
    const next = moved(event.key, cursor, count, 5);
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const find = () => grid.querySelector(`[data-row="${cursor.row}"][data-column="${cursor.column}"]`);
    find()?.setAttribute("tabindex", "-1");
    Object.assign(cursor, next);
    const cell = find();
    cell?.setAttribute("tabindex", "0");
    if (cell instanceof HTMLElement) cell.focus();
  }
}

/** @param {League} league @param {Wanted} wanted @param {boolean} isDark */
function picture(league, wanted, isDark) {
  const count = league.summary.standings.length;
  const canvas = el("canvas", { tabindex: 0, role: "img", class: "cross-picture", "data-key": "cross" });
  const readout = el("output", { class: "readout", "aria-live": "polite" });
  const frame = el("div", { class: "wide cross-frame", role: "group", "aria-label": "Crosstable" }, canvas);
  const chosen = league.rows.get(wanted.team ?? "")?.index ?? -1;
  if (chosen >= 0) cursor.row = chosen;
  cursor.row = Math.min(cursor.row, count - 1);
  cursor.column = Math.min(cursor.column, count - 1);
  canvas.setAttribute("aria-label", `Crosstable of ${counted(count, "team")} in the order of the standings. The arrow keys move from cell to cell; Enter shows the duels.`);
  const image = pixels(league, isDark);
  let side = 5;
  const margin = 34;
  const edge = 12;

  const draw = () => {
    const width = frame.clientWidth || 1000;
    side = Math.max(3, Math.min(12, Math.floor((width - margin - edge) / count)));
    const size = side * count;
    const scale = Math.min(2, devicePixelRatio || 1);
    canvas.width = Math.round((size + margin + edge) * scale);
    canvas.height = Math.round((size + margin + edge) * scale);
    canvas.style.width = canvas.style.height = `${size + margin + edge}px`;
    const paint = canvas.getContext("2d");
    if (!paint) return;
    paint.scale(scale, scale);
    paint.imageSmoothingEnabled = false;
    paint.drawImage(image, margin, margin, size, size);
    const ink = isDark ? "#e8ebee" : "#1d2329";
    paint.fillStyle = paint.strokeStyle = isDark ? "#a0aab4" : "#5a636c";
    paint.font = "11px system-ui, sans-serif";
    const every = count > 120 ? 20 : 10;
    for (let at = 0; at < count; at += 1) {
      const place = league.summary.standings[at].place;
      if (at !== 0 && (at + 1) % every !== 0) continue;
      const middle = margin + (at + 0.5) * side;
      paint.textAlign = "right";
      paint.textBaseline = "middle";
      paint.fillText(String(place), margin - 6, middle);
      paint.textAlign = "center";
      paint.textBaseline = "bottom";
      paint.fillText(String(place), middle, margin - 5);
    }
    paint.lineWidth = 1.5;
    paint.strokeStyle = ink;
    if (chosen >= 0) {
      paint.strokeRect(margin, margin + chosen * side - 0.5, size, side + 1);
      paint.strokeRect(margin + chosen * side - 0.5, margin, side + 1, size);
    }
    paint.lineWidth = 2;
    paint.strokeRect(margin + cursor.column * side - 2, margin + cursor.row * side - 2, side + 4, side + 4);
  };
  const tell = () => {
    readout.textContent = words(league, cursor.row, cursor.column);
    draw();
  };
  /** @param {MouseEvent} event */
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - margin) / side);
    const row = Math.floor((event.clientY - box.top - margin) / side);
    if (row < 0 || column < 0 || row >= count || column >= count) return false;
    if (row !== cursor.row || column !== cursor.column) {
      Object.assign(cursor, { row, column });
      tell();
    }
    return true;
  };
  const open = () => {
    const { standings } = league.summary;
    const [a, b] = [standings[cursor.row].team, standings[cursor.column].team];
    location.hash = address(a === b ? { team: a } : { team: a, against: b });
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("click", (event) => {
    if (point(event)) open();
  });
  canvas.addEventListener("focus", tell);
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(event.key, cursor, count, 10);
    if (next) Object.assign(cursor, next);
    else if (event.key === "Enter") open();
    else return;
    event.preventDefault();
    tell();
  });
  readout.textContent = words(league, cursor.row, cursor.column);
  requestAnimationFrame(draw);
  return [readout, frame, el("p", { class: "note" }, el("span", { class: "key ahead" }), " ahead ", el("span", { class: "key level" }), " tied ", el("span", { class: "key behind" }),
    " behind: the team of the row against the team of the column, in the order of the standings. Point at a cell or move with the arrow keys; click or press Enter to see the duels.")];
}

/** One pixel a cell. @param {League} league @param {boolean} isDark */
function pixels(league, isDark) {
  const count = league.summary.standings.length;
  const ramp = isDark ? DARK_RAMP : LIGHT_RAMP;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = count;
  const paint = canvas.getContext("2d");
  if (!paint) return canvas;
  const image = paint.createImageData(count, count);
  const cross = league.crosstable;
  for (let row = 0; row < count; row += 1) {
    for (let column = 0; column < count; column += 1) {
      const cell = cross.cell(row, column);
      const at = 4 * (row * count + column);
      const lead = cell.count ? (2 * cell.points) / Math.max(1e-9, cell.points + cell.against) - 1 : 0;
      const far = lead > 0 ? ramp.win : ramp.loss;
      for (let channel = 0; channel < 3; channel += 1) {
        const none = row === column ? (ramp.paper[channel] + ramp.tie[channel]) / 2 : ramp.paper[channel];
        image.data[at + channel] = !cell.count ? none : lead === 0 ? ramp.tie[channel] : ramp.paper[channel] + (far[channel] - ramp.paper[channel]) * (0.25 + 0.5 * Math.abs(lead));
      }
      image.data[at + 3] = 255;
    }
  }
  paint.putImageData(image, 0, 0);
  return canvas;
}
