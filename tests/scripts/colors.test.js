/** Words and marks can be read in both themes: text needs a contrast of 4.5 to 1, a mark of 3 to 1. Source: WCAG 2.2, 1.4.3 and 1.4.11. */

import assert from "node:assert/strict";
import test from "node:test";

globalThis.document = { documentElement: { dataset: { theme: "light" } } };
const { palette } = await import("../../referee/pages/viewer/app/palette.js");
const { shade } = await import("../../referee/games/evasion/signs.js");
const { inkOn } = await import("../../referee/pages/viewer/kit/color.js");
const { colorOf } = await import("../../referee/games/rectangle/scene.js");

/** The relative luminance of `#rrggbb` or `rgb(r g b)`. Source: WCAG 2.2, "relative luminance". */
function luminance(color) {
  const parts = color.startsWith("#") ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) : color.match(/\d+/g).map(Number);
  const [red, green, blue] = parts.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(color, other) {
  const [dark, light] = [luminance(color), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const papers = new Set();
for (const theme of ["light", "dark"])
  test(`contrasts of the ${theme} theme`, () => {
    document.documentElement.dataset.theme = theme;
    const colors = palette();
    papers.add(colors.paper);
    for (const name of ["ink", "faint", "warn", "orange", "blue"])
      for (const paper of ["paper", "board"]) assert.ok(contrast(colors[name], colors[paper]) >= 4.5, `${name} on ${paper}`);
    for (const age of [0, 0.5, 1]) assert.ok(contrast(shade(colors, age), colors.board) >= 3, `a wall of age ${age}`);
    for (let player = 0; player < 10; player += 1) assert.ok(contrast(colorOf(player), inkOn(colorOf(player))) >= 4.5, `player ${player}`);
  });

test("the themes differ", () => assert.equal(papers.size, 2));
