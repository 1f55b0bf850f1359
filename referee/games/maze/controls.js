// What keys, the pointer and buttons mean to a player of Maze.

import { codeOf } from "../../pages/viewer/kit/keys.js";
import { cardOf } from "./card.js";

/** The arrows of orders, and their places among the buttons. @type {Record<string, string>} */
const SIGNS = { U: "↑", L: "←", R: "→", D: "↓" };
/** @type {Record<string, number>} */
const PLACES = { U: 1, L: 3, R: 5, D: 7 };

/** @type {Record<string, string>} */
export const NAMES = { U: "up", D: "down", L: "left", R: "right" };

/** @type {Record<string, string>} */
const KEYS = { KeyW: "U", KeyA: "L", KeyS: "D", KeyD: "R", ArrowUp: "U", ArrowLeft: "L", ArrowDown: "D", ArrowRight: "R" };

/** Orders as steps: rows down, columns along. @type {Record<string, [number, number]>} */
export const STEPS = { U: [-1, 0], D: [1, 0], L: [0, -1], R: [0, 1] };

/** @typedef {import("./display.js").MazeTrack} MazeTrack */

/** @param {MazeTrack} track @param {string} seat @returns {Controls} */
export function controlsOf(track, seat) {
  const columns = seat === "thief" ? track.thief : track.policeman;
  /** What stands on the next square; nothing beyond the edge. @param {string} go */
  const next = (go) => {
    const [down, along] = STEPS[go];
    return track.rows[columns[0].data[track.last] - 1 + down]?.[columns[1].data[track.last] - 1 + along];
  };
  track.hints = false;
  return {
    card: cardOf(seat),
    help: [["W A S D or arrows", "up, left, down, right"], ["pointer", "move one step towards the square that you click"], ["H", "show or hide a hint: the orders of perfect play"]],
    touchHelp: [["tap an arrow", "up, left, down, right"], ["tap the board", "move one step towards the square that you tap"], ["tap Hint", "show or hide the orders of perfect play"]],
    key(event) {
      if (event.key.toLowerCase() === "h") track.hints = !track.hints;
      const go = KEYS[codeOf(event)];
      return go ? { move: { go } } : null;
    },
    point({ x, y }, turn) {
      const [dy, dx] = [y - columns[0].data[turn], x - columns[1].data[turn]];
      const go = Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? "R" : "L") : dy > 0 ? "D" : "U";
      return dx || dy ? { move: { go } } : null;
    },
    mayBeRefused: true,
    refusal({ go }) {
      const sign = next(go);
      return sign === undefined ? `There is no way ${NAMES[go]}: the board ends there.` : sign === "#" ? `There is no way ${NAMES[go]}: a wall.` : "";
    },
    refused(moves) {
      const ways = moves.map(({ go }) => NAMES[go]);
      const last = ways.pop();
      return last ? `There is no way ${ways.length ? `${ways.join(", ")} or ${last}` : last}.` : "";
    },
    pads: [
      {
        kind: "compass",
        label: "Directions",
        buttons: Object.entries(PLACES).map(([go, at]) => ({ sign: SIGNS[go], title: NAMES[go], at, move: { go }, press: () => ({ move: { go } }) })),
      },
      {
        kind: "buttons",
        label: "Help",
        buttons: [{
          sign: "Hint", title: "Hint: show or hide the orders of perfect play",
          press: () => {
            track.hints = !track.hints;
            return null;
          },
          isPressed: () => track.hints,
        }],
      },
    ],
    goesOn(turn) {
      const value = track.value(turn);
      const best = track.hints ? track.values.get(turn)?.best ?? [] : [];
      return value && `Hint: ${value}${best.length ? `; go ${best.map((order) => SIGNS[order]).join(" or ")}` : ""}.`;
    },
    dials(turn) {
      const left = Math.max(0, track.limit - Math.ceil(turn / 2));
      return track.limit ? [{ name: "Moves left", value: left, most: track.limit, text: `${left} of ${track.limit}`, isReady: left > 0 }] : [];
    },
  };
}

/** A move in words. @param {any} move */
export function describeMove({ go }) {
  return go ? `go ${SIGNS[go] ?? ""} ${NAMES[go] ?? go}` : "";
}
