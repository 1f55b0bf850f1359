"""How quick the workshop is, in Chromium: its start, and the steps of a match beside the same loop in this Python.

python benchmarks/workshop_start.py [--rounds 3] [--json]

``ready`` is from the request of the page until a match can be run; ``cpu`` is the processor time of all processes of the browser meanwhile,
which doesn't depend on what else the machine does. ``steps`` are those of boxer against runner in a second, by the clock of its worker and by
``referee.workshop.loop`` here. It needs Pyodide's package, which ``make setup`` fetches.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

from harness import Figure, cpu_seconds, open_folder, run, served
from playwright.sync_api import BrowserContext

from example_bots.evasion import boxer, runner
from referee import games
from referee.pages.browser import browser
from referee.players.player import Function
from referee.workshop import pyodide
from referee.workshop.build import build
from referee.workshop.loop import LocalMatch
from sdk.bot import Conversation

PATIENCE_MS = 600_000
#: Notes the steps a second, which the worker measures.
LISTEN = """() => addEventListener("message", ({ data }) => {
  if (data.kind !== "message") return;
  const { kind, steps, seconds } = JSON.parse(data.text);
  if (kind === "over") globalThis.rate = steps / seconds;
})"""


def in_browser(context: BrowserContext, address: str) -> tuple[float, float, float]:
    """Return the seconds and the processor time until Python is ready, and the steps a second."""
    page = context.new_page()
    used, begun = cpu_seconds(), perf_counter()
    page.goto(address)
    page.locator("#run:enabled").wait_for(timeout=PATIENCE_MS)
    ready, cpu = perf_counter() - begun, cpu_seconds() - used
    page.locator("#file").set_input_files(boxer.__file__)
    page.locator("#opponent").select_option("runner")
    page.evaluate(LISTEN)
    page.locator("#run").click()
    rate = page.wait_for_function("() => globalThis.rate", timeout=PATIENCE_MS).json_value()
    page.close()
    return ready, cpu, rate


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


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures. UsageError if there is no browser."""
    with open_folder() as folder:
        build(folder / "site", Path(sys.prefix) / "lib" / "pyodide" / pyodide.ARCHIVE)
        rounds = []
        for _ in range(options.rounds):
            # A new browser has nothing in its cache.
            with served("workshop", "serve", str(folder / "site")) as (address, _), browser() as context:
                rounds.append((*in_browser(context, address), here(folder)))
    ready, cpu, rate, floor = zip(*rounds, strict=True)
    return [
        Figure("ready", "s", ready),
        Figure("cpu until ready", "s", cpu),
        Figure("steps a second", "/s", rate, floor, "ratio", at_least=True),
    ]


if __name__ == "__main__":
    run(__doc__, everything, rounds=(3, "visits, each with a new browser; the median counts"))
