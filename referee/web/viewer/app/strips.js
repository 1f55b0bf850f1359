// Numbers over the whole game, drawn on the axis of the scrubber.

import { el, number } from "../kit/dom.js";
import { named, palette } from "./palette.js";

const HEIGHT = 34;
/** The looks of the events of every game. @type {Record<string, import("../kit/types.js").EventLook>} */
const LOOKS = { warning: { color: "warn", from: 0.5, to: 1 }, fault: { color: "orange", from: 0, to: 1 } };
const PLAIN = { color: "plain", from: 0.4, to: 0.8 };

/**
 * The strips of milliseconds billed, one for each seat, and those of the game.
 * @param {import("./recording.js").Recording} recording
 * @returns {import("../kit/types.js").Strip[]}
 */
export function stripsOf(recording) {
  /** @type {import("../kit/types.js").Strip[]} */
  const times = recording.seats.map((seat) => ({
    name: `${seat} time`,
    unit: "ms",
    color: recording.display?.seatColors?.[seat] ?? "plain",
    value: (turn) => recording.billed[seat].data[turn] / 1000,
    bars: true,
    limit: limitOf(recording.head, seat),
    isKnown: () => recording.steps > 0,
  }));
  return [...times, ...(recording.track?.strips() ?? [])];
}

/**
 * The limit of a move in milliseconds; a person may have a clock of their own.
 * @param {import("../kit/types.js").Head | null} head
 * @param {string} seat
 */
function limitOf(head, seat) {
  const limit = (head?.players[seat]?.clock ?? head?.clock)?.move;
  return typeof limit === "number" ? limit * 1000 : undefined;
}

export class Strips {
  /**
   * @param {HTMLElement} place
   * @param {import("./recording.js").Recording} recording
   * @param {(turn: number) => void} onSeek
   */
  constructor(place, recording, onSeek) {
    this.recording = recording;
    this.turn = 0;
    this.isDue = false;
    this.isStale = true;
    this.strips = stripsOf(recording);
    this.rows = this.strips.map((strip) => {
      const canvas = el("canvas", { class: "strip", "aria-hidden": "true" });
      const value = el("output", { class: "strip-value" });
      const name = el("span", { class: "strip-name" }, strip.name);
      return { strip, canvas, value, buffer: document.createElement("canvas"), row: el("div", { class: "strip-row" }, el("div", { class: "strip-label" }, name, value), canvas) };
    });
    this.eventsCanvas = el("canvas", { class: "strip strip-events", "aria-hidden": "true" });
    this.eventsBuffer = document.createElement("canvas");
    const eventsRow = el("div", { class: "strip-row" }, el("div", { class: "strip-label" }, el("span", { class: "strip-name" }, "events")), this.eventsCanvas);
    place.replaceChildren(...this.rows.map(({ row }) => row), eventsRow);
    for (const canvas of [...this.rows.map((row) => row.canvas), this.eventsCanvas]) {
      const seek = (/** @type {PointerEvent} */ event) => {
        onSeek(Math.round((event.offsetX / Math.max(1, canvas.clientWidth)) * this.recording.steps));
      };
      canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        seek(event);
      });
      canvas.addEventListener("pointermove", (event) => event.buttons && seek(event));
      new ResizeObserver(() => this.refresh()).observe(canvas);
    }
  }

  /** There is more to show, or it looks otherwise. */
  refresh() {
    this.isStale = true;
    this.request();
  }

  /** @param {number} turn */
  go(turn) {
    this.turn = turn;
    this.request();
  }

  request() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.paint();
    });
  }

  paint() {
    const dense = globalThis.devicePixelRatio || 1;
    const colors = palette();
    for (const { strip, canvas, buffer, value, row } of this.rows) {
      row.hidden = !strip.isKnown();
      if (row.hidden) continue;
      if (this.isStale) {
        resize(buffer, canvas, dense);
        this.chart(strip, buffer, colors);
      }
      this.show(canvas, buffer, dense, colors);
      const asked = strip.bars ? this.turn - 1 : this.turn;
      const found = strip.value(asked);
      const limit = strip.bars && strip.limit !== undefined ? ` of ${number(strip.limit)}` : "";
      value.textContent = strip.text ? strip.text(asked) : `${Number.isFinite(found) ? number(found, found < 100 && !Number.isInteger(found) ? 1 : 0) : "–"}${limit} ${strip.unit}`;
    }
    if (this.isStale) {
      resize(this.eventsBuffer, this.eventsCanvas, dense);
      this.eventMarks(this.eventsBuffer, colors);
    }
    this.show(this.eventsCanvas, this.eventsBuffer, dense, colors);
    this.isStale = false;
  }

  /** @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} buffer @param {number} dense @param {import("../kit/types.js").Palette} colors */
  show(canvas, buffer, dense, colors) {
    resize(canvas, canvas, dense);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (buffer.width && buffer.height) context.drawImage(buffer, 0, 0);
    const x = (this.turn / Math.max(1, this.recording.steps)) * (canvas.width - dense);
    context.fillStyle = colors.ink;
    context.fillRect(x, 0, dense, canvas.height);
  }

  /**
   * One line of numbers; where many steps share a column of pixels, their least and greatest.
   * @param {import("../kit/types.js").Strip} strip
   * @param {HTMLCanvasElement} buffer
   * @param {import("../kit/types.js").Palette} colors
   */
  chart(strip, buffer, colors) {
    const context = /** @type {CanvasRenderingContext2D} */ (buffer.getContext("2d"));
    const { width, height } = buffer;
    context.clearRect(0, 0, width, height);
    const count = strip.bars ? this.recording.steps : this.recording.steps + 1;
    const columns = Math.max(1, Math.min(width, count));
    if (strip.band) {
      for (let at = 0; at < columns; at += 1) {
        const color = strip.band(Math.floor((at * count) / columns));
        if (!color) continue;
        context.fillStyle = named(colors, color);
        const from = Math.floor((at * width) / columns);
        context.fillRect(from, 2, Math.max(1, Math.floor(((at + 1) * width) / columns) - from), height - 4);
      }
      return;
    }
    const low = new Float64Array(columns).fill(Infinity);
    const high = new Float64Array(columns).fill(-Infinity);
    let top = 0;
    for (let turn = 0; turn < count; turn += 1) {
      const value = strip.value(turn);
      if (!Number.isFinite(value)) continue;
      const at = Math.min(columns - 1, Math.floor((turn * columns) / count));
      if (value < low[at]) low[at] = value;
      if (value > high[at]) high[at] = value;
      if (value > top) top = value;
    }
    // The limit is in sight where the numbers come near it.
    const shown = strip.limit !== undefined && top > strip.limit / 4 ? Math.max(top, strip.limit) : top;
    const y = (/** @type {number} */ value) => height - 1 - (value / (shown || 1)) * (height - 3);
    context.fillStyle = named(colors, strip.color);
    const wide = width / columns;
    let before = NaN;
    for (let at = 0; at < columns; at += 1) {
      if (high[at] < low[at]) continue;
      if (strip.bars) context.fillRect(at * wide, y(high[at]), Math.max(1, wide - (wide > 3 ? 1 : 0)), height - y(high[at]));
      else {
        // Joined to what stands beside it.
        const [from, to] = [Math.max(high[at], Number.isNaN(before) ? -Infinity : before), Math.min(low[at], Number.isNaN(before) ? Infinity : before)];
        context.fillRect(at * wide, y(from), Math.max(1.5, wide), Math.max(1.5, y(to) - y(from)));
        before = (low[at] + high[at]) / 2;
      }
    }
    if (strip.limit !== undefined && strip.limit <= shown) {
      context.fillStyle = colors.warn;
      for (let x = 0; x < width; x += 8) context.fillRect(x, y(strip.limit), 4, 1.5);
    }
  }

  /** @param {HTMLCanvasElement} buffer @param {import("../kit/types.js").Palette} colors */
  eventMarks(buffer, colors) {
    const context = /** @type {CanvasRenderingContext2D} */ (buffer.getContext("2d"));
    context.clearRect(0, 0, buffer.width, buffer.height);
    const looks = { ...this.recording.display?.eventLooks, ...LOOKS };
    for (const { turn, kind } of this.recording.events) {
      const { color, from, to } = Object.hasOwn(looks, kind) ? looks[kind] : PLAIN;
      context.fillStyle = named(colors, color);
      const x = (turn / Math.max(1, this.recording.steps)) * (buffer.width - 2);
      context.fillRect(x, from * buffer.height, 2, (to - from) * buffer.height);
    }
  }
}

/** @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} like @param {number} dense */
function resize(canvas, like, dense) {
  const [wide, high] = [Math.round(like.clientWidth * dense), Math.round((like.clientHeight || HEIGHT) * dense)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
}
