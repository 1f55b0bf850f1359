"""Machines whose results differ from the others'."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from leagues import open_new

from referee.league.hosts import differing, strange_hosts
from referee.league.plan import LeaguePlan
from referee.tournament.plan import settle
from referee.tournament.values import Record

if TYPE_CHECKING:
    from pathlib import Path

FAIR = Counter(caught=60, evaded=35, late=5)


@pytest.mark.parametrize(
    ("endings", "expected"),
    [
        ({}, []),
        ({"one": FAIR}, []),
        ({"one": FAIR, "two": FAIR}, []),
        ({"one": FAIR, "two": Counter(caught=57, evaded=36, late=7), "three": Counter(caught=64, evaded=33, late=3)}, []),
        ({"one": Counter(caught=100), "two": Counter(caught=100)}, []),
        ({"one": FAIR, "two": FAIR, "slow": Counter(caught=40, evaded=20, late=40)}, ["slow"]),
        # One of the two is broken, and nothing says which.
        ({"one": FAIR, "slow": Counter(caught=40, evaded=20, late=40)}, ["one", "slow"]),
        # Too few matches say nothing.
        ({"one": FAIR, "two": FAIR, "slow": Counter(late=29)}, []),
        ({"one": FAIR, "two": FAIR, "slow": Counter(late=30)}, ["slow"]),
    ],
)
def test_only_a_machine_that_differs_is_named(endings: dict[str, Counter[str]], expected: list[str]) -> None:
    assert [host for host, _ in differing(endings)] == expected


def test_a_league_finds_its_strange_machine(tmp_path: Path) -> None:
    opened = open_new(tmp_path, teams=10, extra="[starts]\ncount = 2\n", settings="width = 30\nheight = 30\nmax_steps = 40\n")
    turns = settle(LeaguePlan(opened.schedule), opened.store)
    for number, task in enumerate(turns.missing):
        host = ("good", "fine", "broken")[number % 3]
        faults = {"prey": "crashed"} if host == "broken" and number % 2 else {}
        made = Record(task.key, "hunter", "caught", scores={"hunter": 5}, steps=5, host=host, fault_kinds=faults, replay="replays/1")
        opened.store.add(made, counts=True)
    assert [host for host, _ in strange_hosts(opened.view)] == ["broken"]
    opened.close()
