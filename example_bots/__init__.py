"""Example bots, weak to strong. Their names can stand for a player on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Example(NamedTuple):
    """One example bot: the name that stands for it, its game, the seats that it plays and what it does.

    No seats: it plays any. ``rules`` are the rule sets that it can play, none for all.
    """

    name: str
    game: str
    seats: tuple[str, ...]
    file: str
    idea: str
    rules: tuple[str, ...] = ()

    def plays(self, seat: str) -> bool:
        """Whether it can take a seat."""
        return not self.seats or seat in self.seats

    @property
    def path(self) -> Path:
        """Its program."""
        return Path(__file__).parent / self.game / self.file


#: Rule sets in which walls go through the hunter's cell.
_ANCHORED = ("classic", "diagonal")

BOTS = (
    Example("straight", "evasion", ("hunter",), "straight.py", "never builds a wall"),
    Example("random", "evasion", ("hunter", "prey"), "random_moves.py", "does anything, now and then"),
    Example("boxer", "evasion", ("hunter",), "boxer.py", "cuts the prey's region in two whenever it passes", _ANCHORED),
    Example("searcher", "evasion", ("hunter",), "searcher.py", "looks ahead for the wall that leaves the prey the least room", _ANCHORED),
    Example("surveyor", "evasion", ("hunter",), "surveyor.py", "measures the prey's safe cells, and ends what is won", _ANCHORED),
    Example("trapper", "evasion", ("hunter",), "trapper.py", "simulates its walls against an imagined prey", _ANCHORED),
    Example("still", "evasion", ("prey",), "still.py", "never moves"),
    Example("runner", "evasion", ("prey",), "runner.py", "runs straight away from the hunter"),
    Example("evader", "evasion", ("prey",), "evader.py", "keeps off the hunter's path and where there is room"),
    Example("ghost", "evasion", ("prey",), "ghost.py", "keeps to cells from which it could evade forever"),
    Example("shadow", "evasion", ("prey",), "shadow.py", "stays at the hunter's back"),
    Example("idle", "rectangle", (), "idle.py", "stays where it was put"),
    Example("random", "rectangle", (), "random_orders.py", "goes anywhere, but takes what it can win with its next step"),
    Example("blocker", "rectangle", (), "blocker.py", "draws small rings, and spoils what the leader has nearly finished"),
    Example("looper", "rectangle", (), "looper.py", "each robot draws rings of one size"),
    Example("planner", "rectangle", (), "planner.py", "all robots share the ring that wins the most cells a turn"),
    Example("random", "maze", ("thief", "policeman"), "random_steps.py", "goes anywhere"),
    Example("dasher", "maze", ("thief",), "dasher.py", "takes the shortest way to the exit, but not next to the policeman"),
    Example("patient", "maze", ("thief",), "patient.py", "keeps away until it is nearer to the exit than the policeman"),
    Example("easy", "maze", ("policeman",), "easy.py", "any square that it can go to"),
    Example("hard", "maze", ("policeman",), "hard.py", "nearer to the thief by the path, and not back if it can choose"),
    Example(
        "hard-manhattan",
        "maze",
        ("policeman",),
        "hard_manhattan.py",
        "nearer to the thief along rows and columns, walls left aside, and never back if it can choose",
    ),
    Example("expert", "maze", ("thief", "policeman"), "expert.py", "perfect play, from the solved game"),
    Example("team", "rectangle", (), "team.py", "all robots share one large ring"),
)


def middling(game: str, seat: str, rules: str) -> str | None:
    """Return the name of the example bot of middling strength for a seat under a rule set; None without one."""
    names = [bot.name for bot in BOTS if bot.game == game and bot.plays(seat) and (not bot.rules or rules in bot.rules)]
    return names[len(names) // 2] if names else None
