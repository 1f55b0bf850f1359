// The page from which `referee export` takes its pictures: the viewer's board, without the viewer around it.

import { Board } from "./viewer/app/board.js";
import { Studio } from "./viewer/app/picture.js";
import { readAll, Recording } from "./viewer/app/recording.js";
import { byId, part, plain } from "./viewer/kit/dom.js";
import { bytesOf } from "./viewer/kit/packed.js";

const recording = new Recording();
/** @type {Studio | null} */
let studio = null;

/**
 * Read the replay of this page, for pictures of positions up to `last`, `size` pixels wide. Returns why that can't be; "" if it can.
 * @param {number} last
 * @param {number} size
 */
async function begin(last, size) {
  await readAll(new Blob([bytesOf(byId("replay").textContent ?? "")]).stream(), recording, () => {});
  const { track } = recording;
  if (!track || recording.steps < last) return plain(recording.problem, 300) || "it has fewer steps";
  const board = new Board(part("board", HTMLCanvasElement), recording, () => {});
  board.overlays = new Set(recording.seats);
  board.camera = "whole";
  studio = new Studio(board, recording, size, track.width);
  studio.fit(last);
  return "";
}

/** A position as an address of the kind `data:`. @param {number} turn */
function draw(turn) {
  return studio?.draw(turn).toDataURL("image/png") ?? "";
}

globalThis.stills = { begin, draw };
