// What a person reads before a match, and the button that says "Ready"; and how to play, which can be read again at any time.

import { el, facts, plain, remembered } from "../kit/dom.js";
import { FINGERS } from "../kit/keys.js";
import { drawing } from "./pad.js";
import { called } from "./people.js";

/** Whether the card is shown before a match: the person's choice. */
const isWanted = () => remembered("card") !== "off";

/** The goal, how the pieces move and the keys: a picture and two lines. @param {Controls} controls */
function startCard({ card }) {
  if (!card) return el("div");
  // Between backquotes stand keys.
  const keys = (FINGERS.matches ? card.taps : card.keys).split("`").map((text, at) => (at % 2 ? el("kbd", {}, text) : text));
  const picture = drawing("svg", { viewBox: "0 0 120 72", role: "img", "aria-label": card.describes }, card.picture);
  return el("div", { class: "card" }, /** @type {any} */ (picture), el("p", {}, card.goal), el("p", {}, ...keys));
}

/** The box that switches the card off. */
function choice() {
  const box = el("input", { type: "checkbox", checked: isWanted(), onchange: () => remembered("card", box.checked ? "on" : "off") });
  return el("label", { class: "note" }, box, " Show this before every match");
}

/** All of it, for a person who asks how to play: the card, and every key. @param {Controls} controls */
export function howToPlay(controls) {
  const list = (FINGERS.matches && controls.touchHelp) || controls.help;
  return [
    el("h2", { id: "help-title" }, "How to play"),
    startCard(controls),
    facts(list.map(([key, text]) => [el("kbd", {}, key), text])),
    choice(),
  ];
}

/**
 * @param {{ head: Head, seat: string, others: string[], timed?: boolean, people?: string[], controls: Controls | null }} match
 * @param {(name: string) => void} onReady
 */
export function introduction({ head, seat, others, timed, controls, people = [] }, onReady) {
  const guest = people.length > 1 ? `Guest ${people.indexOf(seat) + 1}` : "Guest";
  const name = el("input", { type: "text", maxlength: "40", placeholder: guest, "aria-label": "Your name", value: remembered("name") ?? "" });
  const button = el("button", { type: "button", class: "main", id: "ready" }, "Ready");
  const form = el("form", { class: "row" }, el("label", {}, el("span", {}, "Your name "), name), button, el("span", { class: "note", role: "status", id: "waiting" }));
  const ready = (/** @type {Event} */ event) => {
    event.preventDefault();
    remembered("name", name.value);
    onReady(name.value.trim() || guest);
  };
  form.addEventListener("submit", ready);
  button.addEventListener("click", ready);
  const against = others.map((other) => `${plain(head.players[other]?.name, 40) || "a player"} (${other})`).join(", ");
  const parts = [
    el("h2", {}, `You play ${called(seat)} (${plain(head.game, 40)}, ${plain(head.rules, 40)})`),
    el("p", { class: "note" }, `Against ${against}. Look at the board, then press Ready.`),
    timed ? el("p", { class: "note" }, "You have the same clock as a bot: your time runs from each question to your move.") : "",
    form,
    controls ? el("details", { open: isWanted() }, el("summary", {}, "How to play"), startCard(controls), choice()) : "",
  ];
  return { parts, button };
}
