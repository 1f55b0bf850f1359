// Colours that go together.

/** Black or white, whichever is easier to read on a colour. @param {string} color as #rrggbb */
export function inkOn(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000000" : "#ffffff";
}
