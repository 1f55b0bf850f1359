// Draws refused walls and previews of pending moves.

import { label } from "./signs.js";
import { COMPASS, wallPlace } from "./walls.js";

/**
 * @typedef {import("./display.js").EvasionTrack} EvasionTrack
 * @typedef {import("../../web/viewer/kit/types.js").Frame} Frame
 */

/** For how many steps a refused wall stays in sight. */
const REFUSED_STEPS = 12;

/**
 * @param {EvasionTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 */
export function drawRefusals(track, context, { turn, palette, pixel, preview }) {
  let hasWords = preview !== null;
  for (let at = track.refusals.length - 1; at >= 0 && track.refusals[at].turn >= turn - REFUSED_STEPS; at -= 1) {
    const refusal = track.refusals[at];
    if (refusal.turn >= turn) continue;
    // Words for the newest alone: several would cover each other.
    const text = hasWords ? "" : refusal.text;
    hasWords = true;
    context.globalAlpha = 1 - (turn - 1 - refusal.turn) / REFUSED_STEPS;
    drawRefused(track, context, { ...refusal, text }, palette.warn, pixel);
    context.globalAlpha = 1;
  }
}

/**
 * @param {EvasionTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {{ kind: string, x: number, y: number, text: string }} refusal
 * @param {string} color
 * @param {number} pixel
 */
function drawRefused(track, context, { kind, x, y, text }, color, pixel) {
  const [u, v] = track.place(x, y);
  const reach = 60 * pixel;
  const across = kind === "vertical" ? 0 : 1;
  const down = kind === "horizontal" ? 0 : kind === "diagonal" ? -1 : 1;
  context.strokeStyle = color;
  context.lineWidth = 2 * pixel;
  context.setLineDash([5 * pixel, 4 * pixel]);
  context.beginPath();
  context.moveTo(u - across * reach, v - down * reach);
  context.lineTo(u + across * reach, v + down * reach);
  context.stroke();
  context.setLineDash([]);
  const arm = 6 * pixel;
  context.beginPath();
  for (const side of [-1, 1]) {
    context.moveTo(u - arm, v - side * arm);
    context.lineTo(u + arm, v + side * arm);
  }
  context.stroke();
  label(context, text.replace(/^.*refused: /, "refused: "), u, v + 22 * pixel, pixel, color, track.width, track.height);
}

/**
 * @param {EvasionTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 * @param {import("../../web/viewer/kit/types.js").Preview} preview
 */
export function drawPreview(track, context, { turn, palette, pixel }, { changes, notices, move }) {
  context.globalAlpha = 0.55;
  context.fillStyle = palette.accent;
  for (const wall of changes.built ?? []) context.fill(track.outline(wallPlace(wall)));
  context.globalAlpha = 1;
  for (const id of changes.removed ?? []) {
    const wall = track.standing.get(id);
    if (!wall) continue;
    context.strokeStyle = palette.warn;
    context.lineWidth = 2 * pixel;
    context.setLineDash([4 * pixel, 3 * pixel]);
    context.stroke(track.pathOf(wall));
    context.setLineDash([]);
  }
  const refusal = notices.find((notice) => notice.code === "wall-refused");
  if (refusal && move.build) {
    const [x, y] = [track.hunter[0].data[turn], track.hunter[1].data[turn]];
    drawRefused(track, context, { kind: move.build.kind, x, y, text: refusal.text }, palette.warn, pixel);
  }
  const go = track.isTurnwise ? COMPASS[move.go] : move.go;
  if (Array.isArray(go)) {
    const [u, v] = track.place(track.prey[0].data[turn], track.prey[1].data[turn]);
    context.strokeStyle = palette.blue;
    context.lineWidth = 3 * pixel;
    context.beginPath();
    context.moveTo(u, v);
    context.lineTo(u + go[0] * 26 * pixel, v + (track.isTurnwise ? 1 : -1) * go[1] * 26 * pixel);
    context.stroke();
  }
}
