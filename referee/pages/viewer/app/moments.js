// The moments of a match: what a person would report. A game adds its own; here are those that every game has: players, time, faults, the end.

import { number, plain } from "../kit/dom.js";
import { playedInWords } from "./lessons.js";
import { departure, outcomeText } from "./people.js";
import { firstMoments, sentence } from "../kit/story.js";

/** The most moments between the beginning and the end. */
const MOST_MOMENTS = 60;
/** The most moments of one kind of event in a game that tells no moments itself. */
const MOST_EVENTS = 12;
/** Shares of the bank that are worth a moment when no more is left. */
const BANK_SHARES = [0.5, 0.2, 0.05];
/** The share of the move's limit from which an answer was close to it. */
const NEAR_LIMIT = 0.8;
/** The share of the limit below which nobody cares which answer was the slowest. */
const SLOW = 0.25;

/** @typedef {import("./recording.js").Recording} Recording */

/**
 * The story of a match as far as it is known, in the order of the steps, and the number of moments that it leaves out.
 * @param {Recording} recording
 * @returns {{ moments: Moment[], leftOut: number }}
 */
export function momentsOf(recording) {
  const { display } = recording;
  if (!recording.head || !display) return { moments: [], leftOut: 0 };
  const own = display.moments ? display.moments(recording) : fromEvents(recording);
  const between = shortened([...own, ...mistakes(recording, own), ...faults(recording), ...warnings(recording), ...times(recording)], MOST_MOMENTS);
  const moments = [...beginning(recording), ...between.moments, ...ending(recording)].sort((one, other) => one.turn - other.turn);
  return { ...between, moments };
}

/**
 * The weightiest moments, in order.
 * @param {Moment[]} found
 * @param {number} most
 */
export function shortened(found, most) {
  const kept = [...found].sort((one, other) => other.weight - one.weight || one.turn - other.turn).slice(0, most);
  kept.sort((one, other) => one.turn - other.turn);
  return { moments: kept, leftOut: found.length - kept.length };
}

/** The moves that cost most, unless the game reports them itself. @param {Recording} recording @param {Moment[]} own @returns {Moment[]} */
function mistakes(recording, own) {
  const news = recording.mistakes.filter(({ turn }) => !own.some((moment) => moment.sign === "?" && moment.turn === turn));
  return news.map((mistake) => ({ turn: mistake.turn, text: `A costly move: ${playedInWords(recording, mistake)}`, weight: 7, sign: "?", color: `seat:${mistake.seat}` }));
}

/** @param {Recording} recording @param {string} seat */
function nameOf(recording, seat) {
  return plain(recording.head?.players[seat]?.name, 40);
}

/** @param {Recording} recording @returns {Moment[]} */
function beginning(recording) {
  const names = recording.seats.slice(0, 6).map((seat) => `${nameOf(recording, seat)} (${plain(seat, 20)})`);
  const more = recording.seats.length > names.length ? ` and ${number(recording.seats.length - names.length)} more` : "";
  return [{ turn: 0, text: `The match begins: ${names.join(" against ")}${more}.`, weight: 9, sign: "▷", color: "plain" }];
}

/**
 * What was not received, and the end: it happens in the last step, or in the one that a fault cut off.
 * @param {Recording} recording
 * @returns {Moment[]}
 */
function ending(recording) {
  const { steps, result, isOver, gaps } = recording;
  /** @type {Moment[]} */
  const found = gaps.map(([from, to]) => ({ turn: from, text: `The steps from ${number(from)} to ${number(to - 1)} were not received here.`, weight: 6, sign: "…", color: "plain" }));
  const end = recording.track?.ending?.();
  const isCutOff = recording.events.some(({ kind, turn }) => kind === "fault" && turn >= steps);
  if (result) found.push({ turn: isCutOff ? steps : Math.max(0, steps - 1), text: [outcomeText(recording), end?.place ? plain(end.text, 300) : ""].filter(Boolean).join(" "), weight: 10, sign: "⚑", color: "accent" });
  else if (isOver) found.push({ turn: steps, text: "The replay is cut short here.", weight: 10, sign: "✂", color: "warn" });
  return found;
}

/** The first fault of each kind, with the number of all like it. @param {Recording} recording @returns {Moment[]} */
function faults(recording) {
  // That a person left is no failure: the end tells it.
  const found = recording.events.filter(({ kind, seat }) => kind === "fault" && !departure(recording, seat ?? ""));
  return firstMoments(found.map((event) => ({ ...event, text: `Fault: ${sentence(plain(event.text, 300))}` })), { weight: 9, sign: "✕", color: "warn" });
}

/** The first warning of each kind to each player. @param {Recording} recording @returns {Moment[]} */
function warnings(recording) {
  const found = recording.events.filter(({ kind }) => kind === "warning");
  const told = found.map((event) => ({ ...event, text: `Warning to ${plain(event.seat, 20)}: ${sentence(plain(event.text, 300))}` }));
  return firstMoments(told, { weight: 3, sign: "!", color: "warn" }).slice(0, 8);
}

/** The rare events of a game that tells no moments. @param {Recording} recording @returns {Moment[]} */
function fromEvents(recording) {
  const found = recording.events.filter(({ kind }) => kind !== "fault" && kind !== "warning" && !recording.minorKinds.includes(kind));
  const counts = new Map();
  for (const { kind } of found) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const looks = recording.display?.eventLooks ?? {};
  const told = new Set();
  return found.flatMap(({ turn, kind, text }) => {
    const count = counts.get(kind);
    if (count > MOST_EVENTS && told.has(kind)) return [];
    told.add(kind);
    const of = count > MOST_EVENTS ? ` It is the first of ${number(count)} events of this kind.` : "";
    const color = Object.hasOwn(looks, kind) ? looks[kind].color : "plain";
    return [{ turn, text: `${sentence(text)}${of}`, weight: 4, sign: "●", color }];
  });
}

/**
 * Where a player came near its limits.
 * @param {Recording} recording
 * @returns {Moment[]}
 */
function times(recording) {
  return recording.seats.flatMap((seat) => {
    const clock = recording.head?.players[seat]?.clock ?? recording.head?.clock ?? {};
    const used = recording.billed[seat];
    return used ? [...slowAnswers(used, seat, clock), ...lowBank(used, seat, clock)] : [];
  });
}

/**
 * The slowest answer, and the first of those that took most of the limit.
 * @param {import("../kit/columns.js").Column} used microseconds by step
 * @param {string} seat
 * @param {any} clock
 * @returns {Moment[]}
 */
function slowAnswers({ data, length }, seat, clock) {
  if (typeof clock.move !== "number" || !(clock.move > 0)) return [];
  const limit = clock.move * 1e6;
  let [slowest, first, near] = [-1, -1, 0];
  for (let turn = 0; turn < length; turn += 1) {
    if (!(data[turn] >= SLOW * limit)) continue;
    if (slowest < 0 || data[turn] > data[slowest]) slowest = turn;
    if (data[turn] < NEAR_LIMIT * limit) continue;
    if (first < 0) first = turn;
    near += 1;
  }
  if (slowest < 0) return [];
  const name = plain(seat, 20);
  const tell = (/** @type {number} */ turn) => `${number(data[turn] / 1000)} of ${number(limit / 1000)} ms`;
  const isClose = near > 0;
  /** @type {Moment[]} */
  const found = [{ turn: slowest, text: `The slowest answer of the ${name}: ${tell(slowest)}.`, weight: isClose ? 6 : 3, sign: "◔", color: isClose ? "warn" : "plain" }];
  if (first !== slowest && isClose) {
    const count = near > 1 ? ` ${number(near)} answers take ${number(100 * NEAR_LIMIT)} % of the limit or more.` : "";
    found.push({ turn: first, text: `The ${name} comes near its limit: ${tell(first)}.${count}`, weight: 5, sign: "◔", color: "warn" });
  }
  return found;
}

/**
 * Where half of the bank is gone, and where little is left.
 * @param {import("../kit/columns.js").Column} used
 * @param {string} seat
 * @param {any} clock
 * @returns {Moment[]}
 */
function lowBank({ data, length }, seat, clock) {
  const { bank } = clock;
  if (typeof bank !== "number" || !(bank > 0)) return [];
  const increment = typeof clock.increment === "number" ? clock.increment : 0;
  let left = bank;
  let next = 0;
  /** @type {Moment[]} */
  const found = [];
  for (let turn = 0; turn < length && next < BANK_SHARES.length; turn += 1) {
    if (Number.isNaN(data[turn])) continue;
    left += increment - data[turn] / 1e6;
    if (left > BANK_SHARES[next] * bank) continue;
    while (next + 1 < BANK_SHARES.length && left <= BANK_SHARES[next + 1] * bank) next += 1;
    const share = BANK_SHARES[next];
    const text = `The ${plain(seat, 20)} has ${number(Math.max(0, left), 1)} of ${number(bank)} s left in its bank.`;
    found.push({ turn, text, weight: share < 0.5 ? 7 : 5, sign: "◔", color: share < 0.5 ? "warn" : "plain" });
    next += 1;
  }
  return found;
}
