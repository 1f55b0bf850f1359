// The timelines: a stack of charts over the whole match, one for each theme. All have the same axis, that of the scrubber.

import { drawChart, drawEvents } from "./charts.js";
import { el, number, plain, rememberFold } from "../kit/dom.js";
import { inFrame, nextFrame } from "../kit/frames.js";
import { named, palette } from "./palette.js";
import { fitted } from "../kit/pixels.js";

/** The looks of the events of every game. @type {Record<string, EventLook>} */
const LOOKS = { warning: { color: "warn", from: 0.5, to: 1 }, fault: { color: "warn", from: 0, to: 1 } };
const PLAIN = { color: "plain", from: 0.4, to: 0.8 };
/** How long charts may be drawn at a stretch, in milliseconds: the page must stay quick. */
const SLICE_MS = 6;
/** Charts that take long are drawn again after this many times as long as they take. */
const REST = 8;
/** How often the numbers beside the charts change while steps go by, in milliseconds: more can't be read. */
const NUMBERS_MS = 120;
const MOST_NAMED = 8;
const MOST_TOLD = 3;

/**
 * @typedef {{ title: string, strips: Strip[], details: HTMLDetailsElement, canvas: HTMLCanvasElement, plot: HTMLElement, now: HTMLElement,
 *   seen: HTMLElement, range: HTMLElement, values: { strip: Strip, dot: HTMLElement, text: HTMLElement }[], isStale: boolean }} Chart
 */

/**
 * The times of all seats, and the numbers of the game.
 * @param {import("./recording.js").Recording} recording
 * @returns {Strip[]}
 */
export function stripsOf(recording) {
  /** @type {Strip[]} */
  const times = recording.seats.map((seat) => ({
    // A letter says little.
    name: seat.length > 1 ? seat : plain(recording.head?.players[seat]?.name, 24) || seat,
    chart: recording.head?.clock?.kind === "cpu" ? "CPU time" : "time",
    unit: "ms",
    color: recording.display?.seatColors?.[seat] ?? "plain",
    value: (turn) => recording.us(seat, turn) / 1000,
    bars: () => recording.asked,
    faults: () => recording.faults.filter(({ faults }) => faults[seat]).map(({ turn }) => turn),
    limit: limitOf(recording.head, seat),
    isKnown: () => recording.asked > 0,
  }));
  return [...times, ...(recording.track?.strips() ?? [])];
}

/**
 * The limit of a move in milliseconds; a person may have a clock of their own.
 * @param {Head | null} head
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
    this.onSeek = onSeek;
    this.turn = 0;
    this.drawing = () => this.paint();
    /** When the charts were drawn last, and how long that took. */
    this.drawnAt = 0;
    this.cost = 0;
    this.restTimer = 0;
    this.numbersAt = 0;
    this.numbersTimer = 0;
    /** The step under the pointer; -1 for none. */
    this.pointed = -1;
    /** @type {Map<string, Strip[]>} */
    const themes = new Map();
    for (const strip of stripsOf(recording)) themes.set(strip.chart ?? strip.name, [...(themes.get(strip.chart ?? strip.name) ?? []), strip]);
    /** @type {Chart[]} */
    this.charts = [...themes, /** @type {[string, Strip[]]} */ (["events", []])].map(([title, strips]) => this.chart(title, strips));
    this.tip = el("div", { class: "tip", "aria-hidden": "true", hidden: true });
    place.replaceChildren(...this.charts.map(({ details }) => details), this.tip);
    this.observer = new ResizeObserver(() => this.refresh());
    this.observer.observe(place);
  }

  /** @param {string} title @param {Strip[]} strips @returns {Chart} */
  chart(title, strips) {
    const isFlat = strips.every((strip) => strip.band);
    const canvas = el("canvas", { class: isFlat ? "strip flat" : "strip", "aria-hidden": "true" });
    const [now, seen, range] = [el("i", { class: "now" }), el("i", { class: "seen", hidden: true }), el("span", { class: "range" })];
    const plot = el("div", { class: "plot" }, canvas, seen, now);
    const values = strips.slice(0, MOST_NAMED).map((strip) => ({ strip, dot: el("i", { class: "dot" }), text: el("span", { class: "value" }) }));
    const words = values.map(({ strip, dot, text }) => el("span", { class: strip.name === title ? "series whole" : "series" }, dot, strip.name === title ? null : el("span", { class: "series-name" }, strip.name), text));
    const details = el("details", { class: "chart" }, el("summary", {}, el("span", { class: "chart-title" }, title), " ", ...words, range), plot);
    rememberFold(details, `chart.${title}`, true);
    details.addEventListener("toggle", () => this.refresh());
    this.listen(plot, strips);
    return { title, strips, details, canvas, plot, now, seen, range, values, isStale: true };
  }

  /** A click or a drag goes to a step, the pointer tells one. @param {HTMLElement} plot @param {Strip[]} strips */
  listen(plot, strips) {
    const turnAt = (/** @type {PointerEvent} */ event) => {
      const { left, width } = plot.getBoundingClientRect();
      return Math.max(0, Math.min(this.recording.steps, Math.round(((event.clientX - left) / Math.max(1, width)) * this.recording.steps)));
    };
    plot.addEventListener("pointerdown", (event) => {
      plot.setPointerCapture(event.pointerId);
      this.onSeek(turnAt(event));
    });
    plot.addEventListener("pointermove", (event) => {
      if (event.buttons) this.onSeek(turnAt(event));
      this.pointAt(turnAt(event), strips, event);
    });
    for (const name of /** @type {const} */ (["pointerleave", "pointercancel"])) plot.addEventListener(name, () => this.pointAt(-1, strips, null));
  }

  /** There is more to show, or it looks otherwise. Long matches are not drawn again at every word. */
  refresh() {
    if (this.restTimer) return;
    const wait = this.drawnAt + REST * this.cost - performance.now();
    const mark = () => {
      this.restTimer = 0;
      for (const chart of this.charts) chart.isStale = true;
      this.cost = 0;
      this.request();
    };
    if (wait > 0 && this.cost > 2) this.restTimer = window.setTimeout(mark, wait);
    else mark();
  }

  /** @param {number} turn */
  go(turn) {
    this.turn = turn;
    this.request();
  }

  request() {
    inFrame(this.drawing);
  }

  paint() {
    const begun = performance.now();
    const colors = palette();
    for (const chart of this.charts) {
      if (!chart.isStale) continue;
      if (performance.now() - begun > SLICE_MS) {
        // The rest comes with the next frame.
        nextFrame(() => this.request());
        break;
      }
      this.draw(chart, colors);
    }
    for (const { plot, now, details } of this.charts) if (details.open) now.style.transform = `translateX(${this.x(this.turn, plot)}px)`;
    this.tellNumbers();
  }

  /** Where a position stands in a plot, in pixels of the page. @param {number} turn @param {HTMLElement} plot */
  x(turn, plot) {
    return (turn / Math.max(1, this.recording.steps)) * Math.max(0, widthOf(plot) - 1);
  }

  /** @param {Chart} chart @param {Palette} colors */
  draw(chart, colors) {
    const { canvas, strips, details, plot, range, values } = chart;
    const begun = performance.now();
    const { recording } = this;
    chart.isStale = false;
    const known = strips.filter((strip) => strip.isKnown());
    details.hidden = strips.length > 0 && !known.length;
    if (details.hidden || !details.open) return;
    widths.set(plot, plot.clientWidth);
    const { wide, high } = fitted(canvas);
    if (!wide || !high) return;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    for (const { strip, dot } of values) {
      dot.hidden = Boolean(strip.band);
      dot.style.background = named(colors, strip.color);
      dot.parentElement?.classList.toggle("unknown", !strip.isKnown());
    }
    if (strips.length) {
      const top = drawChart(context, canvas, known, recording.steps, colors);
      const unit = known.find((strip) => !strip.band)?.unit ?? "";
      range.textContent = top ? `0–${digits(top)} ${unit}` : "";
    } else {
      const looks = { ...recording.display?.eventLooks, ...LOOKS };
      drawEvents(context, canvas, recording.events, recording.steps, (kind) => (Object.hasOwn(looks, kind) ? looks[kind] : PLAIN), colors);
      range.textContent = number(recording.events.length);
    }
    this.drawnAt = performance.now();
    this.cost += this.drawnAt - begun;
  }

  /** The numbers of this step, a few times a second. */
  tellNumbers() {
    if (this.numbersTimer) return;
    const wait = this.numbersAt + NUMBERS_MS - performance.now();
    if (wait > 0) {
      this.numbersTimer = window.setTimeout(() => {
        this.numbersTimer = 0;
        this.tellNumbers();
      }, wait);
      return;
    }
    this.numbersAt = performance.now();
    for (const { values, details } of this.charts) {
      if (details.hidden) continue;
      for (const { strip, text } of values) text.textContent = valueOf(strip, this.turn);
    }
  }

  /**
   * The step under the pointer, in all charts, with its numbers in words.
   * @param {number} turn
   * @param {Strip[]} strips
   * @param {PointerEvent | null} event
   */
  pointAt(turn, strips, event) {
    this.pointed = turn;
    this.tip.hidden = turn < 0;
    for (const { seen, plot } of this.charts) {
      seen.hidden = turn < 0;
      if (turn >= 0) seen.style.transform = `translateX(${this.x(turn, plot)}px)`;
    }
    if (turn < 0 || !event) return;
    const rows = strips.filter((strip) => strip.isKnown()).slice(0, MOST_NAMED).map((strip) => el("span", {}, `${strip.name}: ${valueOf(strip, turn)} ${strip.text ? "" : strip.unit}`));
    this.tip.replaceChildren(el("strong", {}, `step ${number(turn)}`), ...rows, ...this.happened(turn).map((text) => el("span", {}, text)));
    const { innerWidth, innerHeight } = globalThis;
    const { offsetWidth, offsetHeight } = this.tip;
    this.tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - offsetWidth - 4))}px`;
    this.tip.style.top = `${event.clientY + 18 + offsetHeight > innerHeight ? event.clientY - offsetHeight - 10 : event.clientY + 18}px`;
  }

  /** What happened in the step before a position; near it if a step is less than a pixel. @param {number} turn */
  happened(turn) {
    const { events, minorKinds, steps } = this.recording;
    const near = Math.max(1, Math.round((3 * steps) / Math.max(1, widthOf(this.charts[0].plot))));
    const found = [];
    for (let at = this.recording.firstEvent(turn - near); at < events.length && events[at].turn < turn + near && found.length < MOST_TOLD; at += 1) {
      if (!minorKinds.includes(events[at].kind)) found.push(`${number(events[at].turn)}: ${plain(events[at].text, 90)}`);
    }
    return found;
  }
}

/** The widths of plots, so that they needn't be measured in every frame. @type {WeakMap<HTMLElement, number>} */
const widths = new WeakMap();

/** @param {HTMLElement} plot */
function widthOf(plot) {
  return widths.get(plot) ?? plot.clientWidth;
}

/** @param {number} value */
function digits(value) {
  return number(value, value < 100 && !Number.isInteger(value) ? 1 : 0);
}

/** The value of a series at a position; a time is that of its step, at the end that of the last one. @param {Strip} strip @param {number} turn */
function valueOf(strip, turn) {
  const asked = strip.bars ? Math.min(turn, strip.bars() - 1) : turn;
  if (strip.text) return strip.text(asked);
  const found = asked < 0 ? NaN : strip.value(asked);
  return Number.isFinite(found) ? digits(found) : "–";
}
