// A match as a row of a list: in the report of a league and on the page of a folder. Both have the templates of match_row.html.

import { filled } from "./common.js";

/**
 * @typedef {object} MatchRow
 * @property {string} id
 * @property {boolean} isChosen
 * @property {string} label what the links of the row are called for those who hear the page
 * @property {string | null} href the viewer with the match; null if it can't be opened from here
 * @property {string | null} command what shows the match instead, if there is anything to show
 * @property {{ name: string, seat: string, isBest: boolean }[]} players
 * @property {string} text
 * @property {string[]} faults
 * @property {string} facts
 * @property {string | null} link the address of the row
 */

/** One side of a duel or of a match. @param {string} id @param {boolean} isBest @param {Parameters<typeof filled>[1]} values */
export function side(id, isBest, values) {
  const made = filled(id, values);
  made.classList.toggle("best", isBest);
  return made;
}

/** @param {HTMLElement[]} parts @param {string} separator @returns {Node[]} */
export const joined = (parts, separator) => parts.flatMap((one, at) => (at ? [document.createTextNode(separator), one] : [one]));

/** @param {MatchRow} row */
export function matchRow({ id, isChosen, label, href, command, players, text, faults, facts, link }) {
  const sides = players.map(({ name, seat, isBest }) => side("player", isBest, { team: { text: name, title: name }, seat }));
  return filled("match", {
    self: { id, class: `match${isChosen ? " chosen" : ""}` },
    watch: href === null ? null : { href, "aria-label": `Watch ${label}` }, none: href === null && command === null ? {} : null,
    how: href !== null || command === null ? null : {}, summary: { "aria-label": `How to watch ${label}` }, command: command ?? "",
    players: joined(sides, " · "), text, faults: faults.map((fault) => filled("fault", { text: fault })),
    facts, address: link === null ? null : {}, link: { href: link ?? "", "aria-label": `Link to ${label}` },
  });
}
