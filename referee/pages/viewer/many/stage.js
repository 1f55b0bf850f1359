// One board that plays one match after another by itself.

import { Board } from "../app/board.js";
import { readAll, Recording } from "../app/recording.js";

/** Steps a second at speed 1; and how long a match takes at most where the speed is chosen for it, in seconds. */
const RATE = 20;
const MOST_SECONDS = 45;

export class Stage {
  /** @param {HTMLCanvasElement} canvas @param {{ moved: () => void }} listener */
  constructor(canvas, listener) {
    this.canvas = canvas;
    this.listener = listener;
    this.recording = new Recording();
    this.board = new Board(canvas, this.recording, () => {});
    this.turn = 0;
    this.exact = 0;
    /** 0: chosen by the length of the match. */
    this.speed = 0;
    /** Steps a second of a match that is being played. @type {number | null} */
    this.pace = null;
    this.isStopped = false;
    this.isSkipped = false;
    this.then = 0;
    this.hasBoard = false;
  }

  /** Make room for the next match. @param {number | null} [pace] */
  open(pace = null) {
    this.board.close();
    this.recording = new Recording();
    this.board = new Board(this.canvas, this.recording, () => {});
    this.turn = this.exact = this.then = 0;
    this.pace = pace;
    this.isSkipped = this.hasBoard = false;
    this.board.request();
  }

  /** Read a whole replay. @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream @param {() => void} onHead */
  async read(stream, onHead) {
    await readAll(stream, this.recording, () => this.grown());
    this.grown();
    onHead();
  }

  /** There is more of the recording. */
  grown() {
    if (this.recording.track && !this.hasBoard) {
      this.hasBoard = true;
      // The camera of the viewer, which goes closer at the end.
      this.board.wholeBoard();
      this.board.request();
      this.listener.moved();
    }
  }

  /** End this match now. */
  skip() {
    this.isSkipped = true;
  }

  get isDone() {
    const { recording } = this;
    return this.isSkipped || (recording.isOver && (!recording.track || this.turn >= recording.steps));
  }

  /** Steps a second. */
  get rate() {
    const { steps } = this.recording;
    if (this.speed) return RATE * this.speed;
    // A page that has fallen behind a running match catches up.
    if (this.pace !== null) return this.pace * (steps - this.exact > 2 * this.pace ? 3 : 1);
    return Math.max(RATE, steps / MOST_SECONDS);
  }

  /** @param {number} now */
  tick(now) {
    const gone = this.then && !this.isStopped ? Math.min(250, now - this.then) / 1000 : 0;
    this.then = now;
    this.exact = Math.min(this.recording.steps, this.exact + gone * this.rate);
    const turn = Math.floor(this.exact);
    if (turn !== this.turn && this.recording.track) {
      this.turn = this.board.turn = turn;
      this.board.request();
      this.listener.moved();
    }
    // Smooth between two steps; at the end and while nothing moves the position stands as it is.
    this.board.glide(this.exact, this.exact < this.recording.steps && !this.isStopped ? this.rate : 0);
  }
}

/** Play a match to its end, or until it is skipped. @param {Stage} stage */
export async function playing(stage) {
  do stage.tick(await new Promise((frame) => requestAnimationFrame(frame)));
  while (!stage.isDone);
}
