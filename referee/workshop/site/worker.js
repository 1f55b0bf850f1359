// Runs Python: one match, after which the frame ends it. It needs no address: everything comes in the first message.

/** @param {BlobPart} data */
const address = (data) => URL.createObjectURL(new Blob([data], { type: "text/javascript" }));
const post = self.postMessage.bind(self);
const [MOST_BYTES, PAGE] = [1 << 30, 1 << 16];

/** Memory that Python may have: where it gets no more, a bot gets a MemoryError and the page stays. */
const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * PAGE > MOST_BYTES) throw new RangeError("The memory of the workshop is used up.");
  return grow.call(this, pages);
};

// Pyodide asks whether it can load scripts, as a module can't. This is no module, but nothing is to be loaded.
self.importScripts = () => {
  throw new TypeError("The workshop has no network.");
};

/** @param {Record<string, ArrayBuffer>} files @param {Uint8Array | null} interrupts */
async function start(files, interrupts) {
  const [{ loadPyodide }, module] = await Promise.all([import(address(files["pyodide.mjs"])), import(address(files["pyodide.asm.mjs"]))]);
  const served = { "https://workshop/python_stdlib.zip": "application/zip", "https://workshop/pyodide.asm.wasm": "application/wasm" };
  // Python's own files are here; there is nothing else to get, and no way to get it.
  self.fetch = async (request) => {
    const name = String(request instanceof Request ? request.url : request);
    if (!(name in served)) throw new TypeError("The workshop has no network.");
    return new Response(files[name.split("/").pop()], { headers: { "Content-Type": served[name] } });
  };
  const python = await loadPyodide({
    indexURL: "https://workshop/",
    lockFileContents: new TextDecoder().decode(files["pyodide-lock.json"]),
    createPyodideModule: module.default,
    jsglobals: { Object, Array, Map, setTimeout: self.setTimeout.bind(self), clearTimeout: self.clearTimeout.bind(self) },
    env: { HOME: "/home/workshop", PYTHONDONTWRITEBYTECODE: "1" },
  });
  python.unpackArchive(files["referee.zip"], "zip", { extractDir: "/workshop" });
  python.runPython("import os, sys; sys.path.insert(0, '/workshop'); os.makedirs('/match'); os.chdir('/match'); from referee.workshop.run import run");
  if (interrupts) python.setInterruptBuffer(interrupts);
  return python.globals.get("run");
}

/** @type {Promise<(job: string, home: string, post: (text: string) => void) => void>} */
let ready;
self.onmessage = async ({ data }) => {
  try {
    if (data.files) {
      ready = start(data.files, data.interrupts);
      await ready;
      post({ kind: "ready" });
      return;
    }
    const run = await ready;
    post({ kind: "message", text: '{"kind":"beat","turn":0}' });
    run(data.job, "/match", (text) => post({ kind: "message", text }));
    post({ kind: "end" });
  } catch (error) {
    post({ kind: "broken", text: String(error).slice(-2000) });
  }
};
