// How one chart of numbers is drawn: series that share a scale, bands of colours, marks of events.

import { named } from "./palette.js";

/**
 * @typedef {{ low: Float64Array, high: Float64Array, mean: Float64Array | null, top: number }} Columns the least and the greatest value of each column,
 *   their mean where a column stands for many steps, and the greatest of all
 */

/** From how many steps in a column of pixels on a line shows their mean, over their range in a light colour. */
const DENSE = 8;

/**
 * The values of a series, by column: where many steps share a column of pixels, their least and greatest.
 * @param {Strip} strip
 * @param {number} count the number of values
 * @param {number} columns
 * @returns {Columns}
 */
function columnsOf(strip, count, columns) {
  const low = new Float64Array(columns).fill(Infinity);
  const high = new Float64Array(columns).fill(-Infinity);
  const mean = count > DENSE * columns ? new Float64Array(columns) : null;
  const counts = new Float64Array(mean ? columns : 0);
  let top = 0;
  for (let turn = 0; turn < count; turn += 1) {
    const value = strip.value(turn);
    if (!Number.isFinite(value)) continue;
    const at = Math.min(columns - 1, Math.floor((turn * columns) / count));
    if (value < low[at]) low[at] = value;
    if (value > high[at]) high[at] = value;
    if (value > top) top = value;
    if (!mean) continue;
    mean[at] += value;
    counts[at] += 1;
  }
  mean?.forEach((sum, at) => {
    mean[at] = sum / counts[at];
  });
  return { low, high, mean, top };
}

/**
 * The colours of a band, by column; "" where there is none.
 * @param {Strip} strip
 * @param {number} count
 * @param {number} columns
 */
function bandOf({ band }, count, columns) {
  return Array.from({ length: columns }, (_, at) => band?.(Math.floor((at * count) / columns)) ?? "");
}

/**
 * Draw series on one scale, over a whole canvas; return the greatest value that is in sight.
 *
 * Without a series, a band fills the canvas. Beside a series it colours what is below that series, so that both are read at once.
 * @param {CanvasRenderingContext2D} context
 * @param {{ width: number, height: number }} size
 * @param {Strip[]} strips
 * @param {number} steps
 * @param {Palette} colors
 */
export function drawChart(context, { width, height }, strips, steps, colors) {
  context.clearRect(0, 0, width, height);
  const bars = strips.find((strip) => strip.bars)?.bars?.();
  const count = bars ?? steps + 1;
  const columns = Math.max(1, Math.min(width, count));
  const banded = strips.find((strip) => strip.band);
  const band = banded ? bandOf(banded, count, columns) : null;
  const lines = strips.filter((strip) => !strip.band);
  if (band && !lines.length) {
    drawBand(context, band, { width, height }, height, colors);
    return 0;
  }
  const series = lines.map((strip) => ({ strip, color: named(colors, strip.color), ...columnsOf(strip, count, columns) }));
  const top = Math.max(0, ...series.map((one) => one.top));
  // A limit is in sight where the numbers come near it.
  const limits = lines.flatMap(({ limit }) => (limit !== undefined && top > limit / 4 ? [limit] : []));
  const shown = Math.max(top, ...limits) || 1;
  const y = (/** @type {number} */ value) => height - 1 - (value / shown) * (height - 3);
  const wide = Math.max(1, width / columns - (width / columns > 3 ? 1 : 0));
  if (bars !== undefined) drawBars(context, series, columns, (at) => (at * width) / columns, wide, y, height);
  else for (const one of series) drawLine(context, one, columns, width / columns, y, height, band && ((at) => (band[at] ? named(colors, band[at]) : "")));
  if (band) drawBand(context, band, { width, height }, height / 8, colors);
  context.fillStyle = colors.warn;
  // What lost a match is never narrower than can be seen.
  for (const { faults, value } of lines) {
    for (const turn of faults?.() ?? []) context.fillRect(Math.min((turn * width) / count, width - 3), y(value(turn)), Math.max(3, wide), height);
  }
  for (const limit of new Set(limits)) for (let x = 0; x < width; x += 8) context.fillRect(x, y(limit), 4, 1.5);
  return shown;
}

/**
 * Bars from the ground; in each column the higher ones stand behind the lower ones, so that all are seen.
 * @param {CanvasRenderingContext2D} context
 * @param {(Columns & { color: string })[]} series
 * @param {number} columns
 * @param {(at: number) => number} x
 * @param {number} wide
 * @param {(value: number) => number} y
 * @param {number} height
 */
function drawBars(context, series, columns, x, wide, y, height) {
  for (let at = 0; at < columns; at += 1) {
    const there = series.length > 1 ? [...series].sort((one, other) => other.high[at] - one.high[at]) : series;
    for (const { high, low, color } of there) {
      if (high[at] < low[at]) continue;
      context.fillStyle = color;
      context.fillRect(x(at), y(high[at]), wide, height - y(high[at]));
    }
  }
}

/**
 * A line whose columns are joined to those beside them; what is below it may be shaded.
 * @param {CanvasRenderingContext2D} context
 * @param {Columns & { color: string }} one
 * @param {number} columns
 * @param {number} step
 * @param {(value: number) => number} y
 * @param {number} height
 * @param {((at: number) => string) | null} shade
 */
function drawLine(context, one, columns, step, y, height, shade) {
  let { low, high } = one;
  const { color, mean } = one;
  if (mean && !shade) {
    context.globalAlpha = 0.3;
    context.fillStyle = color;
    for (let at = 0; at < columns; at += 1) if (high[at] >= low[at]) context.fillRect(at * step, y(high[at]), Math.max(1, step), Math.max(1, y(low[at]) - y(high[at])));
    context.globalAlpha = 1;
    low = high = mean;
  }
  if (shade) drawShade(context, high, (at) => shade(at) || color, step, y, height);
  let before = NaN;
  for (let at = 0; at < columns; at += 1) {
    if (!(high[at] >= low[at])) continue;
    const [from, to] = Number.isNaN(before) ? [high[at], low[at]] : [Math.max(high[at], before), Math.min(low[at], before)];
    context.fillStyle = shade?.(at) || color;
    context.fillRect(at * step, y(from), Math.max(1.5, step), Math.max(1.5, y(to) - y(from)));
    before = (low[at] + high[at]) / 2;
  }
}

/**
 * What is below a line, as one area for each stretch of a colour: areas beside each other would show their edges.
 * @param {CanvasRenderingContext2D} context
 * @param {Float64Array} high
 * @param {(at: number) => string} colorAt
 * @param {number} step
 * @param {(value: number) => number} y
 * @param {number} height
 */
function drawShade(context, high, colorAt, step, y, height) {
  context.globalAlpha = 0.3;
  for (let at = 0; at < high.length; ) {
    const [first, color] = [at, colorAt(at)];
    context.beginPath();
    context.moveTo(first * step, height);
    for (; at < high.length && colorAt(at) === color; at += 1) {
      const top = high[at] === -Infinity ? height : y(high[at]);
      context.lineTo(at * step, top);
      context.lineTo((at + 1) * step, top);
    }
    context.lineTo(at * step, height);
    context.fillStyle = color;
    context.fill();
  }
  context.globalAlpha = 1;
}

/**
 * A band along the ground: it is seen where the values beside it are small, too.
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} band
 * @param {{ width: number, height: number }} size
 * @param {number} high
 * @param {Palette} colors
 */
function drawBand(context, band, { width, height }, high, colors) {
  const place = (/** @type {number} */ at) => Math.floor((at * width) / band.length);
  band.forEach((color, at) => {
    if (!color) return;
    context.fillStyle = named(colors, color);
    context.fillRect(place(at), height - high, Math.max(1, place(at + 1) - place(at)), high);
  });
}

/**
 * Marks where something happened. Events of a kind that share a column of pixels are one mark.
 * @param {CanvasRenderingContext2D} context
 * @param {{ width: number, height: number }} size
 * @param {GameEvent[]} events
 * @param {number} steps
 * @param {(kind: string) => EventLook} lookOf
 * @param {Palette} colors
 */
export function drawEvents(context, { width, height }, events, steps, lookOf, colors) {
  context.clearRect(0, 0, width, height);
  /** @type {Map<string, Uint8Array>} */
  const drawn = new Map();
  for (const { turn, kind } of events) {
    let columns = drawn.get(kind);
    if (!columns) drawn.set(kind, (columns = new Uint8Array(width + 1)));
    const x = Math.floor((turn * (width - 2)) / Math.max(1, steps));
    if (columns[x]) continue;
    columns[x] = 1;
    const { color, from, to } = lookOf(kind);
    context.fillStyle = named(colors, color);
    context.fillRect(x, from * height, 2, (to - from) * height);
  }
}
