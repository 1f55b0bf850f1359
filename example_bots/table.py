"""Plays every example hunter against every example prey and prints the table of example_bots/README.md.

python -m example_bots.table [--max-steps 3000] [--seeds 3] [--write]
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from example_bots import BOTS, Example
from sdk import HunterBot, PreyBot
from sdk.testing import play

if TYPE_CHECKING:
    from sdk import Bot

README = Path(__file__).with_name("README.md")
#: The rule sets whose walls these hunters build.
RULES = ("classic", "diagonal")
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def bot_class(example: Example) -> type[Bot]:
    """The bot class in an example's file."""
    name = f"example_{example.path.stem}"
    spec = importlib.util.spec_from_file_location(name, example.path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    found: type[Bot] = next(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, (HunterBot, PreyBot)) and value.__module__ == name
    )
    return found


def score(hunter: Example, prey: Example, rules: str, seeds: range, max_steps: int) -> str:
    """The hunter's median score over some seeds, with the number of captures where it isn't all."""
    steps = [
        play(bot_class(hunter), bot_class(prey), rules=rules, seed=seed, max_steps=max_steps).outcome.scores["hunter"]
        for seed in (seeds if "random" in (hunter.name, prey.name) else seeds[:1])
    ]
    caught = [count for count in steps if count is not None]
    if not caught:
        return "-"
    share = "" if len(caught) == len(steps) else f" ({len(caught)} of {len(steps)})"
    return f"{statistics.median_low(caught):,}{share}"


def table(rules: str, seeds: range, max_steps: int) -> list[str]:
    """The rows of one rule set as Markdown."""
    hunters = [bot for bot in BOTS if bot.game == "evasion" and "hunter" in bot.seats]
    preys = [bot for bot in BOTS if bot.game == "evasion" and "prey" in bot.seats]
    lines = [f"| `{rules}` | {' | '.join(prey.name for prey in preys)} |", "|---" * (len(preys) + 1) + "|"]
    for hunter in hunters:
        cells = [score(hunter, prey, rules, seeds, max_steps) for prey in preys]
        lines.append(f"| {hunter.name} | {' | '.join(cells)} |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, or write them into the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-steps", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="put the tables into example_bots/README.md")
    given = parser.parse_args(arguments)
    lines: list[str] = []
    for rules in RULES:
        lines += [*table(rules, range(given.seeds), given.max_steps), ""]
    text = "\n".join(lines)
    if given.write:
        before, _, rest = README.read_text().partition(BEGIN)
        README.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}")
    print(text)  # noqa: T201 - this is a script


if __name__ == "__main__":
    main()
