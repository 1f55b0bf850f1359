// The sentence that tells a person at the board what is chosen, what would come of it, and what goes on.

import { plain } from "../kit/dom.js";
import { write } from "./pad.js";
import { capital, gone } from "./people.js";

/** For how long a remark on the last step stays, in milliseconds. */
const REMARK_MS = 2500;

/** @typedef {import("./seat.js").Seat} Seat */

/** The pending move, the wish, or the move under the pointer, and what the engine says of it; else the last notices. @param {Seat} seat @param {HTMLElement} place */
export function tell(seat, place) {
  const { wish, controls, hovered, pendingMove, view } = seat;
  const { preview } = view.board;
  const setUp = seat.asked >= 0 && controls?.setUp?.(view.turn());
  // What is not done is grey.
  place.classList.toggle("note", wish.move !== null || (!setUp && Boolean(preview?.refused)));
  if (wish.move !== null) return write(place, wishInWords(seat));
  if (setUp) return write(place, setUp);
  const join = (/** @type {any[]} */ notices) => notices.map((notice) => reworded(notice.text, controls, notice.code)).join(". ");
  const wanted = hovered ? seat.combined(hovered) : pendingMove;
  // The preview of an earlier move says nothing of this one.
  const notices = preview && JSON.stringify(preview.move) === JSON.stringify(wanted) ? preview.notices : [];
  const move = pendingMove ? `Next: ${inWords(seat, pendingMove)}` : preview && hovered ? `${capital(inWords(seat, preview.move))}${seat.tapped ? ": tap again to do it" : ""}` : "";
  const remarks = performance.now() - seat.toldAt < REMARK_MS || !seat.isPaced ? join(seat.told) : "";
  const goesOn = controls?.goesOn?.(view.turn(), seat.isPaced) || (seat.isPaced ? "If you don't move in time, you continue as before." : "");
  write(place, [move, join(notices)].filter(Boolean).join(". ") || remarks || gone(seat.session, seat.seat) || goesOn);
}

/** The wish, and what it waits for. @param {Seat} seat */
function wishInWords(seat) {
  const { move, why } = seat.wish;
  const waits = seat.controls?.waits?.(move, Math.max(seat.asked, seat.view.turn()));
  return waits ? `${capital(inWords(seat, move))}: ${waits}` : why || `Next: ${inWords(seat, move)}`;
}

/** @param {Seat} seat @param {any} move */
function inWords(seat, move) {
  return plain(seat.display.describeMove?.(move) ?? JSON.stringify(move), 200) || "nothing";
}

/** What the engine says, in the game's words for this person. @param {unknown} text @param {Controls | null} controls @param {string} [code] that of a notice */
export function reworded(text, controls, code) {
  const said = plain(text, 200);
  return capital(controls?.reword?.(said, code) ?? said);
}
