"""How quick the workshop is, in Chromium: its start, and the steps of a match beside the same loop in this Python.

    python benchmarks/workshop_start.py [--rounds N]

``ready`` is from the request of the page until a match can be run, in seconds; ``cpu`` is the processor time of all processes of the browser
meanwhile, which doesn't depend on what else the machine does. ``steps`` are those of boxer against runner in a second, by the page's own clock
and by ``referee.workshop.loop`` here. Medians of the rounds. It needs Pyodide's package, which ``make setup`` fetches.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import psutil
from playwright.sync_api import Browser, sync_playwright

from example_bots.evasion import boxer, runner
from referee import games
from referee.players.player import Function
from referee.workshop import pyodide
from referee.workshop.build import build
from referee.workshop.loop import LocalMatch
from sdk.bot import Conversation

PATIENCE_MS = 600_000
BOXER = Path(boxer.__file__).read_text()


def cpu_seconds() -> float:
    """The processor time of all processes below this one."""
    times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return sum(each.user + each.system for each in times)


def in_browser(browser: Browser, address: str) -> tuple[float, float, float]:
    """Return the seconds and the processor time until Python is ready, and the steps a second."""
    page = browser.new_page()
    before, begun = cpu_seconds(), perf_counter()
    page.goto(address)
    page.locator("#run:enabled").wait_for(timeout=PATIENCE_MS)
    ready, cpu = perf_counter() - begun, cpu_seconds() - before
    page.locator("#file").set_input_files({"name": "boxer.py", "mimeType": "text/plain", "buffer": BOXER.encode()})
    page.locator("#opponent").select_option("runner")
    page.locator("#run").click()
    sentence = page.locator("#sentence:has-text('steps a second')")
    sentence.wait_for(timeout=PATIENCE_MS)
    rate = re.search(r"\(([\d,]+) steps a second\)", sentence.inner_text())
    assert rate is not None
    page.close()
    return ready, cpu, float(rate[1].replace(",", ""))


def here(folder: Path) -> float:
    """Return the steps a second of the same match in this Python."""
    game = games.get("evasion")
    players = {
        "hunter": Function("Boxer", Conversation(boxer.Boxer).answer),
        "prey": Function("Runner", Conversation(runner.Runner).answer),
    }
    begun = perf_counter()
    settings = game.codec.settings(None, {"max_steps": 3000})
    result = LocalMatch(game, settings, 1, players, folder / "match.replay.jsonl.gz", lambda _: None).run()
    return result.steps / (perf_counter() - begun)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        build(folder / "site", Path(sys.prefix) / "lib" / "pyodide" / pyodide.ARCHIVE)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        words = [sys.executable, "-m", "referee", "workshop", "serve", str(folder / "site"), "--port", "0"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            figures = [(*in_browser(browser, address), here(folder)) for _ in range(rounds)]
            server.terminate()
        browser.close()
    ready, cpu, rate, floor = map(median, zip(*figures, strict=True))
    print(f"ready {ready:.1f} s, cpu {cpu:.1f} s, steps {rate:,.0f} in the browser, {floor:,.0f} in this Python, {floor / rate:.1f} times")


if __name__ == "__main__":
    main()
