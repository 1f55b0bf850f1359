// What keys, the pointer and buttons mean to a player of Rectangle.

import { strokes, textAt } from "../../pages/viewer/kit/canvas.js";
import { counted } from "../../pages/viewer/kit/dom.js";
import { codeOf } from "../../pages/viewer/kit/keys.js";
import { cardOf } from "./card.js";
import { colorOf, STEPS } from "./scene.js";

/** @typedef {import("./display.js").RectangleTrack} RectangleTrack */

/** @type {Record<string, string>} */
const KEYS = { KeyW: "N", KeyA: "W", KeyS: "S", KeyD: "E", ArrowUp: "N", ArrowLeft: "W", ArrowDown: "S", ArrowRight: "E", KeyX: "-" };
/** The orders on buttons: arrow, title, place among the buttons. @type {Record<string, [string, string, number]>} */
const SIGNS = {
  N: ["↑", "the chosen robot goes up", 1], W: ["←", "the chosen robot goes left", 3], "-": ["•", "the chosen robot stays", 4],
  E: ["→", "the chosen robot goes right", 5], S: ["↓", "the chosen robot goes down", 7],
};
/** A button for each robot only up to this number. */
const MOST_CHIPS = 12;
/** Up to this number of orders are listed in full; of more, robots that stay are left out. */
const MOST_SIGNS = 6;

/** The orders that lead from a cell to another. @param {Cell} from @param {Cell} to */
function pathBetween(from, to) {
  const [down, along] = [to.y - from.y, to.x - from.x];
  return (down > 0 ? "S" : "N").repeat(Math.abs(down)) + (along > 0 ? "E" : "W").repeat(Math.abs(along));
}

/** A move in words. @param {any} move */
export function describeMove({ orders, place }) {
  if (place) return `${counted(place.length, "robot")} placed`;
  const signs = [...(orders ?? "")].map((order) => SIGNS[order]?.[0] ?? order);
  if (signs.length <= MOST_SIGNS) return signs.length ? `robots ${signs.join(" ")}` : "";
  const moving = signs.flatMap((sign, robot) => (sign === SIGNS["-"][0] ? [] : [`${robot + 1} ${sign}`]));
  return moving.length ? `robot${moving.length > 1 ? "s" : ""} ${moving.join(", ")}; the others stay` : "all robots stay";
}

/**
 * A person orders robots one by one, sends a robot to a cell, or draws its path; a robot continues its path in the next turns.
 * @param {RectangleTrack} track @param {string} seat
 * @returns {Controls}
 */
export function controlsOf(track, seat) {
  const player = seat.charCodeAt(0) - 97;
  let chosen = 0;
  /** @type {string[]} */
  const plans = Array.from({ length: track.robots }, () => "");
  /** @type {Cell[]} */
  let places = [];
  /** Where a ring begins. @type {Cell | null} */
  let corner = null;
  /** The robots that have an order in this turn. @type {Set<number>} */
  const told = new Set();
  const move = () => ({ orders: plans.map((plan) => plan[0] ?? "-").join("") });
  /** The orders so far; the match waits until every robot has one. @returns {Intent} */
  const orders = () => ({ move: move(), hold: plans.some((plan, robot) => !plan && !told.has(robot)) });
  const next = () => {
    told.add(chosen);
    for (let count = 0; count < track.robots && (told.has(chosen) || plans[chosen]); count += 1) chosen = (chosen + 1) % track.robots;
  };
  /** @returns {Intent} */
  const placed = () => ({ move: { place: places.map(({ x, y }) => [y, x]) }, hold: places.length < track.robots ? "set-up" : false });
  const cellOf = (/** @type {number} */ robot) => {
    track.seek(track.last);
    const at = 2 * (player * track.robots + robot);
    return { x: track.places[at + 1], y: track.places[at] };
  };
  const isOnBoard = (/** @type {Cell} */ { x, y }) => x >= 0 && y >= 0 && x < track.n && y < track.n;
  const robotsOn = (/** @type {Cell} */ cell) => plans.map((_, robot) => robot).filter((robot) => cellOf(robot).x === cell.x && cellOf(robot).y === cell.y);
  const ring = (/** @type {Cell} */ one, /** @type {Cell} */ other) => {
    const [top, bottom] = [Math.min(one.y, other.y), Math.max(one.y, other.y)];
    const [left, right] = [Math.min(one.x, other.x), Math.max(one.x, other.x)];
    const start = { x: left, y: top };
    return pathBetween(cellOf(chosen), start) + "E".repeat(right - left) + "S".repeat(bottom - top) + "W".repeat(right - left) + "N".repeat(bottom - top);
  };
  const order = (/** @type {string} */ way) => {
    plans[chosen] = way;
    next();
    return orders();
  };
  const isSetUp = () => !track.last;
  const isPlaying = () => Boolean(track.last);
  const turnTo = (/** @type {number} */ by) => {
    chosen = (chosen + track.robots + by) % track.robots;
    return null;
  };
  const chips = track.robots > MOST_CHIPS ? [
    { sign: "‹ robot", title: "choose the robot before", isShown: isPlaying, press: () => turnTo(-1) },
    { sign: "robot ›", title: "choose the next robot", isShown: isPlaying, press: () => turnTo(1) },
  ] : Array.from({ length: track.robots }, (_, robot) => ({
    sign: `${robot + 1}`, title: `choose robot ${robot + 1}`, isShown: isPlaying, isPressed: () => chosen === robot,
    press: () => {
      chosen = robot;
      return null;
    },
  }));
  return {
    card: cardOf(colorOf(player)),
    help: [
      ["first", "click a cell for each of your robots"],
      ["W A S D or arrows", "move the chosen robot; X: it stays"],
      ["Tab, 1 to 9, or click a robot", "choose a robot"],
      ["click a cell", "the chosen robot goes there"],
      ["drag a robot", "it follows the path that you draw"],
      ["Shift + click twice", "the chosen robot draws the ring between two corners"],
      ["Enter", "send these orders; otherwise the turn waits until each robot has an order"],
    ],
    touchHelp: [
      ["first", "tap a cell for each of your robots"],
      ["tap a robot or its number", "choose a robot"],
      ["tap a cell", "the chosen robot goes there"],
      ["tap an arrow", "move the chosen robot"],
      ["drag a robot", "it follows the path that you draw"],
      ["tap Go", "send these orders; otherwise the turn waits until each robot has an order"],
    ],
    key(event) {
      if (event.key === "Enter") return { move: track.last ? move() : placed().move };
      if (!track.last) return null;
      if (event.key === "Tab") chosen = (chosen + (event.shiftKey ? track.robots - 1 : 1)) % track.robots;
      else if (/^[1-9]$/.test(event.key) && Number(event.key) <= track.robots) chosen = Number(event.key) - 1;
      else {
        const step = KEYS[codeOf(event)];
        return step ? order(step) : null;
      }
      return orders();
    },
    point(cell, _turn, event) {
      if (event.type !== "click" || !isOnBoard(cell)) return null;
      if (!track.last) {
        // A second time the robot is taken away again.
        const others = places.filter(({ x, y }) => x !== cell.x || y !== cell.y);
        places = others.length < places.length ? others : [...places, cell].slice(-track.robots);
        return placed();
      }
      if (event.shiftKey) {
        if (!corner) {
          corner = cell;
          return orders();
        }
        const way = ring(corner, cell);
        corner = null;
        return order(way);
      }
      const own = robotsOn(cell);
      if (!own.length) return order(pathBetween(cellOf(chosen), cell));
      chosen = own.includes(chosen) ? own[(own.indexOf(chosen) + 1) % own.length] : own[0];
      return orders();
    },
    grab(cell) {
      const own = isPlaying() ? robotsOn(cell) : [];
      if (own.length && !own.includes(chosen)) chosen = own[0];
      return own.length > 0;
    },
    drag(way, _turn, isDone) {
      const cells = way.filter(isOnBoard);
      plans[chosen] = cells.slice(1).map((cell, index) => pathBetween(cells[index], cell)).join("");
      if (!isDone) return null;
      next();
      return orders();
    },
    plan(turn) {
      // What was ordered for the turn before has been done.
      if (turn > 1) plans.forEach((plan, robot) => { plans[robot] = plan.slice(1); });
      told.clear();
      return turn > 0 && plans.some(Boolean) ? orders() : null;
    },
    setUp() {
      if (track.last || places.length >= track.robots) return "";
      return track.robots > 1 ? `Choose cells for your ${track.robots} robots: ${places.length} of ${track.robots} chosen.` : "Choose a cell for your robot.";
    },
    reword: (text, code) => (code === "placed-by-lot" ? "The referee placed robots without a cell at random." : text),
    pads: [
      { kind: "buttons", label: "Robots", buttons: chips },
      {
        kind: "compass",
        label: "Orders",
        buttons: Object.entries(SIGNS).map(([step, [sign, title, at]]) => ({ sign, title, at, isShown: isPlaying, press: () => order(step) })),
      },
      {
        kind: "buttons",
        label: "Turn",
        buttons: [
          { sign: "Go", title: "Go: send these orders; the other robots stay", isShown: isPlaying, press: () => ({ move: move() }) },
          {
            sign: "Undo", title: "Undo: take back the last robot", isShown: () => isSetUp() && places.length > 0,
            press: () => {
              places = places.slice(0, -1);
              return placed();
            },
          },
          { sign: "Place the rest at random", title: "Place the rest at random: the referee draws a cell for each robot without one", isShown: isSetUp, press: () => ({ move: placed().move }) },
        ],
      },
    ],
    dials(turn) {
      const left = Math.max(0, track.limit - track.quiet[turn]);
      return [{ name: "Quiet turns left", value: left, most: track.limit, text: `${left} of ${track.limit}`, isReady: left > 0 }];
    },
    draw(context, { pixel, palette }) {
      context.lineWidth = 2.5 * pixel;
      context.strokeStyle = palette.ink;
      context.lineJoin = "round";
      if (!track.last) {
        places.forEach(({ x, y }, robot) => number(context, x + 0.5, y + 0.5, `${robot + 1}`, pixel, palette));
        return;
      }
      plans.forEach((plan, robot) => {
        let { x, y } = cellOf(robot);
        if (x < 0 || !plan) return;
        context.globalAlpha = robot === chosen ? 0.9 : 0.45;
        context.setLineDash([4 * pixel, 3 * pixel]);
        context.beginPath();
        context.moveTo(x + 0.5, y + 0.5);
        for (const step of plan) {
          y += STEPS[step][0];
          x += STEPS[step][1];
          context.lineTo(x + 0.5, y + 0.5);
        }
        context.stroke();
      });
      context.setLineDash([]);
      context.globalAlpha = 1;
      const { x, y } = cellOf(chosen);
      if (x < 0) return;
      // Keys and buttons name robots by numbers.
      if (track.robots > 1 && pixel < 1 / 22) plans.forEach((_, robot) => {
        const { x: column, y: row } = cellOf(robot);
        number(context, column + 0.82, row + 0.82, `${robot + 1}`, pixel, palette, 8 * pixel);
      });
      // A frame around the cell: the robot itself stays in sight.
      context.beginPath();
      context.rect(x - 2 * pixel, y - 2 * pixel, 1 + 4 * pixel, 1 + 4 * pixel);
      strokes(context, [[palette.paper, 5 * pixel], [palette.ink, 2.5 * pixel]]);
      if (corner) context.strokeRect(corner.x + 0.2, corner.y + 0.2, 0.6, 0.6);
    },
  };
}

/**
 * A disc with a number.
 * @param {CanvasRenderingContext2D} context @param {number} u @param {number} v @param {string} text @param {number} pixel
 * @param {Palette} palette @param {number} [radius] in cells
 */
function number(context, u, v, text, pixel, palette, radius = 0.4) {
  context.fillStyle = palette.accent;
  context.beginPath();
  context.arc(u, v, radius, 0, 2 * Math.PI);
  context.fill();
  textAt(context, text, u, v, pixel, palette.paper, "600 12px");
}
