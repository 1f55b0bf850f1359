// What the address of the page holds beside the page: the step, the camera, and what is drawn. A reload or a link shows the same.

/**
 * @typedef {object} Wanted
 * @property {number | null} step null: none is named
 * @property {string | null} camera
 * @property {[number, number, number] | null} view the zoom and the middle of the board, where a person chose them
 * @property {Set<string> | null} layers null: as the page comes
 * @property {string[]} rest parts that others put there, as they are
 */

/** The parts of the address that belong to the page. */
const NAMES = ["t", "camera", "view", "layers"];
const STEP = /^\d{1,9}$/;
const NUMBER = /^-?\d{1,6}(\.\d{1,3})?$/;

/** What an address wants to be shown. @param {string} hash @returns {Wanted} */
export function readAddress(hash) {
  const given = new URLSearchParams(hash.slice(1));
  const [step, camera, view, layers] = NAMES.map((name) => given.get(name));
  const numbers = view?.split(",") ?? [];
  return {
    step: step !== null && STEP.test(step) ? Number(step) : null,
    camera,
    view: numbers.length === 3 && numbers.every((text) => NUMBER.test(text)) ? /** @type {[number, number, number]} */ (numbers.map(Number)) : null,
    layers: layers === null ? null : new Set(layers.split(",").filter(Boolean)),
    rest: hash.slice(1).split("&").filter((part) => part && !NAMES.includes(part.split("=", 1)[0])),
  };
}

/**
 * The part of the address that says what is shown.
 * @param {{ step: number | null, camera: string, view: [number, number, number] | null, layers: string[], rest?: string[] }} shown
 */
export function addressOf({ step, camera, view, layers, rest = [] }) {
  const given = new URLSearchParams([
    ...(step === null ? [] : [["t", String(step)]]),
    ["camera", camera],
    ...(view === null ? [] : [["view", view.map((part) => String(Number(part.toFixed(2)))).join(",")]]),
    ["layers", layers.join(",")],
  ]);
  // People read it, too.
  return `#${[String(given).replaceAll("%2C", ",").replaceAll("%3A", ":"), ...rest].join("&")}`;
}

/**
 * The switches in a part of the page, by the name that the address has for each.
 * @param {HTMLElement} place
 * @returns {[string, HTMLInputElement | HTMLSelectElement][]}
 */
function switches(place) {
  return [...place.querySelectorAll("input[type=checkbox], select")].flatMap((found) => {
    const control = /** @type {HTMLInputElement | HTMLSelectElement} */ (found);
    const name = control.dataset.layer ?? control.id;
    return name && name !== "camera" ? [/** @type {[string, HTMLInputElement | HTMLSelectElement]} */ ([name, control])] : [];
  });
}

/** The names of the layers that are switched on, and the values of those with a choice. @param {HTMLElement} place */
export function layersIn(place) {
  return switches(place).flatMap(([name, control]) => {
    if (control instanceof HTMLSelectElement) return [`${name}:${control.value}`];
    return control.checked ? [name] : [];
  });
}

/** Switch layers on and off, as a person would. @param {HTMLElement} place @param {Set<string>} wanted */
export function setLayers(place, wanted) {
  for (const [name, control] of switches(place)) {
    if (control instanceof HTMLSelectElement) {
      const value = [...control.options].map((option) => option.value).find((text) => wanted.has(`${name}:${text}`));
      if (value === undefined || value === control.value) continue;
      control.value = value;
    } else {
      if (control.checked === wanted.has(name)) continue;
      control.checked = !control.checked;
    }
    control.dispatchEvent(new Event("change", { bubbles: true }));
  }
}
