"""A running match and the reader of its replay give the same events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from broken_bots import bot
from conftest import play_match
from sandboxes import UNHURRIED

from referee.replay.events import Listener, PlayersFaulted, StepTaken
from referee.replay.reader import ReplayReader

if TYPE_CHECKING:
    from pathlib import Path

#: A bot that is warned, refused and noted, and that fails in the end.
ODD = (
    'move = [] if turn == 4 else {"build": {"kind": "horizontal", "span": [0, 0]}, "new": 1} if turn % 3 else {}\n'
    '        extra = {"say": "x" * 999}\n'
    "        print('log', file=sys.stderr, flush=True)\n"
    "        if turn == 9: sys.exit(3)"
)


class _Collector(Listener):
    def __init__(self) -> None:
        self.events: list[StepTaken | PlayersFaulted] = []

    def stepped(self, event: StepTaken) -> None:
        self.events.append(event)

    faulted = stepped  # type: ignore[assignment]


def comparable(event: StepTaken | PlayersFaulted) -> tuple[Any, ...]:
    """An event without what a replay doesn't hold: fractions of microseconds, lines of answers, and moves beside a fault."""
    answers = {
        seat: (
            answer.move if isinstance(event, StepTaken) else None,
            round(answer.seconds * 1e6),
            round((answer.other or 0.0) * 1e6),
            answer.remark,
            answer.fault is None,
        )
        for seat, answer in event.answers.items()
    }
    if isinstance(event, StepTaken):
        return event.turn, event.before, event.after, event.moves, event.notices, answers, event.logs, event.next_notices()
    faults = {seat: fault.to_json() for seat, fault in event.faults.items()}
    return event.turn, event.before, event.after, faults, answers, event.logs


@pytest.mark.parametrize("special", ["", ODD], ids=["plain", "odd"])
def test_a_match_and_its_reader_give_the_same_events(special: str, tmp_path: Path) -> None:
    collector = _Collector()
    options = UNHURRIED._replace(run=UNHURRIED.run.replace(on_malformed="pass"))
    path = tmp_path / "game.gz"
    play_match(bot(tmp_path, "odd", special), "runner", options=options, replay=path, listeners=[collector], max_steps=20)
    read = [*ReplayReader(path).events()]
    assert len(read) == len(collector.events) == (10 if special else 20)
    for mine, theirs in zip(collector.events, read, strict=True):
        assert comparable(mine) == comparable(theirs)
    assert isinstance(read[-1], PlayersFaulted) == bool(special)
