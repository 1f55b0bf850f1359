// A replay in the browser: reads the bytes of a file or of a running match, and gives records and positions.

import { Column, lastBefore } from "../kit/columns.js";
import { DISPLAYS } from "./displays.js";
import { counted, plain, playerNames } from "../kit/dom.js";
import { drawn } from "../kit/frames.js";
import { bytesOf } from "../kit/packed.js";

export const FORMAT = 1;
/** The longest line that a referee writes, in bytes. */
const MOST_LINE_BYTES = 4 << 20;
/** What a page can hold of a replay's text, in bytes; and of its steps. */
const MOST_BYTES = 768 << 20;
const MOST_STEPS = 4_000_000;
const MOST_SEATS = 64;
/** How much is unpacked at a stretch, in bytes: the first time, and then; and after how long the page shows how far it is. */
const FIRST_BYTES = 4096;
const PIECE_BYTES = 16_384;
const BREATH_MS = 100;

const decoder = new TextDecoder();

/**
 * Where a record stands: the block of text and its place there.
 * @typedef {{ block: number, from: number, to: number }} Place
 */

/**
 * What a replay says, as far as it was read.
 *
 * `steps` is the number of steps; the position `n` is the one before the step of index `n`, so positions go from 0 to `steps`.
 */
export class Recording {
  constructor() {
    /** @type {Head | null} */
    this.head = null;
    /** @type {Display | null} */
    this.display = null;
    /** The kinds of events that are hidden until they are chosen. @type {string[]} */
    this.minorKinds = [];
    /** @type {Track | null} */
    this.track = null;
    /** @type {any} */
    this.result = null;
    /** The result with the players' names, as the referee says it of a replay that doesn't hold it itself. */
    this.sentence = "";
    /** @type {any[]} */
    this.faults = [];
    /** @type {GameEvent[]} */
    this.events = [];
    /** The moves that cost the losing side most. @type {import("./lessons.js").Mistake[]} */
    this.mistakes = [];
    /** What is wrong with it; empty while nothing is. */
    this.problem = "";
    this.isOver = false;
    this.steps = 0;
    /** Steps that were never received: pairs of the first and the one after the last. */
    /** @type {[number, number][]} */
    this.gaps = [];
    /** Microseconds billed, by seat. @type {Record<string, Column>} */
    this.billed = {};
    /** Microseconds billed in steps with a fault, by seat and turn. @type {Record<string, Map<number, number>>} */
    this.cutOff = {};
    /** The number of steps in which somebody was asked: a fault may end a match in a step that is never completed. */
    this.asked = 0;
    /** Bytes of the log so far, by seat. @type {Record<string, Column>} */
    this.logged = {};
    /** What was said: turns and texts, by seat. @type {Record<string, { turns: number[], texts: string[] }>} */
    this.said = {};
    /** Turns with something drawn, by seat. @type {Record<string, number[]>} */
    this.drawn = {};
    this.bytes = 0;
    /** @type {Uint8Array[]} */
    this.blocks = [];
    this.places = new Column(Float64Array);
    this.blockOf = new Column(Int32Array);
    /** @type {Uint8Array} */
    this.rest = new Uint8Array(0);
    /** The record that was decoded last, with its turn. */
    this.cached = { turn: -1, record: /** @type {any} */ (null) };
  }

  /** @returns {string[]} */
  get seats() {
    return this.head ? Object.keys(this.head.players) : [];
  }

  /**
   * Take in text; a line that isn't whole waits for its end. Stops at the first thing that makes no sense, and says it in `problem`.
   * @param {Uint8Array} chunk
   */
  feed(chunk) {
    if (this.problem) return;
    let data = chunk;
    if (this.rest.length) {
      data = new Uint8Array(this.rest.length + chunk.length);
      data.set(this.rest);
      data.set(chunk, this.rest.length);
    }
    const end = data.lastIndexOf(10) + 1;
    this.rest = data.slice(end);
    if (this.rest.length > MOST_LINE_BYTES) {
      this.problem = `After ${counted(this.steps, "step")} a line has more than ${MOST_LINE_BYTES} bytes: no referee wrote it.`;
      return;
    }
    if (!end) return;
    const block = this.blocks.length;
    this.blocks.push(data.subarray(0, end));
    this.bytes += end;
    // Nearly all text is pure ASCII and is decoded at once: the positions of its letters are those of its bytes.
    const text = decoder.decode(data.subarray(0, end));
    const isPlain = text.length === end;
    let from = 0;
    while (from < end && !this.problem) {
      const to = isPlain ? text.indexOf("\n", from) : data.indexOf(10, from);
      this.takeLine(isPlain ? text.slice(from, to) : decoder.decode(data.subarray(from, to)), { block, from, to });
      from = to + 1;
    }
    if (this.bytes > MOST_BYTES || this.steps > MOST_STEPS) {
      this.problem = `This page has only the first ${counted(this.steps, "step")}: the whole replay is too long for a browser.`;
    }
  }

  /**
   * No more will come.
   * @param {string} [how] what is known of the end
   */
  finish(how = "") {
    this.isOver = true;
    if (this.problem) return;
    if (!this.head) this.problem = how || "This is not a replay: it is empty.";
    else if (!this.result) this.problem = `The replay is cut short: it ends after ${counted(this.steps, "step")}${how ? ` (${how})` : ""}.`;
  }

  /**
   * @param {string} line
   * @param {Place} place
   */
  takeLine(line, place) {
    let record;
    try {
      record = JSON.parse(line);
      if (typeof record !== "object" || record === null || Array.isArray(record)) throw new Error("is no object");
    } catch {
      this.problem = this.head ? `After ${counted(this.steps, "step")} comes a line that is not JSON.` : "This is not a replay: its first line is not JSON.";
      return;
    }
    try {
      if (!this.head) this.takeHead(record);
      else if (this.result) throw new Error("there are more lines after its result");
      else if (record.type === "result") this.result = record;
      else if (record.type === "fault") this.takeFault(record);
      else this.takeStep(record, place);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.problem = this.head ? `After ${counted(this.steps, "step")}: ${text}.` : text;
    }
  }

  /** @param {any} head */
  takeHead(head) {
    if (head.type !== "head" || !Number.isInteger(head.format)) throw new Error("This is not a replay: its first line is not a head.");
    if (head.format !== FORMAT) {
      throw new Error(`This replay has format ${plain(head.format, 20)}; this page reads format ${FORMAT}: use the referee that wrote it.`);
    }
    const display = Object.hasOwn(DISPLAYS, head.game) ? DISPLAYS[head.game] : null;
    if (!display) throw new Error(`This page can't draw the game ${plain(head.game, 40)}.`);
    for (const part of ["settings", "players", "clock"]) {
      if (typeof head[part] !== "object" || head[part] === null) throw new Error(`The replay's head has no ${part}.`);
    }
    if (Object.keys(head.players).length > MOST_SEATS) throw new Error("The replay's head names more players than any game has.");
    for (const [seat, player] of Object.entries(head.players)) head.players[seat] = { ...player, ...playerNames(player, seat) };
    this.display = display;
    this.minorKinds = Object.entries(display.eventLooks ?? {}).flatMap(([kind, look]) => (look.isMinor ? [kind] : []));
    this.track = display.createTrack(head);
    this.head = head;
    for (const seat of Object.keys(head.players)) {
      this.billed[seat] = new Column(Float32Array);
      this.cutOff[seat] = new Map();
      this.logged[seat] = new Column(Float64Array);
      this.said[seat] = { turns: [], texts: [] };
      this.drawn[seat] = [];
    }
  }

  /** @param {any} record */
  takeFault(record) {
    if (typeof record.faults !== "object" || record.faults === null) throw new Error("a record of faults names no player");
    this.faults.push(record);
    this.asked = this.steps + 1;
    for (const [seat, fault] of Object.entries(record.faults)) {
      this.events.push({ turn: this.steps, kind: "fault", seat, text: plain(fault?.text, 600) });
    }
    for (const [seat, us] of Object.entries(record.us ?? {})) if (typeof us === "number") this.cutOff[seat]?.set(this.steps, us);
    if (record.log) this.takeLog(record.log);
  }

  /** @param {any} log */
  takeLog(log) {
    for (const [seat, bytes] of Object.entries(log)) {
      const column = this.logged[seat];
      if (column?.length && typeof bytes === "number") column.data[column.length - 1] = bytes;
    }
  }

  /**
   * @param {any} record
   * @param {Place} place
   */
  takeStep(record, place) {
    if (record.turn !== this.steps) throw new Error(`turn ${plain(record.turn, 20)} stands where turn ${this.steps} belongs`);
    if (typeof record.changes !== "object" || record.changes === null) throw new Error("a step has no changes");
    const track = /** @type {Track} */ (this.track);
    track.push(record);
    this.lengthen(place.block, place.from, record.us);
    if (record.log) this.takeLog(record.log);
    for (const event of track.events(record)) this.events.push(event);
    for (const [seat, remark] of Object.entries(record.remarks ?? {})) {
      if (!this.said[seat]) continue;
      if (typeof remark?.say === "string") {
        this.said[seat].turns.push(this.steps);
        this.said[seat].texts.push(plain(remark.say, 500));
      }
      if (Array.isArray(remark?.draw)) this.drawn[seat].push(this.steps);
      for (const warning of Array.isArray(remark?.warnings) ? remark.warnings.slice(0, 20) : []) {
        this.events.push({ turn: this.steps, kind: "warning", seat, text: plain(warning, 400) });
      }
    }
    this.steps += 1;
  }

  /** One step more. @param {number} block that of its record, -1 if it was not received @param {number} from @param {any} [us] what was billed, by seat */
  lengthen(block, from, us) {
    this.blockOf.push(block);
    this.places.push(from);
    this.asked = Math.max(this.asked, this.blockOf.length);
    for (const [seat, billed] of Object.entries(this.billed)) {
      billed.push(typeof us?.[seat] === "number" ? us[seat] : NaN);
      const logged = this.logged[seat];
      logged.push(logged.length ? logged.data[logged.length - 1] : 0);
    }
  }

  /** Microseconds billed to a seat in a step; NaN where it was not asked. @param {string} seat @param {number} turn */
  us(seat, turn) {
    const cutOff = this.cutOff[seat];
    return (cutOff.size ? cutOff.get(turn) : undefined) ?? (turn >= 0 && turn < this.steps ? this.billed[seat].data[turn] : NaN);
  }

  /**
   * Take in what the engine found out afterwards; events stay in the order of their steps.
   * @param {GameEvent[]} found
   */
  learn(found) {
    for (const event of found) this.events.splice(this.firstEvent(event.turn + 1), 0, event);
  }

  /** The index of the first event in a step or later. @param {number} turn */
  firstEvent(turn) {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events[middle].turn < turn) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Go on from a position after steps that were not received.
   * @param {number} turn
   * @param {any} view
   */
  jump(turn, view) {
    if (!this.track || turn <= this.steps) return;
    this.gaps.push([this.steps, turn]);
    this.track.jump(turn, view);
    for (; this.steps < turn; this.steps += 1) this.lengthen(-1, 0);
    this.rest = new Uint8Array(0);
  }

  /**
   * The record of a step, read again from its text; null where there is none.
   * @param {number} turn
   * @returns {StepRecord | null}
   */
  record(turn) {
    if (turn < 0 || turn >= this.steps || this.blockOf.data[turn] < 0) return null;
    if (this.cached.turn !== turn) {
      const block = this.blocks[this.blockOf.data[turn]];
      const from = this.places.data[turn];
      this.cached = { turn, record: JSON.parse(decoder.decode(block.subarray(from, block.indexOf(10, from)))) };
    }
    return this.cached.record;
  }

  /**
   * What a seat said last before a position, if that is at most `within` steps ago.
   * @param {string} seat
   * @param {number} position
   * @param {number} within
   */
  lastSaid(seat, position, within) {
    const { turns, texts } = this.said[seat];
    const at = lastBefore(turns, position);
    return at >= 0 && turns[at] >= position - within ? { turn: turns[at], text: texts[at] } : null;
  }

  /**
   * The shapes that a seat drew in the step before a position.
   * @param {string} seat
   * @param {number} position
   * @returns {any[]}
   */
  shapes(seat, position) {
    const at = lastBefore(this.drawn[seat], position);
    if (at < 0 || this.drawn[seat][at] !== position - 1) return [];
    const shapes = this.record(position - 1)?.remarks?.[seat]?.draw;
    return Array.isArray(shapes) ? shapes : [];
  }
}

/**
 * Compressed bytes in, text out, piece by piece. What came before a damaged or missing end is never lost.
 */
export class Inflater {
  /**
   * @param {CompressionFormat} format
   * @param {(chunk: Uint8Array) => void} onText
   */
  constructor(format, onText) {
    const stream = new DecompressionStream(format);
    this.writer = stream.writable.getWriter();
    this.reader = stream.readable.getReader();
    /** @type {Uint8Array[]} */
    this.pending = [];
    this.error = "";
    this.onText = onText;
    this.reading = this.read();
  }

  async read() {
    try {
      for (;;) {
        const { done, value } = await this.reader.read();
        if (done) return;
        this.pending.push(value);
      }
    } catch (error) {
      this.error = error instanceof Error ? error.message : String(error);
    }
  }

  /**
   * Take in bytes; done when their text has been handed on.
   * @param {Uint8Array<ArrayBuffer>} bytes
   */
  async write(bytes) {
    try {
      await this.writer.write(bytes);
    } catch (error) {
      this.error ||= error instanceof Error ? error.message : String(error);
    }
    await breathe();
    this.handOn();
  }

  /** No more bytes will come; says what is missing, or nothing. */
  async close() {
    try {
      await this.writer.close();
    } catch (error) {
      this.error ||= error instanceof Error ? error.message : String(error);
    }
    await this.reading;
    this.handOn();
    return this.error;
  }

  handOn() {
    for (const chunk of this.pending.splice(0)) this.onText(chunk);
  }
}

/** Let the page do something else, so that it stays usable. */
function breathe() {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve(undefined);
    };
    channel.port2.postMessage(null);
  });
}

/**
 * Read a whole replay into a recording.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream
 * @param {Recording} recording
 * @param {(bytes: number) => void} onProgress called now and then with the number of bytes read
 */
export async function readAll(stream, recording, onProgress) {
  const inflater = new Inflater("gzip", (chunk) => recording.feed(chunk));
  const reader = stream.getReader();
  let bytes = 0;
  let breathed = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      // Small pieces, so that the page stays usable while a long replay is read; the first one is enough for the first picture.
      for (let from = 0, size; from < value.length && !recording.problem && !inflater.error; from += size) {
        size = recording.head ? PIECE_BYTES : FIRST_BYTES;
        await inflater.write(value.slice(from, from + size));
        if (recording.head && (!breathed || performance.now() - breathed > BREATH_MS)) {
          onProgress(bytes + from);
          // The first picture comes before the rest of the replay.
          if (breathed) await new Promise((resolve) => setTimeout(resolve));
          else await drawn();
          breathed = performance.now();
        }
      }
      bytes += value.length;
      if (recording.problem || inflater.error) {
        await reader.cancel();
        break;
      }
    }
  } catch {
    recording.finish("it could not be read to its end");
    return;
  }
  const missing = await inflater.close();
  if (missing && !recording.head && !recording.problem) recording.problem = "This is not a replay: it is not gzip, or it is damaged.";
  recording.finish(missing && recording.head ? "the file is cut or damaged there" : "");
}

/**
 * The replay inside a file: the file itself, or what an exported page holds.
 * @param {Blob} file
 * @returns {Promise<Blob>}
 */
export async function replayIn(file) {
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (start[0] === 0x1f && start[1] === 0x8b) return file;
  // Only a page is read whole; it holds its replay in a block of its own.
  const text = await file.slice(0, 1_000_000_000).text();
  const found = text.match(/<script type="text\/plain" id="replay">([A-Za-z0-9+/=\s]*)<\/script>/);
  return found ? new Blob([bytesOf(found[1])]) : file;
}
