"""The duels that tell most."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from referee.arena.matchmaking import Entry, Matchmaker


def entries(count: int) -> list[Entry]:
    """Entries whose strengths are their numbers."""
    return [Entry(f"E{number}", float(number), 100, 0) for number in range(count)]


def matchmaker(found: list[Entry], meetings: dict[frozenset[str], int] | None = None, number: int = 0, most: int = 1000) -> Matchmaker:
    return Matchmaker(found, {entry.name: entry.strength for entry in found}, meetings or {}, number, 10, most)


def test_nobody_waits_longer_than_three_times_the_mean() -> None:
    count = 20
    chooser = matchmaker(entries(count))
    last = dict.fromkeys((f"E{number}" for number in range(count)), 0)
    for number in range(600):
        pair = chooser.next()
        assert pair is not None
        last.update(dict.fromkeys(pair, number))
        assert number - min(last.values()) <= 3 * count / 2


def test_a_new_version_meets_opponents_of_all_strengths() -> None:
    found = [*entries(30), Entry("new", 0.0, 0, 0)]
    chooser = matchmaker(found)
    met = []
    for _ in range(10):
        pair = chooser.next()
        assert pair is not None
        assert pair[0] == "new"
        met.append(int(pair[1][1:]))
    # Each third of the ratings has its share.
    assert all(count >= 2 for count in Counter(number // 10 for number in met).values())
    assert len(Counter(number // 10 for number in met)) == 3
    pair = chooser.next()
    assert pair is not None
    assert "new" not in pair


def test_many_new_versions_share_the_duels_of_their_placement() -> None:
    chooser = matchmaker([Entry(f"E{number:02}", 0.0, 0, 0) for number in range(40)])
    counts: Counter[str] = Counter()
    while min(counts.values(), default=0) < 10 or len(counts) < 40:
        counts.update(chooser.next() or ())
    assert counts.total() <= 40 * 12
    assert max(counts.values()) <= 14


def test_like_strengths_and_few_duels_tell_most() -> None:
    found = [Entry(name, strength, 100, 0) for name, strength in (("weak", -3.0), ("a", 0.0), ("b", 0.1), ("strong", 3.0))]
    often = {frozenset(pair): 50 for pair in (("weak", "a"), ("weak", "b"), ("a", "strong"), ("b", "strong"), ("weak", "strong"))}
    assert matchmaker(found, often).next() == ("a", "b")
    # What a and b have shown already needs no more duels.
    assert matchmaker(found, {frozenset(("a", "b")): 500}).next() != ("a", "b")


def test_a_duel_that_was_chosen_counts_at_once() -> None:
    chooser = matchmaker(entries(6))
    assert len({frozenset(chooser.next() or ()) for _ in range(3)}) == 3


def test_the_same_duels_follow_the_same_past() -> None:
    found = entries(12)
    meetings = {frozenset((f"E{a}", f"E{b}")): random.Random(a * 12 + b).randrange(5) for a in range(12) for b in range(a)}
    first, second = (
        matchmaker(found, dict(random.Random(seed).sample(sorted(meetings.items(), key=str), len(meetings)))) for seed in (1, 2)
    )
    assert [first.next() for _ in range(40)] == [second.next() for _ in range(40)]


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_is_left_to_meet(count: int) -> None:
    assert matchmaker(entries(count)).next() is None


def test_two_versions_that_met_on_every_start_meet_no_more() -> None:
    chooser = matchmaker(entries(3), {frozenset(("E0", "E1")): 2}, most=2)
    met = Counter(frozenset(pair) for pair in iter(chooser.next, None) if pair is not None)
    assert met == {frozenset(("E0", "E2")): 2, frozenset(("E1", "E2")): 2}


def test_versions_that_play_their_placement_alone_stop_after_it() -> None:
    found = [*entries(4), Entry("old", 0.0, 8, 0, goes_on=False)]
    chooser = matchmaker(found)
    pairs = [chooser.next() for _ in range(60)]
    assert sum("old" in pair for pair in pairs if pair is not None) == 2
