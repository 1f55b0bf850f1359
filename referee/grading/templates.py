"""The text of a new rubric, with comments: what ``referee grade init`` writes. The tests come from the game's own folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from referee import games
from referee.errors import UsageError
from referee.games.capabilities import SampleTest
from referee.games.game import SettingsError
from referee.match.options import TimeControl
from referee.support.plain_text import toml_value
from referee.tournament.commitment import new_secret

if TYPE_CHECKING:
    from referee.games.game import AnyGame, GameInfo

#: The opponent in a new rubric of a game that proposes no tests.
OPPONENT = "opponent.py"
_COLUMN = 32

_HEAD = """\
# A rubric: what the referee plays with every hand-in, and how many points that earns. docs/rubric.md describes every key.
# Try it with all example bots before you publish the assignment:   referee grade check-rubric {file}

name = "{title}, homework 1"
game = "{game}"
{rules}

# All starts are drawn from the seed. Keep it secret until the deadline. When the rubric is ready, referee grade check-rubric prints a hash,
# the commitment: publish it with the assignment. It covers everything that decides a start.
# After the deadline, publish private/commitment.toml of the marks, and everybody can check that nothing was changed.
seed = "{seed}"

# Programs that nobody has read need the sandbox "strict". With the fair clock, no bot is late because the machine is busy.
isolation = "strict"

[settings]                       # settings of the game, as in docs/games.md; a test can have its own: settings = {{ ... }}
{settings}
[time]                           # limits of a bot in seconds, or "none"
startup = {time.startup}
move = {time.move}
bank = {time.bank}

# Each [[tests]] is played on its own starts, and each start earns an equal share of the points. The last "hidden" starts are
# hidden: a student learns the sum of the points on them, and nothing else.
#
# A test asks for one or more of these needs; a fault of the hand-in fails them all:
{needs}"""

_NEEDS = (
    ("wins = true", "it wins"),
    ("finishes = true", "it plays without a fault"),
    ("catch_within = 900", "it wins in at most this number of steps"),
    ("survive = 1000", "the match lasts at least this number of steps, or it wins"),
    ("score_at_least = 1", "its score is at least this"),
    ("mean_seconds_below = 0.05", "the mean time of its answers, in seconds"),
    ('beats = "PLAYER"', "a duel against PLAYER in all roles, instead of seat and against"),
)

_TEST = """
[[tests]]
# {test.about}
name = "{test.name}"
{who}starts = {test.starts}
hidden = {test.hidden}
points = {test.points}
need = {{ {test.need} }}
{settings}"""


def text(name: str, file: str = "rubric.toml") -> str:
    """Return a new rubric of a game, with a new secret seed. ``file`` is the name that its comments mention.

    SettingsError for an unknown game. A game that proposes no tests gets general ones, against a program that the instructor has to write.
    """
    game = games.get(name)
    marking = game.marking
    seed = new_secret()
    samples = _general(game) if marking is None else marking.samples
    head = _HEAD.format(
        file=file,
        title=name.capitalize(),
        game=name,
        rules=_rules(game.info),
        seed=seed,
        settings="".join(f"{key} = {toml_value(value)}\n" for key, value in ({} if marking is None else marking.settings).items()),
        time=TimeControl(),
        needs="".join(f"#   need = {{ {need} }}".ljust(44) + f"{meaning}\n" for need, meaning in _fitting(game)),
    )
    return head + "".join(
        _TEST.format(test=test, who=_who(test, is_first=number == 0), settings=_settings(test)) for number, test in enumerate(samples)
    )


def _rules(info: GameInfo) -> str:
    first, *others = info.rule_sets
    line = f'rules = "{first}"'
    return _noted(line, f"or {', '.join(others)}") if others else line


def _noted(line: str, note: str) -> str:
    """Return a line with a comment, which begins in the same column everywhere."""
    return f"{line:<{_COLUMN}} # {note}"


def _fitting(game: AnyGame) -> list[tuple[str, str]]:
    """Return the needs that a rubric can have in the game."""
    marking = game.marking
    left_out = set()
    if marking is not None:
        fits = {"catch_within": marking.catchers, "survive": marking.survivors, "score_at_least": marking.scores_are_points}
        left_out = {kind for kind, fit in fits.items() if not fit}
    return [(need, meaning) for need, meaning in _NEEDS if need.partition(" ")[0] not in left_out]


def _who(test: SampleTest, *, is_first: bool) -> str:
    if not test.seat:
        return ""
    against = f'against = "{test.against}"'
    hint = _noted(against, "an example bot, or a program, a folder or a command line") if is_first else against
    return f'seat = "{test.seat}"\n{hint}\n'


def _settings(test: SampleTest) -> str:
    pairs = ", ".join(f"{key} = {toml_value(value)}" for key, value in test.settings.items())
    return f"settings = {{ {pairs} }}\n" if pairs else ""


def _general(game: AnyGame) -> tuple[SampleTest, ...]:
    """Return tests that every game can have."""
    try:
        seat = game.seats(game.codec.settings(None, {}))[0]
    except SettingsError:
        # Its settings have no defaults; the author of the rubric names the seat.
        seat = "?"
    return (
        SampleTest("Any bot that doesn't fail passes this test.", "plays without a fault", "finishes = true", 10, seat, OPPONENT, 2, 0),
        SampleTest("The hand-in has to win.", "wins", "wins = true", 20, seat, OPPONENT, 6, 3),
    )


def write_all(game: str | None = None) -> list[Path]:
    """Write a rubric for one game, by default for each one, into the current folder, and return their paths.

    UsageError if a file exists already.
    """
    paths = {name: Path(f"rubric-{name}.toml") for name in (games.names() if game is None else [games.get(game).info.name])}
    for path in paths.values():
        if path.exists():
            raise UsageError(f"{path} exists already, and its seed may be in use. Move it away first.")
    for name, path in paths.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(text(name, path.name))
    return list(paths.values())
