// What Evasion looks like on the board: the prey's region, walls with body, trails, the way ahead, the players, the end.

import { fadingTrail } from "../../pages/viewer/kit/canvas.js";
import { drawPreview, drawRefusals } from "./intents.js";
import { drawHunter, drawPrey, flashColor, shade } from "./signs.js";
import { BORDER, INNER } from "./region.js";
import { pathOf } from "./walls.js";

/**
 * @typedef {import("./display.js").EvasionTrack} EvasionTrack
 * @typedef {import("./motion.js").Way} Way
 * @typedef {import("./walls.js").Wall} Wall
 */

/** For how many seconds a new wall flashes. */
const FLASH_SECONDS = 0.5;
/** How thick a wall is at least, in pixels. */
const BODY = 4;
/** How many shades walls have between new and old. */
const SHADES = 6;
/** Below this share of the board the prey's region is drawn over the bodies of walls. */
const NARROW = 0.03;
/** How many steps of the way ahead are drawn. */
const AHEAD_STEPS = 40;
/** How many parts of a trail fade, each one fainter than the next. */
const FADES = 10;
/** The older rest of a long trail is as faint as its oldest part. */
const FADING_STEPS = 300;

/** @param {EvasionTrack} track @param {Wall} wall @param {number} turn */
function ageOf(track, wall, turn) {
  const age = Math.min(1, Math.log1p(turn - wall.from) / Math.log1p(40 * Math.max(1, track.cooldown)));
  return Math.round(age * SHADES) / SHADES;
}

/** What the ground depends on beside the view. @param {EvasionTrack} track @param {number} turn */
export function groundKey(track, turn) {
  const region = track.shown.has("region") ? track.regionAt(turn)?.key : "";
  return `${track.wallSet(turn)}/${region}/${track.wallsAt(turn).map((wall) => Math.round(SHADES * ageOf(track, wall, turn))).join("")}`;
}

/** What changes seldom. @param {EvasionTrack} track @param {CanvasRenderingContext2D} context @param {Frame} frame */
export function drawGround(track, context, frame) {
  const { turn, palette, pixel } = frame;
  const region = track.shown.has("region") ? track.regionAt(turn) : null;
  // What is nearly lost between walls comes over their bodies, which are wider than their cells.
  const isNarrow = region !== null && region.cells < NARROW * track.width * track.height;
  if (region && !isNarrow) drawRegion(track, context, region, palette);
  const walls = track.wallsAt(turn);
  // Edges first, so that walls that cross are one body.
  context.lineJoin = "miter";
  for (const wall of walls) body(track, context, wall, pixel, shade(palette, ageOf(track, wall, turn), 0.4), 0.9);
  for (const wall of walls) body(track, context, wall, pixel, shade(palette, ageOf(track, wall, turn)), 0);
  if (!region || !isNarrow) return;
  context.fillStyle = palette.board;
  context.fill(track.regions.boxes(region).all);
  drawRegion(track, context, region, palette);
}

/**
 * The body of a wall: its cells, but never thinner than the eye sees.
 * @param {EvasionTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Wall} wall
 * @param {number} pixel
 * @param {string} color
 * @param {number} edge how far it reaches beyond the body, in pixels
 */
function body(track, context, wall, pixel, color, edge) {
  const path = pathOf(track, wall);
  context.fillStyle = context.strokeStyle = color;
  context.fill(path);
  const wider = Math.max(0, BODY * pixel - 1) + 2 * edge * pixel;
  if (wider <= 0) return;
  context.lineWidth = wider;
  context.stroke(path);
}

/**
 * The less is left to the prey, the stronger its colour.
 * @param {EvasionTrack} track @param {CanvasRenderingContext2D} context @param {import("./region.js").Region} region @param {Palette} palette
 */
function drawRegion(track, context, region, palette) {
  const left = region.cells / (track.width * track.height);
  const strength = (palette.isDark ? 0.2 : 0.14) + 0.5 * Math.min(1, Math.max(0, -Math.log10(Math.max(left, 1e-3)) / 2.5));
  const { all, edge } = track.regions.boxes(region);
  context.fillStyle = palette.blue;
  context.globalAlpha = INNER * strength;
  context.fill(all);
  context.globalAlpha = ((BORDER - INNER) * strength) / (1 - INNER * strength);
  context.fill(edge);
  context.globalAlpha = 1;
}

/** What changes with every frame. @param {EvasionTrack} track @param {CanvasRenderingContext2D} context @param {Frame} frame */
export function drawChase(track, context, frame) {
  const { turn, palette, pixel } = frame;
  const exact = turn + frame.phase;
  track.analysis.draw(context, frame);
  drawFlashes(track, context, frame, exact);
  const ways = /** @type {[Way, string, number[]][]} */ ([[track.ways.hunter, palette.orange, []], [track.ways.prey, palette.blue, [5, 3]]]);
  for (const [way, color, dash] of ways) drawTrail(track, context, frame, way, color, dash.map((part) => part * pixel));
  if (frame.ahead) for (const [way, color] of ways) drawAhead(track, context, frame, way, color);
  drawRefusals(track, context, frame);
  if (frame.preview) drawPreview(track, context, frame, frame.preview);
  const down = track.isTurnwise ? 1 : -1;
  const [hu, hv] = track.place(...track.ways.hunter.at(exact));
  const [pu, pv] = track.place(...track.ways.prey.at(exact));
  context.lineWidth = 1.2 * pixel;
  context.strokeStyle = palette.orange;
  context.setLineDash([3 * pixel, 3 * pixel]);
  context.beginPath();
  context.arc(hu, hv, Math.max(track.radius, 0.5), 0, 2 * Math.PI);
  context.stroke();
  context.setLineDash([]);
  if (frame.isEnd && track.isCaught) drawCapture(context, frame, [hu, hv], [pu, pv]);
  const [pdx, pdy] = track.ways.prey.heading(exact);
  const [hdx, hdy] = track.ways.hunter.heading(exact);
  drawPrey(context, pu, pv, pdx, down * pdy, pixel, palette);
  drawHunter(context, hu, hv, hdx, down * hdy, pixel, palette);
}

/** New walls light up: for a moment while the match plays, and at the very position where it stands. @param {EvasionTrack} track @param {CanvasRenderingContext2D} context @param {Frame} frame @param {number} exact */
function drawFlashes(track, context, { turn, palette, pixel, pace, isCalm }, exact) {
  for (const wall of track.wallsAt(turn)) {
    if (!wall.from) continue;
    const age = pace && !isCalm ? (exact - wall.from) / pace / FLASH_SECONDS : turn === wall.from ? 0.5 : 1;
    if (age >= 1) continue;
    context.globalAlpha = 1 - age;
    context.strokeStyle = flashColor(palette);
    context.lineWidth = (2 + 8 * (1 - age)) * pixel;
    context.stroke(pathOf(track, wall));
    context.globalAlpha = 1;
    context.fillStyle = shade(palette, 0);
    context.fill(pathOf(track, wall));
  }
}

/**
 * The path so far, fainter the older it is.
 * @param {EvasionTrack} track
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 * @param {Way} way
 * @param {string} color
 * @param {number[]} dash
 */
function drawTrail(track, context, { turn, phase, pixel, trail }, way, color, dash) {
  if (!trail) return;
  const exact = Math.min(turn + phase, way.last);
  const from = Math.max(0, exact - trail);
  context.strokeStyle = color;
  context.lineJoin = "round";
  context.setLineDash(dash);
  fadingTrail(context, { from, exact, fading: FADING_STEPS, parts: FADES }, 1.2 * pixel, (start, end) => {
    // Dashes stay where they are as the trail moves on.
    context.lineDashOffset = way.length(start);
    stroke(track, context, way, start, end);
  });
  context.lineDashOffset = 0;
  context.setLineDash([]);
}

/** The steps to come as dots on a light ground, so that they differ from the trail. @param {EvasionTrack} track @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Way} way @param {string} color */
function drawAhead(track, context, { turn, phase, pixel, palette }, way, color) {
  const exact = turn + phase;
  const end = Math.min(way.last, turn + AHEAD_STEPS);
  if (end <= exact) return;
  context.lineCap = "round";
  context.strokeStyle = palette.board;
  context.globalAlpha = 0.55;
  context.lineWidth = 4 * pixel;
  stroke(track, context, way, exact, end);
  context.strokeStyle = color;
  context.globalAlpha = 0.95;
  context.lineWidth = 2.2 * pixel;
  context.setLineDash([0, 5 * pixel]);
  context.lineDashOffset = way.length(exact);
  stroke(track, context, way, exact, end);
  context.lineDashOffset = 0;
  context.setLineDash([]);
  context.lineCap = "butt";
  context.globalAlpha = 1;
}

/** @param {EvasionTrack} track @param {CanvasRenderingContext2D} context @param {Way} way @param {number} from @param {number} to */
function stroke(track, context, way, from, to) {
  context.beginPath();
  way.points(from, to, ([x, y], isBreak) => {
    const [u, v] = track.place(x, y);
    if (isBreak) context.moveTo(u, v);
    else context.lineTo(u, v);
  });
  context.stroke();
}

/**
 * The capture: the line of sight between the two, and rings around them.
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 * @param {[number, number]} hunter
 * @param {[number, number]} prey
 */
function drawCapture(context, { pixel, palette }, hunter, prey) {
  context.strokeStyle = palette.ink;
  context.lineWidth = 1.5 * pixel;
  context.beginPath();
  context.moveTo(...hunter);
  context.lineTo(...prey);
  context.stroke();
  const apart = Math.hypot(hunter[0] - prey[0], hunter[1] - prey[1]);
  const [u, v] = [(hunter[0] + prey[0]) / 2, (hunter[1] + prey[1]) / 2];
  // Around both signs, also those of large cells.
  const reach = apart / 2 + Math.max(16 * pixel, 0.5);
  for (const [far, width] of [[0, 2.5], [5, 1]]) {
    context.lineWidth = width * pixel;
    context.beginPath();
    context.arc(u, v, reach + far * pixel, 0, 2 * Math.PI);
    context.stroke();
  }
}
