"""How long a gallery of 1,000 replays takes to open: in Chromium, in milliseconds, from the visit of the page.

    python benchmarks/gallery.py [FOLDER]

Without a folder, 1,000 matches of example bots are played first, in this process, and removed afterwards. The floor, in the same run, is
the time in which Python alone reads and unpacks all the files.
"""

import gzip
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright

GAMES = 1000
VISITS = 5
MEASURE = """
async (count) => {
  const shown = () => Number((document.getElementById("count").textContent.match(/[\\d,]+ match/) ?? ["0"])[0].replace(/\\D/g, ""));
  const frame = () => new Promise(requestAnimationFrame);
  const seen = () => [...document.querySelectorAll(".card img")].filter((image) => image.getBoundingClientRect().top < innerHeight);
  const times = {};
  for (;;) {
    await frame();
    const images = seen();
    if (images.length) times.first ??= performance.now();
    if (images.length && images.every((image) => image.complete)) times.pictures ??= performance.now();
    else delete times.pictures;
    if (shown() >= count && !document.getElementById("count").textContent.includes("reading")) times.whole ??= performance.now();
    if (times.pictures && times.whole) return times;
  }
}
"""


def play(folder: Path) -> None:
    """Play the matches."""
    from example_bots import BOTS
    from example_bots.table import bot_class
    from referee import play_many

    hunter, prey = (bot_class(next(bot for bot in BOTS if bot.name == name)) for name in ("boxer", "runner"))
    for _ in play_many(hunter, prey, games=GAMES, seed=1, out=folder, max_steps=1000):
        pass


def measure(folder: Path) -> None:
    """Print the medians of some visits, each of a server of its own."""
    files = sorted(folder.rglob("*.gz"))
    begun = time.perf_counter()
    size = sum(len(gzip.decompress(file.read_bytes())) for file in files)
    floor = (time.perf_counter() - begun) * 1000
    found: dict[str, list[float]] = {}
    for _ in range(VISITS):
        begun = time.perf_counter()
        served = subprocess.Popen(
            [sys.executable, "-m", "referee", "watch", str(folder), "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True
        )
        try:
            address = served.stdout.readline().strip()
            found.setdefault("command", []).append((time.perf_counter() - begun) * 1000)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(address, wait_until="commit")
                for name, value in page.evaluate(MEASURE, len(files)).items():
                    found.setdefault(name, []).append(value)
                browser.close()
        finally:
            served.terminate()
            served.wait()
    print(f"{len(files):,} replays, {size / 1e6:.0f} MB of text; medians of {VISITS} visits, in ms")
    print(f"floor     {floor:7.0f}  reading and unpacking all files")
    for name, text in (
        ("command", "from the command to its address"),
        ("first", "until the first cards"),
        ("pictures", "until the pictures in sight"),
        ("whole", "until the whole list"),
    ):
        print(f"{name:<9} {median(found[name]):7.0f}  {text} (from {min(found[name]):.0f} to {max(found[name]):.0f})")


if len(sys.argv) > 1:
    measure(Path(sys.argv[1]))
else:
    with tempfile.TemporaryDirectory() as folder:
        play(Path(folder))
        measure(Path(folder))
