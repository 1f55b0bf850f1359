"""The interface of a game: the functions that the match loop calls, and data to show, analyze and export matches.

A game is a set of pure functions over frozen states: no input or output, no clock, no hidden randomness. The loop asks ``movers``
which seats owe a move, sends each its view, parses the answers with the codec, and applies the moves with ``step``. The optional
capabilities are in ``referee.games.capabilities``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.games.outcome import IllegalMove, MalformedMove, Notice, Outcome, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol, TypeAlias

    from referee.games import capabilities
    from referee.games.dialect import Dialect
    from referee.games.outcome import G, M, S, S_contra
    from referee.games.outcome import Json as Json  # noqa: PLC0414 - mypy takes it for exported
    from referee.games.outcome import Seat as Seat  # noqa: PLC0414 - the same
    from referee.games.outcome import Settings as Settings  # noqa: PLC0414 - mypy takes it for exported


__all__ = ["GameInfo", "IllegalMove", "MalformedMove", "Notice", "Option", "Outcome", "SettingsError"]


class Option(NamedTuple):
    """One setting of a game: the source of its flag, its key in match files, its row in ``referee games`` and in the docs.

    ``kind`` is "integer" (``least`` to ``most``), "boolean", "choice" (one of ``choices``), "integers" (as many as ``parts`` names) or
    "lines" (of text). ``default`` is the value in the game's first rule set; ``default_text`` describes a default that depends on
    other settings. ``unit`` is what a number counts, ``short`` a flag of one letter, ``rules`` the rule sets that have the option; empty: all.
    """

    name: str
    meaning: str
    kind: str = "integer"
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    default: Json = None
    default_text: str = ""
    unit: str = ""
    short: str = ""
    rules: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The values that are allowed, in words."""
        if self.kind == "integer":
            return f"{self.least:,} to {self.most:,}"
        if self.kind == "integers":
            return ",".join(self.parts)
        return {"boolean": "true or false", "choice": " or ".join(self.choices), "lines": "lines of text"}[self.kind]

    @property
    def shown_default(self) -> str:
        """The default for people."""
        if isinstance(self.default, (list, tuple)):
            return ",".join(map(str, self.default))
        return self.default_text or (str(self.default).lower() if isinstance(self.default, bool) else str(self.default))

    def to_json(self) -> dict[str, Json]:
        """The option as ``referee games --json`` prints it; what doesn't apply is left out."""
        record: dict[str, Json] = {"name": self.name, "kind": self.kind, "meaning": self.meaning}
        if self.kind == "integer":
            record |= {"least": self.least, "most": self.most}
        for key in ("default_text", "choices", "parts", "rules", "unit"):
            if value := getattr(self, key):
                record[key] = list(value) if isinstance(value, tuple) else value
        return record


class GameInfo(NamedTuple):
    """The name, rule sets and settings of a game. ``version`` rises with each change that alters recorded games.

    ``rule_sets`` begins with the default one. ``players_option`` names the setting that counts the players, where there can be any
    number of them; ``size_options`` those that ``--size`` sets: width and height, or one number for a square board.
    """

    name: str
    version: int
    rule_sets: tuple[str, ...]
    options: tuple[Option, ...]
    players_option: str = ""
    size_options: tuple[str, ...] = ()


if TYPE_CHECKING:

    class Codec(Protocol[S_contra, M, G]):
        """JSON forms of a game's settings, states and moves.

        A codec may have the attribute ``parse_ignores_state``, true if ``parse`` reads the same answer of a seat in the same way in all
        positions of a match: then the check of a replay reads each different text once.
        """

        def settings(self, rules: str | None, overrides: Mapping[str, Json], /) -> G:
            """Checked settings of a rule set (None: the first); SettingsError names the setting and what is allowed."""

        def settings_json(self, settings: G) -> dict[str, Json]:
            """The settings as the ``start`` message and the replay show them, without the rule set's name."""

        def view_text(self, state: S_contra, seat: Seat | None) -> str:
            """What a seat may see, as the compact JSON text of an object; None is a spectator."""

        def parse(self, state: S_contra, seat: Seat, answer: Json) -> M:
            """An answer as a move, which is never None; MalformedMove for a wrong shape, IllegalMove for what the rules forbid."""

        def unknown_keys(self, state: S_contra, seat: Seat, answer: Json) -> Sequence[str]:
            """Keys of a well-formed answer that have no meaning in this game, in any state."""

        def move_json(self, move: M) -> Json:
            """A move in the form of a replay; ``parse`` reads it again."""

        def changes_text(self, before: S_contra, after: S_contra) -> str:
            """What one step changed, as compact JSON text for the replay."""

    class Game(Protocol[S, M, G]):
        """A game. ``S`` is its frozen state, ``M`` its move, ``G`` its settings. A capability that it lacks is None."""

        @property
        def info(self) -> GameInfo:
            """The name, rule sets and settings."""

        @property
        def codec(self) -> Codec[S, M, G]:
            """Its JSON forms."""

        @property
        def analysis(self) -> capabilities.Analysis[S] | None:
            """Verdicts on positions."""

        @property
        def appraisal(self) -> capabilities.Appraisal[S, M, G] | None:
            """The cost of moves."""

        @property
        def adjudication(self) -> capabilities.Adjudication[S, G] | None:
            """Early ends of games with a certain outcome."""

        @property
        def pairing(self) -> capabilities.Pairing[G] | None:
            """Pairs of games with swapped roles."""

        @property
        def starts(self) -> capabilities.Starts[G] | None:
            """Drawn starts; None: the game has one start, or draws it from the match's secret."""

        @property
        def human_play(self) -> capabilities.HumanPlay | None:
            """Options for people who play the game; None: only programs can play it."""

        @property
        def text(self) -> capabilities.TextView[S] | None:
            """Positions as text."""

        @property
        def metrics(self) -> capabilities.Metrics[S] | None:
            """Costly numbers for charts."""

        @property
        def dialects(self) -> Mapping[str, Dialect] | None:
            """Older text protocols, by name."""

        @property
        def marking(self) -> capabilities.Marking | None:
            """Requirements of rubrics."""

        @property
        def samples(self) -> capabilities.Samples | None:
            """Positions for ``referee check``."""

        @property
        def starters(self) -> capabilities.Starters | None:
            """Bots that ``referee new`` writes; their templates are in the folder ``starters`` beside the game's module."""

        @property
        def codes(self) -> str | None:
            """Explanations of the codes of a game of another package, as the Markdown text that ``referee explain`` reads (``referee.codes.read``)."""

        def seats(self, settings: G) -> tuple[Seat, ...]:
            """The roles, in the order in which players are named on a command line."""

        def start(self, settings: G, secret: bytes) -> S:
            """The first state; ``secret`` feeds the game's own randomness."""

        def movers(self, state: S) -> tuple[Seat, ...]:
            """The seats that owe a move now, in seat order; one means taking turns, several move at once.

            If there are none and the game isn't over, the step follows without a question.
            """

        def step(self, state: S, moves: Mapping[Seat, M]) -> tuple[S, tuple[Notice, ...]]:
            """The next state and what happened; never raises for a parsed move."""

        def fault(self, state: S, faults: Mapping[Seat, str]) -> S:
            """The state after players failed in one step; values are fault kinds such as ``late``."""

        def outcome(self, state: S) -> Outcome | None:
            """How the game ended, None while it goes on."""

    #: A game with any types of states and moves.
    AnyGame: TypeAlias = Game[object, object, Settings]
