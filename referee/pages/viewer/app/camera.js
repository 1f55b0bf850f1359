// The camera: which part of the board is shown. A camera's view depends only on the position, so a link or a picture shows the same.

/**
 * @typedef {"whole" | "follow" | "capture"} CameraName
 */

/** The cameras with their labels. @type {[CameraName, string][]} */
const CAMERAS = [["whole", "whole board"], ["follow", "follow the players"], ["capture", "zoom in on the end"]];
/** For how many steps before the end the camera moves towards it. */
const APPROACH_STEPS = 60;
/** How far a close-up may show what is beyond the board, as a share of the cells that have to be in sight. */
const BEYOND = 0.2;
/** How far into the approach the view stands still, so that the end itself is calm. */
const APPROACH_SHARE = 0.85;

/** @param {unknown} name @returns {name is CameraName} */
export function isCamera(name) {
  return CAMERAS.some(([known]) => known === name);
}

/**
 * The cameras that make sense for a game: only one that knows its players' places or its end can be followed.
 * @param {Track | null} track
 */
export function camerasOf(track) {
  return CAMERAS.filter(([name]) => name === "whole" || (name === "follow" ? track?.focus : track?.finale));
}

/**
 * The zoom (1: the whole board) and the middle of the view of a camera; null if the reader's own view holds.
 * @param {CameraName} name
 * @param {Track} track
 * @param {number} exact a position, with the way to the next one as its fraction
 * @param {boolean} isCalm without any motion between two views
 * @returns {{ zoom: number, center: [number, number] } | null}
 */
export function viewOf(name, track, exact, isCalm) {
  const whole = { zoom: 1, center: /** @type {[number, number]} */ ([track.width / 2, track.height / 2]) };
  if (name === "follow") {
    // Without motion the view stays for a while, then changes at once.
    const focus = track.focus?.(isCalm ? Math.floor(exact / 20) * 20 + 10 : exact);
    return focus ? closeUp(track, focus) : whole;
  }
  if (name !== "capture") return null;
  const finale = track.finale?.();
  if (!finale) return whole;
  const left = finale.turn - exact;
  if (isCalm) return left <= 0 ? closeUp(track, finale) : whole;
  const share = Math.max(0, Math.min(1, (1 - left / APPROACH_STEPS) / APPROACH_SHARE));
  const eased = share * share * (3 - 2 * share);
  if (!eased) return whole;
  const end = closeUp(track, finale);
  const zoom = end.zoom ** eased;
  // The middle moves as the view shrinks, so that the place never leaves the line between the two views.
  const rest = end.zoom > 1 ? (1 / zoom - 1 / end.zoom) / (1 - 1 / end.zoom) : 0;
  const mixed = (/** @type {0 | 1} */ axis) => end.center[axis] + (whole.center[axis] - end.center[axis]) * rest;
  return { zoom, center: [mixed(0), mixed(1)] };
}

/** @param {Track} track @param {Place} place @returns {{ zoom: number, center: [number, number] }} */
function closeUp(track, { u, v, span }) {
  const zoom = Math.max(1, Math.min(track.width, track.height) / span);
  // What is marked at the edge of the board is whole, with the rings around it.
  return { zoom, center: within(track, zoom, u, v, zoom > 1 ? span * BEYOND : 0) };
}

/**
 * A middle of the view that shows nothing beyond the board, or at most so many cells.
 * @param {{ width: number, height: number }} board
 * @param {number} zoom
 * @param {number} u
 * @param {number} v
 * @param {number} beyond
 * @returns {[number, number]}
 */
export function within({ width, height }, zoom, u, v, beyond = 0) {
  const clamp = (/** @type {number} */ value, /** @type {number} */ size) => {
    const spare = (size / 2) * (1 - 1 / zoom) + beyond;
    return Math.max(size / 2 - spare, Math.min(size / 2 + spare, value));
  };
  return [clamp(u, width), clamp(v, height)];
}
