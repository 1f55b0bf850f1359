// A page that has gone back in a match that is running: how far behind it is, and the match that has begun after it.

import { byId, el, number } from "../kit/dom.js";
import { goToNext } from "./live.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */

/** Show how far the page is behind. @param {import("./playback.js").Playback} playback */
export function tellBehind(playback) {
  const behind = playback.isGrowing && !playback.follows ? playback.last - playback.turn : 0;
  const button = byId("catch-up");
  button.hidden = behind <= 0;
  if (behind <= 0) return;
  button.textContent = `▸▸ ${number(behind)} behind`;
  button.setAttribute("aria-pressed", String(playback.isPlaying && playback.hurry > 1));
}

/** Offer the steps that were skipped, because the page was too far behind. @param {import("./recording.js").Recording} recording */
export function offerSkipped(recording) {
  const count = recording.gaps.reduce((sum, [from, to]) => sum + to - from, 0);
  if (!count) return;
  const text = count === 1 ? "Load the step that was skipped" : `Load the ${number(count)} steps that were skipped`;
  const old = document.getElementById("skipped");
  if (old) old.textContent = text;
  else byId("follow").after(el("a", { id: "skipped", href: "?all=1" }, text));
}

/** Stay at the newest step, or go to the match that has begun meanwhile. @param {Viewer} viewer */
export function follow(viewer) {
  if (viewer.hasNext) goToNext();
  else if (viewer.live && !viewer.live.isOver) viewer.playback.follow();
}

/** The next match begins at this address. A spectator who has gone back in this match stays there until they press F. @param {Viewer} viewer */
export function nextBegins(viewer) {
  const { playback } = viewer;
  const isAtEnd = playback.turn === playback.last && !playback.isPlaying;
  // The match waits for people who play in it.
  if (isAtEnd || viewer.config.mode === "seat") {
    goToNext();
    return;
  }
  viewer.hasNext = true;
  playback.isGrowing = false;
  // The server answers questions about the next match from now on.
  viewer.isServed = false;
  byId("follow").textContent = "Next match ▸";
  viewer.say("The next match has begun: press F to go there.");
  viewer.controlsChanged();
}
