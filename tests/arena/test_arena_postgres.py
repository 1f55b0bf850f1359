"""An arena in PostgreSQL."""

from __future__ import annotations

import itertools
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from arenas import Postgres, accept_all, add, duel_results, run, write_arena
from leagues import PretendPool, play
from sqlalchemy import event

from referee.arena.arena import new, open_arena
from referee.arena.tokens import Holder
from referee.arena.verify import contradicted
from referee.arena.versions import CHECKER, CHECKING, REFUSED
from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.tournament.values import Record, Task


def test_an_arena_lives_in_postgresql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    server = Postgres()
    try:
        url = server.new()
        with closing(new(write_arena(tmp_path / "arena", 2), None, None, url)) as arena:
            for text in ("one", "two"):
                add(arena, text)
            run(arena, 20)
            places = arena.standings()
        assert not (tmp_path / "arena" / "arena.sqlite").exists()
        with closing(open_arena(tmp_path / "arena")) as arena:
            assert arena.standings() == places
            assert arena.store.ratings.of(["mine v1"])[-1].duels == 20
            assert arena.activate("mine", 1).is_active
            assert contradicted(arena, duel_results(arena)) == []
        # The tables of a server come when it is opened first.
        with closing(open_arena(tmp_path / "arena")) as arena:
            store = arena.store
            store.tokens.put([("t1", "mine"), ("t2", None)])
            assert [store.tokens.holder(token) for token in ("t1", "t2", "t3")] == [Holder("mine"), Holder(None), None]
            handed_in = store.versions.hand_in("mine", "note\0", "handed-in/x/bot.py")
            assert store.versions.next() == handed_in == store.versions.handed_in(1)
            checked = store.versions.move(CHECKER, handed_in, CHECKING, {})
            assert checked is not None
            store.versions.move(CHECKER, checked, REFUSED, {"reason": "late"})
            assert (store.versions.next(), store.versions.hand_ins("mine")[0].report) == (None, {"reason": "late"})
            store.versions.disqualify("mine", "copied")
            store.audit.put("disqualify", {"team": "mine"})
            assert set(store.versions.forfeits()) == {"mine v1", "mine v2"}
            store.versions.activate("mine", next(one.name for one in store.versions.all() if one.team == "mine"), admits=True)
            assert (store.versions.forfeits(), store.versions.disqualified(), store.audit.last()[0].action) == ({}, {}, "disqualify")
        with pytest.raises(UsageError, match="has an arena already"):
            new(tmp_path / "arena", None, None, url)
        with pytest.raises(UsageError, match="contains an arena or a league already"):
            new(write_arena(tmp_path / "other", 2), None, None, url)
    finally:
        server.close()


@pytest.mark.slow
def test_a_server_that_is_restarted_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    server = Postgres()
    moments: dict[int, Callable[[], None]] = {}
    count = itertools.count()

    def restart() -> None:
        server.stop()
        server.start()

    def crash_within_a_write() -> None:
        is_over = False

        def crash(*_: object) -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                restart()

        event.listen(arena.store.database._engine, "before_cursor_execute", crash)

    # Stopped, it is started again by the first pause of the one who waits for it.
    moments = {3: restart, 7: server.stop, 12: crash_within_a_write}

    def play_match(task: Task) -> Record:
        moments.get(next(count), lambda: None)()
        return play(task)

    try:
        url = server.new()
        monkeypatch.setattr("referee.tournament.transactions.sleep", lambda _: server.start())
        with closing(new(write_arena(tmp_path / "arena", 2), None, None, url)) as arena:
            add(arena, "one")
            with arena.store.database.claim(waits=True):
                run(arena, 20, PretendPool(play_match))
                # Nobody else can have the claim, which ended with the first server.
                with closing(open_arena(tmp_path / "arena")) as other, pytest.raises(UsageError, match="Another process plays"):
                    other.store.database.claim()
            assert len(arena.results) == 20
            assert arena.counts().done == 40
            assert next(count) == 40
            assert contradicted(arena, duel_results(arena)) == []
    finally:
        server.close()
