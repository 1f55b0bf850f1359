// The pages of an arena with small boards: the matches of this minute, and a match that is played.

import { SmallBoards } from "./viewer/many/boards.js";
import { showPage } from "./arena_page.js";
import { replaceParts } from "./common.js";

const boards = new SmallBoards();

/** The match that a canvas shows. @param {HTMLCanvasElement} canvas */
const matchOf = (canvas) => canvas.dataset.replay?.split("?")[0];

function watch() {
  boards.watch(document.querySelectorAll("canvas"));
  void boards.draw();
}

/** Replace the parts of the page. The board of a match that is still on the page stays until it is drawn again. @param {Document} fresh */
function renew(fresh) {
  const old = new Map([...document.querySelectorAll("canvas")].map((canvas) => [matchOf(canvas), canvas]));
  replaceParts(fresh);
  for (const canvas of document.querySelectorAll("canvas")) {
    const known = old.get(matchOf(canvas));
    if (!known || known === canvas) continue;
    known.dataset.replay = canvas.dataset.replay;
    canvas.replaceWith(known);
  }
  watch();
}

showPage(renew, () => void boards.draw());
watch();
