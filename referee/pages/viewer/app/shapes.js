// What bots draw on the board.

import { plain } from "../kit/dom.js";

const COLOR = /^(#[0-9a-f]{3,8}|[a-z]{3,30})$/i;
/** The most cells of one shape. */
const MOST_CELLS = 20_000;

/**
 * Draw the shapes of a seat; whatever makes no sense is left out.
 * @param {CanvasRenderingContext2D} context
 * @param {Track} track
 * @param {any[]} shapes
 * @param {string} own the colour of those that name none
 * @param {number} pixel
 */
export function drawShapes(context, track, shapes, own, pixel) {
  for (const shape of shapes) {
    const color = typeof shape?.color === "string" && COLOR.test(shape.color) ? shape.color : own;
    context.strokeStyle = context.fillStyle = own;
    context.strokeStyle = context.fillStyle = color;
    context.lineWidth = 1.5 * pixel;
    const [from, to, at] = [shape?.start, shape?.end, shape?.at].map((point) => (isPoint(point) ? track.place(point[0], point[1]) : null));
    if (shape?.shape === "line" && from && to) {
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
    } else if (shape?.shape === "rect" && from && to) {
      context.strokeRect(Math.min(from[0], to[0]) - 0.5, Math.min(from[1], to[1]) - 0.5, Math.abs(to[0] - from[0]) + 1, Math.abs(to[1] - from[1]) + 1);
    } else if (shape?.shape === "text" && at) {
      context.save();
      context.translate(...at);
      context.scale(pixel, pixel);
      context.font = "12px system-ui, sans-serif";
      context.fillText(plain(shape.text, 100), 0, 0);
      context.restore();
    } else if (shape?.shape === "cells" && Array.isArray(shape.cells)) {
      context.globalAlpha = 0.35;
      for (const cell of shape.cells.slice(0, MOST_CELLS)) {
        if (!isPoint(cell)) continue;
        const [u, v] = track.place(cell[0], cell[1]);
        context.fillRect(u - 0.5, v - 0.5, 1, 1);
      }
      context.globalAlpha = 1;
    }
  }
}

/** @param {unknown} value @returns {value is [number, number]} */
function isPoint(value) {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "number" && Math.abs(part) < 1e6);
}
