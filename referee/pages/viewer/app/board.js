// The board on its canvas: zoom, pan, the pointer, what bots draw and say. What the pieces look like is the game's matter.

import { camerasOf, viewOf, within } from "./camera.js";
import { EndWords } from "./ending.js";
import { drawGrid } from "./grid.js";
import { inFrame } from "../kit/frames.js";
import { drawMap, drawWords, mapScale } from "./hud.js";
import { drawMarks } from "./marks.js";
import { named, palette } from "./palette.js";
import { fitted } from "../kit/pixels.js";
import { drawShapes } from "./shapes.js";

const MOST_ZOOM = 60;
/** What is left free around the board, in pixels of the page. */
const MARGIN = 10;
/** For how many steps a remark stays in sight. */
const SAID_STEPS = 20;
const SAID_LENGTH = 48;
/** For how many steps the piece of the person who plays here is marked. */
const YOU_STEPS = 60;
/** From which zoom on a small map shows the whole board. */
const MAP_ZOOM = 1.6;
/** The longest way to a position that a running match has just reached, in milliseconds; after a longer wait it is drawn at once. */
const MOST_APPROACH_MS = 250;
const MOST_WAIT_MS = 3000;
/** How far the rings around the end reach, in pixels of the page. */
const RINGS = 45;

/**
 * @typedef {object} Hand
 * @property {(cell: Cell) => boolean} grab
 * @property {(cell: Cell) => void} drag
 * @property {() => void} drop
 * @property {(context: CanvasRenderingContext2D, frame: Frame) => void} draw
 */

export class Board {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./recording.js").Recording} recording
   * @param {(cell: Cell | null) => void} onPointer
   */
  constructor(canvas, recording, onPointer) {
    this.canvas = canvas;
    this.context = opaque(canvas);
    this.recording = recording;
    this.onPointer = onPointer;
    /** What a click means to a player at the board. @type {((cell: Cell, event: MouseEvent) => void) | null} */
    this.onClick = null;
    /** The hand of a player at the board: it takes hold of something, draws it along, lets go; and what it draws itself. @type {Hand | null} */
    this.hand = null;
    /** The pointer that holds something. */
    this.holds = -1;
    this.position = 0;
    /** How far the pieces are on their way to the next position, and how many steps a second the match plays. */
    this.phase = 0;
    this.pace = 0;
    /** When the last position of a running match came, and how long the pieces take to it, in milliseconds. */
    this.arrival = { at: 0, ms: 0 };
    /** @type {import("./camera.js").CameraName} */
    this.cameraName = "capture";
    /** Those who hear that the camera is another one. @type {Set<() => void>} */
    this.onCamera = new Set();
    this.zoom = 1;
    /** The middle of the view, in cells. */
    this.center = [0, 0];
    this.trail = 200;
    this.ahead = true;
    /** What the chosen moment of the story is about. @type {{ turn: number, rows: Mark[], arrow?: Mark }} */
    this.marks = { turn: -1, rows: [] };
    /** Whose drawings and remarks are shown. @type {Set<string>} */
    this.overlays = new Set();
    /** @type {Cell | null} */
    this.pointer = null;
    /** @type {Preview | null} */
    this.preview = null;
    this.drawing = () => !this.end.signal.aborted && this.paint();
    /** What changes seldom, as it was drawn last: the key says of what. */
    this.ground = { canvas: document.createElement("canvas"), key: "", seen: "" };
    this.map = { canvas: document.createElement("canvas"), key: "" };
    /** The result that the track knows. @type {any} */
    this.told = null;
    /** Where other parts of the page stand over the board. @type {import("./hud.js").Rect[]} */
    this.taken = [];
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    /** @type {Map<number, { x: number, y: number }>} */
    this.touches = new Map();
    this.hasDragged = false;
    /** Ends everything that this board listens to. */
    this.end = new AbortController();
    this.observer = new ResizeObserver(() => {
      this.findTaken();
      this.request();
    });
    this.observer.observe(canvas);
    this.listen();
    this.words = new EndWords(this);
    /** The seat of the person who plays on this page. */
    this.you = "";
    /** The room around the board, in pixels. */
    this.margin = MARGIN;
  }

  /** @returns {Track} */
  get track() {
    return /** @type {Track} */ (this.recording.track);
  }

  /** Another board has the canvas from now on. */
  close() {
    this.end.abort();
    this.observer.disconnect();
  }

  /** Draw again with the next frame of the screen. */
  request() {
    inFrame(this.drawing);
  }

  get turn() {
    return this.position;
  }

  set turn(turn) {
    if (turn === this.position) return;
    this.phase = this.arrival.ms = 0;
    this.position = turn;
  }

  /** A running match has reached a position: the pieces take as long to it as it took to come. @param {number} turn */
  arrive(turn) {
    const isNext = turn === this.position + 1;
    const now = performance.now();
    const waited = now - this.arrival.at;
    this.turn = turn;
    this.arrival = { at: now, ms: isNext && waited < MOST_WAIT_MS && !this.calm.matches ? Math.min(waited, MOST_APPROACH_MS) : 0 };
    this.request();
  }

  /** What is to be drawn: a position, how far the pieces are on their way to the next one, and at which pace. */
  moment() {
    const { position, phase, pace, arrival } = this;
    const passed = arrival.ms ? (performance.now() - arrival.at) / arrival.ms : 1;
    if (passed < 1) return { turn: position - 1, phase: Math.max(0, passed), pace: 1000 / arrival.ms };
    arrival.ms = 0;
    return { turn: position, phase, pace };
  }

  /** A point between two positions; from now on the match plays at a pace, in steps a second, or stands (0). @param {number} exact @param {number} pace */
  glide(exact, pace) {
    const phase = pace && !this.calm.matches && this.recording.track ? Math.max(0, Math.min(0.999, exact - this.position)) : 0;
    if (phase === this.phase && pace === this.pace) return;
    this.phase = phase;
    this.pace = pace;
    this.request();
  }

  /** The camera; a game may know less of them than others. */
  get camera() {
    return camerasOf(this.recording.track).some(([name]) => name === this.cameraName) ? this.cameraName : "whole";
  }

  set camera(name) {
    if (name === "whole" && this.recording.track) this.wholeBoard();
    if (name === this.cameraName) return;
    this.cameraName = name;
    for (const hear of this.onCamera) hear();
    this.request();
  }

  /** Show the whole board. */
  reset() {
    this.camera = "whole";
    this.wholeBoard();
    this.request();
  }

  wholeBoard() {
    this.zoom = 1;
    this.center = [this.track.width / 2, this.track.height / 2];
  }

  /** The reader has chosen a view: no camera changes it. */
  takeOver() {
    if (this.camera === "whole") return;
    this.cameraName = "whole";
    for (const hear of this.onCamera) hear();
  }

  /** See where other parts of the page stand over the board. */
  findTaken() {
    const own = this.canvas.getBoundingClientRect();
    this.taken = [...(this.canvas.closest(".frame")?.children ?? [])].filter((child) => child !== this.canvas).map((child) => {
      const { left, top, width, height } = child.getBoundingClientRect();
      return { left: left - own.left, top: top - own.top, width, height };
    }).filter(({ width, height }) => width && height);
  }

  /** Pixels of the page for one cell. */
  get scale() {
    const { clientWidth, clientHeight } = this.canvas;
    return this.zoom * Math.min((clientWidth - 2 * this.margin) / this.track.width, (clientHeight - 2 * this.margin) / this.track.height);
  }

  /** @param {number} x @param {number} y pixels of the page, from the canvas's corner */
  toBoard(x, y) {
    const { clientWidth, clientHeight } = this.canvas;
    return [this.center[0] + (x - clientWidth / 2) / this.scale, this.center[1] + (y - clientHeight / 2) / this.scale];
  }

  /** @param {number} u @param {number} v cells @returns {[number, number]} pixels of the page, from the canvas's corner */
  toPage(u, v) {
    const { clientWidth, clientHeight } = this.canvas;
    return [clientWidth / 2 + (u - this.center[0]) * this.scale, clientHeight / 2 + (v - this.center[1]) * this.scale];
  }

  /** @param {number} factor @param {number} x @param {number} y */
  zoomAt(factor, x, y) {
    this.takeOver();
    const [u, v] = this.toBoard(x, y);
    this.zoom = Math.max(1, Math.min(MOST_ZOOM, this.zoom * factor));
    const [newU, newV] = this.toBoard(x, y);
    this.move(u - newU, v - newV);
  }

  /** @param {number} du @param {number} dv cells */
  move(du, dv) {
    this.takeOver();
    this.center = within(this.track, this.zoom, this.center[0] + du, this.center[1] + dv);
    this.request();
  }

  listen() {
    const { canvas } = this;
    const { signal } = this.end;
    canvas.addEventListener("wheel", (event) => {
      if (!this.recording.track) return;
      event.preventDefault();
      this.zoomAt(Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) / 300), event.offsetX, event.offsetY);
    }, { passive: false, signal });
    canvas.addEventListener("pointerdown", (event) => {
      this.touches.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      if (this.touches.size === 1) this.hasDragged = false;
      if (this.touches.size === 1 && this.recording.track && this.hand?.grab(this.cellAt(event.offsetX, event.offsetY))) this.holds = event.pointerId;
      canvas.setPointerCapture(event.pointerId);
    }, { signal });
    canvas.addEventListener("pointermove", (event) => this.pointerMoved(event), { signal });
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      canvas.addEventListener(name, (event) => {
        this.touches.delete(event.pointerId);
        if (this.holds !== event.pointerId) return;
        this.holds = -1;
        this.hand?.drop();
      }, { signal });
    }
    canvas.addEventListener("pointerleave", () => this.pointAt(null), { signal });
    canvas.addEventListener("dblclick", () => {
      if (this.recording.track && !this.onClick) this.reset();
    }, { signal });
    canvas.addEventListener("click", (event) => {
      if (this.recording.track && this.onClick && !this.hasDragged) this.onClick(this.cellAt(event.offsetX, event.offsetY), event);
    }, { signal });
  }

  /** @param {number} x @param {number} y */
  cellAt(x, y) {
    const [u, v] = this.toBoard(x, y);
    return this.track.locate(u, v);
  }

  /** @param {PointerEvent} event */
  pointerMoved(event) {
    if (!this.recording.track) return;
    const before = this.touches.get(event.pointerId);
    if (before) {
      const now = { x: event.offsetX, y: event.offsetY };
      if (this.holds === event.pointerId) {
        this.hasDragged ||= Math.hypot(now.x - before.x, now.y - before.y) > 4;
        if (this.hasDragged) this.hand?.drag(this.cellAt(now.x, now.y));
        return;
      }
      if (this.touches.size === 2) this.pinch(event.pointerId, before, now);
      else if (this.hasDragged || Math.hypot(now.x - before.x, now.y - before.y) > 4) {
        this.hasDragged = true;
        this.move((before.x - now.x) / this.scale, (before.y - now.y) / this.scale);
      } else return;
      this.touches.set(event.pointerId, now);
      return;
    }
    const [u, v] = this.toBoard(event.offsetX, event.offsetY);
    const { width, height } = this.track;
    this.pointAt(u >= 0 && v >= 0 && u < width && v < height ? this.track.locate(u, v) : null);
  }

  /** @param {number} id @param {{ x: number, y: number }} before @param {{ x: number, y: number }} now */
  pinch(id, before, now) {
    this.hasDragged = true;
    const other = [...this.touches].find(([pointer]) => pointer !== id)?.[1] ?? now;
    const apart = (/** @type {{ x: number, y: number }} */ place) => Math.max(1, Math.hypot(place.x - other.x, place.y - other.y));
    this.zoomAt(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
  }

  /** @param {Cell | null} cell */
  pointAt(cell) {
    if (cell?.x === this.pointer?.x && cell?.y === this.pointer?.y) return;
    this.pointer = cell;
    this.onPointer(cell);
    this.request();
  }

  /** Draw everything now. */
  paint() {
    const { canvas, context, recording } = this;
    const { wide, high, dense } = fitted(canvas);
    const colors = palette();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colors.paper;
    if (!recording.track || !wide || !high) {
      context.fillRect(0, 0, wide, high);
      return;
    }
    const { track } = this;
    const moment = this.moment();
    if (moment.turn !== this.position) this.request();
    if (recording.result !== this.told) {
      this.told = recording.result;
      track.ended?.(recording.result);
    }
    const view = viewOf(this.camera, track, moment.turn + moment.phase, this.calm.matches);
    if (view) [this.zoom, this.center] = [Math.min(MOST_ZOOM, view.zoom), view.center];
    const frame = this.frame(colors, moment);
    // Where there is nothing to move on the board, a finger moves the page.
    const touch = this.zoom > 1 || this.onClick ? "none" : "pan-y";
    if (canvas.style.touchAction !== touch) canvas.style.touchAction = touch;
    this.paintGround(frame, dense);
    const { pixel } = frame;
    context.save();
    context.beginPath();
    // Pieces at the edge are whole, and the rings around the end: there is a margin for them.
    const margin = Math.max(MARGIN * pixel, frame.isEnd ? 1.5 * RINGS * pixel : Math.min(3, 30 * pixel));
    context.rect(-margin, -margin, track.width + 2 * margin, track.height + 2 * margin);
    context.clip();
    // Below the players: it is about them, or about what is beside them.
    if (this.marks.turn === this.turn) drawMarks(context, track, this.marks, pixel, colors);
    track.draw(context, frame);
    this.hand?.draw(context, frame);
    for (const seat of this.overlays) drawShapes(context, track, recording.shapes(seat, this.turn), named(colors, recording.display?.seatColors?.[seat] ?? "accent"), pixel);
    context.restore();
    context.strokeStyle = colors.ink;
    context.lineWidth = pixel;
    context.strokeRect(-pixel / 2, -pixel / 2, track.width + pixel, track.height + pixel);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.save();
    this.paintOver(frame, dense);
    context.restore();
  }

  /** @param {Palette} colors @param {{ turn: number, phase: number, pace: number }} moment @returns {Frame} */
  frame(colors, moment) {
    const { recording, trail, ahead, pointer, preview } = this;
    const isEnd = recording.result !== null && moment.turn === recording.steps;
    return { ...moment, isCalm: this.calm.matches, isEnd, pixel: 1 / this.scale, palette: colors, trail, ahead, pointer, preview };
  }

  /**
   * The board with what changes seldom: kept as a picture once it has stayed the same for a frame.
   * @param {Frame} frame
   * @param {number} dense
   */
  paintGround(frame, dense) {
    const { canvas, context, track, ground } = this;
    const { width, height } = canvas;
    const scale = this.scale * dense;
    const isKept = Boolean(track.drawGround);
    const down = height / 2 - this.center[1] * scale;
    const key = [scale, ...this.center, width, height, down, frame.palette.isDark, track.groundKey?.(frame.turn)].join("/");
    const target = isKept && key === ground.seen ? ground.canvas : canvas;
    ground.seen = key;
    if (target === canvas || key !== ground.key) {
      if (target.width !== width || target.height !== height) [target.width, target.height] = [width, height];
      const onto = target === canvas ? context : opaque(target);
      onto.setTransform(1, 0, 0, 1, 0, 0);
      onto.fillStyle = frame.palette.paper;
      onto.fillRect(0, 0, width, height);
      onto.setTransform(scale, 0, 0, scale, width / 2 - this.center[0] * scale, down);
      onto.fillStyle = frame.palette.board;
      onto.fillRect(0, 0, track.width, track.height);
      drawGrid(onto, track, frame.pixel, frame.palette);
      track.drawGround?.(onto, frame);
    }
    if (target !== canvas) {
      context.drawImage(target, 0, 0);
      ground.key = key;
    }
    context.setTransform(scale, 0, 0, scale, width / 2 - this.center[0] * scale, down);
  }

  /** What stands over the board, in pixels of the page. @param {Frame} frame @param {number} dense */
  paintOver(frame, dense) {
    const { canvas, context, track, recording } = this;
    const page = { wide: canvas.clientWidth, high: canvas.clientHeight };
    const exact = frame.turn + frame.phase;
    const spots = track.spots?.(exact) ?? [];
    const points = spots.map(({ u, v }) => this.toPage(u, v));
    const taken = [...this.taken];
    // The way ahead is to be seen, too.
    if (frame.ahead) points.push(...[8, 16, 24].flatMap((steps) => (exact + steps < recording.steps ? track.spots?.(exact + steps) ?? [] : [])).map(({ u, v }) => this.toPage(u, v)));
    // A figure on a large cell reaches farther.
    const margin = Math.max(12, Math.min(90, 0.45 * this.scale));
    if (frame.isEnd) {
      const pieces = (track.pieces?.(exact) ?? []).slice(0, 500).map(([u, v]) => this.toPage(u, v));
      // Words over the rings around what was caught would hide why.
      const place = track.ending?.().place;
      const [x, y] = place ? this.toPage(...place) : [0, 0];
      const rings = place ? [0, 1, 2, 3].map((side) => /** @type {[number, number]} */ ([x + RINGS * Math.cos(side * Math.PI / 2), y + RINGS * Math.sin(side * Math.PI / 2)])) : [];
      this.words.draw(page, [...points, ...pieces, ...rings], margin, taken, frame.palette);
      if (place) taken.push(around([x, y], RINGS));
    } else this.words.clear();
    const words = this.words.place;
    if (this.zoom >= MAP_ZOOM && page.wide > 240) {
      const [left, top] = this.toBoard(0, 0);
      const [right, bottom] = this.toBoard(page.wide, page.high);
      drawMap(context, page, this.smallGround(frame, dense), track, { left, top, width: right - left, height: bottom - top }, spots, points, taken, frame.palette);
    }
    for (const { text, at, color } of track.notes?.(frame) ?? []) {
      const ink = named(frame.palette, color);
      drawWords(context, page, { text, at: this.toPage(...at), color: ink, ink }, points, margin, taken, words, frame.palette);
    }
    const own = frame.turn < YOU_STEPS || !recording.steps ? spots.find(({ seat }) => seat === this.you) : undefined;
    if (own) {
      const ink = named(frame.palette, own.color);
      drawWords(context, page, { text: "you", at: this.toPage(own.u, own.v), color: ink, ink }, points, margin, taken, words, frame.palette);
    }
    for (const seat of this.overlays) {
      const said = recording.lastSaid(seat, frame.turn, frame.isEnd ? 1 : SAID_STEPS);
      const spot = spots.find((one) => one.seat === seat);
      if (!said || !spot) continue;
      const [x, y] = this.toPage(spot.u, spot.v);
      // A player outside the view says nothing in it.
      if (x < -RINGS || y < -RINGS || x > page.wide + RINGS || y > page.high + RINGS) continue;
      const color = named(frame.palette, recording.display?.seatColors?.[seat] ?? "plain");
      const text = said.text.length > SAID_LENGTH ? `${said.text.slice(0, SAID_LENGTH - 1)}…` : said.text;
      drawWords(context, page, { text, at: [x, y], color, ink: frame.palette.ink }, points, margin, taken, words, frame.palette);
    }
  }

  /** The whole board with what changes seldom, small. @param {Frame} frame @param {number} dense */
  smallGround(frame, dense) {
    const { map, track } = this;
    const key = `${track.groundKey?.(frame.turn)}/${frame.palette.isDark}/${dense}`;
    if (key === map.key) return map.canvas;
    map.key = key;
    const scale = mapScale(track, dense);
    [map.canvas.width, map.canvas.height] = [Math.max(1, Math.round(track.width * scale)), Math.max(1, Math.round(track.height * scale))];
    const context = /** @type {CanvasRenderingContext2D} */ (map.canvas.getContext("2d"));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = frame.palette.board;
    context.fillRect(0, 0, track.width, track.height);
    track.drawGround?.(context, { ...frame, pixel: dense / scale });
    return map.canvas;
  }
}

/** @param {[number, number]} middle @param {number} far @returns {import("./hud.js").Rect} */
function around([x, y], far) {
  return { left: x - far, top: y - far, width: 2 * far, height: 2 * far };
}

/** The context of a canvas that is filled as a whole: nothing behind it has to be drawn. @param {HTMLCanvasElement} canvas */
function opaque(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
}
