// Shows a replay in the frame of a notebook's output. A notebook holds the viewer once: in this frame, or in another one, which sends it.
"use strict";

(() => {
  /** @param {string} id */
  const held = (id) => document.getElementById(id)?.textContent ?? "";
  const [packed, own] = ["config", "viewer"].map(held);
  const replay = document.getElementById("replay")?.outerHTML ?? "";
  const version = document.documentElement.dataset.viewer;
  /** The page of the viewer, once this frame has it. */
  let viewer = "";
  // The policy of this frame allows only the scripts and styles of the viewer, by their hashes, whoever sends it.
  const trusted = globalThis.trustedTypes?.createPolicy("notebook", { createHTML: (/** @type {string} */ text) => text });

  /** @param {string} text Base64 of gzip. */
  const unpacked = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };

  // Only what has no frames itself may be a viewer.
  /** @param {Window} place @returns {Window[]} */
  const frames = (place) => (place.length ? Array.from({ length: place.length }, (_, at) => frames(place[at])).flat() : [place]);

  /** @param {Window} other @param {string} word @param {string} [text] */
  const send = (other, word, text) => other.postMessage({ referee: word, version, text }, "*");

  /** @param {string} word */
  const tellAll = (word) => frames(top ?? self).filter((other) => other !== self).forEach((other) => send(other, word));

  /** @param {MessageEvent} event */
  const hear = ({ data, source }) => {
    if (data?.version !== version || !source) return;
    const other = /** @type {Window} */ (source);
    if (viewer) {
      if (data.referee === "wanted") send(other, "viewer", viewer);
    } else if (data.referee === "here") send(other, "wanted");
    else if (data.referee === "viewer" && typeof data.text === "string") void show(data.text);
  };

  /** @param {string} text */
  const show = async (text) => {
    viewer = text;
    const config = await unpacked(packed);
    const page = text
      .replace("<!--replay-->", () => replay)
      .replace('id="page">null<', () => `id="page">${config}<`);
    document.open();
    document.write(/** @type {string} */ (trusted ? trusted.createHTML(page) : page));
    document.close();
    // Opening the document has removed the listeners. This frame can serve those that come later, also when the first one is gone.
    addEventListener("message", hear);
    tellAll("here");
  };

  addEventListener("message", hear);
  if (own) void unpacked(own).then(show);
  else tellAll("wanted");
})();
