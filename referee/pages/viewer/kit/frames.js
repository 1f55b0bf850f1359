// One request for a frame of the screen, whoever wants one: what follows from a step is drawn in the same frame as the step.

/** What is drawn in the frame that begins or comes. @type {Set<() => void>} */
const due = new Set();
/** What is done at the beginning of the next frame. @type {Set<(now: number) => void>} */
const later = new Set();
/** How long a page waits for a frame that may never come, in milliseconds. */
const HIDDEN_MS = 250;
let isAsked = false;
let isRunning = false;

function ask() {
  if (isAsked || isRunning) return;
  isAsked = true;
  requestAnimationFrame(run);
}

/** @param {number} now */
function run(now) {
  isAsked = false;
  isRunning = true;
  const begun = [...later];
  later.clear();
  for (const action of begun) attempt(() => action(now));
  // What those have asked for is drawn in this frame; what drawing asks for comes with the next one.
  const drawn = [...due];
  due.clear();
  for (const action of drawn) attempt(action);
  isRunning = false;
  if (due.size || later.size) ask();
}

/** What fails is reported; the others are drawn none the less. @param {() => void} action */
function attempt(action) {
  try {
    action();
  } catch (error) {
    reportError(error);
  }
}

/** Draw something, once, in this frame if it has just begun, else in the next one. @param {() => void} action */
export function inFrame(action) {
  due.add(action);
  ask();
}

/** Done when the next frame has been drawn; a page that nobody sees has no frames, and waits only for a moment. @returns {Promise<void>} */
export function drawn() {
  return new Promise((done) => {
    const timer = setTimeout(done, HIDDEN_MS);
    // What a frame draws is on the screen when the next task begins.
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(done);
    });
  });
}

/** Do something at the beginning of the next frame. @param {(now: number) => void} action */
export function nextFrame(action) {
  later.add(action);
  ask();
}
