// The moments of a chase: what became certain and which wall did it, where the prey lost ground, close calls, refused walls.

import { counted, number, plain } from "../../pages/viewer/kit/dom.js";
import { firstMoments, firstOfEach, ofMany, sentence } from "../../pages/viewer/kit/story.js";

/**
 * @typedef {import("./display.js").EvasionTrack} EvasionTrack
 * @typedef {import("./walls.js").Wall} Wall
 */

/** A distance below this number of capture radii counts as close; above the other number the prey has escaped. */
const CLOSE_RADII = 2;
const AWAY_RADII = 5;
/** At least these distances, in cells. */
const CLOSE_CELLS = 4;
const AWAY_CELLS = 15;

/** @param {Story} story @returns {Moment[]} */
export function moments(story) {
  const track = /** @type {EvasionTrack} */ (story.track);
  return [...certainties(track), ...walls(track), ...closeCalls(track, story.isOver), ...refusals(track), ...notices(story)];
}

/** A wall by its kind and number. @param {Wall} wall */
function called(wall) {
  return `${plain(wall.kind, 20)} wall ${plain(wall.id, 12)}`;
}

/** The cells of walls. @param {Wall[]} walls @returns {Mark[]} */
function marksOf(walls) {
  return walls.map(({ x1, y1, x2, y2 }) => ({ start: [x1, y1], end: [x2, y2] }));
}

/** The walls that a step built and removed. @param {EvasionTrack} track @param {number} position */
function changedWalls(track, position) {
  return {
    built: track.walls.filter((wall) => wall.from === position && position > 0),
    removed: track.walls.filter((wall) => wall.to === position),
  };
}

/**
 * What changed the verdict of a position.
 * @param {EvasionTrack} track @param {number} position @param {string} verdict
 */
function cause(track, position, verdict) {
  const { built, removed } = changedWalls(track, position);
  const walls = [built.length ? `${built.map(called).join(" and ")}` : "", removed.length > 2 ? `the removal of ${removed.length} walls` : removed.length ? `the removal of ${removed.map(called).join(" and ")}` : ""].filter(Boolean);
  if (walls.length) return { text: `${walls.join(" and ")} caused it`, marks: marksOf([...built, ...removed]) };
  return { text: verdict === "capture" ? "not because of a wall, but because of the prey's moves" : "not because of a wall, but because of the players' moves", marks: [] };
}

/** Where the verdict changed. @param {EvasionTrack} track @returns {Moment[]} */
function certainties(track) {
  const { positions, found } = track.analysis;
  const unit = track.isTurnwise ? "turn" : "step";
  /** @type {Moment[]} */
  const told = [];
  found.forEach(({ verdict, within, separated }, index) => {
    const position = positions[index];
    const before = found[index - 1];
    const isNew = !before || before.verdict !== verdict;
    if (verdict === "capture" && !within) return;
    if (!position) {
      const text = verdict === "capture" ? "Capture is certain from the start." : "At the start the prey can evade forever.";
      if (verdict !== "undecided") told.push({ turn: 0, text, weight: 4, sign: "◆", color: verdict === "capture" ? "orange" : "blue" });
      return;
    }
    if (isNew && verdict === "capture") {
      const { text, marks } = cause(track, position, verdict);
      const count = Number(within);
      told.push({ turn: position - 1, text: `Capture is certain now, within ${counted(count, unit)}: ${text}.`, weight: 9, sign: "◆", color: "orange", marks });
    } else if (isNew && verdict === "evade" && before) {
      const { text, marks } = cause(track, position, verdict);
      told.push({ turn: position - 1, text: `The prey can evade forever now: ${text}.`, weight: 8, sign: "◆", color: "blue", marks });
    } else if (verdict === "evade" && separated && before && !before.separated) {
      const { text, marks } = cause(track, position, verdict);
      told.push({ turn: position - 1, text: `No path joins the two players any more: ${text}.`, weight: 8, sign: "◆", color: "blue", marks });
    }
  });
  return told;
}

/** The first wall, and those that took ground from the prey; one moment for one step. @param {EvasionTrack} track @returns {Moment[]} */
function walls(track) {
  const [[first], lost] = [firstWall(track), lostGround(track)];
  const same = lost.find(({ turn, marks }) => turn === first?.turn && marks?.length);
  if (!first || !same) return first ? [first, ...lost] : lost;
  same.text = `The first wall: ${same.text.slice(0, 1).toLowerCase()}${same.text.slice(1)}`;
  return lost;
}

/** @param {EvasionTrack} track @returns {Moment[]} */
function firstWall(track) {
  const first = track.walls.find((wall) => wall.from > 0);
  if (!first) return [];
  return [{ turn: first.from - 1, text: `The first wall: ${called(first)}, from (${first.x1}, ${first.y1}) to (${first.x2}, ${first.y2}).`, weight: 5, sign: "▮", color: "accent", marks: marksOf([first]) }];
}

/** Where the prey's area was halved or doubled since the last such moment. @param {EvasionTrack} track @returns {Moment[]} */
function lostGround(track) {
  const { positions, cells } = track.areas;
  let reference = cells[0];
  /** @type {Moment[]} */
  const told = [];
  cells.forEach((area, index) => {
    const position = positions[index];
    const isLess = area <= reference / 2;
    if (!index || (!isLess && area < 2 * reference)) return;
    const { built, removed } = changedWalls(track, position);
    const walls = isLess ? built : removed;
    const count = `${number(reference)} to ${counted(area, "cell")}`;
    const by = walls.map(called).join(" and ");
    const text = isLess
      ? by ? `${sentence(by).slice(0, -1)} cut${walls.length === 1 ? "s" : ""} the prey's area from ${count}.` : `The prey's area shrinks from ${count}.`
      : by ? `The prey's area grows from ${count}: ${by} ${walls.length === 1 ? "is" : "are"} gone.` : `The prey's area grows from ${count}.`;
    told.push({ turn: position - 1, text, weight: 6, sign: "▮", color: isLess ? "orange" : "blue", marks: marksOf(walls) });
    reference = area;
  });
  return told;
}

/** Where the hunter came close and the prey got away. @param {EvasionTrack} track @param {boolean} isOver @returns {Moment[]} */
function closeCalls(track, isOver) {
  const close = Math.max(CLOSE_CELLS, CLOSE_RADII * track.radius);
  const away = Math.max(AWAY_CELLS, AWAY_RADII * track.radius);
  let nearest = -1;
  let wasAway = track.distance(0) > close;
  /** @type {Moment[]} */
  const told = [];
  for (let position = 1; position <= track.last; position += 1) {
    const distance = track.distance(position);
    wasAway ||= distance >= away;
    if (wasAway && distance <= close && (nearest < 0 || distance < track.distance(nearest))) nearest = position;
    if (nearest < 0 || (distance < away && !(isOver && position === track.last && distance > close))) continue;
    told.push({ turn: nearest - 1, text: `A close call: the hunter is ${number(track.distance(nearest), 1)} cells from the prey, which escapes.`, weight: 5, sign: "○", color: "blue" });
    nearest = -1;
  }
  return told;
}

/** The first refusal for each reason. @param {EvasionTrack} track @returns {Moment[]} */
function refusals(track) {
  return firstOfEach(track.refusals, ({ reason }) => reason).map(({ event, count }) => ({
    turn: event.turn, text: `${sentence(event.text)}${ofMany(count)}`, weight: 4, sign: "╳", color: "warn",
    marks: [{ start: [event.x, event.y], end: [event.x, event.y] }],
  }));
}

/** The first of each kind of other notices. @param {Story} story @returns {Moment[]} */
function notices(story) {
  return firstMoments(story.events.filter(({ kind }) => kind === "notice"), { weight: 3, sign: "●", color: "plain" }, false).slice(0, 8);
}
