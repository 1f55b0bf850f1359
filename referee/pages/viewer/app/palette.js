// Colours: Okabe and Ito's, which people with any kind of colour vision can tell apart, on a light and on a dark page.

import { byId, remembered } from "../kit/dom.js";

/** @type {Palette} */
const LIGHT = {
  isDark: false,
  paper: "#ffffff",
  board: "#fbfbf8",
  ink: "#1d2329",
  faint: "#5a636c",
  grid: "#e4e4de",
  orange: "#c04f00",
  blue: "#0072b2",
  accent: "#007a59",
  warn: "#a8407f",
};

/** @type {Palette} */
const DARK = {
  isDark: true,
  paper: "#14181c",
  board: "#0e1114",
  ink: "#e8ebee",
  faint: "#a0aab4",
  grid: "#22282e",
  orange: "#f0853a",
  blue: "#56b4e9",
  accent: "#2fc79a",
  warn: "#e59cc8",
};

const dark = matchMedia("(prefers-color-scheme: dark)");

/** The colours of the page as it is now: the system's choice, or what the reader has chosen. */
export function palette() {
  const chosen = document.documentElement.dataset.theme;
  return (chosen ? chosen === "dark" : dark.matches) ? DARK : LIGHT;
}

/** A colour by its name in the palette, or as it is. @param {Palette} colors @param {string} name */
export function named(colors, name) {
  return { orange: colors.orange, blue: colors.blue, accent: colors.accent, grid: colors.grid, warn: colors.warn, plain: colors.faint }[name] ?? name;
}

/** Use the theme that was chosen before, and let the page's button change it. @param {() => void} [repaint] */
export function listenToTheme(repaint = () => {}) {
  const chosen = remembered("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = palette().isDark ? "light" : "dark";
    remembered("theme", document.documentElement.dataset.theme);
    repaint();
  });
  dark.addEventListener("change", repaint);
}
