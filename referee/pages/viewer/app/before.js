// The board before a match: people and spectators see how it stands while the players get ready.

import { byId, el, plain } from "../kit/dom.js";
import { capital, listed } from "./people.js";
import { playersLine } from "./players.js";
import { Recording } from "./recording.js";

/** The layout follows the shape of the board. @param {Track | null} track */
export function fitLayout(track) {
  document.documentElement.style.setProperty("--wide", String(Math.max(0.25, Math.min(4, track ? track.width / track.height : 1))));
}

/**
 * Show the board as it stands before the match. Without a start it comes up with the first record of the match.
 * @param {import("./board.js").Board} board
 * @param {Head} head
 * @param {{ turn: number, state: any } | null | undefined} start
 * @returns {Recording | null} what is shown
 */
export function showBefore(board, head, start) {
  if (!start) return null;
  const recording = new Recording();
  try {
    recording.takeHead({ ...head, type: "head", ...(start.turn ? {} : { start: start.state }) });
    if (start.turn) recording.jump(start.turn, start.state);
  } catch {
    return null;
  }
  board.recording = recording;
  board.turn = start.turn;
  document.body.classList.remove("boardless");
  byId("empty").hidden = true;
  fitLayout(recording.track);
  board.wholeBoard();
  board.request();
  return recording;
}

/**
 * The same for spectators, who are told who will play.
 * @param {import("./viewer.js").Viewer} viewer
 * @param {PageConfig} config
 */
export function awaitMatch(viewer, { settings, start, people }) {
  const head = /** @type {Head | undefined} */ (settings);
  const recording = head ? showBefore(viewer.board, head, start) : null;
  if (!head || !recording) return;
  byId("title").textContent = `${plain(head.game, 40)} · ${plain(head.rules, 40)}`;
  byId("players").replaceChildren(...playersLine(viewer.names(/** @type {Head} */ (recording.head), recording.display), recording.track));
  byId("step").textContent = "Before the match";
  document.body.classList.add("awaiting");
  const { track, display } = recording;
  const cards = recording.seats.flatMap((seat) => {
    const goal = track && display?.createControls?.(track, seat).card?.goal;
    return goal ? [el("p", {}, el("b", {}, `${capital(seat)}: `), goal)] : [];
  });
  byId("seat").hidden = false;
  byId("seat").replaceChildren(el("h2", {}, people?.length ? `Waiting for ${listed(people)} to press Ready` : "Waiting for the players to start"), ...cards.slice(0, 2));
}
