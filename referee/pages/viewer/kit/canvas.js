// What the games draw in the same way. One unit of the canvas is one cell; `pixel` is one pixel of the screen in cells.

/**
 * A text around a point, in pixels of the screen.
 * @param {CanvasRenderingContext2D} context @param {string} text @param {number} u @param {number} v @param {number} pixel
 * @param {string} color @param {string} font its weight and size, "600 12px"
 */
export function textAt(context, text, u, v, pixel, color, font) {
  context.save();
  context.translate(u, v);
  context.scale(pixel, pixel);
  context.fillStyle = color;
  context.font = `${font} system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, 0, 0);
  context.restore();
}

/**
 * Draw a path as lines over each other, such as one with a rim: their colours and widths, the lowest first.
 * @param {CanvasRenderingContext2D} context @param {[string, number][]} lines @param {Path2D} [path] without it, the context's own
 */
export function strokes(context, lines, path) {
  for (const [color, width] of lines) {
    context.strokeStyle = color;
    context.lineWidth = width;
    if (path) context.stroke(path);
    else context.stroke();
  }
}

/**
 * The path so far, from its oldest part to the newest: fainter and thinner the older it is. Steps before the last `fading` ones are one part.
 * @param {CanvasRenderingContext2D} context
 * @param {{ from: number, exact: number, fading: number, parts: number }} trail its first and its last point
 * @param {number} thin the width of its oldest part
 * @param {(start: number, end: number) => void} stroke
 */
export function fadingTrail(context, { from, exact, fading, parts }, thin, stroke) {
  const faded = Math.min(exact - from, fading);
  for (let part = 0; part < parts; part += 1) {
    const start = part ? exact - faded + (faded * part) / parts : from;
    const end = exact - faded + (faded * (part + 1)) / parts;
    if (end <= start) continue;
    context.globalAlpha = 0.15 + 0.75 * ((part + 1) / parts) ** 1.6;
    context.lineWidth = thin * (1 + part / parts);
    stroke(start, end);
  }
  context.globalAlpha = 1;
}
