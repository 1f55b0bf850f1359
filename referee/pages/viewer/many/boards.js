// Small boards: the last position of a match on a canvas, drawn when it comes into sight. Lists and arenas show them.

import { Board } from "../app/board.js";
import { palette } from "../app/palette.js";
import { readAll, Recording } from "../app/recording.js";

/** The room around a small board, in pixels, and how far from the window a canvas counts as in sight. */
const MARGIN = 8;
const NEAR = "300px";

/** The canvases of a page. Each has the address of its replay as `data-replay`; it is drawn again when the address or the theme changes. */
export class SmallBoards {
  /** @param {(address: string) => Promise<ReadableStream<Uint8Array<ArrayBuffer>> | null>} [read] gets the replay with an address; null if there is none */
  constructor(read = asked) {
    this.read = read;
    /** @type {Set<HTMLCanvasElement>} */
    this.inSight = new Set();
    /** What each canvas shows. @type {WeakMap<HTMLCanvasElement, string>} */
    this.shown = new WeakMap();
    this.isAtWork = false;
    this.observer = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        if (!(target instanceof HTMLCanvasElement)) continue;
        if (isIntersecting) this.inSight.add(target);
        else this.inSight.delete(target);
      }
      void this.draw();
    }, { rootMargin: NEAR });
  }

  /** @param {Iterable<HTMLCanvasElement>} canvases */
  watch(canvases) {
    for (const canvas of canvases) this.observer.observe(canvas);
  }

  /** Draw what is in sight and shows something else, one canvas after another. */
  async draw() {
    if (this.isAtWork) return;
    this.isAtWork = true;
    for (let canvas = this.due(); canvas; canvas = this.due()) {
      this.shown.set(canvas, wanted(canvas));
      await drawLast(canvas, this.read).catch(() => {});
    }
    this.isAtWork = false;
  }

  due() {
    return [...this.inSight].find((canvas) => this.shown.get(canvas) !== wanted(canvas));
  }
}

/** What a canvas is to show. @param {HTMLCanvasElement} canvas */
function wanted(canvas) {
  return `${palette().isDark} ${canvas.dataset.replay}`;
}

/** A replay from the server. @param {string} address */
async function asked(address) {
  const answer = await fetch(address);
  return answer.ok ? answer.body : null;
}

/** @param {HTMLCanvasElement} canvas @param {SmallBoards["read"]} read */
async function drawLast(canvas, read) {
  const body = await read(canvas.dataset.replay ?? "");
  if (!body) return;
  const recording = new Recording();
  await readAll(body, recording, () => {});
  if (!recording.track) return;
  // A page may show it smaller than it is drawn.
  canvas.classList.remove("drawn");
  const board = new Board(canvas, recording, () => {});
  board.margin = MARGIN;
  board.ahead = false;
  board.words.isPutAway = true;
  board.camera = "whole";
  board.turn = recording.steps;
  board.paint();
  board.close();
  canvas.classList.add("drawn");
  canvas.style.touchAction = "";
}
