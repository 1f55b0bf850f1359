"""The duels that tell most."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from referee.arena import matchmaking
from referee.arena.matchmaking import Candidate, Matchmaker
from referee.arena.state import Pairs


def entries(count: int) -> list[Candidate]:
    """Entries whose strengths are their numbers."""
    return [Candidate(f"E{number}", number, 100, 0) for number in range(count)]


def matchmaker(
    found: list[Candidate],
    meetings: dict[frozenset[str], int] | None = None,
    number: int = 0,
    most: int = 1000,
    strengths: list[float] | None = None,
) -> Matchmaker:
    places = {entry.name: entry.place for entry in found}
    met = sorted((*sorted(places[name] for name in pair), count) for pair, count in (meetings or {}).items())
    a, b, counts = np.array(met, dtype=np.int64).reshape(-1, 3).T
    own = np.arange(len(found), dtype=np.float64) if strengths is None else np.array(strengths)
    return Matchmaker(found, own, Pairs(a, b, counts, counts.astype(np.float64), counts / 2), number, 10, most)


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
    found = [*entries(30), Candidate("new", 30, 0, 0)]
    chooser = matchmaker(found, strengths=[*range(30), 0.0])
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
    chooser = matchmaker([Candidate(f"E{number:02}", number, 0, 0) for number in range(40)], strengths=[0.0] * 40)
    counts: Counter[str] = Counter()
    while min(counts.values(), default=0) < 10 or len(counts) < 40:
        counts.update(chooser.next() or ())
    assert counts.total() <= 40 * 12
    assert max(counts.values()) <= 14


def test_like_strengths_and_few_duels_tell_most() -> None:
    found = [Candidate(name, place, 100, 0) for place, name in enumerate(("weak", "a", "b", "strong"))]
    strengths = [-3.0, 0.0, 0.1, 3.0]
    often = {frozenset(pair): 50 for pair in (("weak", "a"), ("weak", "b"), ("a", "strong"), ("b", "strong"), ("weak", "strong"))}
    assert matchmaker(found, often, strengths=strengths).next() == ("a", "b")
    # What a and b have shown already needs no more duels.
    assert matchmaker(found, {frozenset(("a", "b")): 500}, strengths=strengths).next() != ("a", "b")


def test_a_duel_that_was_chosen_counts_at_once() -> None:
    chooser = matchmaker(entries(6))
    assert len({frozenset(chooser.next() or ()) for _ in range(3)}) == 3


def test_candidates_are_kept_up_to_date_between_surveys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchmaking, "_SURVEYED", 1)
    chooser = matchmaker(entries(40), {frozenset((f"E{a}", f"E{a + 1}")): a % 3 + 1 for a in range(39)})
    before = chooser._candidates
    for _ in range(12):
        assert chooser.next() is not None
    kept, covariance = chooser._candidates, chooser._covariance
    ranks = chooser._density[:, np.newaxis] * covariance
    squares = ranks.T @ ranks
    # No survey since: these are the same arrays.
    assert kept.a is before.a
    assert kept.b is before.b
    assert not np.allclose(kept.squares, before.squares)
    np.testing.assert_allclose(kept.covariances, covariance[kept.a, kept.b], atol=1e-9)
    np.testing.assert_allclose(kept.squares, squares[kept.a, kept.b], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kept.variances, np.diag(covariance), rtol=1e-9)
    np.testing.assert_allclose(kept.power, np.diag(squares), rtol=1e-9)


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
    found = [*entries(4), Candidate("old", 4, 8, 0, goes_on=False)]
    chooser = matchmaker(found, strengths=[*range(4), 0.0])
    pairs = [chooser.next() for _ in range(60)]
    assert sum("old" in pair for pair in pairs if pair is not None) == 2
