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

/** A colour as a pixel of `cellPicture`. @param {number[]} parts red, green, blue and opacity, to 255 */
export function pixelOf(parts) {
  return new Uint32Array(new Uint8Array(parts).buffer)[0];
}

/**
 * A picture of one pixel a cell.
 * @param {{ width: number, height: number, row: (y: number) => number }} board
 * @param {(x: number, y: number) => number} colorAt the pixel of a cell; 0 leaves it clear
 */
export function cellPicture(board, colorAt) {
  const { width, height } = board;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let y = 0; y < height; y += 1) {
    const first = board.row(y) * width;
    for (let x = 0; x < width; x += 1) pixels[first + x] = colorAt(x, y);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** A picture of one pixel a cell over the whole board, with sharp edges. @param {CanvasRenderingContext2D} context @param {HTMLCanvasElement} image @param {{ width: number, height: number }} board */
export function overBoard(context, image, { width, height }) {
  const smooth = context.imageSmoothingEnabled;
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, width, height);
  context.imageSmoothingEnabled = smooth;
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
