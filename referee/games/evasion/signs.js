// The signs of Evasion on the board: the players, the shade of a wall by its age.

import { strokes } from "../../pages/viewer/kit/canvas.js";

/** The colours of a new and of an old wall, on a light and on a dark page. */
const LIGHT_WALLS = [[0, 122, 89], [112, 124, 120]];
const DARK_WALLS = [[47, 199, 154], [112, 124, 130]];

/** @param {Palette} palette @param {number} age from 0, new, to 1 @param {number} [light] from 0, black, to 1 */
export function shade({ isDark }, age, light = 1) {
  const [fresh, old] = isDark ? DARK_WALLS : LIGHT_WALLS;
  const parts = fresh.map((part, index) => Math.round(light * (part + (old[index] - part) * age)));
  return `rgb(${parts.join(" ")})`;
}

/** The colour of a wall in the moment in which it is built. @param {Palette} palette */
export function flashColor({ isDark }) {
  return isDark ? "#ffe27a" : "#b98500";
}

/** The thickness of a sign's line in pixels, and in cells where cells are large. */
const [LINE, LINE_CELLS] = [3, 0.035];
/** From how many pixels a cell is so large that its sign stands within it, and a light tone marks the cell instead of a full colour. */
const LARGE_CELL = 26;

/**
 * The reach of a sign in cells. Where cells are small it stands around its cell; as they grow it shrinks into the cell, so that it never covers
 * the cells around it.
 * @param {number} pixel
 * @param {number} least in pixels @param {number} around in cells @param {number} most in pixels, of a sign around its cell @param {number} within in cells
 */
function reach(pixel, least, around, most, within) {
  return Math.max(least * pixel, Math.min(around, most * pixel), within);
}

/**
 * The hunter: its cell, and a triangle that points where it goes. The sign is hollow: it leaves the cells around in sight.
 * @param {CanvasRenderingContext2D} context
 * @param {number} u @param {number} v @param {number} du @param {number} dv
 * @param {number} pixel
 * @param {Palette} palette
 */
export function drawHunter(context, u, v, du, dv, pixel, palette) {
  const angle = Math.atan2(dv, du);
  const size = reach(pixel, 9, 1.3, 11, 0.3);
  context.beginPath();
  for (const [turned, far] of [[0, 1.4], [2.4, 1.1], [-2.4, 1.1]]) {
    context.lineTo(u + far * size * Math.cos(angle + turned), v + far * size * Math.sin(angle + turned));
  }
  context.closePath();
  hollow(context, u, v, pixel, palette.orange, palette.paper);
}

/**
 * The prey: its cell, and a ring around it, with a line to where it goes.
 * @param {CanvasRenderingContext2D} context
 * @param {number} u @param {number} v @param {number} du @param {number} dv
 * @param {number} pixel
 * @param {Palette} palette
 */
export function drawPrey(context, u, v, du, dv, pixel, palette) {
  const size = reach(pixel, 7, 0.85, 8, 0.24);
  context.beginPath();
  context.arc(u, v, size, 0, 2 * Math.PI);
  if (du || dv) {
    const [along, across] = [du / Math.hypot(du, dv), dv / Math.hypot(du, dv)];
    context.moveTo(u + along * size, v + across * size);
    context.lineTo(u + along * 1.9 * size, v + across * 1.9 * size);
  }
  hollow(context, u, v, pixel, palette.blue, palette.paper);
}

/**
 * Draw the current path as a line with a rim, and mark the cell: a small one in full colour, a large one in a light tone with a point in its middle.
 * @param {CanvasRenderingContext2D} context
 * @param {number} u @param {number} v @param {number} pixel @param {string} color @param {string} rim
 */
function hollow(context, u, v, pixel, color, rim) {
  const line = Math.max(LINE * pixel, LINE_CELLS);
  const isLarge = LARGE_CELL * pixel < 1;
  if (isLarge) {
    context.fillStyle = color;
    context.globalAlpha = 0.22;
    context.fillRect(u - 0.5, v - 0.5, 1, 1);
    context.globalAlpha = 1;
  }
  context.lineJoin = "round";
  strokes(context, [[rim, line + 2.5 * pixel], [color, line]]);
  const half = isLarge ? Math.max(0.07, 2 * pixel) : Math.max(Math.min(0.5, 5 * pixel), 1.5 * pixel);
  context.fillStyle = rim;
  context.fillRect(u - half - pixel, v - half - pixel, 2 * (half + pixel), 2 * (half + pixel));
  context.fillStyle = color;
  context.fillRect(u - half, v - half, 2 * half, 2 * half);
}
