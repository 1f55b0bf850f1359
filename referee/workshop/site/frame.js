// The frame in which Python runs. It has an origin of its own and a policy that forbids every connection, and so have its workers. It knows no
// address and no text but those that the page sends.
"use strict";

(() => {
  /** The most messages and characters that the worker of one match may send: a bot can send whatever it likes. */
  const [MOST_MESSAGES, MOST_CHARACTERS] = [5_000, 100_000_000];
  /** How long a bot that is interrupted may take to end, and how long a match lasts until the worker of the next one is started. */
  const [GRACE_MS, WARM_MS] = [1_000, 2_000];
  // Outside the page's sandbox, such as in a page of somebody else, it would have the origin of its server: there it runs nothing.
  if (origin !== "null") return;

  /** @type {Record<string, ArrayBuffer>} */
  let files = {};
  /** @type {Python | null} the worker of the match that is running, and the next one */
  let active = null;
  /** @type {Python | null} */
  let spare = null;
  const tell = (message) => parent.postMessage(message, "*");

  class Python {
    constructor() {
      this.messages = this.characters = 0;
      this.interrupts = globalThis.crossOriginIsolated ? new Uint8Array(new SharedArrayBuffer(1)) : null;
      const address = URL.createObjectURL(new Blob([files["worker.js"]], { type: "text/javascript" }));
      // In a frame with an origin of its own Chromium starts no module as a worker.
      this.worker = new Worker(address);
      this.worker.onmessage = ({ data }) => this.take(data);
      this.worker.onerror = (event) => this.end(event.message || "Python could not be started.", true);
      this.worker.postMessage({ files, interrupts: this.interrupts });
    }

    take(data) {
      const text = typeof data?.text === "string" ? data.text : "";
      this.messages += 1;
      this.characters += text.length;
      if (this.messages > MOST_MESSAGES || this.characters > MOST_CHARACTERS) this.end("The bot sent too much, so it was stopped.");
      else if (data?.kind === "ready") tell({ kind: "ready" });
      else if (data?.kind === "message") this === active && tell({ kind: "message", text });
      else this.end(text, data?.kind !== "end");
    }

    /** Ends the worker. One that is broken isn't followed by another before that is needed. */
    end(text = "", isBroken = false) {
      this.worker.terminate();
      if (this === spare) spare = null;
      else if (this === active) active = null;
      else return;
      if (active) return;
      tell({ kind: "ended", text });
      if (!isBroken) warm();
    }
  }

  function warm() {
    spare ??= new Python();
  }

  addEventListener("message", ({ source, data }) => {
    if (source !== parent) return;
    if (data.kind === "files") {
      files = data.files;
      warm();
    } else if (data.kind === "run" && !active) {
      const match = (active = spare ?? new Python());
      spare = null;
      match.worker.postMessage({ job: data.job });
      setTimeout(() => match === active && warm(), WARM_MS);
    } else if (data.kind === "stop" && active) {
      const match = active;
      if (match.interrupts) match.interrupts[0] = 2;
      setTimeout(() => match === active && match.end(), match.interrupts ? GRACE_MS : 0);
    }
  });
  tell({ kind: "waiting" });
})();
