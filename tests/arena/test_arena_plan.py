"""The batches of an arena: the same duels and results with any number of workers and after kills, who can't start, and who is to blame."""

from __future__ import annotations

import contextlib
import hashlib
import random
from typing import TYPE_CHECKING

import pytest
from arenas import accept_all, add, all_duels, begin, run
from leagues import PretendPool, play, record

from referee.arena.arena import open_arena
from referee.arena.blame import disputed
from referee.errors import SUPERVISOR
from referee.tournament.values import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from referee.arena.arena import OpenArena
    from referee.tournament.values import Task

DUELS = 60


class Killed(Exception):
    """The process is gone."""


class KilledPool(PretendPool):
    """Now and then the process is killed."""

    def __init__(self, match: Callable[[Task], Record], seed: int) -> None:
        super().__init__(match)
        self._lots = random.Random(seed)

    def wait(self, seconds: float) -> Sequence[Record]:
        if self._lots.random() < 0.1:
            raise Killed
        return super().wait(seconds)


def match(task: Task) -> Record:
    """How a match ends: a function of its bots and its start. One version never starts, and a few matches are given up."""
    number = int(hashlib.sha256(f"{sorted(task.names.items())} {task.seed}".encode()).hexdigest()[:8], 16)
    faults = {seat: "It can't start." for seat, name in task.names.items() if name.startswith("broken")}
    if faults:
        return record(task, started=False, faults=faults, fault_kinds=dict.fromkeys(faults, "crashed"))
    if number % 13 == 0:
        return Record(task.key, host="here", void="No machine can play it.")
    return record(task, number % 30)


def fill(arena: OpenArena) -> None:
    for text, team in (("one", "mine"), ("two", "mine"), ("three", "other"), ("four", "broken")):
        add(arena, text, team)


@pytest.mark.parametrize("seed", range(3))
def test_the_duels_are_the_same_with_any_number_of_workers_and_after_kills(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_all(monkeypatch)
    with contextlib.closing(begin(tmp_path / "whole", 3)) as arena:
        fill(arena)
        run(arena, DUELS, PretendPool(match, 1))
        duels = all_duels(arena)
        assert [duel.number for duel in duels] == list(range(DUELS))
        assert None not in {duel.points for duel in duels}
        # A duel whose match was given up counts for nobody.
        assert {duel.points for duel in duels} >= {-1, 0, 2}
    with contextlib.closing(begin(tmp_path / "killed", 3)) as arena:
        fill(arena)
    kills, left = 0, DUELS
    while left:
        with contextlib.closing(open_arena(tmp_path / "killed")) as arena:
            left = DUELS - len(arena.results)
            with contextlib.suppress(Killed):
                run(arena, left, KilledPool(match, 100 * seed + kills) if kills < 10 else PretendPool(match))
                continue
            kills += 1
    assert kills > 0
    with contextlib.closing(open_arena(tmp_path / "killed")) as arena:
        assert [duel.model_copy(update={"first": "", "second": ""}) for duel in all_duels(arena)] == [
            duel.model_copy(update={"first": "", "second": ""}) for duel in duels
        ]
        keys = [ended.task.key for ended in arena.store.core.done()]
        assert (
            len(keys)
            == len(set(keys))
            == 2 * DUELS - arena.counts().stopped + sum(not ended.record.replay for ended in arena.store.core.done())
        )


def test_who_can_not_start_loses_its_duels_and_those_of_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with contextlib.closing(begin(tmp_path / "arena", 3)) as arena:
        fill(arena)
        pool = PretendPool(match)
        notes = run(arena, DUELS, pool)
        broken = [duel for duel in all_duels(arena) if "broken v1" in (duel.a, duel.b)]
        assert {duel.absent for duel in broken} == {2 if duel.b == "broken v1" else 1 for duel in broken}
        assert all(duel.points == (2 if duel.b == "broken v1" else 0) for duel in broken)
        assert {duel.absent for duel in all_duels(arena) if duel not in broken} == {0}
        assert arena.store.versions.forfeits() == {"broken v1": "It can't start."}
        assert [text for text in notes.sentences if "forfeits" in text] == [
            "broken v1 can't start and forfeits its other matches: It can't start."
        ]
        assert "broken v1" not in {version.name for version in arena.choice.playing()}
        # It is in no duel that was chosen after its first ones.
        assert max(duel.number for duel in broken) < DUELS - 20


def test_versions_of_one_team_are_one_opponent_and_references_are_never_to_blame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with contextlib.closing(begin(tmp_path / "arena", 2)) as arena:
        for name, team in (("one", "mine"), ("two", "mine"), ("bad", "bad"), ("other", "other")):
            add(arena, name, team)

        def kills(task: Task) -> Record:
            if "bad v1" not in task.names.values() or "bad v1" in task.blamed:
                return play(task)
            return Record(task.key, host="here", void="Something happened.", cause=SUPERVISOR)

        pool = PretendPool(kills, 1)
        notes = run(arena, 40, pool)
        assert {team for task in pool.played for team in task.blamed} == {"bad v1"}
        assert [text.partition(" is to blame")[0] for text in notes.sentences if "is to blame for" in text] == ["bad"]
        # Also the duels that were void before it was known are played again.
        assert {duel.points for duel in all_duels(arena)} <= {0, 1, 2}
        assert arena.counts().planned == 0
        assert arena.owner("mine v1") == arena.owner("mine v2") == "mine"
        assert arena.owner("R0 v1") is None
        assert all("bad v1" in text for text in disputed(arena.store.disputed))
