"""The optional capabilities of games. A game has None in place of a capability that it lacks, and callers test for None.

A rarely used capability is ``imported`` at its first use, because bots load the games, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Protocol

    from referee.games.outcome import G, G_contra, Json, M_contra, Outcome, S, S_contra, Seat, Settings


#: The names of all capabilities.
CAPABILITIES = (
    *("analysis", "appraisal", "adjudication", "pairing", "starts", "human_play", "text", "metrics"),
    *("dialects", "marking", "samples", "starters", "codes"),
)


class HumanPlay(NamedTuple):
    """How people play the game.

    ``pace`` is the default, in steps a second; None: the game waits for every move. ``is_paced``: steps may follow a pace; a person who
    has not moved in time then passes. The first ``set_up`` turns always wait for people. ``settings`` are the defaults of a match with people.
    """

    pace: float | None = None
    is_paced: bool = False
    set_up: int = 0
    settings: Mapping[str, Json] = {}


class SampleTest(NamedTuple):
    """A test in a new rubric of the game. ``need`` is the requirement in braces, ``about`` a sentence that says what it tests.

    ``seat`` and ``against`` are empty for a duel: its opponent is in ``need``. ``settings`` are those of this test.
    """

    about: str
    name: str
    need: str
    points: int
    seat: Seat = ""
    against: str = ""
    starts: int = 4
    hidden: int = 2
    settings: Mapping[str, Json] = {}


class Marking(NamedTuple):
    """The requirements of a rubric that make sense in the game. In a game without this capability all do.

    ``catchers`` are the seats that can win early, ``survivors`` those that want a match to last. ``scores_are_points``: more is better.
    ``step_limit`` returns the most steps of a match with some settings, None if there is no limit. ``settings`` and ``samples`` are those of
    a new rubric.
    """

    catchers: tuple[Seat, ...]
    survivors: tuple[Seat, ...]
    scores_are_points: bool
    step_limit: Callable[[Any], int | None]
    settings: Mapping[str, Json]
    samples: tuple[SampleTest, ...]


#: The kinds of positions in which ``referee check`` asks a bot: an empty board; a full one; the last step of a match; the longest state; the
#: edges of the board; nobody can move; the match is about to end; other settings.
EMPTY, FULL, LAST, LONG, EDGE = "empty", "full", "last", "long", "edge"
STUCK, DECISIVE, SETTINGS = "stuck", "decisive", "settings"


class Position(NamedTuple):
    """A position for ``referee check``, of one of the kinds above. ``about`` describes it in a few words.

    ``settings`` are those of its match, ``turn`` is the number of its question.
    """

    kind: str
    about: str
    settings: Settings
    state: Any
    turn: int


class Samples(NamedTuple):
    """Positions and moves with which ``referee check`` tests the bots of a game.

    ``positions`` returns positions in which a seat is asked, for the settings of a match. ``move`` returns a plain legal move as JSON.
    ``refusals`` are the codes of notices about moves that the rules forbid. Without samples, ``referee check`` takes positions of a match.
    """

    positions: Callable[[Any, Seat], Sequence[Position]]
    move: Callable[[Any, Seat], Json]
    refusals: frozenset[str]


class Appraised(NamedTuple):
    """A move beside a better one in the same step, by a measure of the game.

    ``better`` is that move, ``about`` describes it in words. ``now`` is the measure after the move that was played, ``instead`` after the
    better one; ``remark`` adds to the first what its number doesn't say, and may be empty.
    """

    better: Any
    about: str
    now: int
    instead: int
    remark: str = ""

    @property
    def cost(self) -> int:
        """What the move cost, in units of the measure."""
        return abs(self.now - self.instead)


class Starter(NamedTuple):
    """The starter of a seat. ``idea`` completes the sentence "A hunter that ...". ``opponent`` is the example bot of its first match.

    ``rules`` are the rule sets that it plays, also in its ``bot.toml``; empty: all.
    """

    idea: str
    opponent: str
    rules: tuple[str, ...] = ()


class Starters(NamedTuple):
    """The starters of a game, by seat. "any" stands for all seats: its templates are those of the seat "any", and ``role`` is the word for a player."""

    seats: Mapping[Seat, Starter]
    role: str = ""


if TYPE_CHECKING:

    class Analysis(Protocol[S_contra]):
        """Verdicts: the certain outcome of a position. All methods except ``invalidates_verdict`` are costly."""

        def invalidates_verdict(self, before: S_contra, after: S_contra) -> bool:
            """True if this step can change the verdict. Between such steps only the predicted end itself can."""

        def verdict(self, state: S_contra) -> Mapping[str, Json]:
            """The verdict of a position, with at least ``verdict``; empty if the game has ended for another reason."""

        def verdict_text(self, verdict: Mapping[str, Json]) -> str:
            """Return the verdict as a sentence."""

        def cause(self, before: S_contra, after: S_contra) -> str:
            """Return the reason why a step changed the verdict, in a word or two."""

        def overlay(self, state: S_contra) -> Mapping[str, Json]:
            """What a page may draw over a position on request."""

    class Appraisal(Protocol[S_contra, M_contra, G_contra]):
        """What the moves of a seat cost it, for ``referee analyze``."""

        @property
        def is_exact(self) -> bool:
            """True if the measure follows from the rules; otherwise it is an estimate."""

        def measure(self, seat: Seat, settings: G_contra) -> str:
            """Return what the measure counts: "cells left to the prey"."""

        def apart(self, seat: Seat, settings: G_contra, /) -> int:
            """Return the number of steps within which two moves count as one: the report has only the costlier one."""

        def appraiser(self, seat: Seat) -> Callable[[S_contra, Mapping[Seat, M_contra], S_contra], Appraised | None]:
            """Return a function that appraises the moves of a seat in one match, step by step: ``before``, the moves of all seats, ``after``.

            It returns None where no better move is known. It may remember what it has computed.
            """

    class Adjudication(Protocol[S, G_contra]):
        """Ends games early if their outcome is certain. Off unless the settings enable it."""

        def is_enabled(self, settings: G_contra) -> bool:
            """True if a game with these settings may be adjudicated."""

        def needs_adjudication(self, state: S) -> bool:
            """Return whether the referee should adjudicate this position now; fast."""

        def adjudicate(self, state: S) -> S:
            """Return the position after the adjudication: ended, or unchanged. Slow; the same result on every machine."""

    class Pairing(Protocol[G_contra]):
        """Pairs of games in which two teams swap the roles."""

        #: What a team does in the first seat, for reports: "hunts".
        verb: str
        #: True if both games of a pair begin in the same position, drawn once.
        shares_start: bool

        def winner(self, first: tuple[Outcome, int], second: tuple[Outcome, int]) -> str | None:
            """The winner of a pair of games, each with its steps: team "a" (in the first seat of the first game) or "b"; None: a tie."""

        def steps_needed(self, outcome: Outcome, steps: int, settings: G_contra) -> int:
            """The steps that the team in the first seat needed; the step limit if it did not reach its aim."""

    class Starts(Protocol[G]):
        """Fair starts of a game whose settings say where it starts."""

        def settings(self, rules: str | None, overrides: Mapping[str, Json], /) -> G:
            """The same as ``Codec.settings``, but the settings need not say where the game starts."""

        def draw(self, settings: G, secret: bytes) -> Mapping[str, Json]:
            """The settings of a start drawn with the secret; SettingsError if the other settings allow no fair start."""

    class TextView(Protocol[S_contra]):
        """Positions as plain text."""

        def status_fields(self, state: S_contra) -> Mapping[str, Json]:
            """A few numbers for a live line: step, distance and the like, in reading order."""

        def board_lines(self, state: S_contra, columns: int, rows: int) -> list[str]:
            """The board in at most that many columns and rows."""

    class Metrics(Protocol[S_contra]):
        """Numbers of a position that are costly to work out, for the viewer's charts."""

        def measure(self, before: S_contra | None, state: S_contra) -> Mapping[str, Json]:
            """Return the numbers of a position; empty if they are the same as those of ``before``."""
