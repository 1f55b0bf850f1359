// The hand of a player at the board: it takes hold of something and draws it along.

/**
 * @typedef {object} Player
 * @property {Controls | null} controls
 * @property {boolean} isOver
 * @property {{ turn: () => number }} view
 * @property {(intent: Intent) => void} choose
 * @property {() => void} changed
 */

export class DrawingHand {
  /** @param {Player} player */
  constructor(player) {
    this.player = player;
    /** The way of a robot or the like that the pointer draws. @type {Cell[]} */
    this.way = [];
  }

  /** Whether it takes hold of something there. @param {Cell} cell */
  grab(cell) {
    const { controls, isOver, view } = this.player;
    if (isOver || !controls?.drag || !controls.grab?.(cell, view.turn())) return false;
    this.way = [cell];
    return true;
  }

  /** What it holds is drawn on: every cell between two places counts. @param {Cell} cell */
  drag(cell) {
    const last = this.way[this.way.length - 1];
    if (!last || (last.x === cell.x && last.y === cell.y)) return;
    this.way.push(cell);
    this.player.controls?.drag?.(this.way, this.player.view.turn(), false);
    this.player.changed();
  }

  drop() {
    const { way, player } = this;
    this.way = [];
    const intent = way.length > 1 ? player.controls?.drag?.(way, player.view.turn(), true) : null;
    if (intent) player.choose(intent);
    player.changed();
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame */
  draw(context, frame) {
    this.player.controls?.draw?.(context, frame);
  }
}
