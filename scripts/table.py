"""Plays the example bots against each other and prints the tables of example_bots/README.md.

python scripts/table.py [--max-steps 3000] [--seeds 3] [--write]
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from example_bots import BOTS, Example
from referee.tournament.summary import wilson
from sdk import HunterBot, PreyBot
from sdk.maze import PolicemanBot, ThiefBot
from sdk.rectangle import RectangleBot
from sdk.testing import play

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.games.outcome import Outcome
    from sdk import Bot

README = Path(__file__).parents[1] / "example_bots" / "README.md"
#: The rule sets whose walls these hunters build.
RULES = ("classic", "diagonal")


def line(*cells: object) -> str:
    """Return a line of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def head(*cells: object) -> list[str]:
    """Return the first two lines of a table."""
    return [line(*cells), "|---" * len(cells) + "|"]


def publish(mark: str, lines: Sequence[str], *, is_written: bool) -> None:
    """Print a table; if ``is_written``, put it between its marks in the README, too."""
    text = "\n".join(lines)
    if is_written:
        before, begin, rest = README.read_text().partition(f"<!-- {mark} -->")
        end = f"<!-- end of {mark} -->"
        README.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}")
    print(text)


def grid(title: str, rows: Sequence[Example], columns: Sequence[Example], cell: Callable[[Example, Example], str]) -> list[str]:
    """Return a table of bots against bots."""
    return [*head(title, *(bot.name for bot in columns)), *(line(row.name, *(cell(row, other) for other in columns)) for row in rows)]


def bots(game: str, seat: str) -> list[Example]:
    """Return the examples that can take a seat."""
    return [bot for bot in BOTS if bot.game == game and bot.plays(seat)]


def bot_class(example: Example) -> type[Bot]:
    """Return the bot class in an example's file."""
    module = importlib.import_module(f"example_bots.{example.game}.{example.path.stem}")
    bases = (HunterBot, PreyBot, RectangleBot, ThiefBot, PolicemanBot)
    found: type[Bot] = next(
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, bases) and value.__module__ == module.__name__
    )
    return found


def played(*lineup: Example, **options: Any) -> Outcome:
    """Return the outcome of a match of these examples."""
    return play(*map(bot_class, lineup), game=lineup[0].game, **options).outcome


def table(rules: str, seeds: range, max_steps: int) -> list[str]:
    """The hunters' median scores in one rule set, with the number of captures where not every match had one."""

    def score(hunter: Example, prey: Example) -> str:
        some = seeds if "random" in (hunter.name, prey.name) else seeds[:1]
        steps = [played(hunter, prey, rules=rules, seed=seed, max_steps=max_steps).scores["hunter"] for seed in some]
        caught = [count for count in steps if count is not None]
        if not caught:
            return "-"
        return f"{statistics.median_low(caught):,}" + (f" ({len(caught)} of {len(steps)})" if len(caught) < len(steps) else "")

    return grid(f"`{rules}`", bots("evasion", "hunter"), bots("evasion", "prey"), score)


def rectangle_pairs(seeds: range, cap: int) -> list[str]:
    """Every pair of Rectangle's examples on the small board, each on both sides: cells for the row, against cells for the column."""

    def cells(row: Example, column: Example) -> str:
        if row is column:
            return ""
        ours, theirs = [], []
        for seed in seeds:
            # The first and the second seat in turn.
            lineup, (own, other) = ((row, column), "ab") if seed % 2 == 0 else ((column, row), "ba")
            scores = played(*lineup, seed=seed, cap=cap).scores
            ours.append(scores[own] or 0)
            theirs.append(scores[other] or 0)
        return f"{statistics.mean(ours):.0f} : {statistics.mean(theirs):.0f}"

    return grid("`small`", bots("rectangle", "a"), bots("rectangle", "a"), cells)


def rectangle_final(seeds: range, cap: int) -> list[str]:
    """Four examples that move, on the middle board, each in every seat in turn."""
    four = [bot for bot in bots("rectangle", "a") if bot.name not in ("idle", "planner")]
    cells: dict[str, list[float]] = {bot.name: [] for bot in four}
    ranks: dict[str, list[int]] = {bot.name: [] for bot in four}
    for seed in seeds:
        lineup = [*four[seed % 4 :], *four[: seed % 4]]
        outcome = played(*lineup, rules="middle", seed=seed, cap=cap)
        for seat, bot in zip("abcd", lineup, strict=True):
            cells[bot.name].append(outcome.scores[seat] or 0)
            ranks[bot.name].append((outcome.ranks or {})[seat])
    rows = {name: (statistics.mean(cells[name]), statistics.mean(ranks[name])) for name in cells}
    order = sorted(rows, key=lambda name: rows[name][1])
    title = head("`middle`, four players", "cells", "mean rank")
    return [*title, *(line(name, f"{rows[name][0]:.0f}", f"{rows[name][1]:.1f}") for name in order)]


def maze_table(starts: int) -> list[str]:
    """Every thief of Maze against every policeman, from starts drawn as between bots: the thief's points a game, in percent.

    With it Wilson's 95 % confidence interval, as for points of 0 and 1, which is no narrower than with draws.
    """

    def points(thief: Example, policeman: Example) -> str:
        mean = statistics.mean(float(played(thief, policeman, seed=seed).scores["thief"] or 0) for seed in range(starts))
        low, high = wilson(mean * starts, starts)
        return f"{100 * mean:.1f} ({100 * low:.1f}-{100 * high:.1f})"

    return grid(f"{starts} starts", bots("maze", "thief"), bots("maze", "policeman"), points)


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, or write them into the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-steps", type=int, default=10_000)
    parser.add_argument("--cap", type=int, default=600, help="the most turns of Rectangle")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=500, help="games of each pair in Maze")
    parser.add_argument("--game", choices=["all", "evasion", "rectangle", "maze"], default="all")
    parser.add_argument("--write", action="store_true", help="put the tables into example_bots/README.md")
    options = parser.parse_args(arguments)
    seeds = range(options.seeds)
    tables: dict[str, Callable[[], list[str]]] = {
        "evasion": lambda: [*table(RULES[0], seeds, options.max_steps), "", *table(RULES[1], seeds, options.max_steps)],
        "rectangle": lambda: [*rectangle_pairs(seeds, options.cap), "", *rectangle_final(seeds, options.cap)],
        "maze": lambda: maze_table(options.starts),
    }
    for game, lines in tables.items():
        if options.game in ("all", game):
            publish(f"table of {game}", lines(), is_written=options.write)


if __name__ == "__main__":
    main()
