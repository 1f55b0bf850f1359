"""The life of a version: the table of states is kept, and whoever is woken finds the work."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from referee.arena import bells
from referee.arena.store import ArenaStore
from referee.arena.versions import (
    ACCEPTED,
    ACTIVE,
    BUILDING,
    CHECKER,
    CHECKING,
    MOVES,
    PLACING,
    PLAYER,
    QUEUED,
    REFUSED,
    RETIRED,
    SERVER,
    STAFF,
    Version,
    check_move,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOVERS = (SERVER, CHECKER, PLAYER, STAFF)
STATES = (QUEUED, CHECKING, BUILDING, ACCEPTED, REFUSED, PLACING, ACTIVE, RETIRED)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ArenaStore]:
    with ArenaStore.open(tmp_path, create=True) as opened:
        yield opened


def test_each_step_belongs_to_one_mover_and_every_state_is_reached() -> None:
    steps = [(before, move.after) for move in MOVES for before in move.before]
    assert len(steps) == len(set(steps))
    assert {move.after for move in MOVES} == set(STATES)
    for mover, before, after in itertools.product(MOVERS, (None, *STATES), STATES):
        if any(move.mover == mover and before in move.before and move.after == after for move in MOVES):
            check_move(mover, before, after)
        else:
            with pytest.raises(ValueError, match=f"the {mover} can't move"):
                check_move(mover, before, after)


def test_a_hand_in_that_somebody_else_has_moved_stays(store: ArenaStore) -> None:
    hand_in = store.versions.hand_in("Ada", "", "bot.py")
    checked = store.versions.move(CHECKER, hand_in, CHECKING, {})
    assert checked is not None
    requeued = store.versions.move(STAFF, checked, QUEUED, {})
    assert store.versions.move(CHECKER, checked, ACCEPTED, {}, 1, is_last=True) is None
    assert store.versions.next() == requeued == hand_in


@pytest.mark.parametrize(
    ("state", "duels", "goes_on", "due"),
    [
        (ACCEPTED, 0, True, PLACING),
        (PLACING, 2, False, PLACING),
        (PLACING, 3, True, ACTIVE),
        (PLACING, 3, False, RETIRED),
        (ACTIVE, 9, False, RETIRED),
        (RETIRED, 9, True, ACTIVE),
        # A longer placement in the file is for those who come later.
        (ACTIVE, 2, True, ACTIVE),
        (REFUSED, 0, True, REFUSED),
    ],
)
def test_what_plays_has_its_placement_and_then_goes_on_or_retires(state: str, duels: int, due: str, *, goes_on: bool) -> None:
    assert Version(team="Ada", hash="", state=state).due(duels, 3, goes_on=goes_on) == due


def test_a_transaction_that_fails_wakes_nobody_and_one_that_is_stored_wakes_once_more(store: ArenaStore, tmp_path: Path) -> None:
    with bells.listening(tmp_path, CHECKER) as bell:
        with pytest.raises(KeyboardInterrupt), store.database.write():
            store.versions.hand_in("Ada", "", "bot.py")
            raise KeyboardInterrupt
        assert (store.versions.next(), bell.wait(0)) == (None, False)
        with store.database.write():
            store.versions.hand_in("Ada", "", "bot.py")
            assert not bell.wait(0)
        assert bell.wait(0)
        assert not bell.wait(0)


def test_a_bell_outlives_its_listener_and_what_stands_in_its_place(tmp_path: Path) -> None:
    bells.ring(tmp_path, PLAYER)
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / ".player.bell"
    path.write_text("a copy")
    bells.ring(tmp_path, PLAYER)
    assert path.read_text() == "a copy"
    with bells.listening(tmp_path, PLAYER) as bell:
        bells.ring(tmp_path, PLAYER)
        bells.ring(tmp_path, CHECKER)
        assert (bell.wait(0), bell.wait(0)) == (True, False)
    # The pipe stays, and nobody waits for it to be read.
    assert path.is_fifo()
    bells.ring(tmp_path, PLAYER)
    with bells.listening(tmp_path, PLAYER) as bell:
        assert not bell.wait(0)
        for _ in range(100_000):
            bells.ring(tmp_path, PLAYER)
        assert bell.wait(0)
