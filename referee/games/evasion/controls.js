// What keys, the pointer and buttons mean to a player of Evasion.

import { counted, number } from "../../pages/viewer/kit/dom.js";
import { codeOf } from "../../pages/viewer/kit/keys.js";
import { cardOf } from "./card.js";
import { whyRefused } from "./intents.js";
import { COMPASS, KEY_OF } from "./walls.js";

/** @typedef {import("./display.js").EvasionTrack} EvasionTrack */

/** Directions as people read them: an arrow and a name, by dx and dy with y upwards. @type {Record<string, [string, string]>} */
export const ARROWS = {
  "-1,1": ["↖", "north-west"], "0,1": ["↑", "north"], "1,1": ["↗", "north-east"],
  "-1,0": ["←", "west"], "0,0": ["•", "stand still"], "1,0": ["→", "east"],
  "-1,-1": ["↙", "south-west"], "0,-1": ["↓", "south"], "1,-1": ["↘", "south-east"],
};
/** The signs of walls on buttons. @type {Record<string, string>} */
const WALL_SIGNS = { horizontal: "— wall", vertical: "| wall", diagonal: "/ wall", "counter-diagonal": "\\ wall" };

/** @param {EvasionTrack} track @param {number} steps until something is legal */
function inSteps(track, steps) {
  return `in ${counted(steps, track.isTurnwise ? "round" : "step")}`;
}

/** The engine's remark about the hunter's move, without the kind of the wall, which the person has chosen. @param {string} text @param {string} [code] */
function reword(text, code) {
  const why = whyRefused(text).replace("the hunter's", "your");
  return code === "wall-refused" ? `refused: ${why}` : why;
}

/** The reason why a wall has to wait. @param {EvasionTrack} track @param {number} turn */
function nextWall(track, turn) {
  const timer = track.timer(turn);
  return timer ? `next wall ${inSteps(track, timer)}` : "";
}

/** @param {EvasionTrack} track @param {number} turn @param {string} [whose] for the prey: these are not its own @returns {Dial[]} */
function dials(track, turn, whose = "") {
  const timer = track.timer(turn);
  const left = Math.max(0, track.maxWalls - track.wallsAt(turn).length);
  return [
    { name: whose ? `${whose} next wall` : "Next wall", value: track.cooldown - timer, most: track.cooldown, text: timer ? inSteps(track, timer) : "now", isReady: !timer },
    { name: whose ? `${whose} walls left` : "Walls left", value: left, most: track.maxWalls, text: `${number(left)} of ${number(track.maxWalls)}`, isReady: left > 0 },
  ];
}

/**
 * The standing wall nearest to a cell, at most `reach` cells away.
 * @param {EvasionTrack} track @param {Cell} cell @param {number} turn @param {number} reach
 */
function wallNear(track, cell, turn, reach) {
  const exact = track.wallAt(cell, turn);
  if (exact || !(reach > 0.5)) return exact;
  let least = reach;
  /** @type {import("./walls.js").Wall | null} */
  let best = null;
  for (const wall of track.wallsAt(turn)) {
    const [dx, dy] = [wall.x2 - wall.x1, wall.y2 - wall.y1];
    const along = dx || dy ? ((cell.x - wall.x1) * dx + (cell.y - wall.y1) * dy) / (dx * dx + dy * dy) : 0;
    const at = Math.max(0, Math.min(1, along));
    const apart = Math.hypot(cell.x - wall.x1 - at * dx, cell.y - wall.y1 - at * dy);
    if (apart <= least) [best, least] = [wall, apart];
  }
  return best;
}

/** The eight arrows around the middle that stands still. @param {(go: [number, number]) => any} moveOf @returns {Pad} */
function compass(moveOf) {
  const buttons = Object.entries(ARROWS).map(([key, [sign, title]], at) => {
    const [dx, dy] = key.split(",").map(Number);
    return { sign, title, at, press: () => ({ move: moveOf([dx, dy]) }) };
  });
  return { kind: "compass", label: "Directions", buttons };
}

/** The walls that a hunter may ask for, by rule set. @type {Record<string, string[]>} */
export const KINDS = {
  classic: ["horizontal", "vertical"],
  diagonal: ["horizontal", "vertical", "diagonal", "counter-diagonal"],
};

/** What the keys of a prey mean: dx, dy with y upwards. @type {Record<string, [number, number]>} */
const PREY_KEYS = {
  KeyW: [0, 1], KeyA: [-1, 0], KeyS: [0, -1], KeyD: [1, 0],
  ArrowUp: [0, 1], ArrowLeft: [-1, 0], ArrowDown: [0, -1], ArrowRight: [1, 0],
  KeyQ: [-1, 1], KeyE: [1, 1], KeyZ: [-1, -1], KeyC: [1, -1], KeyX: [0, 0],
  Numpad8: [0, 1], Numpad4: [-1, 0], Numpad2: [0, -1], Numpad6: [1, 0],
  Numpad7: [-1, 1], Numpad9: [1, 1], Numpad1: [-1, -1], Numpad3: [1, -1], Numpad5: [0, 0],
};

/**
 * @param {EvasionTrack} track
 * @returns {Controls}
 */
function preyControls(track) {
  return {
    help: [
      ["W A S D or arrows", "up, left, down, right"],
      ["Q E Z C", "the four diagonals"],
      ["numpad", "all eight, 5 to stand still (also X)"],
      ["pointer", "go towards the place you click"],
    ],
    touchHelp: [
      ["tap the board", "go towards that place"],
      ["tap an arrow", "go that way; the middle: stand still"],
    ],
    key(event) {
      const go = PREY_KEYS[codeOf(event)];
      return go ? { move: { go } } : null;
    },
    point(cell, turn) {
      const dx = cell.x - track.prey[0].data[turn];
      const dy = cell.y - track.prey[1].data[turn];
      const octant = Math.round(Math.atan2(dy, dx) / (Math.PI / 4));
      const [cos, sin] = [Math.cos((octant * Math.PI) / 4), Math.sin((octant * Math.PI) / 4)];
      return { move: { go: dx || dy ? [Math.round(cos), Math.round(sin)] : [0, 0] } };
    },
    pads: [compass((go) => ({ go }))],
    dials: (turn) => dials(track, turn, "Hunter's"),
    goesOn(turn, isPaced) {
      if (!isPaced) return "";
      const [dx, dy] = [track.prey[2].data[turn], track.prey[3].data[turn]];
      const [sign, name] = ARROWS[`${dx},${track.isTurnwise ? -dy : dy}`] ?? ARROWS["0,0"];
      return dx || dy ? `You continue ${name} ${sign}.` : "You stand still.";
    },
  };
}

/**
 * @param {EvasionTrack} track
 * @param {string[]} kinds
 * @returns {Controls}
 */
function hunterControls(track, kinds) {
  const byKey = Object.fromEntries(kinds.map((kind) => [KEY_OF[kind], kind]));
  return {
    help: [
      ...kinds.map((kind) => /** @type {[string, string]} */ ([KEY_OF[kind].toUpperCase(), `the longest ${kind} wall through your cell`])),
      ["pointer", "point in the direction of the wall, click to build it"],
      ["Shift + pointer", "the wall ends where you point"],
      ["click a wall", "remove it"],
      ["Enter", "no wall in this step"],
    ],
    touchHelp: [
      ["tap the board", "see the wall in that direction; a second tap builds it"],
      ["tap a wall", "remove it"],
      ["tap a button", "the longest wall of that kind through your cell"],
    ],
    key(event) {
      if (event.key === "Enter") return { move: {} };
      const kind = byKey[event.key.toLowerCase()];
      return kind ? { move: { build: { kind } }, merge: true } : null;
    },
    point(cell, turn, event) {
      const wall = wallNear(track, cell, turn, event.reach ?? 0);
      if (wall) return { move: { remove: [wall.id] }, merge: true };
      const [x, y] = [track.hunter[0].data[turn], track.hunter[1].data[turn]];
      const [dx, dy] = [cell.x - x, cell.y - y];
      if (!dx && !dy) return null;
      // The kind whose line through the hunter passes nearest to the pointer.
      const gaps = kinds.map((kind) => {
        if (kind === "horizontal") return Math.abs(dy);
        if (kind === "vertical") return Math.abs(dx);
        return Math.abs(kind === "diagonal" ? dx - dy : dx + dy) / Math.SQRT2;
      });
      const kind = kinds[gaps.indexOf(Math.min(...gaps))];
      const [from, to] = kind === "vertical" ? [y, cell.y] : [x, cell.x];
      const span = event.shiftKey ? { span: [Math.min(from, to), Math.max(from, to)] } : {};
      return { move: { build: { kind, ...span } }, merge: true };
    },
    combine(pending, move) {
      // A second click on a wall takes it back.
      const remove = new Set(pending.remove ?? []);
      for (const id of move.remove ?? []) if (!remove.delete(id)) remove.add(id);
      return { ...pending, ...move, ...(pending.remove && move.remove ? { remove: [...remove] } : {}) };
    },
    pads: [{
      kind: "buttons",
      label: "Walls",
      buttons: [
        ...kinds.map((kind) => ({
          sign: WALL_SIGNS[kind] ?? kind, title: `the longest ${kind} wall`, move: { build: { kind } }, press: () => ({ move: { build: { kind } }, merge: true }),
        })),
        { sign: "no wall", title: "no wall in this step", press: () => ({ move: {} }) },
      ],
    }],
    dials: (turn) => dials(track, turn),
    goesOn: (_turn, isPaced) => (isPaced ? "You fly without steering; build walls to guide the chase." : ""),
    reword,
    mayBeRefused: true,
    waits: (move, turn) => (move.build ? nextWall(track, turn) : ""),
    confirmsTaps: true,
  };
}

const NAMES = Object.fromEntries(Object.entries(COMPASS).map(([name, [dx, dy]]) => [`${dx},${dy}`, name]));

/**
 * The prey of the 2010 server: the same keys and places, its own names for directions.
 * @param {EvasionTrack} track
 * @returns {Controls}
 */
function turnwisePrey(track) {
  const controls = preyControls(track);
  const named = (/** @type {any} */ move) => {
    // Keys and buttons say y upwards, which on this board is N.
    const go = NAMES[`${move.go[0]},${-move.go[1]}`];
    return go ? { go } : {};
  };
  return {
    ...controls,
    mayBeRefused: true,
    waits(move, turn) {
      const left = track.left(track.preyTimers, turn);
      return left && move.go ? `next move ${inSteps(track, left)}` : "";
    },
    key: (event, turn) => {
      const intent = controls.key(event, turn);
      return intent && { move: named(intent.move) };
    },
    point: (cell, turn) => {
      const [x, y] = [track.prey[0].data[turn], track.prey[1].data[turn]];
      const intent = controls.point({ x: cell.x, y: 2 * y - cell.y }, turn, { shiftKey: false });
      return cell.x === x && cell.y === y ? { move: {} } : intent && { move: named(intent.move) };
    },
    pads: [compass((go) => named({ go }))],
  };
}

/**
 * The hunter of the 2010 server: a wall goes from one click to the next.
 * @param {EvasionTrack} track
 * @returns {Controls}
 */
function turnwiseHunter(track) {
  /** Where the next wall begins. @type {Cell | null} */
  let first = null;
  const wallTo = (/** @type {Cell} */ start, /** @type {Cell} */ cell) => {
    const isFlat = Math.abs(cell.x - start.x) >= Math.abs(cell.y - start.y);
    let id = 1;
    while (track.standing.has(id)) id += 1;
    return { add: { id, x1: start.x, y1: start.y, x2: isFlat ? cell.x : start.x, y2: isFlat ? start.y : cell.y } };
  };
  const forget = (/** @type {Intent | null} */ intent) => {
    first = null;
    return intent;
  };
  return {
    help: [
      ["click twice", "a wall from the first cell to the second, along a row or a column"],
      ["Escape", "forget the first cell"],
      ["click a wall", "remove it"],
      ["Enter", "pass"],
    ],
    touchHelp: [
      ["tap twice", "a wall from the first cell to the second, along a row or a column"],
      ["tap a wall", "remove it"],
    ],
    key(event) {
      if (event.key !== "Escape" && event.key !== "Enter") return null;
      first = null;
      return event.key === "Enter" ? { move: {} } : null;
    },
    point(cell, turn, event) {
      const isClick = event.type === "click";
      if (first) {
        const move = wallTo(first, cell);
        if (isClick) first = null;
        return { move };
      }
      const wall = wallNear(track, cell, turn, event.reach ?? 0);
      if (wall) return { move: { remove: wall.id } };
      if (isClick) first = cell;
      return null;
    },
    mayBeRefused: true,
    // Removing a wall takes as long as building one.
    waits: (move, turn) => (move.add || move.remove ? nextWall(track, turn) : ""),
    confirmsTaps: true,
    pads: [{
      kind: "buttons",
      label: "Walls",
      buttons: [
        { sign: "no wall", title: "no wall in this turn", press: () => forget({ move: {} }) },
        { sign: "forget the first cell", title: "forget the first cell of a wall", press: () => forget(null), isShown: () => first !== null },
      ],
    }],
    dials: (turn) => dials(track, turn),
    reword,
    goesOn: () => (first ? "Choose the wall's last cell." : "Choose a wall's first cell, then its last one."),
    draw(context, { pixel, palette }) {
      if (!first) return;
      const [u, v] = track.place(first.x, first.y);
      context.strokeStyle = palette.accent;
      context.lineWidth = 2 * pixel;
      context.strokeRect(u - 7 * pixel, v - 7 * pixel, 14 * pixel, 14 * pixel);
    },
  };
}

/**
 * @param {EvasionTrack} track
 * @param {string} seat
 * @returns {Controls}
 */
export function controlsFor(track, seat) {
  const card = cardOf(track, seat, track.kinds.map((kind) => KEY_OF[kind].toUpperCase()));
  if (track.isTurnwise) return { ...(seat === "prey" ? turnwisePrey(track) : turnwiseHunter(track)), card };
  return { ...(seat === "prey" ? preyControls(track) : hunterControls(track, track.kinds)), card };
}

/** A move of either player, of every rule set. @param {any} move */
export function describeMove(move) {
  const parts = [];
  if (move.build) parts.push(`build a ${move.build.kind} wall${move.build.span ? ` from ${number(move.build.span[0])} to ${number(move.build.span[1])}` : ""}`);
  if (move.add) parts.push(`wall ${move.add.id} from (${move.add.x1}, ${move.add.y1}) to (${move.add.x2}, ${move.add.y2})`);
  if (move.remove?.length || Number.isInteger(move.remove)) parts.push(`remove wall ${[move.remove].flat().join(", ")}`);
  if (move.go !== undefined) {
    const [dx, dy] = Array.isArray(move.go) ? move.go : COMPASS[move.go] ?? [0, 0];
    const [sign, name] = ARROWS[`${dx},${Array.isArray(move.go) ? dy : -dy}`] ?? ARROWS["0,0"];
    parts.push(dx || dy ? `go ${sign} ${name}` : "stand still");
  }
  return parts.join(" and ");
}
