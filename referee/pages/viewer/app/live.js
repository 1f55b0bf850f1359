// The wire to a match that is running: bytes of its replay, as it grows, and words about it. A lost connection is taken up again.

import { Inflater } from "./recording.js";

/** The code with which the server closes a socket when another window takes the seat. */
const TAKEN = 4000;

/**
 * @typedef {object} Listener
 * @property {(isConnected: boolean, text: string) => void} connection
 * @property {(message: any) => void} message words about the match
 * @property {() => void} grown the recording has grown
 * @property {() => void} [lost] another window has taken the seat
 * @property {(check: any, spectators: string | undefined) => void} over no more will come; what the referee found when it played the match again,
 * and the spectators' token, for a page of a player
 */

/** Hears nothing. @type {Listener} */
const NOBODY = { connection: () => {}, message: () => {}, grown: () => {}, over: () => {} };

export class Live {
  /**
   * @param {import("./recording.js").Recording} recording
   * @param {Listener} listener
   */
  constructor(recording, listener) {
    this.recording = recording;
    this.listener = listener;
    /** How much of the stream is here: the number of the next byte. */
    this.offset = 0;
    /** Bytes taken in one after the other. */
    this.queue = Promise.resolve();
    this.inflater = this.inflate("gzip");
    this.isOver = false;
    this.delay = 250;
    this.timer = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
  }

  /** @param {CompressionFormat} format */
  inflate(format) {
    return new Inflater(format, (chunk) => this.recording.feed(chunk));
  }

  connect() {
    const address = new URL("socket", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.hash = "";
    address.searchParams.set("from", String(this.offset));
    // A reader who wants every step waits for them, however far behind.
    if (new URLSearchParams(location.search).has("all")) address.searchParams.set("all", "1");
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.delay = 250;
      this.listener.connection(true, "");
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.word(JSON.parse(data));
      else this.bytes(new Uint8Array(data));
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      if (this.isOver || event.code === TAKEN) {
        if (event.code === TAKEN) this.listener.lost?.();
        if (event.code !== 1000 && !this.isOver) this.listener.connection(false, event.reason || "This page was replaced by another window.");
        return;
      }
      this.listener.connection(false, "The connection to the match is lost; trying again.");
      this.timer = window.setTimeout(() => this.connect(), this.delay);
      this.delay = Math.min(5000, 2 * this.delay);
    };
    this.socket = socket;
  }

  /** Something else has the page: whatever is still on its way changes nothing there, and a lost connection stays lost. */
  close() {
    this.isOver = true;
    this.listener = NOBODY;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  /** @param {any} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** @param {Uint8Array<ArrayBuffer>} data */
  bytes(data) {
    this.offset += data.length;
    this.queue = this.queue.then(async () => {
      await this.inflater.write(data);
      this.listener.grown();
    });
  }

  /** @param {any} message */
  word(message) {
    // Known as soon as it is heard, though what came before may still be unpacked: the server may be gone by then.
    if (message.type === "over") this.isOver = true;
    this.queue = this.queue.then(async () => {
      if (message.type === "skip") {
        // Too far behind: on from a later place, where the stream can be read without what came before.
        this.inflater = this.inflate("deflate-raw");
        this.recording.jump(message.turn, message.state);
        this.listener.grown();
      } else if (message.type === "over") {
        this.recording.finish(message.text);
        this.listener.grown();
        this.listener.over(message.check, message.spectators);
      } else this.listener.message(message);
    });
    // Bytes that follow are counted from there.
    if (message.type === "skip") this.offset = message.offset;
  }
}
