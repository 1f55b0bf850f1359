"""The state of an arena that grows with each result, against the state that is read anew; and the views of it."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import Mock

import numpy as np
import pytest
from arenas import accept_all, add, all_duels, begin, done, duel_results, run
from leagues import PretendPool, play, record
from threadpoolctl import threadpool_info

from referee.arena import rater
from referee.arena.api_models import MatchesQuery, SeatAnswer
from referee.arena.arena import open_arena
from referee.arena.duels import ArenaDuel, DuelResultRow
from referee.arena.ratings import Strengths
from referee.arena.state import ArenaState
from referee.arena.store import ArenaStore
from referee.arena.verify import verify_arena
from referee.arena.versions import ACCEPTED, REFUSED, Version
from referee.arena.views import ArenaViews
from referee.errors import UsageError
from referee.handins.values import Entry
from referee.tournament import ratings
from referee.tournament.duels import PairedComparison

if TYPE_CHECKING:
    from pathlib import Path

    from referee.tournament.values import Record, Task


class Played(NamedTuple):
    """A duel, and the numbers of its two versions from 0."""

    duel: DuelResultRow
    a: int
    b: int


def contents(state: ArenaState) -> list[object]:
    """Everything that a state tells."""
    arrays = (state.planned, state.counted, state.absent, state.last, *state.pairs, *state.comparisons()[1:], state.strengths())
    return [len(state), state.names, state.rated, state.due(), *(each.tolist() for each in arrays)]


@pytest.mark.parametrize("seed", range(12))
def test_a_state_that_grew_is_that_which_is_read_anew(seed: int, tmp_path: Path) -> None:
    lots = random.Random(seed)
    with ArenaStore.open(tmp_path, create=True) as store:
        grown = ArenaState(store)
        versions = 0
        while len(grown) < 200:
            if versions < 2 or lots.random() < 0.2:
                versions += 1
                store.versions.put(Version(team="mine", hash=str(versions), state=ACCEPTED), Entry("", {}))
            else:
                planned = []
                for number in range(len(grown), len(grown) + lots.randrange(1, 20)):
                    a, b = lots.sample(range(versions), 2)
                    points, absent = lots.choice((-1, 0, 1, 2)), lots.choice((0, 0, 1, 2, 3))
                    names, start = {"a": f"mine v{a + 1}", "b": f"mine v{b + 1}"}, lots.randrange(5)
                    duel = ArenaDuel(
                        number=number, a=names["a"], b=names["b"], start=start, variant=0, first=f"{number}", points=points, absent=absent
                    )
                    planned.append(duel)
                store.duels.rows.put(*planned)
            grown.catch_up()
            if lots.random() < 0.5:
                store.ratings.put_strengths(Strengths(duels=len(grown), of=tuple(grown.strengths().tolist())))
            assert contents(grown) == contents(ArenaState(store))
        rows = [Played(row, int(row.a[6:]) - 1, int(row.b[6:]) - 1) for results in store.duels.results(0) for row in results]
        for _ in range(20):
            mine, others = (lots.sample(range(versions), lots.randrange(1, versions)) for _ in range(2))
            before, most = lots.randrange(1, 300), lots.randrange(1, 250)
            own = [row for row in rows if row.a in mine or row.b in mine]
            met = [row for row in own if (row.a in mine and row.b in others) or (row.b in mine and row.a in others)]
            for wanted, first, second in ((rows, None, None), (own, mine, None), (met, mine, others)):
                assert (
                    grown.duels_of(first, second, before, most)
                    == [row.duel.number for row in wanted if row.duel.number < before][::-1][:most]
                )
            sides = [(row.a, row.b, row.duel.points) for row in rows]
            sides += [(row.b, row.a, 2 - row.duel.points) for row in rows if row.duel.points >= 0]
            scored = {
                other: Counter(points for a, b, points in sides if a in mine and b == other and points >= 0) for other in range(versions)
            }
            assert grown.against(mine) == {other: (count[0], count[1], count[2]) for other, count in scored.items() if count}
            pair = {mine[0], others[0]}
            assert len(pair) == 1 or grown.met_on(*pair) == {(row.duel.start, row.duel.variant) for row in rows if {row.a, row.b} == pair}
        # The warm start changes nothing that matters.
        pairs = grown.pairs
        cold = ratings.strengths(versions, pairs.a, pairs.b, pairs.games, pairs.wins, np.zeros(versions))
        assert grown.strengths() == pytest.approx(cold, abs=1e-8)


def test_the_state_has_the_results_of_the_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)

    def sometimes_absent(task: Task) -> Record:
        for seat in ("hunter", "prey"):
            if task.names[seat] == "mine v2":
                return record(task, started=False, faults={seat: "no"}, fault_kinds={seat: "crashed"})
        return play(task)

    with closing(begin(tmp_path / "arena", 3)) as arena:
        for text in ("one", "two"):
            add(arena, text)
        run(arena, 40, PretendPool(sometimes_absent))
        results = duel_results(arena)
        assert len(results) == len(arena.results) == 40
        assert "mine v2" in arena.store.versions.forfeits()
        expected = [(duel.a, duel.b, duel.points / 2, duel.start) for duel in results if duel.points is not None and duel.points >= 0]
        found = arena.results.comparisons()
        names = found.teams
        rows = zip(found.a.tolist(), found.b.tolist(), found.scores.tolist(), found.starts.tolist(), strict=True)
        assert [(names[a], names[b], score, start) for a, b, score, start in rows] == expected
        met = Counter(frozenset((duel.a, duel.b)) for duel in results)
        pairs = arena.results.pairs
        ends = zip(pairs.a.tolist(), pairs.b.tolist(), pairs.met.tolist(), strict=True)
        assert {frozenset((names[a], names[b])): count for a, b, count in ends} == met
        for duel in results:
            assert (duel.start, duel.variant) in arena.results.met_on(*(arena.results.positions[name] for name in (duel.a, duel.b)))
        # Its absences are not forgotten when the arena is opened again.
        assert arena.results.absent[arena.results.positions["mine v2"]] >= 1
        assert contents(arena.results) == contents(ArenaState(arena.store))


def test_the_choice_of_duels_leaves_the_cores_to_the_matches(tmp_path: Path) -> None:
    seen: set[int] = set()

    def threads() -> list[int]:
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    def looks(task: Task) -> Record:
        seen.update(threads())
        return play(task)

    with closing(begin(tmp_path / "arena", 3)) as arena:
        before = threads()
        run(arena, 4, PretendPool(looks))
        assert seen == {1}
        assert threads() == before


def test_a_record_without_any_accepted_version_is_empty(tmp_path: Path) -> None:
    with closing(begin(tmp_path / "arena", 0)) as arena:
        arena.store.versions.put(Version(team="mine", hash="wrong", state=REFUSED), None)
        assert ArenaViews(arena.store).team("mine").against == []


def test_standings_of_an_arena_that_was_stopped_are_those_of_the_duels_that_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_all(monkeypatch)
    count = itertools.count()

    def dies(task: Task) -> Record:
        if next(count) == 11:
            raise KeyboardInterrupt
        return play(task)

    with closing(begin(tmp_path / "arena", 3)) as arena, pytest.raises(KeyboardInterrupt):
        run(arena, 30, PretendPool(dies, slots=1))
    with closing(open_arena(tmp_path / "arena")) as arena:
        # A duel that follows one without a result doesn't count yet.
        assert 0 < len(arena.results) <= 6
        assert sum(place.duels for place in arena.standings()) == 2 * len(arena.results)
        before = all_duels(arena)
        assert verify_arena(arena).replays == 11
        assert all_duels(arena) == before


def test_views_show_standings_teams_and_pages_of_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with closing(begin(tmp_path / "arena", 2, 'versions = "active"')) as arena:
        views = ArenaViews(arena.store)
        add(arena, "one")
        assert [(one.team, one.rating, one.duels) for one in views.standings().entries] == [("R0", 0, 0), ("R1", 0, 0), ("mine", 0, 0)]
        run(arena, 20)
        add(arena, "two")
        run(arena, 40)
        entries = views.standings().entries
        places = {place.version.name: place for place in arena.standings()}
        assert [entry.rank for entry in entries] == [1, 2, 3]
        for entry in entries:
            place = places[f"{entry.team} v{entry.version}"]
            assert entry.rating == pytest.approx(place.rating.elo, abs=0.02)
            assert entry.duels == place.duels
            assert entry.low < entry.rating < entry.high
        # Another object, which reads everything at once, sees the same.
        assert ArenaViews(arena.store).standings().entries == entries

        team = views.team("mine")
        assert [(one.version, one.is_active, one.note) for one in team.versions] == [(1, False, "one"), (2, True, "two")]
        assert sum(one.duels for one in team.versions) == sum(one.duels for one in views.against("mine"))
        assert team.ratings[-1].duels == len(arena.results)
        with pytest.raises(UsageError, match="no team nobody"):
            views.team("nobody")

        everything = [match.task.key for match in done(arena)][::-1]
        for limit in (1, 7, 200):
            seen, before = [], None
            while True:
                page = views.matches(MatchesQuery(limit=limit, before=before))
                assert len(page.matches) <= limit
                seen += [match.id for match in page.matches]
                before = page.next
                if before is None:
                    break
            assert seen == everything
        mine = views.matches(MatchesQuery(team="mine", limit=200)).matches
        assert mine
        assert all("mine" in [side.team for side in match.seats.values()] for match in mine)
        old = views.matches(MatchesQuery(team="mine", version=1, limit=200)).matches
        assert 0 < len(old) < len(mine)
        assert all(SeatAnswer(team="mine", version=1) in match.seats.values() for match in old)
        pair = views.matches(MatchesQuery(team="mine", opponent="R1", limit=200)).matches
        assert pair
        assert all({side.team for side in match.seats.values()} == {"mine", "R1"} for match in pair)
        assert {match.id for match in mine} > {match.id for match in pair}
        one = views.match(pair[0].id)
        assert one is not None
        assert one[1] == f"replays/{pair[0].id}"
        assert views.match("nothing") is None
        with pytest.raises(UsageError, match="no version 3"):
            views.matches(MatchesQuery(team="mine", version=3))


def test_matches_of_duels_that_are_not_over_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    seen = []

    def looks(task: Task) -> Record:
        seen.append({match.id for match in ArenaViews(arena.store).matches(MatchesQuery(limit=200)).matches})
        return play(task)

    with closing(begin(tmp_path / "arena", 2)) as arena:
        run(arena, 8, PretendPool(looks))
    assert [len(each) for each in seen] == list(range(16))


def test_the_last_match_takes_one_reading_and_its_readers_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    counts: list[tuple[int, int]] = []

    def looks(task: Task) -> Record:
        # So many duels are planned, most of them without a match.
        views = ArenaViews(arena.store, stale_seconds=60)
        with monkeypatch.context() as patch:
            reads = Mock(wraps=arena.store.duels.matches_of)
            patch.setattr(arena.store.duels, "matches_of", reads)
            found = [views.matches(MatchesQuery(limit=1)).matches for _ in range(3)]
        assert found[0] == found[1] == found[2]
        counts.append((len(found[0]), reads.call_count))
        return play(task)

    with closing(begin(tmp_path / "arena", 2)) as arena:
        run(arena, 8, PretendPool(looks))
    assert counts == [(0, 1), *[(1, 1)] * 15]


def test_pages_have_results_while_their_batch_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    seen: list[tuple[int, set[float]]] = []

    def looks(task: Task) -> Record:
        entries = views.standings().entries
        seen.append((sum(entry.duels for entry in entries) // 2, {entry.rating for entry in entries}))
        return play(task)

    planned = []
    for spare in (0, 10**9):
        monkeypatch.setattr(rater, "_SPARE", spare)
        seen.clear()
        with closing(begin(tmp_path / f"arena{spare}", 2)) as arena:
            views = ArenaViews(arena.store)
            run(arena, 8, PretendPool(looks, slots=1))
            # A slot gets its next match before a result is stored.
            assert [duels for duels, _ in seen] == [each // 2 for each in range(16)]
            # Else the ratings of now are told once.
            assert (len({frozenset(ratings) for _, ratings in seen}) > 2) == (spare == 0)
            planned.append([(duel.teams, duel.start) for duel in arena.plan().batch()])
    # What pages are told decides no duel.
    assert planned[0] == planned[1]


def test_a_rating_is_recorded_while_the_next_duels_are_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    seen: list[tuple[int, int]] = []

    def looks(task: Task) -> Record:
        seen.append((len(seen) // 2, max((point.duels for point in arena.results.rated.values()), default=0)))
        return play(task)

    with closing(begin(tmp_path / "arena", 2)) as arena:
        run(arena, 24, PretendPool(looks, slots=1))
        assert {point.duels for point in arena.store.ratings.of(arena.results.names)} == {8, 16, 24}
    assert all(recorded == duel // 8 * 8 for duel, recorded in seen)


def test_very_many_teams_have_the_same_intervals_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    lots = random.Random(1)
    teams = [f"T{number}" for number in range(12)]
    pairs = [lots.sample(teams, 2) for _ in range(300)]
    found = [PairedComparison(a, b, lots.choice((0, 0.5, 1)), lots.randrange(20)) for a, b in pairs]
    few = ratings.intervals(found, teams, resamples=4_000)
    monkeypatch.setattr(ratings, "MOST_DENSE_TEAMS", 1)
    many = ratings.intervals(found, teams, resamples=4_000)
    assert [one.team for one in many] == [one.team for one in few]
    for one, other in zip(few, many, strict=True):
        assert one.elo == pytest.approx(other.elo, abs=1e-6)
        # Each way draws its own errors: the standard deviation of the difference of two such widths is 1.6 % of them.
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.05 * (other.high - other.elo))
