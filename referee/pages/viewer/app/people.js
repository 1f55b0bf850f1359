// Texts for people: how their match ended, and which players have left.

import { el, plain } from "../kit/dom.js";

/** A seat in a sentence: "the guard", or "player a" where seats are letters. @param {string} seat */
export function called(seat) {
  return seat.length > 1 ? `the ${plain(seat, 20)}` : `player ${plain(seat, 20)}`;
}

/**
 * A list in words: "the guard and the guest", or "player a, player b and player c".
 * @param {string[]} seats
 */
export function listed(seats) {
  const named = seats.map(called);
  return named.length > 1 ? `${named.slice(0, -1).join(", ")} and ${named[named.length - 1]}` : named.join("");
}

/** @param {string} text */
export function capital(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/**
 * The fault record of a person who left: that is no failure of a program.
 * @param {import("./recording.js").Recording} recording
 * @param {string} seat
 */
export function departure(recording, seat) {
  const found = recording.faults.find((record) => record.faults?.[seat]);
  return found && recording.head?.players?.[seat]?.program === "human" && found.faults[seat]?.cause === "left" ? found : null;
}

/**
 * The heading over a fault; a person who left has none.
 * @param {import("./recording.js").Recording} recording @param {string} seat @param {unknown} turn
 */
export function faultHeading(recording, seat, turn) {
  const isPersons = departure(recording, seat) !== null;
  const text = `${isPersons ? "End for" : "Fault of"} ${called(seat)} in step ${plain(turn, 20)}`;
  return el("h2", { class: isPersons ? null : "bad-text" }, text);
}

/** The outcome in words, with the players' names. @param {import("./recording.js").Recording} recording */
export function outcomeText({ result, sentence }) {
  return plain(result?.sentence ?? (sentence || result?.text), 300);
}

/**
 * The end of a match for one of its people: a heading and a sentence.
 * @param {import("./recording.js").Recording} recording
 * @param {string} seat
 * @param {string} reason why this person has left; empty if it has not
 * @returns {[string, string]}
 */
export function ending(recording, seat, reason) {
  const { result } = recording;
  const own = reason ? `You ${plain(reason, 100)}.` : "";
  if (!result) return ["The match was stopped early", own || "It has no result."];
  const heading = result.winner === seat ? "You won" : result.winner ? "You lost" : "Nobody won";
  const failed = !own && recording.faults.some((record) => record.faults?.[seat]) ? plain(recording.faults.find((record) => record.faults?.[seat]).faults[seat]?.text, 300) : "";
  return [heading, own ? `${own} ${result.winner ? `${plain(recording.head?.players[result.winner]?.name, 40)} wins.` : ""}`.trim() : failed || outcomeText(recording)];
}

/**
 * What a person who is ready waits for.
 * @param {any} session @param {string} seat @param {string[]} others @param {Head} head
 */
export function awaited(session, seat, others, head) {
  if (typeof session.starts_in === "number") return `Get ready: you are ${called(seat)}`;
  const people = Object.keys(session.seats).filter((other) => !session.seats[other].is_ready);
  if (people.length) return `Waiting for ${listed(people)}`;
  const programs = others.filter((other) => !session.seats[other]).map((other) => plain(head.players[other]?.name, 40));
  return programs.length ? `Waiting for ${programs.join(", ")} to start` : "Starting";
}

/** A sentence about another player who has left a running match; "" if there is none. @param {any} session @param {string} seat */
export function gone(session, seat) {
  return Object.entries(session?.left ?? {}).filter(([other]) => other !== seat).map(([other, why]) => `${capital(called(other))} ${plain(why, 100) || "has left"}.`).join(" ");
}
