"""Plays the example bots against each other and prints the tables of example_bots/README.md.

python scripts/table.py [--max-steps 3000] [--seeds 3] [--write]
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
from sdk.maze import PolicemanBot, ThiefBot
from sdk.rectangle import RectangleBot
from sdk.testing import play

if TYPE_CHECKING:
    from sdk import Bot

README = Path(__file__).parents[1] / "example_bots" / "README.md"
#: The rule sets whose walls these hunters build.
RULES = ("classic", "diagonal")
BEGIN, END = "<!-- table of %s -->", "<!-- end of table of %s -->"


def bot_class(example: Example) -> type[Bot]:
    """The bot class in an example's file."""
    name = f"example_{example.game}_{example.path.stem}"
    spec = importlib.util.spec_from_file_location(name, example.path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    found: type[Bot] = next(
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, (HunterBot, PreyBot, RectangleBot, ThiefBot, PolicemanBot))
        and value.__module__ == name
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


def rectangle_pairs(seeds: range, cap: int) -> list[str]:
    """Every pair of Rectangle's examples on the small board, each on both sides: cells for the row, against cells for the column."""
    bots = [bot for bot in BOTS if bot.game == "rectangle"]
    lines = [f"| `small` | {' | '.join(bot.name for bot in bots)} |", "|---" * (len(bots) + 1) + "|"]
    for one in bots:
        cells = []
        for other in bots:
            if one is other:
                cells.append("")
                continue
            ours, theirs = [], []
            for seed in seeds:
                # The first and the second seat in turn.
                lineup = (one, other) if seed % 2 == 0 else (other, one)
                scores = play(*map(bot_class, lineup), game="rectangle", seed=seed, cap=cap).outcome.scores
                ours.append(scores["ab"[seed % 2]] or 0)
                theirs.append(scores["ba"[seed % 2]] or 0)
            cells.append(f"{statistics.mean(ours):.0f} : {statistics.mean(theirs):.0f}")
        lines.append(f"| {one.name} | {' | '.join(cells)} |")
    return lines


def rectangle_final(seeds: range, cap: int) -> list[str]:
    """Four examples that move, on the middle board, each in every seat in turn."""
    bots = [bot for bot in BOTS if bot.game == "rectangle" and bot.name not in ("idle", "planner")]
    cells: dict[str, list[float]] = {bot.name: [] for bot in bots}
    ranks: dict[str, list[int]] = {bot.name: [] for bot in bots}
    for seed in seeds:
        lineup = [*bots[seed % 4 :], *bots[: seed % 4]]
        outcome = play(*map(bot_class, lineup), game="rectangle", rules="middle", seed=seed, cap=cap).outcome
        for seat, bot in zip("abcd", lineup, strict=True):
            cells[bot.name].append(outcome.scores[seat] or 0)
            ranks[bot.name].append((outcome.ranks or {})[seat])
    order = sorted(cells, key=lambda name: statistics.mean(ranks[name]))
    lines = ["| `middle`, four players | cells | mean rank |", "|---|---|---|"]
    return [*lines, *(f"| {name} | {statistics.mean(cells[name]):.0f} | {statistics.mean(ranks[name]):.1f} |" for name in order)]


def maze_table(starts: int) -> list[str]:
    """Every thief of Maze against every policeman, from starts drawn as between bots: the thief's points a game, in percent.

    With it Wilson's 95 % confidence interval, as for points of 0 and 1, which is no narrower than with draws.
    """
    thieves = [bot for bot in BOTS if bot.game == "maze" and "thief" in bot.seats]
    policemen = [bot for bot in BOTS if bot.game == "maze" and "policeman" in bot.seats]
    lines = [f"| {starts} starts | {' | '.join(bot.name for bot in policemen)} |", "|---" * (len(policemen) + 1) + "|"]
    for thief in thieves:
        cells = []
        for policeman in policemen:
            bots = bot_class(thief), bot_class(policeman)
            points = [float(play(*bots, game="maze", seed=seed).outcome.scores["thief"] or 0) for seed in range(starts)]
            low, high = _interval(statistics.mean(points), starts)
            cells.append(f"{100 * statistics.mean(points):.1f} ({100 * low:.1f}-{100 * high:.1f})")
        lines.append(f"| {thief.name} | {' | '.join(cells)} |")
    return lines


def _interval(mean: float, count: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval of a mean of points from 0 to 1."""
    middle = (mean + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * (mean * (1 - mean) / count + z * z / (4 * count * count)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, or write them into the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-steps", type=int, default=10_000)
    parser.add_argument("--cap", type=int, default=600, help="the most turns of Rectangle")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=500, help="games of each pair in Maze")
    parser.add_argument("--game", choices=["all", "evasion", "rectangle", "maze"], default="all")
    parser.add_argument("--write", action="store_true", help="put the tables into example_bots/README.md")
    given = parser.parse_args(arguments)
    lines: list[str] = []
    seeds = range(given.seeds)
    if given.game in ("all", "evasion"):
        for rules in RULES:
            lines += [*table(rules, seeds, given.max_steps), ""]
        _show("evasion", lines, is_written=given.write)
    if given.game in ("all", "rectangle"):
        lines = [*rectangle_pairs(seeds, given.cap), "", *rectangle_final(seeds, given.cap), ""]
        _show("rectangle", lines, is_written=given.write)
    if given.game in ("all", "maze"):
        _show("maze", [*maze_table(given.starts), ""], is_written=given.write)


def _show(game: str, lines: list[str], *, is_written: bool) -> None:
    text = "\n".join(lines)
    if is_written:
        before, _, rest = README.read_text().partition(BEGIN % game)
        README.write_text(f"{before}{BEGIN % game}\n\n{text}\n{END % game}{rest.partition(END % game)[2]}")
    print(text)


if __name__ == "__main__":
    main()
