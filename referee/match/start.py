"""The start of a match: the start of its game, or a position of a recorded match."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from typing_extensions import TypeVar

from referee.errors import ReplayError, UsageError
from referee.replay.events import PlayersFaulted, StepTaken
from referee.replay.faults import KINDS
from referee.replay.questions import Questions, check_sound
from referee.replay.reader import ReplayReader
from referee.replay.records import known_secret, seed_of
from referee.support.escape import escape
from referee.support.words import counted
from referee.wire.seeds import match_id, new_seed, secret_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import Game, Json, Seat
    from referee.replay.faults import Fault
    from referee.replay.reader import RecordedMatch, VerifiedReplay

S = TypeVar("S", default=Any)
M = TypeVar("M", default=Any)
_NO_SECRET = "The replay has no secret in its head, so the seeds of the players and the random choices of the game differ from those of the recorded match."  # noqa: S105 - no password


class SeatOut(NamedTuple):
    """A player that failed before the start: its fault, the step of the fault, and its part of the recorded head."""

    fault: Fault
    step: int
    about: Mapping[str, Json]


@dataclass(frozen=True)
class Start(Generic[S]):
    """The position in which a match begins, and the ``turn`` of its first question.

    ``past`` holds the steps and faults before the turn, ``notices`` those of each seat's next question, ``out`` the players that have failed:
    they don't play. All seeds follow from ``secret`` and ``match``; ``seed`` is the number from which the secret was derived, None
    if it isn't known. ``source`` is the part of the replay's head about the recorded match.
    """

    state: S
    secret: bytes
    match: str
    seed: int | None
    turn: int = 0
    past: tuple[StepTaken | PlayersFaulted, ...] = ()
    notices: Mapping[Seat, tuple[Mapping[str, str], ...]] = field(default_factory=dict)
    out: Mapping[Seat, SeatOut] = field(default_factory=dict)
    source: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, game: Game[S, M], settings: Any, seed: int) -> Start[S]:
        """Return the start of a game."""
        secret = secret_of(seed)
        return cls(game.start(settings, secret), secret, match_id(secret), seed)

    @classmethod
    def at(cls, recorded: RecordedMatch, turn: int) -> Start:
        """Return the position of a recorded match before ``turn``, with its seeds.

        ReplayError if the replay doesn't verify, UsageError if there is no such turn, or if a match can't continue from it.
        """
        path, game, _, head = recorded
        past, reader = _Past(game, head, turn), ReplayReader(path)
        for event in reader.events():
            past.add(event)
        replay = reader.verified()
        check_sound(path, replay)
        state = past.state
        if turn == replay.turns and state is None and game.outcome(replay.final) is None:
            # The replay ends early here.
            state = replay.final
        if state is None:
            raise UsageError(_beyond(path, replay, turn))
        name, seed, secret, events = head.get("match"), seed_of(head), known_secret(head), past.events
        match = name if isinstance(name, str) else match_id(secret or b"")
        source: dict[str, Json] = {"match": name if isinstance(name, str) else None, "turn": turn, "file": escape(str(path), 400)}
        notes: tuple[str, ...] = ()
        if secret is None:
            seed = new_seed()
            secret = secret_of(seed)
            match, notes = match_id(secret), (_NO_SECRET,)
            events, state = _under(secret, recorded, events)
        notices = {seat: tuple(past.questions.notices(turn, seat)) for seat in past.players}
        return Start(state, secret, match, seed, turn, tuple(events), notices, past.out, {"from": source}, notes)


def _beyond(path: Path, replay: VerifiedReplay, turn: int) -> str:
    steps = counted(replay.turns, "step")
    if replay.result is not None and turn == replay.turns:
        text = str(replay.result.get("text", "")).rstrip(".")
        return f"{path} has {steps}, and before turn {turn} the match is over: {text}. The last turn is {turn - 1}."
    return f"{path} has no turn {turn}: it has {steps}, and the last turn is {max(0, replay.turns - 1)}."


class _Past:
    """Collects the events of a replay before a turn, and the position there, while the reader simulates the replay."""

    def __init__(self, game: Game, head: Mapping[str, Json], turn: int) -> None:
        self.turn, self.players = turn, head["players"]
        self.state: Any = None
        self.events: list[StepTaken | PlayersFaulted] = []
        self.out: dict[Seat, SeatOut] = {}
        self.questions = Questions(game, head)

    def add(self, event: StepTaken | PlayersFaulted) -> None:
        turn = event.turn
        if turn == self.turn and self.state is None:
            self.state = event.before
        if turn >= self.turn:
            return
        # The logs of the recorded match aren't those of the new one.
        self.events.append(event._replace(logs={}))
        self.questions.add(event)
        if isinstance(event, PlayersFaulted):
            for fault in event.faults.values():
                if fault.kind not in KINDS:
                    raise ReplayError(f"The replay contains an unknown kind of fault, '{fault.kind:.40}'.")
            self.out |= {seat: SeatOut(fault, turn, {"program": "", **self.players[seat]}) for seat, fault in event.faults.items()}


def _under(
    secret: bytes, recorded: RecordedMatch, events: list[StepTaken | PlayersFaulted]
) -> tuple[list[StepTaken | PlayersFaulted], Any]:
    """Return the same events under another secret, and the position after them. UsageError if they are not the same."""
    path, game, settings, _ = recorded
    state = game.start(settings, secret)
    repeated: list[StepTaken | PlayersFaulted] = []
    for event in events:
        if isinstance(event, PlayersFaulted):
            before, state = state, game.fault(state, {seat: fault.kind for seat, fault in event.faults.items()})
            repeated.append(event._replace(before=before, after=state))
            continue
        is_same = game.movers(state) == game.movers(event.before)
        after, notices = game.step(state, event.moves) if is_same else (state, ())
        changes = game.codec.changes_text
        if not is_same or changes(state, after) != changes(event.before, event.after) or notices != event.notices:
            raise UsageError(
                f"{path} has no secret in its head, and the random numbers of {game.info.name} are drawn from it: the match can't continue from "
                "a step of this replay. Use the replay of the person who ran the match."
            )
        repeated.append(event._replace(before=state, after=after))
        state = after
    return repeated, state
