"""How the contract suite plays games. All imports of the product stand here, so that a moved module needs one edit.

``CASES`` comes from the registry: a new game is covered as soon as ``samples.py`` can draw its settings and its answers.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from recorded_games import read_closely, steps_of
from sandboxes import Options, match_between

from contract.samples import SAMPLES
from referee import games
from referee.games.game import IllegalMove, MalformedMove, SettingsError
from referee.match.options import RunOptions, TimeControl
from referee.players.player import Function
from referee.replay.events import StepTaken
from referee.replay.faults import KINDS
from referee.replay.reader import VerifiedReplay, verify
from referee.replay.writer import ReplayWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from referee.replay.events import MatchResult

    Json = Any
    Seat = str

#: What ``parse`` may raise.
REFUSALS = (MalformedMove, IllegalMove)
#: The longest sentence that a player is told: a hostile answer must not come back in full.
LONGEST_TEXT = 400
#: No game of the samples takes more steps.
MOST_STEPS = 2_000

_NO_LIMITS = TimeControl(startup=None, move=None, bank=None)


class Case(NamedTuple):
    """One rule set of one registered game."""

    game: Any
    rules: str

    @property
    def name(self) -> str:
        """Its name in the output of pytest."""
        return f"{self.game.info.name}-{self.rules}"

    def setup(self, draw: random.Random) -> Setup:
        """A short game with random settings."""
        while True:
            try:
                return Setup(self.game, self.game.codec.settings(self.rules, SAMPLES[self.game.info.name].settings(draw, self.rules)))
            except SettingsError:
                continue


class Setup:
    """A game with its settings, and random play in it."""

    def __init__(self, game: Any, settings: Any) -> None:
        self.game = game
        self.settings = settings
        self.seats: tuple[Seat, ...] = game.seats(settings)
        self._as_told = game.codec.settings_json(settings)

    def start(self, draw: random.Random) -> Any:
        """The first state, with random chance."""
        return self.game.start(self.settings, draw.randbytes(16))

    def copy(self, state: Any) -> Any:
        """A copy of a state down to its last part, except for the settings: to copy a large maze takes long."""
        return copy.deepcopy(state, {id(self.settings): self.settings})

    def answer(self, draw: random.Random, state: Any, seat: Seat) -> Json:
        """A random answer that the game can read; it may break the rules."""
        told = {"rules": self.settings.rules, **self._as_told}
        return SAMPLES[self.game.info.name].answer(draw, told, seat, json.loads(self.game.codec.view_text(state, seat)))

    def move(self, draw: random.Random, state: Any, seat: Seat) -> Any:
        """A random move."""
        while True:
            try:
                return self.game.codec.parse(state, seat, self.answer(draw, state, seat))
            except IllegalMove:
                continue

    def moves(self, draw: random.Random, state: Any) -> dict[Seat, Any]:
        """Random moves of all movers."""
        return {seat: self.move(draw, state, seat) for seat in self.game.movers(state)}

    def is_over(self, state: Any) -> bool:
        """Whether the game is over, as the match loop sees it."""
        return not self.game.movers(state) and self.game.outcome(state) is not None

    def play(self, draw: random.Random, state: Any) -> Iterator[Taken]:
        """Each step of a random game from a state to its end."""
        for _ in range(MOST_STEPS):
            if self.is_over(state):
                return
            moves = self.moves(draw, state)
            before, (state, notices) = state, self.game.step(state, moves)
            yield Taken(before, moves, state, notices)
        raise AssertionError(f"a random game of {self.game.info.name} does not end within {MOST_STEPS} steps")

    def positions(self, draw: random.Random) -> list[Any]:
        """All states of a random game, from the first to the last."""
        start = self.start(draw)
        return [start, *(step.after for step in self.play(draw, start))]


class Taken(NamedTuple):
    """One step of a random game."""

    before: Any
    moves: dict[Seat, Any]
    after: Any
    notices: tuple[Any, ...]


CASES = [Case(games.get(name), rules) for name in games.names() for rules in games.get(name).info.rule_sets]
GAMES = [games.get(name) for name in games.names()]
every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
every_game = pytest.mark.parametrize("game", GAMES, ids=[game.info.name for game in GAMES])

seeds = st.integers(0, 2**32 - 1)


def examples(count: int) -> hypothesis_settings:
    """Settings of hypothesis: so many examples, the same ones in every run."""
    return hypothesis_settings(max_examples=count, deadline=None, derandomize=True, database=None)


def exact(value: Json) -> str:
    """A value as compact JSON text, in which 1, 1.0 and true differ, and the order of keys counts."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def check_survives(value: Json) -> None:
    """Fail for a value that is not the same after a way through JSON: tuples become lists there, numbers as keys become texts."""
    again = json.loads(exact(value))
    assert again == value
    assert exact(again) == exact(value)


def check_outcome(setup: Setup, state: Any) -> None:
    """Fail unless the outcome of a state has the right form and is the same when asked again."""
    outcome = setup.game.outcome(state)
    again = setup.game.outcome(setup.copy(state))
    assert outcome == again
    if outcome is None:
        return
    assert setup.game.movers(state) == ()
    assert outcome.winner is None or outcome.winner in setup.seats
    assert outcome.scores.keys() <= set(setup.seats)
    assert outcome.ranks is None or outcome.ranks.keys() == set(setup.seats)
    for text in (outcome.reason, outcome.text, outcome.unit):
        assert text
        assert text.isprintable()
    check_survives(outcome.to_json())
    assert exact(again.to_json()) == exact(outcome.to_json())


def check_notices(setup: Setup, notices: tuple[Any, ...]) -> None:
    """Fail unless notices have the right form."""
    for notice in notices:
        assert notice.code
        assert 0 < len(notice.text) <= LONGEST_TEXT
        assert notice.text.isprintable()
        assert notice.seat is None or notice.seat in setup.seats
        check_survives(notice.to_json())


# Hostile answers.

#: The greatest numbers that the wire lets through, and others that are one too large for something.
HUGE = [2**31, -(2**63), 2**64, 10**19, int("9" * 4_300), -int("9" * 4_299)]

_numbers = st.integers(-3, 70) | st.sampled_from(HUGE) | st.integers()
_texts = st.sampled_from(["", "N", "U", "vertical", "diagonal", "NE", "\u2028\u202e", "\x00", "a" * 41, "a" * 5_000]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=12
)
_scalars = st.none() | st.booleans() | _numbers | st.floats(allow_nan=False, allow_infinity=False) | _texts


def _containers(parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.lists(parts, max_size=4) | st.dictionaries(_texts, parts, max_size=3)


json_values: st.SearchStrategy[Json] = st.recursive(_scalars, _containers, max_leaves=8) | st.sampled_from(
    [[0] * 1_001, [[0, 0]] * 1_001, ["N"] * 1_001, "N" * 1_001, {"": {}}]
)


def spoiled(draw: random.Random, answer: Json, junk: Json) -> Json:
    """An answer with one of its parts, or the whole of it, replaced by junk."""
    if not isinstance(answer, (dict, list)) or not answer or draw.random() < 0.1:
        return junk
    found = copy.deepcopy(answer)
    key = draw.choice(list(found)) if isinstance(found, dict) else draw.randrange(len(found))
    found[key] = spoiled(draw, found[key], junk)
    return found


def junk_value(draw: random.Random) -> Json:
    """A random JSON value that fits nowhere; for matches, in which a seed stands for everything."""
    plain: list[Json] = [
        None,
        True,
        -1,
        0.5,
        "",
        "x" * 5_000,
        "\u202e<b>",
        [],
        {},
        [[[]]],
        {"kind": {}},
        [None, None],
        {"go": {"go": []}},
        *HUGE,
    ]
    return draw.choice(plain)


# Matches.


class Player:
    """A bot that answers at random, from a seed. ``hostility`` is the share of its answers that break something."""

    def __init__(self, seed: str, hostility: float = 0.0) -> None:
        self.draw = random.Random(seed)
        self.hostility = hostility
        self.start: dict[str, Json] = {}

    def converse(self, line: bytes) -> bytes | None:
        """The answer to a line of the referee."""
        message = json.loads(line)
        if message["type"] == "start":
            self.start = message
            return b'{"type":"ready","protocol":1}'
        if message["type"] == "end":
            return None
        draw, start = self.draw, self.start
        is_hostile = draw.random() < self.hostility
        if is_hostile and draw.random() < 0.3:
            return self.break_something(line)
        told = {"rules": start["rules"], **start["settings"]}
        move = SAMPLES[start["game"]].answer(draw, told, start["seat"], message["state"])
        if is_hostile:
            move = spoiled(draw, move, junk_value(draw))
        answer: dict[str, Json] = {"type": "move", "turn": message["turn"], "move": move}
        if draw.random() < 0.1:
            answer["say"] = chr(draw.choice([65, 0x202E, 0x2028, 0, 0x1F600])) * draw.randrange(3)
        if draw.random() < 0.1:
            answer["draw"] = [{"shape": "cells", "cells": [[draw.randrange(9), 0]], "color": "red"}]
        if draw.random() < 0.05:
            answer["move"] = {**move, "nonsense": 1} if isinstance(move, dict) else move
        return json.dumps(answer).encode()

    def break_something(self, line: bytes) -> bytes | None:
        """No message at all, or one that the protocol forbids."""
        if self.draw.random() < 0.2:
            raise RuntimeError("this bot has a bug")
        broken = [None, b"", b"move", b"\xff\xfe", b"[]", b"{}", b'{"type":"move","turn":NaN,"move":{}}', line, b"[" * 500]
        broken += [b'{"type":"move","turn":-1,"move":{}}', b'{"type":"move","turn":0,"turn":0,"move":{}}']
        return self.draw.choice(broken)


class Failing(Player):
    """A bot that fails in a turn (-1: in its greeting) and in all later ones. ``kind`` is the fault: crashed or malformed."""

    def __init__(self, seed: str, turn: int, kind: str) -> None:
        super().__init__(seed)
        self.turn = turn
        self.kind = kind

    def converse(self, line: bytes) -> bytes | None:
        message = json.loads(line)
        if message["type"] != "end" and message.get("turn", -1) >= self.turn:
            if self.kind == "crashed":
                raise RuntimeError("this bot has a bug")
            return b"this is no answer"
        return super().converse(line)


def match_of(
    setup: Setup, players: Mapping[Seat, Player], path: Path, *, seed: int = 1, on_malformed: Literal["forfeit", "pass"] = "forfeit"
) -> MatchResult:
    """Play a match in this process and write its replay."""
    lineup = {seat: Function(seat, player.converse, about={"program": seat}) for seat, player in players.items()}
    options = Options(_NO_LIMITS, RunOptions(on_malformed=on_malformed))
    return match_between(setup.game, setup.settings, lineup, options, seed=seed, listeners=[ReplayWriter(path)]).run()


def check_replay(path: Path, result: MatchResult) -> VerifiedReplay:
    """Fail unless a replay verifies, by the quick way and by the close one, and ends where its match has ended."""
    for found in (verify(path), read_closely(path)):
        assert found.problem is None, found.problem
        assert found.result is not None
        assert found.turns == found.result["steps"] == result.steps
        assert found.final == result.state
        assert exact({key: found.result[key] for key in result.outcome.to_json()}) == exact(result.outcome.to_json())
        assert {seat for record in found.faults for seat in record["faults"]} == set(result.faults)
    assert len(steps_of(path)) == result.steps
    return found


def timeless(path: Path) -> list[dict[str, Json]]:
    """The records of a replay without what differs from run to run: the times, and the digest that covers them."""
    records = [json.loads(line) for line in gzip.open(path).read().splitlines()]
    return [{key: value for key, value in record.items() if key not in ("us", "cpu_us", "wall_us", "time", "sha256")} for record in records]


__all__ = ["KINDS", "SettingsError", "StepTaken", "VerifiedReplay", "games", "verify"]
