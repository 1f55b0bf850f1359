"""A match whose players are all functions of this process, as the workshop plays it in a browser.

It drives ``match.course``, the generator that ``Match`` drives, and has the same asker, judge and replay writer. What it doesn't have is what a
browser lacks: processes, threads, clocks of processor time, pydantic. ``tests/workshop/test_loop.py`` holds it to that, and to the replays of
``Match``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.isolation.log import Log
from referee.match.asking import Asker
from referee.match.course import Turn, TurnReplies, course
from referee.players.function import LocalPlayer
from referee.replay.events import MatchBegun, MatchResult, StepTaken, TimeUsed
from referee.replay.faults import Fault
from referee.replay.writer import ReplayWriter, new_head
from referee.support.escape import escape
from referee.wire import encode
from referee.wire.constants import NAME_LENGTH
from referee.wire.seeds import match_id, seat_seed, secret_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from referee.games.game import Game, Json, Seat
    from referee.match.course import Course
    from referee.players.player import Function, Reply

#: The limits of lines and logs that also hold where nothing is isolated.
LIMITS = {"line_bytes": 1 << 16, "stderr_bytes": 1 << 20, "remarks_bytes": 1 << 23}
NO_LIMITS: dict[str, Json] = {"kind": "wall", "startup": None, "move": None, "bank": None, "increment": 0.0}


class _Stopwatch:
    """Counts the seconds of one player's answers, without a limit. The asker takes it for a ``Clock`` and for its ``TimeControl``."""

    kind, startup, move, bank = "wall", None, None, None

    def __init__(self) -> None:
        self.control = self
        self.used = self.longest = 0.0
        self.answers = 0

    def spend(self, seconds: float, _other: float = 0.0) -> None:
        self.used += seconds
        self.answers += 1
        self.longest = max(self.longest, seconds)

    def time(self) -> TimeUsed:
        return TimeUsed(self.used, self.used, 0.0, self.answers, self.longest, None)


class _Exchange:
    """Passes lines to functions of this process. The asker takes it for an ``Exchange``."""

    processes: Mapping[Seat, Any] = {}

    def __init__(self, players: Mapping[Seat, LocalPlayer]) -> None:
        self.players = players

    def ask(self, seat: Seat, question: bytes, _clock: object) -> Reply:
        return self.players[seat].ask(question, None)

    def ask_all(self, questions: Mapping[Seat, tuple[bytes, object]], _ends: object, *, is_start: bool) -> dict[Seat, Reply]:
        return {seat: self.ask(seat, *question) for seat, question in questions.items()}

    def dismiss(self, lines: Mapping[Seat, bytes], _grace: float) -> None:
        for seat, line in lines.items():
            self.players[seat].answer(line)


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
        self._watches: dict[Seat, Any] = {seat: _Stopwatch() for seat in players}
        exchange: Any = _Exchange(self.players)
        self._asker = Asker(game, self._watches, {}, exchange, excuses=False, remarks_bytes=LIMITS["remarks_bytes"])
        self._names = {seat: escape(player.label, NAME_LENGTH) for seat, player in players.items()}
        self._faults: dict[Seat, Fault] = {}
        self._fault_steps: dict[Seat, int] = {}

    def run(self) -> MatchResult:
        """Play the match and write its replay."""
        writer = ReplayWriter(self._replay)
        try:
            state = self._game.start(self._settings, self._secret)
            greeting = self._greet(state)
            head = self._head()
            writer.begun(MatchBegun(head, state, self._game))
            state, steps = self._play(course(self._game, self._settings, state, 0, greeting), writer)
        except BaseException:
            writer.stopped()
            raise
        outcome = self._game.outcome(state)
        assert outcome is not None
        self._asker.dismiss(dict.fromkeys(self.players.keys() - self._faults, encode.end({**outcome.to_json(), "steps": steps})))
        times = {seat: watch.time() for seat, watch in self._watches.items()}
        is_started, faults = not greeting.faults, self._faults
        result = MatchResult(outcome, steps, state, is_started, faults, self._fault_steps, times, self._names, head, file=self._replay)
        writer.ended(result)
        return result

    def _greet(self, state: Any) -> TurnReplies:
        """Send ``start`` to each player and read its name; return the faults of those that aren't ready."""
        info, rules, settings = self._game.info, self._settings.rules, self._game.codec.settings_json(self._settings)
        match, lines = match_id(self._secret), {}
        for seat, watch in self._watches.items():
            seed = seat_seed(self._secret, match, seat)
            lines[seat] = encode.start(info, rules, seat, settings, clock=NO_LIMITS, seed=seed, match=match), watch
        greetings = self._asker.greet(state, lines, {})
        self._names |= {seat: name for seat, name in greetings.items() if name and not isinstance(name, Fault)}
        return TurnReplies({}, {seat: fault for seat, fault in greetings.items() if isinstance(fault, Fault)}, {})

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
                self._on_turn(event.turn)
                answers = self._asker.ask(*event)
                replies = TurnReplies(answers, {seat: answer.fault for seat, answer in answers.items() if answer.fault is not None}, {})
            elif isinstance(event, StepTaken):
                self._asker.tell(event.notices)
                writer.stepped(event)
            else:
                self._faults |= event.faults
                self._fault_steps |= dict.fromkeys(event.faults, event.turn)
                writer.faulted(event)

    def _head(self) -> dict[str, Json]:
        """Return the head of the replay, which is that of a match without limits and without isolation."""
        about: dict[str, Json] = {
            "match": match_id(self._secret),
            "seed": self._seed,
            "secret": self._secret.hex(),
            "players": {seat: {"name": self._names[seat], **player.about} for seat, player in self._programs.items()},
            "clock": NO_LIMITS,
            "ask": "in-turn",
            "idle": "stop",
            "on_malformed": "forfeit",
            "isolation": "none",
            "limits": LIMITS,
            "accounting": "approximate",
        }
        return new_head(self._game, self._settings, about)
