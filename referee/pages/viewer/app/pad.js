// The buttons and dials of a person at the board.

import { el } from "../kit/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 15;
const AROUND = 2 * Math.PI * RADIUS;

/**
 * A part of a drawing.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** A drawing made of shapes. @param {string} tag @param {Record<string, string | number>} attributes @param {Shape[]} shapes */
export function drawing(tag, attributes, shapes) {
  const made = shape(tag, attributes);
  for (const [part, given, text] of shapes) {
    const one = shape(part, given);
    one.textContent = text ?? "";
    made.append(one);
  }
  return made;
}

/** Write a text, but only where it is another one: those who hear the page would hear it again. @param {Element} place @param {string} text */
export function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** Rings that show how much is left of something. */
export class Dials {
  constructor() {
    this.place = el("div", { class: "dials" });
    /** @type {Map<string, { ring: Element, text: HTMLElement }>} */
    this.made = new Map();
  }

  /** @param {Dial[]} dials */
  show(dials) {
    if (dials.map(({ name }) => name).join() !== [...this.made.keys()].join()) {
      this.made.clear();
      this.place.replaceChildren(...dials.map(({ name }) => this.make(name)));
    }
    for (const { name, value, most, text, isReady } of dials) {
      const { ring, text: words } = /** @type {{ ring: Element, text: HTMLElement }} */ (this.made.get(name));
      const share = most > 0 ? Math.max(0, Math.min(1, value / most)) : 1;
      ring.setAttribute("stroke-dasharray", `${(share * AROUND).toFixed(1)} ${AROUND.toFixed(1)}`);
      ring.classList.toggle("is-ready", Boolean(isReady));
      write(words, text);
    }
  }

  /** @param {string} name */
  make(name) {
    const drawing = shape("svg", { viewBox: "0 0 40 40", "aria-hidden": "true" });
    const circle = { cx: 20, cy: 20, r: RADIUS, fill: "none" };
    const ring = shape("circle", { ...circle, class: "ring", transform: "rotate(-90 20 20)" });
    drawing.append(shape("circle", { ...circle, class: "track" }), ring);
    const text = el("strong", {});
    this.made.set(name, { ring, text });
    const made = el("div", { class: "dial" }, el("span", { class: "dial-text" }, el("span", {}, `${name} `), text));
    made.prepend(drawing);
    return made;
  }
}

/**
 * @typedef {object} PadView
 * @property {(button: PadButton) => void} press
 * @property {(button: PadButton | null) => void} hover
 */

/**
 * Why some buttons are disabled: each reason once, after the signs of its buttons if others among the `checked` ones can be pressed.
 * @param {{ sign: string, reason: string }[]} refused @param {number} checked
 */
export function reasonsInWords(refused, checked) {
  return [...new Set(refused.map(({ reason }) => reason))].map((reason) => {
    const signs = refused.filter((one) => one.reason === reason).map(({ sign }) => sign);
    return signs.length < checked ? `${signs.join(", ")}: ${reason}` : reason;
  }).join(" · ");
}

/** The buttons of a person, in groups: arrows around a middle, or a row. A button that would be refused is disabled and tells why. */
export class Pads {
  /**
   * @param {Pad[]} pads
   * @param {PadView} view
   */
  constructor(pads, view) {
    /** @type {{ button: PadButton, element: HTMLButtonElement, reason: string, about: HTMLElement }[]} */
    this.buttons = [];
    this.why = el("p", { class: "why", "aria-live": "off" });
    this.place = el("div", { class: "pads" }, ...pads.map((pad) => this.group(pad, view)));
    // Where no move is ever refused, there is no room for reasons.
    if (this.checked.length) this.place.append(this.why);
  }

  /** @param {Pad} pad @param {PadView} view */
  group(pad, view) {
    const made = pad.buttons.map((button) => {
      const about = el("span", { class: "unseen", id: `why-${this.buttons.length}` });
      const element = el("button", {
        type: "button", "aria-describedby": about.id, title: button.title, "aria-label": button.title, class: button.at === undefined ? null : `at-${button.at}`,
        onclick: (/** @type {MouseEvent} */ event) => {
          view.press(button);
          // After a click the keyboard is for the game again.
          if (event.detail) /** @type {HTMLElement} */ (event.currentTarget).blur();
        },
        onpointerenter: (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && view.hover(button),
        onpointerleave: () => view.hover(null),
      }, button.sign);
      this.buttons.push({ button, element, reason: "", about });
      return [element, about];
    });
    return el("div", { class: pad.kind, role: "group", "aria-label": pad.label }, ...made.map(([element]) => element), ...made.map(([, about]) => about));
  }

  /** The moves that the engine is to be asked about. */
  get checked() {
    return this.buttons.flatMap(({ button }) => (button.move === undefined ? [] : [button.move]));
  }

  /** Why a move would be refused; null if it is none of the checked ones. @param {any} move */
  reason(move) {
    const text = JSON.stringify(move);
    return this.buttons.find(({ button }) => button.move !== undefined && JSON.stringify(button.move) === text)?.reason ?? null;
  }

  /**
   * Why each checked move would be refused; "" for one that would not.
   * @param {string[]} reasons
   * @param {(moves: any[]) => string} [words] one sentence for all the moves that are refused
   */
  refuse(reasons, words) {
    const left = [...reasons];
    for (const one of this.buttons) {
      if (one.button.move === undefined) continue;
      one.reason = left.shift() ?? "";
      const { element, about, button, reason } = one;
      element.ariaDisabled = reason ? "true" : null;
      element.title = reason ? `${button.title}: ${reason}` : button.title;
      write(about, reason);
    }
    const refused = this.buttons.filter(({ reason }) => reason);
    const said = refused.map(({ button, reason }) => ({ sign: button.sign, reason }));
    write(this.why, words?.(refused.map(({ button }) => button.move)) ?? reasonsInWords(said, this.checked.length));
  }

  /** What is chosen may have changed. @param {number} turn */
  show(turn) {
    for (const { button, element } of this.buttons) {
      if (button.isPressed) element.setAttribute("aria-pressed", String(button.isPressed(turn)));
      if (button.isShown) element.hidden = !button.isShown(turn);
    }
  }
}
