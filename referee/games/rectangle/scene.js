// What Rectangle looks like on the board: paint, claimed areas with their outlines, robots on their way.

import { strokes, textAt } from "../../pages/viewer/kit/canvas.js";
import { inkOn } from "../../pages/viewer/kit/color.js";

/**
 * @typedef {import("./display.js").RectangleTrack} RectangleTrack
 * @typedef {{ u: number, v: number, share: number, label: string }} RobotSpot where a robot is drawn, how much of its usual size it has, and its letter
 */

export const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Okabe and Ito's colours first; the letters on the robots and the hatches tell apart those who share one. */
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a5195", "#8c6d31", "#6b6b6b", "#3f63a3"];
/** The directions of the hatches, as lines across a cell: from and to. @type {[number, number, number, number][]} */
const HATCHES = [[0, 1, 1, 0], [0, 0, 1, 1], [0, 0.5, 1, 0.5], [0.5, 0, 0.5, 1]];
/** Orders as steps: row, column. @type {Record<string, [number, number]>} */
export const STEPS = { N: [-1, 0], S: [1, 0], W: [0, -1], E: [0, 1], "-": [0, 0] };
export const UNPAINTED = 46;
/** Cells of more than forty pixels have room for names. */
const NAME_PIXEL = 1 / 40;
/** For how many seconds a new claim stands out while the match plays. */
const CLAIM_SECONDS = 0.8;

/** @param {number} player */
export const colorOf = (player) => COLORS[player % COLORS.length];

/** @param {number} code */
export const isClaimed = (code) => code !== UNPAINTED && code < 97;

/** The player whose a cell is, -1 where that isn't told. @param {number} code */
const ownerOf = (code) => LETTERS.indexOf(String.fromCharCode(code).toLowerCase());

/**
 * Paint in light colours, claims in full ones with a hatch and an outline.
 * @param {RectangleTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 */
export function drawGround(track, context, { turn, pixel, palette }) {
  track.seek(turn);
  const { n, cells } = track;
  /** @type {Map<number, Path2D>} */
  const hatches = new Map();
  for (let row = 0; row < n; row += 1) {
    for (let first = 0; first < n;) {
      const code = cells[row * n + first];
      let end = first + 1;
      while (end < n && cells[row * n + end] === code) end += 1;
      if (code !== UNPAINTED) {
        const player = ownerOf(code);
        context.fillStyle = player < 0 ? palette.faint : colorOf(player);
        context.globalAlpha = isClaimed(code) ? 0.9 : 0.42;
        context.fillRect(first, row, end - first, 1);
        if (isClaimed(code)) hatch(hatches, player, first, end, row);
      }
      first = end;
    }
  }
  context.globalAlpha = 0.6;
  context.strokeStyle = palette.paper;
  context.lineWidth = Math.max(pixel, 0.08);
  for (const path of hatches.values()) context.stroke(path);
  context.globalAlpha = 1;
  context.lineCap = "square";
  for (const [code, path] of outlines(n, cells)) {
    const player = ownerOf(code);
    strokes(context, [[palette.ink, Math.max(2 * pixel, 0.12)], [player < 0 ? palette.faint : colorOf(player), Math.max(pixel, 0.06)]], path);
  }
  context.lineCap = "butt";
}

/** @param {Map<number, Path2D>} hatches @param {number} player @param {number} first @param {number} end @param {number} row */
function hatch(hatches, player, first, end, row) {
  const way = Math.max(0, player) % HATCHES.length;
  const path = hatches.get(way) ?? new Path2D();
  hatches.set(way, path);
  const [fromX, fromY, toX, toY] = HATCHES[way];
  for (let column = first; column < end; column += 1) {
    path.moveTo(column + fromX, row + fromY);
    path.lineTo(column + toX, row + toY);
  }
}

/** The borders of all claimed areas, by the letter of their cells. @param {number} n @param {Uint8Array} cells */
function outlines(n, cells) {
  /** @type {Map<number, Path2D>} */
  const found = new Map();
  for (let row = 0; row < n; row += 1) {
    for (let column = 0; column < n; column += 1) {
      const code = cells[row * n + column];
      if (!isClaimed(code)) continue;
      const path = found.get(code) ?? new Path2D();
      found.set(code, path);
      border(path, column, row, (x, y) => x >= 0 && y >= 0 && x < n && y < n && cells[y * n + x] === code);
    }
  }
  return found;
}

/** The sides of a cell that are borders of its area. @param {Path2D} path @param {number} x @param {number} y @param {(x: number, y: number) => boolean} isInside */
function border(path, x, y, isInside) {
  for (const [dx, dy, fromX, fromY, toX, toY] of [[0, -1, 0, 0, 1, 0], [0, 1, 0, 1, 1, 1], [-1, 0, 0, 0, 0, 1], [1, 0, 1, 0, 1, 1]]) {
    if (isInside(x + dx, y + dy)) continue;
    path.moveTo(x + fromX, y + fromY);
    path.lineTo(x + toX, y + toY);
  }
}

/** What changes with every frame. @param {RectangleTrack} track @param {CanvasRenderingContext2D} context @param {Frame} frame */
export function drawPlay(track, context, frame) {
  const { turn, phase, pace, isCalm, pixel, palette, preview } = frame;
  const seconds = pace ? Math.ceil(CLAIM_SECONDS * pace) : 1;
  for (let step = Math.max(0, turn - seconds); step < turn; step += 1) {
    const age = pace && !isCalm ? (turn + phase - step - 1) / Math.max(1, CLAIM_SECONDS * pace) : 0.5;
    drawClaims(track, context, step, Math.min(1, age), pixel, palette);
  }
  if (preview && Array.isArray(preview.changes?.cells)) {
    context.globalAlpha = 0.5;
    for (const [place, letter] of preview.changes.cells) {
      const player = LETTERS.indexOf(String(letter).toLowerCase());
      context.fillStyle = player < 0 ? palette.board : colorOf(player);
      context.fillRect(place % track.n, Math.floor(place / track.n), 1, 1);
    }
    context.globalAlpha = 1;
  }
  if (turn) drawRobots(track, context, frame);
}

/**
 * The rings that a step closed, around what was claimed: wide at first, then as wide as a border.
 * @param {RectangleTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {number} step
 * @param {number} age from 0 to 1
 * @param {number} pixel
 * @param {Palette} palette
 */
function drawClaims(track, context, step, age, pixel, palette) {
  const { n } = track;
  /** By owner: the places that were claimed, and those around them. @type {Map<number, Set<number>>} */
  const areas = new Map();
  for (const [place, , code] of track.changes[step].cells) {
    if (!isClaimed(code)) continue;
    const area = areas.get(ownerOf(code)) ?? new Set();
    areas.set(ownerOf(code), area);
    const [x, y] = [place % n, Math.floor(place / n)];
    for (let down = Math.max(0, y - 1); down <= Math.min(n - 1, y + 1); down += 1) {
      for (let along = Math.max(0, x - 1); along <= Math.min(n - 1, x + 1); along += 1) area.add(down * n + along);
    }
  }
  for (const [player, area] of areas) {
    const path = new Path2D();
    for (const place of area) border(path, place % n, Math.floor(place / n), (x, y) => x >= 0 && y >= 0 && x < n && y < n && area.has(y * n + x));
    context.lineCap = "square";
    context.globalAlpha = 1 - 0.5 * age;
    strokes(context, [[palette.ink, (10 - 6 * age) * pixel], [player < 0 ? palette.faint : colorOf(player), (7 - 5 * age) * pixel]], path);
    context.globalAlpha = 1;
    context.lineCap = "butt";
  }
}

/**
 * Where each robot is drawn, by number: those that share a cell stand around its middle; those of one player are one disc with their number.
 * @param {ArrayLike<number>} places rows and columns
 * @param {number} robots how many each player has
 * @returns {RobotSpot[]}
 */
export function layout(places, robots) {
  /** @type {Map<string, number[]>} */
  const byCell = new Map();
  for (let robot = 0; robot < places.length / 2; robot += 1) {
    const cell = `${places[2 * robot]},${places[2 * robot + 1]}`;
    const there = byCell.get(cell);
    if (there) there.push(robot);
    else byCell.set(cell, [robot]);
  }
  /** @type {RobotSpot[]} */
  const spots = [];
  for (const there of byCell.values()) {
    const owners = there.map((robot) => Math.floor(robot / robots));
    const distinct = [...new Set(owners)];
    const [row, column] = [places[2 * there[0]], places[2 * there[0] + 1]];
    for (const [index, robot] of there.entries()) {
      const turned = (2 * Math.PI * distinct.indexOf(owners[index])) / distinct.length;
      const [apart, share] = distinct.length > 1 ? [0.26, 0.62] : [0, 1];
      const count = owners.filter((owner) => owner === owners[index]).length;
      const letter = LETTERS[owners[index]];
      spots[robot] = { u: column + 0.5 + apart * Math.cos(turned), v: row + 0.5 + apart * Math.sin(turned), share, label: count > 1 ? `${letter}${count}` : letter };
    }
  }
  return spots;
}

/** A name above a robot, below it in the first row. @param {CanvasRenderingContext2D} context @param {string} name @param {number} u @param {number} v @param {number} pixel @param {Palette} palette */
function nameTag(context, name, u, v, pixel, palette) {
  context.save();
  context.translate(u, v);
  context.scale(pixel, pixel);
  context.font = "600 11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = palette.paper;
  const room = 1.15 / pixel;
  let text = name;
  // A long name is cut: squeezed letters can't be read.
  while (text.length > 2 && context.measureText(text).width > room) text = `${text.slice(0, -2).trimEnd()}…`;
  context.strokeText(text, 0, 0, room);
  context.fillStyle = palette.ink;
  context.fillText(text, 0, 0, room);
  context.restore();
}

/** Discs with the letters of their players, and their names where cells have room for them. @param {RectangleTrack} track @param {CanvasRenderingContext2D} context @param {Frame} frame */
function drawRobots(track, context, { turn, phase, pixel, palette }) {
  const size = Math.max(0.34, Math.min(0.44, 5 * pixel));
  track.spotsOf(turn + phase).forEach(({ u, v, share, label }, robot) => {
    const player = Math.floor(robot / track.robots);
    const color = colorOf(player);
    if (pixel < NAME_PIXEL && share > 0.9) nameTag(context, track.names[player], u, v < 1 ? v + size + 10 * pixel : v - size - 2 * pixel, pixel, palette);
    context.beginPath();
    context.arc(u, v, share * size, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
    strokes(context, [[palette.paper, 3 * pixel], [palette.ink, 1.2 * pixel]]);
    if (pixel < 0.09) textAt(context, label, u, v + pixel / 2, pixel, inkOn(color), `600 ${Math.min(22, ((label.length > 1 ? 0.42 : 0.6) * share) / pixel)}px`);
  });
}
