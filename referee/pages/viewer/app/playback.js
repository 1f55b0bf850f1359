// The viewer's position in the game, and its playback: play, pause, speed, loop. No timer runs while nothing moves.

import { byId, el, part } from "../kit/dom.js";
import { nextFrame } from "../kit/frames.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
/** Steps a second at speed 1. */
const RATE = 20;
/** How long a loop shows its end. */
const HOLD_MS = 1000;

/**
 * @typedef {object} Listener
 * @property {(turn: number) => void} moved the position changed
 * @property {(exact: number, pace: number) => void} [ticked] time went on between two steps: the position with its fraction, and the steps a second, 0 when nothing plays any more
 * @property {() => void} changed playing, speed, loop or length changed
 */

/**
 * What the keys of every page with a playback do, by key.
 * @param {Playback} playback @param {KeyboardEvent} event @returns {Record<string, () => void>}
 */
export function playbackKeys(playback, event) {
  const far = event.shiftKey ? 10 : 1;
  const [back, on] = [() => playback.seek(playback.turn - far), () => playback.seek(playback.turn + far)];
  const [faster, slower] = [() => playback.shiftSpeed(1), () => playback.shiftSpeed(-1)];
  return {
    " ": () => playback.toggle(), ArrowLeft: back, ArrowRight: on, ArrowDown: back, ArrowUp: on,
    Home: () => playback.seek(0), End: () => playback.seek(playback.last), "+": faster, "=": faster, "-": slower,
  };
}

/** Let the page's buttons, its scrubber and its list of speeds control the playback. @param {() => Playback} playback */
export function listenToTransport(playback) {
  /** @type {Record<string, () => void>} */
  const act = {
    home: () => playback().seek(0),
    back: () => playback().seek(playback().turn - 1),
    play: () => playback().toggle(),
    on: () => playback().seek(playback().turn + 1),
    end: () => playback().seek(playback().last),
  };
  for (const [id, action] of Object.entries(act)) byId(id).addEventListener("click", action);
  const [scrubber, choice] = [part("scrubber", HTMLInputElement), part("speed", HTMLSelectElement)];
  scrubber.addEventListener("input", () => playback().seek(Number(scrubber.value)));
  choice.replaceChildren(...SPEEDS.map((speed) => el("option", { value: speed }, `${speed}×`)));
  choice.value = "1";
  choice.addEventListener("change", () => playback().setSpeed(Number(choice.value)));
}

/** Show whether it plays, and how fast. @param {Playback} playback */
export function showTransport({ isMoving, speed }) {
  byId("play").textContent = isMoving ? "❚❚" : "▶";
  byId("play").setAttribute("aria-label", isMoving ? "Pause" : "Play");
  part("speed", HTMLSelectElement).value = String(speed);
}

export class Playback {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    this.turn = 0;
    this.last = 0;
    this.speed = 1;
    this.isPlaying = false;
    this.isLooping = false;
    /** Whether it stays at the newest position of a match that still runs. */
    this.follows = false;
    /** Whether there will be more steps: then the end is where it follows. */
    this.isGrowing = false;
    /** How many times faster than chosen it plays, to catch up with a match that still runs. */
    this.hurry = 1;
    this.exact = 0;
    this.then = 0;
    this.heldSince = 0;
  }

  /** Whether it moves by itself: it plays, or stays at the newest position of a running match. */
  get isMoving() {
    return this.isPlaying || (this.follows && this.isGrowing);
  }

  /** @param {number} turn */
  go(turn) {
    const to = Math.max(0, Math.min(this.last, Math.round(turn)));
    this.exact = to;
    if (to !== this.turn) {
      this.turn = to;
      this.listener.moved(to);
    }
  }

  /** By hand: what plays stands still there, and a match that still runs is no longer followed. @param {number} turn */
  seek(turn) {
    if (this.isPlaying || (this.follows && turn < this.last)) this.pause();
    this.go(turn);
  }

  /** More steps are known. @param {number} last */
  extend(last) {
    this.last = last;
    if (this.follows) this.go(last);
  }

  play() {
    if (this.isPlaying) return;
    this.follows = false;
    // At the end of a match that still runs there is nothing to play again: it follows.
    if (this.turn >= this.last && !this.isGrowing) this.go(0);
    this.isPlaying = true;
    this.hurry = 1;
    this.then = this.heldSince = 0;
    this.exact = this.turn;
    nextFrame((now) => this.tick(now));
    this.listener.changed();
  }

  pause() {
    if (!this.isPlaying && !this.follows) return;
    this.isPlaying = false;
    this.follows = false;
    this.listener.ticked?.(this.turn, 0);
    this.listener.changed();
  }

  toggle() {
    if (this.isMoving) this.pause();
    else this.play();
  }

  follow() {
    this.isPlaying = false;
    this.listener.ticked?.(this.turn, 0);
    this.follows = true;
    this.go(this.last);
    this.listener.changed();
  }

  /** Play on, faster than steps come, until the newest position is reached; then stay there. */
  catchUp() {
    if (!this.isGrowing || this.turn >= this.last) return;
    this.play();
    // About ten seconds, but never slower than four times.
    this.hurry = Math.max(4, (this.last - this.turn) / (10 * RATE * this.speed));
    this.listener.changed();
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.listener.changed();
  }

  /** @param {number} by */
  shiftSpeed(by) {
    const at = SPEEDS.indexOf(this.speed) + by;
    if (at >= 0 && at < SPEEDS.length) this.setSpeed(SPEEDS[at]);
  }

  setLoop() {
    this.isLooping = !this.isLooping;
    this.listener.changed();
  }

  /** @param {number} now */
  tick(now) {
    if (!this.isPlaying) return;
    if (this.then) {
      // A page that was hidden doesn't leap ahead by the time it slept.
      this.exact += (Math.min(250, now - this.then) / 1000) * RATE * this.speed * this.hurry;
    }
    this.then = now;
    if (this.exact >= this.last) {
      this.go(this.last);
      if (this.isGrowing) {
        this.follow();
        return;
      }
      if (!this.isLooping || this.last === 0) {
        this.pause();
        return;
      }
      // The end stays in sight for a moment.
      this.heldSince ||= now;
      if (now - this.heldSince > HOLD_MS) {
        this.heldSince = 0;
        this.go(0);
      }
    } else {
      const exact = this.exact;
      this.go(Math.floor(exact));
      this.exact = exact;
      this.listener.ticked?.(exact, RATE * this.speed * this.hurry);
    }
    nextFrame((later) => this.tick(later));
  }
}
