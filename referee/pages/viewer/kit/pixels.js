// How many pixels of the screen a canvas covers.

/**
 * Give a canvas one pixel for each pixel of the screen that it covers. With any other number the browser would stretch it at every frame,
 * which blurs it and takes twice as long.
 * @param {HTMLCanvasElement} canvas
 * @returns {{ wide: number, high: number, dense: number }} its size, and the pixels of the screen for one of the page
 */
export function fitted(canvas) {
  const dense = globalThis.devicePixelRatio || 1;
  const { left, right, top, bottom } = canvas.getBoundingClientRect();
  // The edges lie on whole pixels of the screen, wherever the layout has them.
  const [wide, high] = [Math.round(right * dense) - Math.round(left * dense), Math.round(bottom * dense) - Math.round(top * dense)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  return { wide, high, dense };
}
