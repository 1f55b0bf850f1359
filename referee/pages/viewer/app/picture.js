// Pictures of the board as files. They show what the page shows: its camera and its layers.

import { Board } from "./board.js";
import { el, number, plain } from "../kit/dom.js";
import { wrapped } from "./hud.js";
import { named, palette } from "./palette.js";
import { outcomeText } from "./people.js";

/** The room around the board, in pixels, and at the end of a match; and the lines for where and why it ended. */
const [MARGIN, END_MARGIN] = [10, 30];
const END_LINES = 2;
/** The most players that the caption names. */
const MOST_NAMED = 8;
const CAPTION = { height: 44, line: 17, margin: 10 };
const FONT = "system-ui, sans-serif";
/**
 * @typedef {import("./recording.js").Recording} Recording
 */

/** A second board, outside of what is seen, from which pictures are taken. */
export class Studio {
  /**
   * @param {Board} model the board on the page, whose view and layers are taken
   * @param {Recording} recording
   * @param {number} size of a side of the picture without its caption, in pixels
   * @param {number} [side] the length of that side of the board, in cells; by default it is the longer one
   */
  constructor(model, recording, size, side = Math.max(model.track.width, model.track.height)) {
    this.size = size;
    this.side = side;
    this.wide = this.high = 0;
    this.canvas = el("canvas", { class: "studio", "aria-hidden": "true" });
    document.body.append(this.canvas);
    this.recording = recording;
    this.board = new Board(this.canvas, recording, () => {});
    this.copyView(model);
    this.sheet = document.createElement("canvas");
    /** How many lines are below the board for where and why the match ended. */
    this.endLines = 0;
    this.fit(0);
  }

  /** Choose the size of the sheet for pictures up to a position. @param {number} last */
  fit(last) {
    const { recording, board } = this;
    const isEnd = recording.result !== null && last === recording.steps;
    this.endLines = isEnd && recording.track?.ending?.().text ? END_LINES : 0;
    // The rings around the end are seen whole. Its words stand below: they would cover a part of the board.
    board.margin = isEnd ? END_MARGIN : MARGIN;
    const scale = (this.size - 2 * board.margin) / this.side;
    [this.wide, this.high] = [board.track.width, board.track.height].map((cells) => Math.round(cells * scale) + 2 * board.margin);
    this.canvas.style.width = `${this.wide}px`;
    this.canvas.style.height = `${this.high}px`;
    [this.sheet.width, this.sheet.height] = [this.wide, this.high + CAPTION.height + this.endLines * CAPTION.line];
  }

  /** @param {Board} model */
  copyView(model) {
    const { board } = this;
    board.trail = model.trail;
    board.ahead = model.ahead;
    board.overlays = model.overlays;
    board.marks = model.marks;
    board.words.isPutAway = model.words.isPutAway;
    board.camera = model.camera;
    board.zoom = model.zoom;
    board.center = [...model.center];
  }

  /** Draw a position with its caption. @param {number} turn */
  draw(turn) {
    const { board, sheet } = this;
    board.turn = turn;
    board.glide(turn, 0);
    board.words.isPutAway = true;
    board.paint();
    const context = this.context();
    const colors = palette();
    context.fillStyle = colors.paper;
    context.fillRect(0, 0, sheet.width, sheet.height);
    context.drawImage(board.canvas, 0, 0, this.wide, this.high);
    this.caption(context, turn, colors);
    return sheet;
  }

  context() {
    return /** @type {CanvasRenderingContext2D} */ (this.sheet.getContext("2d"));
  }

  /** The players in one line, the step in the next. @param {CanvasRenderingContext2D} context @param {number} turn @param {Palette} colors */
  caption(context, turn, colors) {
    const { recording, wide, high } = this;
    const { head, track, result, steps } = recording;
    if (!head || !track) return;
    const isEnd = result !== null && turn === steps;
    const standings = track.standings?.(turn) ?? [];
    // The scores stand beside the names.
    const words = isEnd ? outcomeText(recording) : standings.length ? "" : track.score(turn);
    const room = wide - 2 * CAPTION.margin;
    context.textBaseline = "alphabetic";
    context.font = `600 13px ${FONT}`;
    const players = Object.entries(head.players).slice(0, MOST_NAMED).map(([seat, player]) => ({
      name: plain(player?.name, 40),
      rest: ` (${plain(seat, 20)}) ${standings.find((one) => one.seat === seat)?.score ?? ""}`.trimEnd(),
      color: named(colors, recording.display?.seatColors?.[seat] ?? "plain"),
    }));
    this.names(context, players, room, colors);
    context.fillStyle = colors.faint;
    context.font = `13px ${FONT}`;
    const step = [`step ${number(turn)} of ${number(steps)}`, words].filter(Boolean).join(" · ");
    context.fillText(fitted(context, step, room), CAPTION.margin, high + 2 * CAPTION.line + 2);
    if (!isEnd) return;
    wrapped(context, plain(track.ending?.().text, 300), room).slice(0, this.endLines).forEach((line, at) => {
      context.fillText(fitted(context, line, room), CAPTION.margin, high + (3 + at) * CAPTION.line + 2);
    });
  }

  /**
   * The players with their colours; the longest names are cut first.
   * @param {CanvasRenderingContext2D} context
   * @param {{ name: string, rest: string, color: string }[]} players
   * @param {number} room
   * @param {Palette} colors
   */
  names(context, players, room, colors) {
    const [dot, gap] = [14, 14];
    const wide = (/** @type {string} */ text) => context.measureText(text).width;
    const left = room - players.reduce((sum, { rest }) => sum + wide(rest) + dot + gap, 0);
    let most = Math.max(...players.map(({ name }) => wide(name)));
    while (most > 12 && players.reduce((sum, { name }) => sum + Math.min(most, wide(name)), 0) > left) most -= 4;
    let x = CAPTION.margin;
    const y = this.high + CAPTION.line;
    for (const { name, rest, color } of players) {
      const text = fitted(context, name, most) + rest;
      context.fillStyle = color;
      context.beginPath();
      context.arc(x + 5, y - 4.5, 5, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = colors.ink;
      context.fillText(text, x + dot, y);
      x += dot + wide(text) + gap;
    }
  }

  /** The picture of a position as PNG. @param {number} turn @returns {Promise<Blob>} */
  async png(turn) {
    this.fit(turn);
    const sheet = this.draw(turn);
    return new Promise((resolve, reject) => sheet.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser can't make the picture"))), "image/png"));
  }

  close() {
    this.board.close();
    this.canvas.remove();
  }
}

/** As much of a text as there is room for. @param {CanvasRenderingContext2D} context @param {string} text @param {number} room */
function fitted(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let most = text.length;
  while (most > 0 && context.measureText(`${text.slice(0, most)}…`).width > room) most -= 1;
  return `${text.slice(0, most)}…`;
}
