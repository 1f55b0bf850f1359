// Marks on the board: what a moment of the story is about.

import { strokes } from "../kit/canvas.js";

/** The room between a mark and what it is about, and the thickness of its line, in pixels of the page. */
const ROOM = 5;
const THICK = 1.5;

/**
 * Draw a line around rows of cells, so that nothing is covered.
 * @param {CanvasRenderingContext2D} context
 * @param {Track} track
 * @param {Mark[]} rows
 * @param {number} pixel
 * @param {Palette} colors
 */
export function drawMarks(context, track, rows, pixel, colors) {
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
