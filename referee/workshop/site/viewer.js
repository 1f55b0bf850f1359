// Waits for the page of the workshop to send a replay, and shows it in the viewer.
"use strict";

(() => {
  const config = document.getElementById("page");
  const held = document.getElementById("replay");
  const version = JSON.parse(config?.textContent || "null")?.version ?? "";
  const begin = (settings) => {
    const made = document.createElement("div");
    made.id = "page";
    made.hidden = true;
    made.textContent = JSON.stringify({ server: false, version, ...settings });
    config?.replaceWith(made);
    viewer();
  };
  const take = ({ source, data }) => {
    if (source !== parent || typeof data?.replay !== "string" || !held) return;
    removeEventListener("message", take);
    held.textContent = data.replay;
    const { check, metrics, judged } = data.findings ?? {};
    begin({ mode: "export", name: "match.replay.jsonl.gz", logs: {}, check, metrics, judged });
  };
  addEventListener("message", take);
  parent.postMessage({ kind: "waiting" }, "*");
})();
