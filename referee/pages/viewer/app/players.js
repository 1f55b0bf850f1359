// The line of the players in the header: names, colours, and scores where each player has one.

import { inkOn } from "../kit/color.js";
import { el, number } from "../kit/dom.js";
import { named, palette } from "./palette.js";

/** The most players that the header names. */
const MOST = 8;

/**
 * Each name with its seat as a badge in the seat's colour, as on the board.
 * @param {{ seat: string, name: string, own: string, color: string }[]} names
 * @param {Track | null} track
 * @returns {(Node | string)[]}
 */
export function playersLine(names, track) {
  const colors = palette();
  const shown = names.slice(0, MOST);
  const parts = shown.flatMap(({ name, own, seat, color }, at) => {
    const badge = el("i", { class: seat.length > 1 ? "badge word" : "badge" }, seat);
    badge.style.background = named(colors, color);
    badge.style.color = inkOn(named(colors, color));
    const score = track?.standings ? el("b", { class: "points", "data-seat": seat }) : null;
    const title = own && own !== name ? `${name}, whose bot is ${own}` : name;
    // Many names stand beside each other, two play against each other.
    const between = at === 0 ? "" : names.length > 2 ? " " : el("span", { class: "unseen" }, " against ");
    return [between, el("span", { class: "player", title }, badge, el("span", { class: "player-name" }, name), score ? " " : null, score)];
  });
  return names.length > MOST ? [...parts, ` and ${number(names.length - MOST)} more`] : parts;
}

/** @param {HTMLElement} place @param {Standing[]} standings */
export function tellScores(place, standings) {
  const most = Math.max(...standings.map(({ score }) => Number(score.replaceAll(/\D/g, ""))));
  for (const points of place.querySelectorAll(".points")) {
    const found = standings.find(({ seat }) => seat === /** @type {HTMLElement} */ (points).dataset.seat);
    points.textContent = found?.score ?? "";
    points.classList.toggle("leads", most > 0 && Number(found?.score.replaceAll(/\D/g, "")) === most);
  }
}
