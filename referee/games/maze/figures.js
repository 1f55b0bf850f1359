// The pieces of Maze: a thief, a policeman, the exit. A figure is drawn around (0, 0), one unit being a square.

import { textAt } from "../../web/viewer/kit/canvas.js";

const THIEF_COLOR = "#d55e00";
const POLICEMAN_COLOR = "#0072b2";
const EXIT_COLOR = "#009e73";

/**
 * @param {CanvasRenderingContext2D} context
 * @param {"thief" | "policeman"} seat
 * @param {number} u
 * @param {number} v
 * @param {number} pixel
 * @param {Palette} palette
 */
export function drawFigure(context, seat, u, v, pixel, palette) {
  context.save();
  context.translate(u, v);
  context.lineJoin = "round";
  // A rim keeps the figure apart from trails and from the other figure.
  context.fillStyle = context.strokeStyle = palette.paper;
  context.lineWidth = Math.max(4 * pixel, 0.12);
  silhouette(context);
  context.stroke();
  context.fillStyle = seat === "thief" ? THIEF_COLOR : POLICEMAN_COLOR;
  silhouette(context);
  context.fill();
  if (pixel < 0.08) (seat === "thief" ? thief : policeman)(context);
  context.strokeStyle = palette.ink;
  context.lineWidth = Math.max(pixel, 0.03);
  silhouette(context);
  context.stroke();
  context.restore();
}

/** A head on shoulders. @param {CanvasRenderingContext2D} context */
function silhouette(context) {
  context.beginPath();
  context.moveTo(-0.3, 0.4);
  context.bezierCurveTo(-0.3, 0.05, -0.16, 0.0, -0.1, -0.02);
  context.arc(0, -0.17, 0.18, 0.68 * Math.PI, 0.32 * Math.PI);
  context.bezierCurveTo(0.16, 0.0, 0.3, 0.05, 0.3, 0.4);
  context.closePath();
}

/** A striped shirt, a mask over the eyes. @param {CanvasRenderingContext2D} context */
function thief(context) {
  context.save();
  silhouette(context);
  context.clip();
  context.fillStyle = "#ffffff";
  for (const top of [0.1, 0.22, 0.34]) context.fillRect(-0.4, top, 0.8, 0.055);
  face(context);
  context.fillStyle = "#000000";
  context.fillRect(-0.2, -0.24, 0.4, 0.11);
  context.fillStyle = "#ffffff";
  eyes(context, -0.185);
  context.restore();
}

/** A cap with a peak, a badge. @param {CanvasRenderingContext2D} context */
function policeman(context) {
  context.save();
  silhouette(context);
  context.clip();
  face(context);
  context.fillStyle = "#000000";
  eyes(context, -0.13);
  context.fillStyle = "#00324f";
  context.fillRect(-0.2, -0.4, 0.4, 0.17);
  context.fillStyle = "#ffd75e";
  star(context, 0.11, 0.18, 0.075);
  star(context, 0, -0.29, 0.05);
  context.restore();
  context.fillStyle = "#00324f";
  context.beginPath();
  context.roundRect(-0.23, -0.25, 0.46, 0.055, 0.025);
  context.fill();
}

/** @param {CanvasRenderingContext2D} context */
function face(context) {
  context.fillStyle = "#f5dcc3";
  context.beginPath();
  context.arc(0, -0.17, 0.18, 0, 2 * Math.PI);
  context.fill();
}

/** @param {CanvasRenderingContext2D} context @param {number} v */
function eyes(context, v) {
  for (const u of [-0.07, 0.07]) {
    context.beginPath();
    context.arc(u, v, 0.028, 0, 2 * Math.PI);
    context.fill();
  }
}

/** @param {CanvasRenderingContext2D} context @param {number} u @param {number} v @param {number} size */
function star(context, u, v, size) {
  context.beginPath();
  for (let point = 0; point < 10; point += 1) {
    const far = point % 2 ? 0.45 * size : size;
    const angle = (Math.PI * point) / 5 - Math.PI / 2;
    context.lineTo(u + far * Math.cos(angle), v + far * Math.sin(angle));
  }
  context.fill();
}

/**
 * The exit with somebody in it: the doorway alone, so that no door stands behind the figure.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x @param {number} y the square, from 0
 */
export function drawDoorway(context, x, y) {
  context.fillStyle = EXIT_COLOR;
  context.fillRect(x + 0.06, y + 0.06, 0.88, 0.88);
  context.fillStyle = "#ffffff";
  context.fillRect(x + 0.2, y + 0.14, 0.66, 0.8);
  context.fillStyle = "#003d2c";
  context.beginPath();
  for (const [u, v] of [[0.2, 0.14], [0.11, 0.2], [0.11, 0.94], [0.2, 0.94]]) context.lineTo(x + u, y + v);
  context.fill();
}

/**
 * The exit: a door that stands open, with the word where there is room for it.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x @param {number} y the square, from 0
 * @param {number} pixel
 * @param {Palette} palette
 */
export function drawExit(context, x, y, pixel, palette) {
  context.fillStyle = EXIT_COLOR;
  context.fillRect(x, y, 1, 1);
  context.strokeStyle = palette.ink;
  context.lineWidth = Math.max(1.5 * pixel, 0.05);
  context.strokeRect(x + 0.03, y + 0.03, 0.94, 0.94);
  const hasWord = pixel < 0.045;
  const [top, bottom] = hasWord ? [0.1, 0.62] : [0.16, 0.86];
  context.fillStyle = "#ffffff";
  context.fillRect(x + 0.32, y + top, 0.36, bottom - top);
  context.fillStyle = "#003d2c";
  context.beginPath();
  context.moveTo(x + 0.32, y + top);
  context.lineTo(x + 0.53, y + top + 0.07);
  context.lineTo(x + 0.53, y + bottom + 0.06);
  context.lineTo(x + 0.32, y + bottom);
  context.fill();
  if (hasWord) textAt(context, "EXIT", x + 0.5, y + 0.83, pixel, "#000000", `700 ${0.26 / pixel}px`);
}
