// What stands over the board, in pixels of the page: remarks and notes, the small map of a zoomed view, how the match ended.

import { named } from "./palette.js";

const FONT = "system-ui, sans-serif";
/** The longer side of the small map. */
const MAP_SIZE = 112;
const EDGE = 8;

/**
 * @typedef {{ left: number, top: number, width: number, height: number }} Rect
 */

/** How many of some points lie in a box. @param {Rect} rect @param {[number, number][]} points @param {number} margin */
function covered({ left, top, width, height }, points, margin) {
  return points.filter(([x, y]) => x > left - margin && x < left + width + margin && y > top - margin && y < top + height + margin).length;
}

/** The share of a box that lies over another one. @param {Rect} one @param {Rect} other */
function shared(one, other) {
  const wide = Math.min(one.left + one.width, other.left + other.width) - Math.max(one.left, other.left);
  const high = Math.min(one.top + one.height, other.top + other.height) - Math.max(one.top, other.top);
  return wide > 0 && high > 0 ? (wide * high) / (one.width * one.height) : 0;
}

/**
 * The place, of several, that covers the fewest points, no box that is taken, and little of the board if that is given.
 * @param {Rect[]} places
 * @param {[number, number][]} points
 * @param {Rect[]} taken
 * @param {{ margin?: number, board?: Rect }} [more] how far the points reach, and where the board is
 */
function freest(places, points, taken, { margin = 12, board } = {}) {
  const cost = (/** @type {Rect} */ place) =>
    100 * covered(place, points, margin) + taken.filter((other) => shared(place, other)).length + (board ? 0.9 * shared(place, board) : 0);
  return places.reduce((best, place) => (cost(place) < cost(best) ? place : best));
}

/**
 * Words in a bubble beside a point, where they cover no player.
 * @param {CanvasRenderingContext2D} context
 * @param {{ wide: number, high: number }} page
 * @param {{ text: string, at: [number, number], color: string, ink: string }} words
 * @param {[number, number][]} points what must not be covered
 * @param {number} margin how far that reaches
 * @param {Rect[]} taken
 * @param {Rect | null} ending where nothing may be said
 * @param {Palette} colors
 */
export function drawWords(context, { wide, high }, { text, at: [x, y], color, ink }, points, margin, taken, ending, colors) {
  context.font = `13px ${FONT}`;
  const lines = wrapped(context, text, Math.min(wide - 18, 320));
  const width = Math.min(wide - 2, Math.max(0, ...lines.map((line) => context.measureText(line).width)) + 14);
  const height = 5 + 17 * lines.length;
  const far = Math.max(0, margin - 12);
  const [above, below] = [y - height - 12 - far, y + 12 + far];
  const places = [[x + 16, above], [x - width - 16, above], [x + 16, below], [x - width - 16, below], [x - width / 2, above - 12], [x - width / 2, below + 12], [x - width / 2, above - 38], [x - width / 2, below + 38]].map(([left, top]) => ({
    left: Math.max(1, Math.min(wide - width - 1, left)), top: Math.max(1, Math.min(high - height - 1, top)), width, height,
  }));
  const place = freest(places, points, taken, { margin });
  if (ending && shared(place, ending)) return;
  taken.push(place);
  bubble(context, place, color, 6, 0.95, colors);
  context.fillStyle = ink;
  context.textBaseline = "middle";
  lines.forEach((line, index) => context.fillText(line, place.left + 7, place.top + 11.5 + 17 * index, width - 14));
}

/** A box that words stand in. @param {CanvasRenderingContext2D} context @param {Rect} place @param {string} color of its line @param {number} radius of its corners @param {number} opacity @param {Palette} colors */
function bubble(context, { left, top, width, height }, color, radius, opacity, colors) {
  context.globalAlpha = opacity;
  context.fillStyle = colors.paper;
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(left, top, width, height, radius);
  context.fill();
  context.stroke();
  context.globalAlpha = 1;
}

/**
 * The whole board in a corner, with the part that is in sight.
 * @param {CanvasRenderingContext2D} context
 * @param {{ wide: number, high: number }} page
 * @param {HTMLCanvasElement} ground
 * @param {{ width: number, height: number }} board
 * @param {Rect} view what is in sight, in cells
 * @param {Spot[]} spots
 * @param {[number, number][]} points what should not be covered
 * @param {Rect[]} taken
 * @param {Palette} colors
 */
export function drawMap(context, { wide, high }, ground, board, view, spots, points, taken, colors) {
  const scale = Math.min(MAP_SIZE, 0.24 * Math.min(wide, high)) / Math.max(board.width, board.height);
  const [width, height] = [board.width * scale, board.height * scale];
  const place = freest([[EDGE, high - height - EDGE], [wide - width - EDGE, high - height - EDGE], [EDGE, EDGE], [wide - width - EDGE, EDGE]].map(([left, top]) => ({ left, top, width, height })), points, taken);
  taken.push(place);
  context.fillStyle = colors.paper;
  context.fillRect(place.left - 3, place.top - 3, width + 6, height + 6);
  context.drawImage(ground, place.left, place.top, width, height);
  context.strokeStyle = colors.faint;
  context.lineWidth = 1;
  context.strokeRect(place.left - 2.5, place.top - 2.5, width + 5, height + 5);
  for (const { u, v, color } of spots) {
    context.fillStyle = named(colors, color);
    context.beginPath();
    context.arc(place.left + u * scale, place.top + v * scale, 2.5, 0, 2 * Math.PI);
    context.fill();
  }
  context.strokeStyle = colors.ink;
  context.lineWidth = 1.5;
  const [left, top] = [Math.max(0, view.left), Math.max(0, view.top)];
  const [right, bottom] = [Math.min(board.width, view.left + view.width), Math.min(board.height, view.top + view.height)];
  context.strokeRect(place.left + left * scale, place.top + top * scale, (right - left) * scale, (bottom - top) * scale);
}

/** The size of the small map's picture, in pixels. @param {{ width: number, height: number }} board @param {number} dense */
export function mapScale(board, dense) {
  return (MAP_SIZE * dense) / Math.max(board.width, board.height);
}

/**
 * The words of the end in lines, and the box that they need.
 * @param {CanvasRenderingContext2D} context
 * @param {number} wide
 * @param {string} title
 * @param {string} text
 */
export function endingOf(context, wide, title, text) {
  const isSmall = wide < 420;
  const room = Math.min(wide - 2 * EDGE, 480) - (isSmall ? 30 : 40);
  const fonts = [`700 ${isSmall ? 14 : 18}px ${FONT}`, `${isSmall ? 12 : 14}px ${FONT}`];
  const parts = [title, text].map((words, index) => {
    context.font = fonts[index];
    const lines = wrapped(context, words, room);
    return { lines, font: fonts[index], step: (isSmall ? [18, 15] : [23, 19])[index], isTitle: !index, width: Math.max(0, ...lines.map((line) => context.measureText(line).width)) };
  });
  const pad = isSmall ? 6 : 9;
  return { parts, room, pad, width: Math.max(...parts.map((part) => part.width)) + (isSmall ? 30 : 40), height: 2 * pad + parts.reduce((sum, { lines, step }) => sum + lines.length * step, 0) };
}

/**
 * How the match ended: beside the board if there is room, else at its lower or upper edge, where it covers no player.
 * @param {CanvasRenderingContext2D} context
 * @param {{ wide: number, high: number }} page
 * @param {ReturnType<typeof endingOf>} ending
 * @param {Rect} board where the board is
 * @param {[number, number][]} points what must not be covered
 * @param {number} margin how far that reaches
 * @param {Rect[]} taken
 * @param {Palette} colors
 * @param {number} [opacity]
 */
export function drawEnding(context, { wide, high }, { parts, room, pad, width, height }, board, points, margin, taken, colors, opacity = 0.96) {
  const middle = (wide - width) / 2;
  const low = high - height - EDGE / 2;
  // Above what other parts of the page take of the lower edge.
  const free = Math.min(low, ...taken.filter((other) => other.top > high / 2 && shared(other, { left: middle, top: low, width, height })).map((other) => other.top - height - EDGE / 2));
  const sides = [[middle, low], [middle, free], [middle, EDGE], [wide - width - EDGE, low], [EDGE, low], [wide - width - EDGE, EDGE], [EDGE, EDGE],
    ...[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].flatMap((part) => [EDGE, middle, wide - width - EDGE].map((left) => [left, part * (high - height)]))];
  const place = freest(sides.map(([left, top]) => ({ left, top, width, height })), points, taken, { margin, board });
  taken.push(place);
  bubble(context, place, colors.ink, 8, opacity, colors);
  context.globalAlpha = opacity < 0.5 ? opacity : 1;
  context.textAlign = "center";
  context.textBaseline = "middle";
  let y = place.top + pad;
  for (const { lines, font, step, isTitle } of parts) {
    context.font = font;
    context.fillStyle = isTitle ? colors.ink : colors.faint;
    for (const line of lines) {
      context.fillText(line, place.left + width / 2, y + step / 2, room);
      y += step;
    }
  }
  // A click puts the words away.
  const [x, y0, arm] = [place.left + width - 10, place.top + 10, 3.5];
  context.lineWidth = 1.5;
  context.strokeStyle = colors.faint;
  context.beginPath();
  for (const tilt of [-1, 1]) {
    context.moveTo(x - arm, y0 - tilt * arm);
    context.lineTo(x + arm, y0 + tilt * arm);
  }
  context.stroke();
  context.textAlign = "start";
  context.globalAlpha = 1;
  return place;
}

/** Words in lines of a width. @param {CanvasRenderingContext2D} context @param {string} text @param {number} room */
export function wrapped(context, text, room) {
  /** @type {string[]} */
  const lines = [];
  const words = text.split(" ").filter(Boolean).flatMap((word) => parts(context, word, room));
  for (const word of words) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && context.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.slice(0, 4);
}

/** A word in parts that each fit: a name may have no space. @param {CanvasRenderingContext2D} context @param {string} word @param {number} room */
function parts(context, word, room) {
  if (context.measureText(word).width <= room) return [word];
  /** @type {string[]} */
  const found = [];
  for (const sign of word) {
    const longer = (found[found.length - 1] ?? "") + sign;
    if (found.length && context.measureText(longer).width <= room) found[found.length - 1] = longer;
    else found.push(sign);
  }
  return found;
}
