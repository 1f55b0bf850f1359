"""A match whose players are all functions of this process, as the workshop plays it in a browser.

It drives ``match.course``, the generator that ``Match`` drives, and has the same judge and the same replay writer. What it doesn't have is what a
browser lacks: processes, threads, clocks of processor time, pydantic. ``tests/workshop/test_loop.py`` holds it to that, and to the replays of
``Match``.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, cast

from referee.isolation.log import Log
from referee.match.course import Turn, TurnReplies, course
from referee.match.judge import Judge
from referee.players.function import LocalPlayer
from referee.replay.events import MatchBegun, MatchResult, StepTaken, TimeUsed
from referee.replay.faults import Fault
from referee.replay.writer import ReplayWriter
from referee.support.escape import escape, is_blank
from referee.version import __version__
from referee.wire import encode
from referee.wire.constants import NAME_LENGTH
from referee.wire.seeds import match_id, seat_seed, secret_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Game, Json, Seat
    from referee.match.course import Course
    from referee.players.clock import Clock
    from referee.players.player import Function, Reply
    from referee.replay.answers import AnswerWarning, JudgedAnswer

#: The limits of lines and logs that also hold where nothing is isolated.
LIMITS = {"line_bytes": 1 << 16, "stderr_bytes": 1 << 20, "remarks_bytes": 1 << 23}


class Stopwatch:
    """Counts the seconds of one player's answers; the match has no limits. It is the ``Clock`` of the judge."""

    kind = "wall"
    limits: Mapping[str, Json] = {"kind": kind, "startup": None, "move": None, "bank": None, "increment": 0.0}

    def __init__(self) -> None:
        self.control = self
        self.used = self.longest = 0.0
        self.answers = 0

    def spend(self, seconds: float, _other: float = 0.0) -> None:
        """Count an answer."""
        self.used += seconds
        self.answers += 1
        self.longest = max(self.longest, seconds)

    def time(self) -> TimeUsed:
        """Return the time used so far."""
        return TimeUsed(self.used, self.used, 0.0, self.answers, self.longest, None)


class LocalMatch:
    """One match of functions; call ``run`` once. ``on_turn`` is called with the number of each turn before its questions.

    After the match ``players`` have what the bots raised. The replay is good up to the last step, also where ``on_turn`` raises an exception.
    """

    def __init__(
        self, game: Game, settings: Any, seed: int, players: Mapping[Seat, Function], replay: Path, on_turn: Callable[[int], None]
    ) -> None:
        self._game, self._settings, self._seed, self._secret = game, settings, seed, secret_of(seed)
        self._programs, self._replay, self._on_turn = players, replay, on_turn
        self.players = {seat: LocalPlayer(seat, player, Log(None, LIMITS["stderr_bytes"])) for seat, player in players.items()}
        self._watches = {seat: Stopwatch() for seat in players}
        # The judge bills answers and needs nothing else of a clock here.
        clocks = cast("Mapping[Seat, Clock]", self._watches)
        self._judge = Judge(game, clocks, {}, self._warn, excuses=False, remarks_bytes=LIMITS["remarks_bytes"])
        self._notices: dict[Seat, list[dict[str, str]]] = {seat: [] for seat in players}
        self._names = {seat: escape(player.label, NAME_LENGTH) for seat, player in players.items()}
        self._faults: dict[Seat, Fault] = {}
        self._fault_steps: dict[Seat, int] = {}

    def run(self) -> MatchResult:
        """Play the match and write its replay."""
        writer = ReplayWriter(self._replay)
        try:
            state = self._game.start(self._settings, self._secret)
            greeting = self._replies(0, {}, self._greet())
            head = self._head()
            writer.begun(MatchBegun(head, state, self._game))
            state, steps = self._play(course(self._game, self._settings, state, 0, greeting), writer)
        except BaseException:
            writer.stopped()
            raise
        outcome = self._game.outcome(state)
        assert outcome is not None
        for seat in self.players.keys() - self._faults:
            self.players[seat].answer(encode.end({**outcome.to_json(), "steps": steps}))
        result = MatchResult(
            outcome,
            steps,
            state,
            not greeting.faults,
            self._faults,
            self._fault_steps,
            {seat: watch.time() for seat, watch in self._watches.items()},
            self._names,
            head,
            file=self._replay,
        )
        writer.ended(result)
        return result

    def _greet(self) -> dict[Seat, Fault]:
        """Send ``start`` to each player and read its name; return the faults of those that aren't ready."""
        faults = {}
        for seat, player in self.players.items():
            line = encode.start(
                self._game.info,
                self._settings.rules,
                seat,
                self._game.codec.settings_json(self._settings),
                clock=Stopwatch.limits,
                seed=seat_seed(self._secret, match_id(self._secret), seat),
                match=match_id(self._secret),
            )
            name = self._judge.ready(player, player.ask(line, None), cast("Any", self._watches[seat]))
            if isinstance(name, Fault):
                faults[seat] = name
            elif not is_blank(name):
                self._names[seat] = escape(name[:NAME_LENGTH], 4 * NAME_LENGTH)[:NAME_LENGTH]
        return faults

    def _play(self, steps: Course[Any], writer: ReplayWriter) -> tuple[Any, int]:
        replies = None
        while True:
            try:
                event = steps.send(replies)
            except StopIteration as end:
                last: tuple[Any, int] = end.value
                return last
            replies = None
            if isinstance(event, Turn):
                replies = self._ask(*event)
            elif isinstance(event, StepTaken):
                for notice in event.notices:
                    if notice.seat is not None:
                        self._notices[notice.seat].append({"code": notice.code, "text": notice.text})
                writer.stepped(event)
            else:
                writer.faulted(event)

    def _ask(self, turn: int, state: Any, movers: Sequence[Seat]) -> TurnReplies:
        self._on_turn(turn)
        answers = {seat: self._judge.answer(self.players[seat], turn, state, self._reply(turn, state, seat)) for seat in movers}
        return self._replies(turn, answers, {seat: answer.fault for seat, answer in answers.items() if answer.fault is not None})

    def _reply(self, turn: int, state: Any, seat: Seat) -> Reply:
        notices, self._notices[seat] = self._notices[seat], []
        return self.players[seat].ask(encode.turn(turn, self._game.codec.view_text(state, seat), notices, "null", None), None)

    def _replies(self, turn: int, answers: dict[Seat, JudgedAnswer], faults: dict[Seat, Fault]) -> TurnReplies:
        """Note the faults of a turn."""
        self._faults |= faults
        self._fault_steps |= dict.fromkeys(faults, turn)
        return TurnReplies(answers, faults, {})

    def _warn(self, seat: Seat, warnings: Sequence[AnswerWarning]) -> None:
        self._notices[seat] += [{"code": warning.notice_code, "text": warning.text} for warning in warnings]

    def _head(self) -> dict[str, Json]:
        """Return the head of the replay, which is that of a match without limits and without isolation."""
        machine, game, settings = os.uname(), self._game, self._settings
        return {
            "type": "head",
            "format": 1,
            "game": game.info.name,
            "version": game.info.version,
            "rules": settings.rules,
            "settings": game.codec.settings_json(settings),
            "match": match_id(self._secret),
            "seed": self._seed,
            "secret": self._secret.hex(),
            "players": {seat: {"name": self._names[seat], **player.about} for seat, player in self._programs.items()},
            "clock": dict(Stopwatch.limits),
            "ask": "in-turn",
            "idle": "stop",
            "on_malformed": "forfeit",
            "isolation": "none",
            "limits": LIMITS,
            "accounting": "approximate",
            "machine": {
                "system": f"{machine.sysname} {machine.machine}",
                "cores": os.cpu_count(),
                "python": ".".join(map(str, sys.version_info[:3])),
            },
            "referee": __version__,
        }
