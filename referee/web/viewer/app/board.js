// The board on its canvas: zoom, pan, the pointer, what bots draw and say. What the pieces look like is the game's matter.

import { plain } from "../kit/dom.js";
import { named, palette } from "./palette.js";

const MOST_ZOOM = 60;
/** What is left free around the board, in pixels of the page. */
const MARGIN = 10;
/** For how many steps a remark stays in sight. */
const SAID_STEPS = 20;
const COLOR = /^(#[0-9a-f]{3,8}|[a-z]{3,30})$/i;

/**
 * @typedef {object} Hand
 * @property {(cell: import("../kit/types.js").Cell) => boolean} grab
 * @property {(cell: import("../kit/types.js").Cell) => void} drag
 * @property {() => void} drop
 * @property {(context: CanvasRenderingContext2D, frame: import("../kit/types.js").Frame) => void} draw
 */

export class Board {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./recording.js").Recording} recording
   * @param {(cell: import("../kit/types.js").Cell | null) => void} onPointer
   */
  constructor(canvas, recording, onPointer) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.recording = recording;
    this.onPointer = onPointer;
    /** What a click means to a player at the board. @type {((cell: import("../kit/types.js").Cell, event: MouseEvent) => void) | null} */
    this.onClick = null;
    /** The hand of a player at the board: it takes hold of something, draws it along, lets go; and what it draws itself. @type {Hand | null} */
    this.hand = null;
    /** The pointer that holds something. */
    this.holds = -1;
    this.turn = 0;
    /** The position with its fraction while steps are played; equal to `turn` otherwise. */
    this.exact = 0;
    this.zoom = 1;
    /** The middle of the view, in cells. */
    this.center = [0, 0];
    this.trail = 200;
    this.ahead = true;
    /** Whose drawings and remarks are shown. @type {Set<string>} */
    this.overlays = new Set();
    /** @type {import("../kit/types.js").Cell | null} */
    this.pointer = null;
    /** @type {import("../kit/types.js").Preview | null} */
    this.preview = null;
    this.isDue = false;
    /** @type {Map<number, { x: number, y: number }>} */
    this.touches = new Map();
    this.hasDragged = false;
    /** Ends everything that this board listens to. */
    this.end = new AbortController();
    this.observer = new ResizeObserver(() => this.request());
    this.observer.observe(canvas);
    this.listen();
  }

  /** @returns {import("../kit/types.js").Track} */
  get track() {
    return /** @type {import("../kit/types.js").Track} */ (this.recording.track);
  }

  /** Another board has the canvas from now on. */
  close() {
    this.end.abort();
    this.observer.disconnect();
  }

  /** Draw again with the next frame of the screen. */
  request() {
    if (this.isDue || this.end.signal.aborted) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      if (!this.end.signal.aborted) this.paint();
    });
  }

  reset() {
    this.zoom = 1;
    this.center = [this.track.width / 2, this.track.height / 2];
    this.request();
  }

  /** Pixels of the page for one cell. */
  get scale() {
    const { clientWidth, clientHeight } = this.canvas;
    return this.zoom * Math.min((clientWidth - 2 * MARGIN) / this.track.width, (clientHeight - 2 * MARGIN) / this.track.height);
  }

  /** @param {number} x @param {number} y pixels of the page, from the canvas's corner */
  toBoard(x, y) {
    const { clientWidth, clientHeight } = this.canvas;
    return [this.center[0] + (x - clientWidth / 2) / this.scale, this.center[1] + (y - clientHeight / 2) / this.scale];
  }

  /** @param {number} factor @param {number} x @param {number} y */
  zoomAt(factor, x, y) {
    const [u, v] = this.toBoard(x, y);
    this.zoom = Math.max(1, Math.min(MOST_ZOOM, this.zoom * factor));
    const [newU, newV] = this.toBoard(x, y);
    this.move(u - newU, v - newV);
  }

  /** @param {number} du @param {number} dv cells */
  move(du, dv) {
    const { width, height } = this.track;
    const spare = 1 - 1 / this.zoom;
    const clamp = (/** @type {number} */ value, /** @type {number} */ size) =>
      Math.max(size / 2 - (size / 2) * spare, Math.min(size / 2 + (size / 2) * spare, value));
    this.center = [clamp(this.center[0] + du, width), clamp(this.center[1] + dv, height)];
    this.request();
  }

  listen() {
    const { canvas } = this;
    const { signal } = this.end;
    canvas.addEventListener("wheel", (event) => {
      if (!this.recording.track) return;
      event.preventDefault();
      this.zoomAt(Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) / 300), event.offsetX, event.offsetY);
    }, { passive: false, signal });
    canvas.addEventListener("pointerdown", (event) => {
      this.touches.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      if (this.touches.size === 1) this.hasDragged = false;
      if (this.touches.size === 1 && this.recording.track && this.hand?.grab(this.cellAt(event.offsetX, event.offsetY))) this.holds = event.pointerId;
      canvas.setPointerCapture(event.pointerId);
    }, { signal });
    canvas.addEventListener("pointermove", (event) => this.pointerMoved(event), { signal });
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      canvas.addEventListener(name, (event) => {
        this.touches.delete(event.pointerId);
        if (this.holds !== event.pointerId) return;
        this.holds = -1;
        this.hand?.drop();
      }, { signal });
    }
    canvas.addEventListener("pointerleave", () => this.pointAt(null), { signal });
    canvas.addEventListener("dblclick", () => {
      if (this.recording.track && !this.onClick) this.reset();
    }, { signal });
    canvas.addEventListener("click", (event) => {
      if (this.recording.track && this.onClick && !this.hasDragged) this.onClick(this.cellAt(event.offsetX, event.offsetY), event);
    }, { signal });
  }

  /** @param {number} x @param {number} y */
  cellAt(x, y) {
    const [u, v] = this.toBoard(x, y);
    return this.track.locate(u, v);
  }

  /** @param {PointerEvent} event */
  pointerMoved(event) {
    if (!this.recording.track) return;
    const before = this.touches.get(event.pointerId);
    if (before) {
      const now = { x: event.offsetX, y: event.offsetY };
      if (this.holds === event.pointerId) {
        this.hasDragged ||= Math.hypot(now.x - before.x, now.y - before.y) > 4;
        if (this.hasDragged) this.hand?.drag(this.cellAt(now.x, now.y));
        return;
      }
      if (this.touches.size === 2) this.pinch(event.pointerId, before, now);
      else if (this.hasDragged || Math.hypot(now.x - before.x, now.y - before.y) > 4) {
        this.hasDragged = true;
        this.move((before.x - now.x) / this.scale, (before.y - now.y) / this.scale);
      } else return;
      this.touches.set(event.pointerId, now);
      return;
    }
    const cell = this.cellAt(event.offsetX, event.offsetY);
    const { width, height } = this.track;
    this.pointAt(cell.x >= 0 && cell.y >= 0 && cell.x < width && cell.y < height ? cell : null);
  }

  /** @param {number} id @param {{ x: number, y: number }} before @param {{ x: number, y: number }} now */
  pinch(id, before, now) {
    this.hasDragged = true;
    const other = [...this.touches].find(([pointer]) => pointer !== id)?.[1] ?? now;
    const apart = (/** @type {{ x: number, y: number }} */ place) => Math.max(1, Math.hypot(place.x - other.x, place.y - other.y));
    this.zoomAt(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
  }

  /** @param {import("../kit/types.js").Cell | null} cell */
  pointAt(cell) {
    if (cell?.x === this.pointer?.x && cell?.y === this.pointer?.y) return;
    this.pointer = cell;
    this.onPointer(cell);
    this.request();
  }

  /** Draw everything now. */
  paint() {
    const { canvas, context, recording } = this;
    const dense = globalThis.devicePixelRatio || 1;
    const [wide, high] = [Math.round(canvas.clientWidth * dense), Math.round(canvas.clientHeight * dense)];
    if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
    const colors = palette();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colors.paper;
    context.fillRect(0, 0, wide, high);
    if (!recording.track || !wide || !high) return;
    const { track, turn } = this;
    const scale = this.scale * dense;
    context.setTransform(scale, 0, 0, scale, wide / 2 - this.center[0] * scale, high / 2 - this.center[1] * scale);
    const pixel = 1 / this.scale;
    context.fillStyle = colors.board;
    context.fillRect(0, 0, track.width, track.height);
    this.grid(pixel, colors);
    context.save();
    context.beginPath();
    // Pieces at the edge are whole: there is a margin for them.
    context.rect(-MARGIN * pixel, -MARGIN * pixel, track.width + 2 * MARGIN * pixel, track.height + 2 * MARGIN * pixel);
    context.clip();
    const frame = { turn, pixel, palette: colors, trail: this.trail, ahead: this.ahead, pointer: this.pointer, preview: this.preview };
    track.draw(context, frame);
    this.hand?.draw(context, frame);
    for (const seat of this.overlays) this.overlay(seat, pixel, colors);
    context.restore();
    context.strokeStyle = colors.ink;
    context.lineWidth = pixel;
    context.strokeRect(-pixel / 2, -pixel / 2, track.width + pixel, track.height + pixel);
    for (const seat of this.overlays) this.speech(seat, pixel, colors);
  }

  /** Lines between cells, or every tenth, where there is room for them. @param {number} pixel @param {import("../kit/types.js").Palette} colors */
  grid(pixel, colors) {
    const { context, track } = this;
    const every = pixel < 0.12 ? 1 : pixel < 0.6 ? 10 : 50;
    context.strokeStyle = colors.grid;
    context.lineWidth = pixel;
    context.beginPath();
    for (let x = every; x < track.width; x += every) {
      context.moveTo(x, 0);
      context.lineTo(x, track.height);
    }
    for (let y = every; y < track.height; y += every) {
      context.moveTo(0, track.height - y);
      context.lineTo(track.width, track.height - y);
    }
    context.stroke();
  }

  /** @param {string} seat @param {number} pixel @param {import("../kit/types.js").Palette} colors */
  overlay(seat, pixel, colors) {
    const { context, track } = this;
    const own = named(colors, this.recording.display?.seatColors?.[seat] ?? "accent");
    for (const shape of this.recording.shapes(seat, this.turn)) {
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
        for (const cell of shape.cells.slice(0, 20_000)) {
          if (!isPoint(cell)) continue;
          const [u, v] = track.place(cell[0], cell[1]);
          context.fillRect(u - 0.5, v - 0.5, 1, 1);
        }
        context.globalAlpha = 1;
      }
    }
  }

  /** What a seat said, in a bubble beside it. @param {string} seat @param {number} pixel @param {import("../kit/types.js").Palette} colors */
  speech(seat, pixel, colors) {
    const said = this.recording.lastSaid(seat, this.turn, SAID_STEPS);
    const place = said && this.track.anchor(seat, this.turn);
    if (!said || !place) return;
    const { context } = this;
    context.save();
    context.font = "13px system-ui, sans-serif";
    const text = said.text.length > 48 ? `${said.text.slice(0, 47)}…` : said.text;
    const wide = context.measureText(text).width + 14;
    const [left, right] = [place[0] + 12 * pixel, place[0] - (wide + 12) * pixel];
    const beside = left + wide * pixel > this.track.width && right > 0 ? right : left;
    const u = Math.max(0, Math.min(beside, this.track.width - wide * pixel));
    context.translate(u, Math.max(24 * pixel, place[1] - 10 * pixel));
    context.scale(pixel, pixel);
    context.globalAlpha = 0.92;
    context.fillStyle = colors.paper;
    context.strokeStyle = named(colors, this.recording.display?.seatColors?.[seat] ?? "plain");
    context.lineWidth = 1.5;
    context.beginPath();
    context.roundRect(0, -16, wide, 22, 6);
    context.fill();
    context.stroke();
    context.globalAlpha = 1;
    context.fillStyle = colors.ink;
    context.fillText(text, 7, 0);
    context.restore();
  }
}

/** @param {unknown} value @returns {value is [number, number]} */
function isPoint(value) {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "number" && Math.abs(part) < 1e6);
}
