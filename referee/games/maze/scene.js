// What Maze looks like on the board: walls, the exit, distances on request, trails, the figures on their way.

import { fadingTrail, textAt } from "../../pages/viewer/kit/canvas.js";
import { STEPS } from "./controls.js";
import { drawDoorway, drawExit, drawFigure } from "./figures.js";

/**
 * @typedef {import("./display.js").MazeTrack} MazeTrack
 * @typedef {import("../../pages/viewer/kit/columns.js").Column} Column
 */

/** What the page can draw on request. @type {[string, string][]} */
export const OPTIONS = [["exit", "steps to the exit"], ["policeman", "steps from the policeman"]];
/** How many parts of a trail fade, each one fainter than the next. */
const FADES = 8;
const FADING_STEPS = 80;
/** The longest trail: an older part lies below it anyway. */
const MOST_TRAIL = 5000;

/**
 * The steps from some squares to every other one, row by row; -1 where no way leads.
 * @param {string[]} rows
 * @param {[number, number][]} starts rows and columns, from 0
 */
export function distances(rows, starts) {
  const wide = rows[0].length;
  const found = new Int16Array(rows.length * wide).fill(-1);
  const queue = starts.map(([row, column]) => row * wide + column).filter((place) => place >= 0 && place < found.length);
  for (const place of queue) found[place] = 0;
  for (const place of queue) {
    const [row, column] = [Math.floor(place / wide), place % wide];
    for (const [down, along] of Object.values(STEPS)) {
      const sign = rows[row + down]?.[column + along];
      const next = place + down * wide + along;
      if (sign === undefined || sign === "#" || found[next] >= 0) continue;
      found[next] = found[place] + 1;
      queue.push(next);
    }
  }
  return found;
}

/** The exits of a layout: rows and columns, from 0. @param {string[]} rows @returns {[number, number][]} */
export function exitsOf(rows) {
  return rows.flatMap((row, y) => [...row].flatMap((sign, x) => (sign === "E" ? [/** @type {[number, number]} */ ([y, x])] : [])));
}

/** What changes seldom. @param {MazeTrack} track @param {CanvasRenderingContext2D} context @param {Frame} frame */
export function drawGround(track, context, { turn, pixel, palette }) {
  const walls = new Path2D();
  track.rows.forEach((row, y) => [...row].forEach((sign, x) => {
    if (sign === "#") walls.rect(x, y, 1, 1);
  }));
  // A darker face below each block gives it a body.
  context.save();
  context.translate(0, Math.min(0.12, 5 * pixel));
  context.fillStyle = palette.isDark ? "#000000" : "#20303a";
  context.fill(walls);
  context.restore();
  context.fillStyle = palette.isDark ? "#7d8a96" : "#64727f";
  context.fill(walls);
  context.strokeStyle = palette.isDark ? "#a9b5bf" : "#45525d";
  context.lineWidth = Math.max(pixel, 0.03);
  context.stroke(walls);
  for (const [y, x] of exitsOf(track.rows)) drawExit(context, x, y, pixel, palette);
  const wanted = OPTIONS.filter(([name]) => track.shown.has(name));
  wanted.forEach(([name], index) => {
    const steps = name === "exit" ? track.exitSteps : distances(track.rows, [track.squareOf(track.policeman, turn)]);
    numbers(track, context, steps, pixel, name === "exit" ? palette.accent : palette.blue, wanted.length > 1 ? (index ? 0.72 : 0.28) : 0.5);
  });
}

/**
 * A number in each free square.
 * @param {MazeTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Int16Array} steps
 * @param {number} pixel
 * @param {string} color
 * @param {number} down how far down in the square, from 0 to 1
 */
function numbers(track, context, steps, pixel, color, down) {
  const font = `600 ${Math.max(8, Math.min(15, (down === 0.5 ? 0.42 : 0.36) / pixel))}px`;
  track.rows.forEach((row, y) => [...row].forEach((sign, x) => {
    const count = steps[y * track.width + x];
    if (sign === "." && count >= 0) textAt(context, String(count), x + 0.5, y + down, pixel, color, font);
  }));
}

/** What changes with every frame. @param {MazeTrack} track @param {CanvasRenderingContext2D} context @param {Frame} frame */
export function drawPlay(track, context, { turn, phase, pixel, palette, trail, ahead }) {
  const exact = turn + phase;
  const dashed = [5 * pixel, 4 * pixel];
  drawTrail(track, context, track.thief, exact, trail, palette.orange, [], -0.08, pixel);
  drawTrail(track, context, track.policeman, exact, trail, palette.blue, dashed, 0.08, pixel);
  if (ahead) {
    drawAhead(track, context, track.thief, exact, palette.orange, -0.08, pixel);
    drawAhead(track, context, track.policeman, exact, palette.blue, 0.08, pixel);
  }
  drawHint(track, context, turn, pixel, palette);
  const [thief, policeman] = [track.at(track.thief, exact), track.at(track.policeman, exact)];
  // Two on one square stand side by side.
  const aside = Math.hypot(thief[0] - policeman[0], thief[1] - policeman[1]) < 0.5 ? 0.2 : 0;
  const [row, column] = track.squareOf(track.thief, turn);
  if (track.rows[row]?.[column] === "E") drawDoorway(context, column, row);
  if (track.isPlaced(track.policeman, turn)) drawFigure(context, "policeman", policeman[0] + aside, policeman[1], pixel, palette);
  if (track.isPlaced(track.thief, turn)) drawFigure(context, "thief", thief[0] - aside, thief[1], pixel, palette);
}

/**
 * The path so far, fainter the older it is; the trails of the two lie beside each other.
 * @param {MazeTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Column[]} columns
 * @param {number} exact
 * @param {number} trail
 * @param {string} color
 * @param {number[]} dash
 * @param {number} aside
 * @param {number} pixel
 */
function drawTrail(track, context, columns, exact, trail, color, dash, aside, pixel) {
  const from = Math.max(0, exact - Math.min(trail, MOST_TRAIL));
  context.strokeStyle = color;
  context.lineJoin = context.lineCap = "round";
  context.setLineDash(dash);
  fadingTrail(context, { from, exact, fading: FADING_STEPS, parts: FADES }, 1.5 * pixel, (start, end) => line(track, context, columns, start, end, aside));
  context.lineCap = "butt";
  context.setLineDash([]);
}

/** @param {MazeTrack} track @param {CanvasRenderingContext2D} context @param {Column[]} columns @param {number} exact @param {string} color @param {number} aside @param {number} pixel */
function drawAhead(track, context, columns, exact, color, aside, pixel) {
  context.strokeStyle = color;
  context.lineCap = "round";
  context.lineWidth = 3 * pixel;
  context.setLineDash([0, 6 * pixel]);
  line(track, context, columns, exact, Math.min(track.last, exact + 12), aside);
  context.setLineDash([]);
  context.lineCap = "butt";
}

/** @param {MazeTrack} track @param {CanvasRenderingContext2D} context @param {Column[]} columns @param {number} from @param {number} to @param {number} aside */
function line(track, context, columns, from, to, aside) {
  context.beginPath();
  const visit = (/** @type {number} */ exact) => {
    if (!columns[0].data[Math.floor(exact)]) return;
    const [u, v] = track.at(columns, exact);
    context.lineTo(u + aside, v + aside);
  };
  visit(from);
  for (let at = Math.floor(from) + 1; at < to; at += 1) visit(at);
  visit(to);
  context.stroke();
}

/** Where perfect play goes. @param {MazeTrack} track @param {CanvasRenderingContext2D} context @param {number} turn @param {number} pixel @param {Palette} palette */
function drawHint(track, context, turn, pixel, palette) {
  const isThiefs = turn % 2 === 0;
  const mover = isThiefs ? track.thief : track.policeman;
  if (!track.hints || !track.isPlaced(mover, turn)) return;
  const [u, v] = track.at(mover, turn);
  context.fillStyle = isThiefs ? palette.orange : palette.blue;
  for (const order of track.values.get(turn)?.best ?? []) {
    const [down, along] = STEPS[order] ?? [0, 0];
    const size = Math.max(0.13, 3.5 * pixel);
    context.beginPath();
    for (const turned of [0, 2.3, -2.3]) {
      const angle = Math.atan2(down, along) + turned;
      context.lineTo(u + 0.72 * along + size * Math.cos(angle), v + 0.72 * down + size * Math.sin(angle));
    }
    context.fill();
  }
}
