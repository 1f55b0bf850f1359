// The line of the players in the header: names, colours, and scores where each player has one.

import { inkOn } from "../kit/color.js";
import { el, number } from "../kit/dom.js";
import { named, palette } from "./palette.js";

/** The most players that the header names. */
const MOST = 8;

/**
 * A seat of one letter stands in a badge, as on the board; a longer one behind the name.
 * @param {{ seat: string, name: string, color: string }[]} names
 * @param {Track | null} track
 * @returns {(Node | string)[]}
 */
export function playersLine(names, track) {
  const colors = palette();
  const shown = names.slice(0, MOST);
  const parts = shown.flatMap(({ name, seat, color }, at) => {
    const isLetter = seat.length === 1;
    const sign = el("i", { class: isLetter ? "badge" : "dot", "aria-hidden": "true" }, isLetter ? seat : null);
    sign.style.background = named(colors, color);
    if (isLetter) sign.style.color = inkOn(named(colors, color));
    const score = track?.standings ? el("b", { class: "points", "data-seat": seat }) : null;
    // Many names stand beside each other, two play against each other.
    const between = at === 0 ? "" : names.length > 2 ? " " : " against ";
    return [between, el("span", { class: "player" }, sign, el("span", { class: "player-name" }, name), score ? " " : null, score), isLetter ? el("span", { class: "unseen" }, ` (${seat})`) : ` (${seat})`];
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
