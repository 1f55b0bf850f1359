// The pages of an arena: the theme, and the check of a submission as it runs. Without it a page shows what was so when it was asked for.

import { listenToButtons } from "./common.js";

/** How often the server is asked how far a check is, in milliseconds. */
const PAUSE = 1000;

/** Ask how far the check is; show the page anew when it is over. @param {HTMLElement} shown */
async function follow(shown) {
  const answer = await fetch(shown.dataset.live ?? "");
  const found = await answer.json();
  if (!["queued", "building", "checking"].includes(found.status)) {
    location.reload();
    return;
  }
  const status = document.getElementById("status");
  if (status) status.textContent = found.status;
  shown.textContent = found.report.progress ?? "It waits for its check.";
  setTimeout(() => void follow(shown), PAUSE);
}

listenToButtons();
const progress = document.getElementById("progress");
if (progress) setTimeout(() => void follow(progress), PAUSE);
