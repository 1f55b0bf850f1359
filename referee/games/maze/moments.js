// The moments of a match of Maze: mistakes, what perfect play would make of the start, illegal orders.

import { plain } from "../../pages/viewer/kit/dom.js";
import { firstMoments } from "../../pages/viewer/kit/story.js";

const SEATS = ["thief", "policeman"];

/** @param {Story} story @returns {Moment[]} */
export function moments(story) {
  const track = /** @type {any} */ (story.track);
  const refused = firstMoments(story.events.filter(({ kind }) => kind === "illegal order"), { weight: 4, sign: "╳", color: "warn" });
  if (!track.hints) return refused;
  const start = track.value(0);
  /** @type {Moment[]} */
  const told = start ? [{ turn: 0, text: `At the start: ${start}.`, weight: 5, sign: "◆", color: "plain" }] : [];
  for (let position = 1; position <= track.last; position += 1) {
    if (!track.isMistake(position)) continue;
    const seat = SEATS[(position - 1) % 2];
    told.push({ turn: position - 1, text: `A mistake of the ${seat}. Before: ${plain(track.value(position - 1))}. Now: ${plain(track.value(position))}.`, weight: 8, sign: "?", color: `seat:${seat}` });
  }
  return [...told, ...refused];
}
