// The moments of a match of Rectangle: who leads, the largest claims, turns without a gain.

import { counted, number, plain } from "../../pages/viewer/kit/dom.js";
import { firstMoments } from "../../pages/viewer/kit/story.js";
import { LETTERS } from "./scene.js";

/**
 * @typedef {{ scores: Int32Array[], quiet: number[], limit: number, last: number }} Scores
 */

/** How many of the largest claims are shown. */
const MOST_CLAIMS = 5;
/** The share of the stagnation limit from which the end is near. */
const NEAR_END = 0.75;

/** @param {Story} story @returns {Moment[]} */
export function moments(story) {
  const track = /** @type {any} */ (story.track);
  return [...leads(track, story), ...claims(track, story), ...stagnation(track), ...notices(story)];
}

/** A player by name and letter. @param {Story} story @param {number} player */
function called(story, player) {
  const letter = LETTERS[player];
  const name = plain(story.head?.players[letter]?.name, 40);
  return name && name.toLowerCase() !== letter ? `${name} (${letter})` : letter;
}

/** Where another player becomes the only one with the most cells. @param {Scores} track @param {Story} story @returns {Moment[]} */
function leads({ scores, last }, story) {
  let leader = -1;
  /** @type {Moment[]} */
  const told = [];
  for (let position = 1; position <= last; position += 1) {
    const now = scores[position];
    if (now === scores[position - 1]) continue;
    const most = Math.max(...now);
    const first = now.indexOf(most);
    if (!most || first === leader || now.lastIndexOf(most) !== first) continue;
    const second = Math.max(...now.filter((_, player) => player !== first));
    const text = leader < 0 ? `${called(story, first)} is the first to lead, with ${counted(most, "cell")}.` : `${called(story, first)} takes the lead from ${called(story, leader)}: ${counted(most, "cell")} against ${number(second)}.`;
    told.push({ turn: position - 1, text, weight: leader < 0 ? 5 : 8, sign: "▲", color: "accent" });
    leader = first;
  }
  return told;
}

/** The first claim and the largest ones. @param {Scores} track @param {Story} story @returns {Moment[]} */
function claims({ scores, last }, story) {
  /** @type {{ turn: number, player: number, cells: number }[]} */
  const found = [];
  for (let position = 1; position <= last; position += 1) {
    if (scores[position] === scores[position - 1]) continue;
    scores[position].forEach((score, player) => {
      const cells = score - scores[position - 1][player];
      if (cells > 0) found.push({ turn: position - 1, player, cells });
    });
  }
  const largest = new Set([...found].sort((one, other) => other.cells - one.cells || one.turn - other.turn).slice(0, MOST_CLAIMS));
  const [top] = largest;
  return found.flatMap((claim, index) => {
    if (index && !largest.has(claim)) return [];
    const what = claim === top ? ", the largest claim of the match" : index ? "" : ", the first claim";
    const text = `${called(story, claim.player)} claims ${counted(claim.cells, "cell")}${what}.`;
    return [{ turn: claim.turn, text, weight: claim === top ? 7 : 5, sign: "■", color: story.seats.includes(LETTERS[claim.player]) ? `seat:${LETTERS[claim.player]}` : "plain" }];
  });
}

/** Where nothing was gained for so long that the end is near. @param {Scores} track @returns {Moment[]} */
function stagnation({ quiet, limit, last }) {
  const near = Math.ceil(NEAR_END * limit);
  /** @type {Moment[]} */
  const told = [];
  for (let position = 1; position <= last; position += 1) {
    if (quiet[position] !== near) continue;
    told.push({ turn: position - 1, text: `Nobody has gained a cell for ${counted(near, "turn")}; after ${number(limit)} the match ends.`, weight: 4, sign: "◔", color: "plain" });
  }
  return told;
}

/** The first of each kind of notices. @param {Story} story @returns {Moment[]} */
function notices(story) {
  return firstMoments(story.events.filter(({ kind }) => kind === "notice"), { weight: 3, sign: "╳", color: "warn" }).slice(0, 12);
}
