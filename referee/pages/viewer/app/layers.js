// The switches of what the board shows: whose remarks, what the page draws, what the engine draws, and the camera.

import { camerasOf, isCamera } from "./camera.js";
import { byId, el, plain } from "../kit/dom.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */

/**
 * A switch; the address of the page knows it by its name.
 * @param {string} name @param {string} text @param {boolean} isOn @param {(isOn: boolean) => void} change
 */
function box(name, text, isOn, change) {
  const input = el("input", { type: "checkbox", "data-layer": name, onchange: () => change(input.checked) });
  input.checked = isOn;
  return el("label", {}, input, ` ${text}`);
}

/** @param {Set<string>} set @param {string} name @param {boolean} isIn */
function put(set, name, isIn) {
  if (isIn) set.add(name);
  else set.delete(name);
}

/** Show the switches of a match, once its head is known. @param {Viewer} viewer */
export function showLayers(viewer) {
  const { board, recording } = viewer;
  const track = recording.track;
  const seats = recording.seats.map((seat) => {
    board.overlays.add(seat);
    return box(`seat.${seat}`, `${plain(seat, 20)} says and draws`, true, (isOn) => {
      put(board.overlays, seat, isOn);
      board.request();
    });
  });
  const own = (track?.options ?? []).map(([name, text]) => box(name, text, Boolean(track?.shown?.has(name)), (isOn) => {
    if (track?.shown) put(track.shown, name, isOn);
    board.request();
  }));
  const engine = ((viewer.isServed && track?.analysis && track.layers) || []).map(([name, text]) => box(name, text, false, (isOn) => {
    if (track?.analysis) put(track.analysis.shown, name, isOn);
    viewer.legend();
    viewer.lookInto(viewer.playback.turn);
    board.request();
  }));
  const group = (/** @type {string} */ title, /** @type {HTMLElement[]} */ boxes) => (boxes.length ? [el("h3", {}, title), ...boxes] : []);
  byId("overlays").replaceChildren(cameraChoice(board, track), ...own, ...group("Players", seats), ...group("Engine", engine));
}

/** @param {import("./board.js").Board} board @param {Track | null} track */
function cameraChoice(board, track) {
  const choice = el("select", { id: "camera", title: "Next camera (C)" }, ...camerasOf(track).map(([name, text]) => el("option", { value: name }, text)));
  choice.value = board.camera;
  choice.addEventListener("change", () => {
    if (isCamera(choice.value)) board.camera = choice.value;
  });
  board.onCamera.add(() => {
    choice.value = board.camera;
  });
  const label = el("label", {}, "camera ", choice);
  label.hidden = choice.options.length < 2;
  return label;
}

/** The next camera that the game knows. @param {import("./board.js").Board} board */
export function nextCamera(board) {
  const names = camerasOf(board.recording.track).map(([name]) => name);
  board.camera = names[(names.indexOf(board.camera) + 1) % names.length];
}
