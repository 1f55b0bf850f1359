"""How long the viewer takes to draw a whole board and to scrub: medians in Chromium, in milliseconds.

    python benchmarks/viewer.py REPLAY

Each repaint is read back, so that the pixels are really there. Beside it stands the floor: filling the same canvas with one colour.
"""

import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

MEASURE = """
async ({ repaints }) => {
  const { Board } = await import("./web/viewer/app/board.js");
  const { Recording, readAll } = await import("./web/viewer/app/recording.js");
  const recording = new Recording();
  const begun = performance.now();
  await readAll((await fetch("replay")).body, recording, () => {});
  const reading = performance.now() - begun;
  const canvas = document.createElement("canvas");
  canvas.style.width = canvas.style.height = "640px";
  document.body.append(canvas);
  const board = new Board(canvas, recording, () => {});
  board.reset();
  const context = canvas.getContext("2d");
  const time = (action) => {
    const times = [];
    for (let index = 0; index < repaints; index += 1) {
      const start = performance.now();
      action(index);
      context.getImageData(0, 0, 1, 1);
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b);
  };
  const middle = (list) => list[list.length >> 1];
  const floor = time(() => { context.fillStyle = "#fff"; context.fillRect(0, 0, canvas.width, canvas.height); });
  const scrub = time((index) => { board.turn = Math.floor((index / repaints) * recording.steps); board.paint(); });
  board.turn = recording.steps;
  const last = time(() => board.paint());
  return { steps: recording.steps, reading, floor: middle(floor), scrub: middle(scrub), worst: scrub.at(-1), last: middle(last) };
}
"""

served = subprocess.Popen(
    [sys.executable, "-m", "referee", "watch", sys.argv[1], "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True
)
try:
    address = served.stdout.readline().strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        found = page.evaluate(MEASURE, {"repaints": 300})
        browser.close()
finally:
    served.terminate()
print(f"{found['steps']:,} steps, read in {found['reading']:.0f} ms")
for name in ("floor", "last", "scrub", "worst"):
    print(f"{name:<6} {found[name]:7.2f} ms")
