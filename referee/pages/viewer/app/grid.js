// The grid of the board.

/**
 * Draw lines between cells, or between every ten or fifty of them, as there is room.
 * @param {CanvasRenderingContext2D} context
 * @param {{ width: number, height: number }} board
 * @param {number} pixel
 * @param {Palette} colors
 */
export function drawGrid(context, { width, height }, pixel, colors) {
  const every = pixel < 0.12 ? 1 : pixel < 0.6 ? 10 : 50;
  context.strokeStyle = colors.grid;
  context.lineWidth = pixel;
  context.beginPath();
  for (let x = every; x < width; x += every) {
    context.moveTo(x, 0);
    context.lineTo(x, height);
  }
  for (let y = every; y < height; y += every) {
    context.moveTo(0, height - y);
    context.lineTo(width, height - y);
  }
  context.stroke();
}
