// The signs of Evasion on the board: the players, the shade of a wall by its age, a word beside something.

/** The colours of a new and of an old wall, on a light and on a dark page. */
const LIGHT_WALLS = [[0, 122, 89], [112, 124, 120]];
const DARK_WALLS = [[47, 199, 154], [112, 124, 130]];

/** @param {import("../../web/viewer/kit/types.js").Palette} palette @param {number} age from 0, new, to 1 */
export function shade({ isDark }, age) {
  const [fresh, old] = isDark ? DARK_WALLS : LIGHT_WALLS;
  const parts = fresh.map((part, index) => Math.round(part + (old[index] - part) * age));
  return `rgb(${parts.join(" ")})`;
}

/**
 * A triangle that points where the hunter goes.
 * @param {CanvasRenderingContext2D} context
 * @param {number} u @param {number} v @param {number} du @param {number} dv
 * @param {number} size @param {number} pixel
 * @param {import("../../web/viewer/kit/types.js").Palette} palette
 */
export function drawHunter(context, u, v, du, dv, size, pixel, palette) {
  const angle = Math.atan2(dv, du);
  context.beginPath();
  for (const [turned, far] of [[0, 1.35], [2.45, 1], [-2.45, 1]]) {
    context.lineTo(u + far * size * Math.cos(angle + turned), v + far * size * Math.sin(angle + turned));
  }
  context.closePath();
  outlined(context, pixel, palette.orange, palette.paper);
}

/**
 * A disc, with a line to where the prey goes.
 * @param {CanvasRenderingContext2D} context
 * @param {number} u @param {number} v @param {number} du @param {number} dv
 * @param {number} size @param {number} pixel
 * @param {import("../../web/viewer/kit/types.js").Palette} palette
 */
export function drawPrey(context, u, v, du, dv, size, pixel, palette) {
  if (du || dv) {
    const far = (2 * size) / Math.hypot(du, dv);
    context.strokeStyle = palette.blue;
    context.lineWidth = 2 * pixel;
    context.beginPath();
    context.moveTo(u, v);
    context.lineTo(u + du * far, v + dv * far);
    context.stroke();
  }
  context.beginPath();
  context.arc(u, v, size, 0, 2 * Math.PI);
  outlined(context, pixel, palette.blue, palette.paper);
}

/** @param {CanvasRenderingContext2D} context @param {number} pixel @param {string} fill @param {string} edge */
function outlined(context, pixel, fill, edge) {
  context.fillStyle = fill;
  context.strokeStyle = edge;
  context.lineWidth = 1.5 * pixel;
  context.fill();
  context.stroke();
}

/**
 * A word beside something, kept on the board.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} u @param {number} v @param {number} pixel @param {string} color
 * @param {number} width @param {number} height
 */
export function label(context, text, u, v, pixel, color, width, height) {
  context.save();
  context.font = "600 12px system-ui, sans-serif";
  const wide = context.measureText(text).width * pixel;
  context.translate(Math.max(2 * pixel, Math.min(u - wide / 2, width - wide - 2 * pixel)), Math.max(12 * pixel, Math.min(v, height - 4 * pixel)));
  context.scale(pixel, pixel);
  context.fillStyle = color;
  context.fillText(text, 0, 0);
  context.restore();
}
