// A page that has gone back in a match that is running: how far behind it is.

import { byId, el, number } from "../kit/dom.js";

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
