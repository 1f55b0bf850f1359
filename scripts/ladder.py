"""Plays the ladder of the example bots: each bot against the one below it, in a league of two teams for each rung.

python scripts/ladder.py [--starts 8] [--game evasion] [--out FOLDER] [--write]

A rung for one seat gives both teams the same bot for the other seat. So a duel compares how soon two hunters catch the same prey from the
same start, or how long two preys stay free from the same hunter. The leagues have no time limits, so that a slow machine gives the same
results.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from table import head, line, publish

STARTS = 8


class Rung(NamedTuple):
    """Two bots of one seat, and the bot that fills the other seat in both teams. ``settings`` are lines of the league file."""

    game: str
    seat: str
    lower: str
    upper: str
    other_seat: str = ""
    other: str = ""
    settings: str = ""

    @property
    def name(self) -> str:
        """The league's name, which is also the name of its folder."""
        return f"{self.game}-{self.seat}-{self.lower}-{self.upper}"

    def league_file(self, starts: int) -> str:
        """The league of two teams as TOML."""
        lines = [f'name = "{self.name}"'[:48], f'game = "{self.game}"', "seed = 1", 'isolation = "none"']
        lines += ["[starts]", f"count = {starts}", "[time]", 'startup = "none"', 'move = "none"', 'bank = "none"']
        lines += ["[settings]", *self.settings.split("; ")]
        for team in (self.lower, self.upper):
            lines += ["[[teams]]", f'name = "{team}"', f'{self.seat} = "{team}"']
            lines += [f'{self.other_seat} = "{self.other}"'] if self.other else []
        return "\n".join(lines) + "\n"


#: From the bottom to the top.
RUNGS = (
    Rung("evasion", "hunter", "straight", "boxer", "prey", "evader", "max_steps = 3000"),
    Rung("evasion", "hunter", "boxer", "searcher", "prey", "evader", "max_steps = 3000; max_walls = 3"),
    Rung("evasion", "hunter", "searcher", "trapper", "prey", "shadow", "max_steps = 3000"),
    Rung("evasion", "prey", "runner", "evader", "hunter", "boxer", "max_steps = 3000; max_walls = 3"),
    Rung("evasion", "prey", "evader", "ghost", "hunter", "boxer", "max_steps = 1500"),
    Rung("evasion", "prey", "ghost", "shadow", "hunter", "searcher", "max_steps = 2000"),
    Rung("rectangle", "program", "idle", "random"),
    Rung("rectangle", "program", "random", "looper"),
    Rung("rectangle", "program", "looper", "planner"),
    Rung("maze", "thief", "random", "dasher", "policeman", "hard"),
    Rung("maze", "thief", "dasher", "expert", "policeman", "expert"),
    Rung("maze", "policeman", "easy", "hard", "thief", "random"),
    Rung("maze", "policeman", "hard", "expert", "thief", "dasher"),
)


class Result(NamedTuple):
    """The upper bot's duels of one rung."""

    won: int
    tied: int
    played: int

    @property
    def share(self) -> float:
        """The upper bot's part of the points; a tie is half a point."""
        return (self.won + self.tied / 2) / self.played


def climb(rung: Rung, starts: int, folder: Path) -> Result:
    """Play the league of a rung in a folder. Raises CalledProcessError if the command fails."""
    file, out = folder / f"{rung.name}.toml", folder / rung.name
    file.write_text(rung.league_file(starts))
    words = [sys.executable, "-m", "referee", "league", "run", str(file), "--out", str(out), "--json", "--quiet"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE)
    row = next(row for row in json.loads(done.stdout)["standings"] if row["team"] == rung.upper)
    return Result(row["won"], row["tied"], row["played"])


def row(rung: Rung, result: Result) -> str:
    """A line of the table."""
    against = f"{rung.other_seat} `{rung.other}`" if rung.other else ""
    against += f", {rung.settings.replace('max_steps = 3000; ', '')}" if ";" in rung.settings else ""
    score = f"{result.won} : {result.played - result.won - result.tied}" + (f", {result.tied} tied" if result.tied else "")
    return line(rung.game, rung.seat if rung.other else "player", rung.upper, rung.lower, against, score, f"{result.share:.0%}")


def main(arguments: list[str] | None = None) -> None:
    """Print the ladder, or write it into the README."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=STARTS, help="duels of each rung")
    parser.add_argument("--game", choices=sorted({rung.game for rung in RUNGS}), help="only the rungs of this game")
    parser.add_argument("--out", type=Path, help="a new folder for the leagues with their replays")
    parser.add_argument("--write", action="store_true", help="put the table into example_bots/README.md")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.out or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        lines = [row(rung, climb(rung, options.starts, folder)) for rung in RUNGS if options.game in (None, rung.game)]
    publish("ladder", [*head("game", "seat", "bot", "beats", "both play with", "won : lost", "points"), *lines], is_written=options.write)


if __name__ == "__main__":
    main()
