"""How quick the viewer is, in Chromium without a GPU at 1280 x 800.

python benchmarks/page_load.py [--rounds 3] [--replay REPLAY] [--json]

``first frame`` is from the request of the page to the first frame with the board, ``whole replay`` until every step can be reached; ``cold`` is
the first visit to a server that has just started. ``frames a second`` is counted while the match plays at 20 steps a second (1x) and at 320
(16x), ``slow frame`` is the 95th percentile of the time between two frames. ``scrub`` is the work for one movement of the scrubber, from the
event to the end of the frame that shows it; ``slow scrub`` is the 95th percentile. ``cpu`` is the processor time of all processes of the
browser, a second of playing or a movement; what else the machine does hardly changes it. Without a replay it plays a match of its own.
"""

from __future__ import annotations

import argparse
import os
import statistics
from pathlib import Path

from harness import Figure, cpu_seconds, high, open_folder, run, served
from playwright.sync_api import Page

from referee.api import play
from referee.pages.browser import browser
from referee.replay.reader import verify

PLAY_MS = 3000
SCRUBS = 150
PATIENCE_MS = 600_000
#: Runs before the page's own scripts: notes when the board is there with a drawn frame, and when the whole replay is.
WATCH = """
globalThis.measured = {};
const look = () => {
  const canvas = document.getElementById("board"), scrubber = document.getElementById("scrubber");
  if (!measured.first && canvas && !document.body.classList.contains("boardless") && canvas.clientWidth) {
    // The board was drawn in this frame or will be in the next one; reading a pixel waits for it.
    requestAnimationFrame(() => {
      canvas.getContext("2d").getImageData(0, 0, 1, 1);
      measured.first = performance.now();
    });
  }
  if (scrubber && Number(scrubber.max) === STEPS) measured.whole = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
#: Frames while the match plays: the times between them.
PLAY = """
async ([speed, milliseconds]) => {
  const choice = document.getElementById("speed"), button = document.getElementById("play");
  choice.value = speed;
  choice.dispatchEvent(new Event("change"));
  document.getElementById("home").click();
  button.click();
  const gaps = [], frame = () => new Promise(requestAnimationFrame);
  for (let before = await frame(), until = before + milliseconds; before < until;) {
    const now = await frame();
    gaps.push(now - before);
    before = now;
  }
  if (button.getAttribute("aria-label") === "Pause") button.click();
  return gaps;
}
"""
#: Movements of the scrubber: the work of each, without the wait for the screen.
SCRUB = """
async ([times]) => {
  const scrubber = document.getElementById("scrubber"), canvas = document.getElementById("board"), found = [];
  for (let count = 1, begun = 0; count <= times; count += 1) {
    requestAnimationFrame(() => { begun = performance.now(); });
    const before = performance.now();
    // Back and forth over the whole match, by the golden ratio.
    scrubber.value = String(Math.floor((count * 0.6180339887 % 1) * Number(scrubber.max)));
    scrubber.dispatchEvent(new Event("input"));
    const event = performance.now() - before;
    await new Promise((done) => requestAnimationFrame(() => {
      canvas.getContext("2d").getImageData(0, 0, 1, 1);
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        found.push(event + performance.now() - begun);
        channel.port1.close();
        done();
      };
      channel.port2.postMessage(null);
    }));
  }
  return found;
}
"""


def visited(replay: Path, steps: int) -> dict[tuple[str, str], float]:
    """Return the measurements of two visits to a server of its own, by name and unit."""
    values = {}
    with served("watch", str(replay), "--no-browser") as (address, _), browser(viewport={"width": 1280, "height": 800}) as context:
        for kind in ("cold ", ""):
            page = context.new_page()
            page.add_init_script(WATCH.replace("STEPS", str(steps)))
            page.goto(address)
            page.wait_for_function("() => globalThis.measured.first && globalThis.measured.whole", timeout=PATIENCE_MS)
            times = page.evaluate("() => globalThis.measured")
            values |= {(f"{kind}first frame", "ms"): times["first"], (f"{kind}whole replay", "ms"): times["whole"]}
            # What is worked out in the background is no part of what follows.
            page.get_by_text("verified").or_(page.get_by_text("not verify")).first.wait_for(timeout=PATIENCE_MS)
            if not kind:
                values |= moved(page)
            page.close()
    return values


def moved(page: Page) -> dict[tuple[str, str], float]:
    """Return the measurements of playing and scrubbing."""
    values = {}
    for speed in ("1", "16"):
        used = cpu_seconds()
        gaps = page.evaluate(PLAY, [speed, PLAY_MS])
        values[f"{speed}x frames a second", "/s"] = 1000 * len(gaps) / sum(gaps)
        values[f"{speed}x slow frame", "ms"] = high(gaps)
        values[f"{speed}x cpu a second", "ms"] = 1e6 * (cpu_seconds() - used) / PLAY_MS
    used = cpu_seconds()
    scrubs = page.evaluate(SCRUB, [SCRUBS])
    return values | {
        ("scrub", "ms"): statistics.median(scrubs),
        ("slow scrub", "ms"): high(scrubs),
        ("scrub cpu", "ms"): 1000 * (cpu_seconds() - used) / SCRUBS,
    }


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if there is no browser."""
    with open_folder() as folder:
        replay = options.replay or play("straight", "shadow", max_steps=3000, seed=1, out=f"{folder}{os.sep}").replay
        steps = verify(replay).turns
        rounds = [visited(replay.absolute(), steps) for _ in range(options.rounds)]
    return [Figure(name, unit, [each[name, unit] for each in rounds]) for name, unit in rounds[0]]


if __name__ == "__main__":
    run(
        __doc__,
        everything,
        rounds=(3, "servers that are visited; the median counts"),
        replay=(None, "the replay that is shown"),
    )
