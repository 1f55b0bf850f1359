// Draws refused walls and previews of pending moves.

import { lastBefore } from "../../pages/viewer/kit/columns.js";
import { plain } from "../../pages/viewer/kit/dom.js";
import { COMPASS, outline, pathOf, wallPlace } from "./walls.js";

/** @typedef {import("./display.js").EvasionTrack} EvasionTrack */

/** For how many seconds a refused wall stays in sight while the match plays. */
const REFUSED_SECONDS = 1;
/** How far its mark stays away from the hunter's cell, and how far the cross is from there, in pixels. */
const [GAP, REACH] = [16, 64];
/** The length of the line of a pending wall, in pixels. */
const MEANT = 48;
/** The longest line of a refused wall, in cells. */
const MOST = 2000;

/** Why a wall was refused. Replays have the numbers of the reason only in the sentence. Only this function reads it. @param {unknown} text that of the notice */
export function whyRefused(text) {
  return plain(text, 300).replace(/^(\S+ )?wall refused: /, "");
}

/**
 * The refusals in sight, the newest first: those of a second while the match plays, else those of the step before.
 * @param {EvasionTrack} track
 * @param {Frame} frame
 */
function refusalsAt(track, { turn, phase, pace }) {
  const steps = pace ? Math.max(1, REFUSED_SECONDS * pace) : 1;
  const found = [];
  for (let at = lastBefore(track.refusedTurns, turn); at >= 0 && turn + phase - track.refusals[at].turn - 1 < steps; at -= 1) found.push(track.refusals[at]);
  return found;
}

/**
 * Refused walls, in full colour as long as they are in sight.
 * @param {EvasionTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 */
export function drawRefusals(track, context, frame) {
  for (const refusal of refusalsAt(track, frame)) drawRefused(track, context, refusal, frame);
}

/**
 * Why the newest wall was refused; several reasons would cover each other. The reason for a pending wall is beside the board.
 * @param {EvasionTrack} track
 * @param {Frame} frame
 */
export function notes(track, frame) {
  const [newest] = frame.preview ? [] : refusalsAt(track, frame);
  return newest ? [{ text: `refused: ${whyRefused(newest.text)}`, at: track.place(newest.x, newest.y), color: "warn" }] : [];
}

/**
 * How many cells are free in a direction, up to the next wall or the edge of the board: the reach of the refused wall.
 * @param {EvasionTrack} track
 * @param {{ x: number, y: number, turn?: number, reach?: Record<string, number> }} refusal
 * @param {number} dx
 * @param {number} dy
 */
function freeCells(track, refusal, dx, dy) {
  const known = (refusal.reach ??= {});
  const key = `${dx},${dy}`;
  if (known[key] === undefined) {
    let count = 0;
    const turn = refusal.turn ?? track.last;
    for (let [x, y] = [refusal.x + dx, refusal.y + dy]; count < MOST && x >= 0 && y >= 0 && x < track.width && y < track.height; [x, y] = [x + dx, y + dy]) {
      if (track.wallAt({ x, y }, turn)) break;
      count += 1;
    }
    known[key] = count;
  }
  return known[key];
}

/**
 * The line that the wall would have followed, with a gap around the hunter's cell and a cross on each side.
 * @param {EvasionTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {{ kind: string, x: number, y: number, turn?: number, reach?: Record<string, number> }} refusal
 * @param {Frame} frame
 * @param {boolean} isMeant the wall is pending: it is small and grey
 */
function drawRefused(track, context, refusal, { palette, pixel }, isMeant = false) {
  const { kind, x, y } = refusal;
  const [u, v] = track.place(x, y);
  const across = kind === "vertical" ? 0 : 1;
  const down = kind === "horizontal" ? 0 : kind === "diagonal" ? -1 : 1;
  const from = Math.max(0.7, GAP * pixel);
  const arm = (isMeant ? 3 : 5) * pixel;
  const most = isMeant ? MEANT * pixel : Infinity;
  const lines = new Path2D();
  const crosses = new Path2D();
  for (const side of [-1, 1]) {
    const to = Math.min(most, 0.5 + freeCells(track, refusal, side * across, (track.isTurnwise ? 1 : -1) * side * down));
    if (to <= from) continue;
    lines.moveTo(u + side * across * from, v + side * down * from);
    lines.lineTo(u + side * across * to, v + side * down * to);
    const middle = Math.min((from + to) / 2, REACH * pixel);
    const [middleU, middleV] = [u + side * across * middle, v + side * down * middle];
    for (const tilt of [-1, 1]) {
      crosses.moveTo(middleU - arm, middleV - tilt * arm);
      crosses.lineTo(middleU + arm, middleV + tilt * arm);
    }
  }
  const ink = isMeant ? palette.faint : palette.warn;
  for (const [color, width] of /** @type {[string, number][]} */ ([[palette.paper, isMeant ? 3 : 5], [ink, isMeant ? 1.2 : 2.5]])) {
    context.strokeStyle = color;
    context.lineWidth = width * pixel;
    context.setLineDash(color === ink ? [6 * pixel, 4 * pixel] : []);
    context.stroke(lines);
    context.setLineDash([]);
    context.stroke(crosses);
  }
}

/**
 * @param {EvasionTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 * @param {Preview} preview
 */
export function drawPreview(track, context, frame, { changes, notices, move }) {
  const { turn, phase, palette, pixel } = frame;
  context.globalAlpha = 0.55;
  context.fillStyle = palette.accent;
  // On a large board a wall of one cell would be a hairline.
  context.strokeStyle = palette.accent;
  context.lineWidth = Math.max(0, 4 * pixel - 1);
  for (const wall of changes.built ?? []) {
    const path = outline(track, wallPlace(wall));
    context.fill(path);
    if (4 * pixel > 1) context.stroke(path);
  }
  context.globalAlpha = 1;
  for (const id of changes.removed ?? []) {
    const wall = track.standing.get(id);
    if (!wall) continue;
    context.strokeStyle = palette.warn;
    context.lineWidth = 2 * pixel;
    context.setLineDash([4 * pixel, 3 * pixel]);
    context.stroke(pathOf(track, wall));
    context.setLineDash([]);
  }
  const refusal = notices.find((notice) => notice.code === "wall-refused");
  if (refusal && move.build) {
    const [x, y] = [track.hunter[0].data[turn], track.hunter[1].data[turn]];
    drawRefused(track, context, { kind: move.build.kind, x, y }, frame, true);
  }
  const go = track.isTurnwise ? COMPASS[move.go] : move.go;
  if (Array.isArray(go)) {
    const [u, v] = track.place(...track.ways.prey.at(turn + phase));
    context.strokeStyle = palette.blue;
    context.lineWidth = 3 * pixel;
    context.beginPath();
    const down = track.isTurnwise ? go[1] : -go[1];
    context.moveTo(u + go[0] * 8 * pixel, v + down * 8 * pixel);
    context.lineTo(u + go[0] * 26 * pixel, v + down * 26 * pixel);
    context.stroke();
  }
}
