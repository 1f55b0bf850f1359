"""How quick the viewer is, in Chromium without a GPU at 1280 x 800: medians of some rounds.

    python benchmarks/page_load.py REPLAY [--against CHECKOUT] [--rounds N]

All times are in milliseconds. ``first frame`` is from the request of the page to the first frame with the board, ``whole replay`` until
every step can be reached; ``cold`` is the first visit to a server that has just started. ``frames a second`` is counted while the match
plays at 20 steps a second (1x) and at 320 (16x), ``slow frame`` is the 95th percentile of the time between two frames. ``scrub`` is the
work for one movement of the scrubber, from the event to the end of the frame that shows it; ``slow scrub`` is the 95th percentile.

Processor time doesn't depend on what else the machine does: ``cpu`` is that of all processes of the browser, a second of playing or a
movement. The first line says how much of a core a busy loop got meanwhile; where it is far below 100 %, judge by that.

With ``--against`` the viewer of another checkout is measured in turn with this one.
"""

import argparse
import contextlib
import gzip
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time

from playwright.sync_api import Browser, Page, sync_playwright

BUSY_SECONDS = 0.5
PLAY_MS = 3000
SCRUBS = 150
#: Runs before the page's own scripts: notes when the board is there with a drawn frame.
WATCH = """
globalThis.measured = {};
const look = () => {
  const canvas = document.getElementById("board");
  if (canvas && document.body && !document.body.classList.contains("boardless") && canvas.clientWidth) {
    // The board was drawn in this frame or will be in the next one; reading a pixel waits for it.
    requestAnimationFrame(() => {
      canvas.getContext("2d").getImageData(0, 0, 1, 1);
      measured.first = performance.now();
    });
  } else requestAnimationFrame(look);
};
requestAnimationFrame(look);
const whole = () => {
  const scrubber = document.getElementById("scrubber");
  if (scrubber && Number(scrubber.max) === STEPS) measured.whole = performance.now();
  else setTimeout(whole, 4);
};
whole();
"""
#: Frames while the match plays: the times between them.
PLAY = """
async ([speed, milliseconds]) => {
  const choice = document.getElementById("speed");
  choice.value = speed;
  choice.dispatchEvent(new Event("change"));
  document.getElementById("home").click();
  document.getElementById("play").click();
  const gaps = [];
  await new Promise((done) => {
    let before = 0;
    const begun = performance.now();
    const frame = (now) => {
      if (before) gaps.push(now - before);
      before = now;
      if (performance.now() - begun < milliseconds) requestAnimationFrame(frame);
      else done();
    };
    requestAnimationFrame(frame);
  });
  if (document.getElementById("play").getAttribute("aria-label") === "Pause") document.getElementById("play").click();
  return gaps;
}
"""
#: Movements of the scrubber: the work of each, without the wait for the screen.
SCRUB = """
async ([times]) => {
  const scrubber = document.getElementById("scrubber");
  const canvas = document.getElementById("board");
  const found = [];
  let place = 0;
  for (let count = 0; count < times; count += 1) {
    // Back and forth over the whole match, by the golden ratio.
    place = (place + 0.6180339887) % 1;
    let begun = 0;
    const first = new Promise((done) => requestAnimationFrame(() => {
      begun = performance.now();
      done();
    }));
    const before = performance.now();
    scrubber.value = String(Math.floor(place * Number(scrubber.max)));
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
    await first;
  }
  return found;
}
"""


def main() -> None:
    """Measure, print a table."""
    parser = argparse.ArgumentParser(description="How quick the viewer is.")
    parser.add_argument("replay", type=Path)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout of the project, measured in turn with this one")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    checkouts = {"this": Path(__file__).parents[1], **({"other": given.against} if given.against else {})}
    rows: dict[str, dict[str, list[float]]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for _ in range(given.rounds):
            for name, checkout in checkouts.items():
                for row, value in measured(browser, checkout, given.replay.absolute()).items():
                    rows.setdefault(row, {}).setdefault(name, []).append(value)
        browser.close()
    print(f"{'':<24} {'this':>10}" + (f" {'other':>10} {'ratio':>7}" if given.against else ""))
    for row, found in rows.items():
        values = [statistics.median(found[name]) for name in checkouts]
        ratio = f" {values[1] / values[0]:7.2f}" if len(values) > 1 and values[0] else ""
        print(f"{row:<24} " + " ".join(f"{value:10.1f}" for value in values) + ratio)


def measured(browser: Browser, checkout: Path, replay: Path) -> dict[str, float]:
    """Return the measurements of two visits to a server of its own."""
    steps = length_of(replay)
    found = {"steps": float(steps)}
    with served(checkout, replay) as address:
        for kind in ("cold ", ""):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            page.add_init_script(WATCH.replace("STEPS", str(steps)))
            page.goto(address)
            page.wait_for_function("() => globalThis.measured.first && globalThis.measured.whole", timeout=120_000)
            times = page.evaluate("() => globalThis.measured")
            found[f"{kind}first frame"], found[f"{kind}whole replay"] = times["first"], times["whole"]
            # What is worked out in the background is no part of what follows.
            page.get_by_text("verified").or_(page.get_by_text("not verify")).first.wait_for(timeout=600_000)
            if not kind:
                found |= moved(browser, page)
            context.close()
    return found


def moved(browser: Browser, page: Page) -> dict[str, float]:
    """Return the measurements of playing and scrubbing."""
    found = {}
    begun, before = perf_counter(), process_time()
    while perf_counter() - begun < BUSY_SECONDS:
        pass
    found["busy loop, % of a core"] = 100 * (process_time() - before) / BUSY_SECONDS
    for speed in ("1", "16"):
        cpu = cpu_ms(browser)
        gaps = page.evaluate(PLAY, [speed, PLAY_MS])
        found[f"{speed}x frames a second"] = 1000 * len(gaps) / sum(gaps)
        found[f"{speed}x slow frame"] = high(gaps)
        found[f"{speed}x cpu a second"] = (cpu_ms(browser) - cpu) * 1000 / PLAY_MS
    cpu = cpu_ms(browser)
    scrubs = page.evaluate(SCRUB, [SCRUBS])
    found["scrub"], found["slow scrub"] = statistics.median(scrubs), high(scrubs)
    found["scrub cpu"] = (cpu_ms(browser) - cpu) / SCRUBS
    return found


def cpu_ms(browser: Browser) -> float:
    """Return the processor time of all processes of the browser so far, in milliseconds."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return 1000 * sum(process["cpuTime"] for process in processes)


def high(values: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[int(0.95 * (len(values) - 1))]


@contextlib.contextmanager
def served(checkout: Path, replay: Path) -> Iterator[str]:
    """Serve a replay by the viewer of a checkout; yield the address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "watch", replay, "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def length_of(replay: Path) -> int:
    """Return the number of steps of a replay."""
    with gzip.open(replay, "rt", encoding="utf-8") as file:
        return sum(line.startswith('{"turn":') for line in file)


if __name__ == "__main__":
    main()
