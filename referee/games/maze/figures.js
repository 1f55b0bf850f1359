// The pieces of Maze: a thief, a policeman, the exit. A figure is drawn around (0, 0), one unit being a square.

import { strokes, textAt } from "../../pages/viewer/kit/canvas.js";

const THIEF_COLOR = "#d55e00";
const POLICEMAN_COLOR = "#0072b2";
const EXIT_COLOR = "#009e73";
const SKIN_COLOR = "#f5dcc3";
const CAP_COLOR = "#00324f";

/** Outlines in the language of SVG: a head on shoulders, and the face. */
const BODY = "M-0.3 0.4C-0.3 0.05-0.16 0-0.1-0.02L-0.0964-0.018A0.18 0.18 0 1 1 0.0964-0.018C0.16 0 0.3 0.05 0.3 0.4Z";
const FACE = disc(0, -0.17, 0.18);

/** What stands on the body, with its colour: on the thief a striped shirt and a mask over the eyes, on the policeman a badge and a cap. */
const MARKS = {
  thief: [
    ["M-0.4 0.1H0.4V0.155H-0.4ZM-0.4 0.22H0.4V0.275H-0.4ZM-0.4 0.34H0.4V0.395H-0.4Z", "#ffffff"], [FACE, SKIN_COLOR],
    ["M-0.2-0.24H0.2V-0.13H-0.2Z", "#000000"], [eyes(-0.185), "#ffffff"],
  ],
  policeman: [[FACE, SKIN_COLOR], [eyes(-0.13), "#000000"], ["M-0.2-0.4H0.2V-0.23H-0.2Z", CAP_COLOR], [star(0.11, 0.18, 0.075) + star(0, -0.29, 0.05), "#ffd75e"]],
};

/**
 * @param {CanvasRenderingContext2D} context
 * @param {"thief" | "policeman"} seat
 * @param {number} u
 * @param {number} v
 * @param {number} pixel
 * @param {Palette} palette
 */
export function drawFigure(context, seat, u, v, pixel, palette) {
  const body = new Path2D(BODY);
  context.save();
  context.translate(u, v);
  context.lineJoin = "round";
  // A rim keeps the figure apart from trails and from the other figure.
  strokes(context, [[palette.paper, Math.max(4 * pixel, 0.12)]], body);
  context.fillStyle = seat === "thief" ? THIEF_COLOR : POLICEMAN_COLOR;
  context.fill(body);
  if (pixel < 0.08) {
    context.save();
    context.clip(body);
    for (const [path, color] of MARKS[seat]) {
      context.fillStyle = color;
      context.fill(new Path2D(path));
    }
    context.restore();
    if (seat === "policeman") peak(context);
  }
  strokes(context, [[palette.ink, Math.max(pixel, 0.03)]], body);
  context.restore();
}

/** The peak of the cap, which is wider than the head. @param {CanvasRenderingContext2D} context */
function peak(context) {
  context.fillStyle = CAP_COLOR;
  context.beginPath();
  context.roundRect(-0.23, -0.25, 0.46, 0.055, 0.025);
  context.fill();
}

/** A circle as a path. @param {number} u @param {number} v @param {number} radius */
function disc(u, v, radius) {
  return `M${u - radius} ${v}a${radius} ${radius} 0 1 1 ${2 * radius} 0a${radius} ${radius} 0 1 1 ${-2 * radius} 0Z`;
}

/** @param {number} v */
function eyes(v) {
  return disc(-0.07, v, 0.028) + disc(0.07, v, 0.028);
}

/** @param {number} u @param {number} v @param {number} size */
function star(u, v, size) {
  const points = Array.from({ length: 10 }, (_, point) => {
    const far = point % 2 ? 0.45 * size : size;
    const angle = (Math.PI * point) / 5 - Math.PI / 2;
    return `${u + far * Math.cos(angle)} ${v + far * Math.sin(angle)}`;
  });
  return `M${points.join("L")}Z`;
}

/**
 * The exit with somebody in it: only the doorway, so that no door stands behind the figure.
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
