// Marks on the board: what a moment of the story is about.

import { strokes } from "../kit/canvas.js";

/** The room between a mark and what it is about, and the thickness of its line, in pixels of the page. */
const ROOM = 5;
const THICK = 1.5;

/**
 * Draw a line around rows of cells, so that nothing is covered.
 * @param {CanvasRenderingContext2D} context
 * @param {Track} track
 * @param {{ rows: Mark[], arrow?: Mark }} marks
 * @param {number} pixel
 * @param {Palette} colors
 */
export function drawMarks(context, track, { rows, arrow }, pixel, colors) {
  if (arrow) drawArrow(context, track, arrow, pixel, colors);
  const apart = 0.5 + ROOM * pixel;
  for (const { start, end } of rows) {
    const [[u, v], [x, y]] = [track.place(...start), track.place(...end)];
    context.save();
    context.translate(u, v);
    context.rotate(Math.atan2(y - v, x - u));
    context.beginPath();
    context.roundRect(-apart, -apart, Math.hypot(x - u, y - v) + 2 * apart, 2 * apart, apart);
    // Not in the colour of warnings; a rim keeps it visible over everything.
    strokes(context, [[colors.paper, (THICK + 2) * pixel], [colors.ink, THICK * pixel]]);
    context.restore();
  }
}

/** An arrow for a move that would have been better. @param {CanvasRenderingContext2D} context @param {Track} track @param {Mark} arrow @param {number} pixel @param {Palette} colors */
function drawArrow(context, track, { start, end }, pixel, colors) {
  const [[u, v], [x, y]] = [track.place(...start), track.place(...end)];
  const [long, head] = [Math.hypot(x - u, y - v), 14 * pixel];
  context.save();
  context.translate(u, v);
  context.rotate(Math.atan2(y - v, x - u));
  context.beginPath();
  context.moveTo(Math.min(12 * pixel, long / 3), 0);
  context.lineTo(long, 0);
  context.moveTo(long - head, -head * 0.7);
  context.lineTo(long, 0);
  context.lineTo(long - head, head * 0.7);
  context.lineCap = context.lineJoin = "round";
  strokes(context, [[colors.paper, 9 * pixel], [colors.accent, 5 * pixel]]);
  context.restore();
}
