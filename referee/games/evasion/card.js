// What a player of Evasion reads and sees before a match.

import { counted, number } from "../../pages/viewer/kit/dom.js";

/** @typedef {import("./display.js").EvasionTrack} EvasionTrack */

const [HUNTER, PREY, WALL] = ["var(--orange)", "var(--blue)", "var(--accent)"];

/** The hunter's way to the edge and back, the wall that it has left on its way, and how near it has to come. @param {number} radius @returns {Shape[]} */
function picture(radius) {
  return [
    ["rect", { x: 2, y: 2, width: 116, height: 42, fill: PREY, "fill-opacity": 0.1 }],
    ["rect", { x: 2, y: 2, width: 116, height: 68, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 }],
    ["path", { d: "M2 44H118", stroke: WALL, "stroke-width": 4 }],
    ["path", { d: "M8 68 L73 3 L88 18", fill: "none", stroke: HUNTER, "stroke-width": 2, "stroke-dasharray": "5 3" }],
    ["path", { d: "M94 24 L83 20.5 L90.5 13 Z", fill: HUNTER }],
    ["path", { d: "M91 21 L105 32", stroke: "var(--faint)", "stroke-width": 1 }],
    ["circle", { cx: 91, cy: 21, r: 18, fill: "none", stroke: HUNTER, "stroke-width": 1, "stroke-dasharray": "2 2" }],
    ["circle", { cx: 108, cy: 35, r: 4.5, fill: "var(--paper)", stroke: PREY, "stroke-width": 2.5 }],
    ["circle", { cx: 108, cy: 35, r: 1.2, fill: PREY }],
    ["text", { x: 65, y: 37, fill: "var(--ink)", "font-size": 11 }, `≤ ${number(radius)}`],
    ["text", { x: 8, y: 38, fill: WALL, "font-size": 11 }, "wall"],
  ];
}

/** From where the prey is caught. @param {EvasionTrack} track */
function near(track) {
  return track.isTurnwise ? `within ${counted(track.radius, "step")} around walls` : `within ${counted(track.radius, "cell")}, no wall between`;
}

/** @param {EvasionTrack} track @param {string} seat @param {string[]} letters the keys of the hunter's walls @returns {Card} */
export function cardOf(track, seat, letters) {
  const flies = "flies diagonally and bounces";
  const shapes = { picture: picture(track.radius), describes: `The hunter ${flies}, leaves a wall behind it, and catches the prey from a distance of ${counted(track.radius, "cell")}.` };
  if (seat === "prey") {
    const when = track.isTurnwise || track.period === 1 ? "" : ` in every ${track.period === 2 ? "second" : `${number(track.period)}th`} step`;
    return {
      ...shapes,
      goal: `Stay free: the hunter ${flies}, builds walls, and catches you ${near(track)}. You go one cell${when}, in any of eight directions.`,
      keys: "`W` `A` `S` `D` or arrows: go; `Q` `E` `Z` `C`: diagonally; `X`: stand still; or click a place.",
      taps: "Tap a place on the board or an arrow: go there; the middle button: stand still.",
    };
  }
  const goal = `Catch the prey: come ${near(track)}. You fly diagonally and bounce off edges and walls; you only build the walls.`;
  if (track.isTurnwise) {
    return {
      ...shapes, goal,
      keys: "Click two cells of a row or a column: a wall between them; click a wall: remove it; `Enter`: pass.",
      taps: "Tap two cells of a row or a column, the second one twice: a wall between them; tap a wall twice: remove it.",
    };
  }
  return {
    ...shapes, goal,
    keys: `${letters.map((letter) => `\`${letter}\``).join(" ")} or click in a direction: a wall through your cell; click a wall: remove it; \`Enter\`: no wall.`,
    taps: "Tap a button, or twice in a direction: a wall through your cell; tap a wall twice: remove it.",
  };
}
