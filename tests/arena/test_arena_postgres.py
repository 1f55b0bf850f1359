"""An arena in PostgreSQL."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from arenas import accept_all, add, write_arena
from databases import Postgres
from leagues import Notes, PretendPool, play

from referee.arena.arena import new, open_arena
from referee.arena.engine import ArenaEngine
from referee.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_an_arena_lives_in_postgresql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    server = Postgres()
    try:
        url = server.new()
        with closing(new(write_arena(tmp_path / "arena", 2), None, None, url)) as arena:
            for text in ("one", "two"):
                add(arena, text)
            ArenaEngine(arena.store, PretendPool(play), arena.plan(20), Notes()).run()
            places = arena.standings()
        assert not (tmp_path / "arena" / "arena.sqlite").exists()
        with closing(open_arena(tmp_path / "arena")) as arena:
            assert arena.standings() == places
            assert arena.store.ratings(["mine v1"])[-1].duels == 20
            assert arena.activate("mine", 1).is_active
            assert arena.contradicted(arena.state().results) == []
        with pytest.raises(UsageError, match="There is an arena in"):
            new(tmp_path / "arena", None, None, url)
        with pytest.raises(UsageError, match="holds an arena or a league already"):
            new(write_arena(tmp_path / "other", 2), None, None, url)
    finally:
        server.close()
