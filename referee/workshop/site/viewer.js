// Waits for the page of the workshop to send a replay, and shows it in the viewer.
"use strict";

(() => {
  const held = document.getElementById("replay");
  const take = ({ source, data }) => {
    if (source !== parent || typeof data?.replay !== "string" || !held) return;
    removeEventListener("message", take);
    held.textContent = data.replay;
    const { check, metrics, judged } = data.findings ?? {};
    begin({ mode: "export", name: "match.replay.jsonl.gz", logs: {}, check, metrics, judged, plays: true });
  };
  addEventListener("message", take);
  parent.postMessage({ kind: "waiting" }, "*");
})();
