// What a person reads before a match, and the button that says "Ready".

import { el, plain, remembered } from "../kit/dom.js";
import { called } from "./people.js";

/**
 * @param {{ head: import("../kit/types.js").Head, seat: string, others: string[], timed?: boolean, help: [string, string][] }} match
 * @param {(name: string) => void} onReady
 */
export function introduction({ head, seat, others, timed, help }, onReady) {
  const keys = el("dl", { class: "facts" }, ...help.flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]));
  const name = el("input", { type: "text", maxlength: "40", placeholder: "optional", "aria-label": "Your name", value: remembered("name") ?? "" });
  const button = el("button", { type: "button", class: "main", id: "ready" }, "Ready");
  const form = el("form", { class: "row" }, el("label", {}, "Your name ", name), button, el("span", { class: "note", role: "status", id: "waiting" }));
  const ready = (/** @type {Event} */ event) => {
    event.preventDefault();
    remembered("name", name.value);
    onReady(name.value);
  };
  form.addEventListener("submit", ready);
  button.addEventListener("click", ready);
  const against = others.map((other) => `${plain(head.players[other]?.name, 40) || "a player"} (${other})`).join(", ");
  const isWide = matchMedia("(min-width: 48rem) and (min-height: 32rem)").matches;
  const parts = [
    el("h2", {}, `You play ${called(seat)} (${plain(head.game, 40)}, ${plain(head.rules, 40)})`),
    el("p", { class: "note" }, `Against ${against}. Look at the board, then press Ready.`),
    timed ? el("p", { class: "note" }, "You have the same clock as a bot: your time runs from each question to your move.") : "",
    form,
    el("details", { open: isWide }, el("summary", {}, "How to play"), keys),
  ];
  return { parts, button };
}
