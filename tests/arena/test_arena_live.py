"""The matches of this minute: what the process that plays tells, the small boards, and what the projector's page asks for."""

from __future__ import annotations

import gzip
import re
import time
from typing import TYPE_CHECKING

import pytest
from arenas import accept_all, run
from leagues import IDLE, PretendPool, task_of
from leagues import play as pretended
from seasons import TOKENS, copied, play, season

from referee.arena import live, player, views
from referee.arena.checker import Checker
from referee.arena.player import PlayingNotes, pause
from referee.arena.players_version import players_version
from referee.arena.season_work import say
from referee.errors import MatchVoid, UsageError
from referee.isolation import known_good, machine
from referee.tournament.plan import MachineFailed
from referee.tournament.values import Record
from referee.tournament.worker import replay_path
from referee.tournament.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from seasons import Season

    from referee.tournament.values import Task

KEY = "ab" + 30 * "0"


def playing(running: Season, key: str = KEY) -> None:
    """Let a match of Ada's and Bob's be played, whose replay has come as far as half of that of another match."""
    tasks = [task_of(key, {"hunter": "Ada v1", "prey": "Bob v1"}, {})]
    PlayingNotes(running.store, PretendPool(pretended, slots=2), print).tick(tasks)
    replays = running.arena.replays
    whole = next(replays.rglob("*.gz")).read_bytes()
    path = replay_path(replays, key)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(whole[: len(whole) // 2])


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as patch, season(folder, 'versions = "all"\n[visibility]\nreplays = "own"') as found:
        accept_all(patch)
        for token in (TOKENS["Ada"], TOKENS["Bob"]):
            found.hand_in(f"# {token}\n{IDLE}".encode(), token)
            Checker(found.arena, print).check_next()
        play(found, 2)
    return folder


@pytest.fixture
def running(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Season]:
    accept_all(monkeypatch)
    # The machine may be slow: a minute and the time for which a process is trusted are long.
    monkeypatch.setattr(live, "_MINUTE", 3600.0)
    monkeypatch.setattr(views, "_TOLD_SECONDS", 3600.0)
    with copied(played, tmp_path) as found:
        yield found


def test_the_board_of_a_match_that_has_just_begun_is_empty_and_not_missing(running: Season) -> None:
    playing(running)
    replay_path(running.arena.replays, KEY).unlink()
    assert (running.ask(f"/boards/{KEY}", TOKENS["Ada"]).status, running.ask(f"/boards/{KEY[::-1]}", TOKENS["Ada"]).status) == (204, 404)


def test_a_match_that_is_played_is_shown_to_those_who_may_see_it(running: Season) -> None:
    ada = TOKENS["Ada"]
    assert KEY not in running.ask("/live", ada).body.decode()
    playing(running)
    assert f'href="/matches/{KEY}"' in running.ask("/live", ada).body.decode()
    assert KEY not in running.ask("/live").body.decode()
    assert running.ask(f"/boards/{KEY}").status == 401
    board = running.ask(f"/boards/{KEY}", ada)
    assert board.headers["content-type"] == "application/gzip"
    assert b'"secret"' not in gzip.decompress(board.body)
    assert f'data-replay="/boards/{KEY}?at=' in running.ask("/live", ada).body.decode()
    shown = running.ask(f"/matches/{KEY}", ada).body.decode()
    assert 'data-every="2000"' in shown
    assert "They have been playing for" in shown
    # A process that no longer tells of it plays it no more.
    now = running.store.playing.get(0)
    assert now is not None
    running.store.playing.put(now.model_copy(update={"time": time.time() - 7200}))
    assert KEY not in running.ask("/live", ada).body.decode()
    assert running.ask(f"/matches/{KEY}", ada).status == 404


def test_a_board_has_the_whole_lines_of_a_replay_that_is_being_written(running: Season) -> None:
    replays = running.arena.replays
    lines = gzip.decompress(next(replays.rglob("*.gz")).read_bytes()).splitlines(keepends=True)
    path = replays / "growing.gz"
    path.write_bytes(gzip.compress(b"".join(lines[:-1]))[:-8])
    head, *steps = gzip.decompress(players_version(path, replays, is_whole=False)).splitlines(keepends=True)
    assert steps == lines[1:-1]
    assert len(head) < len(lines[0])
    with pytest.raises(EOFError):
        players_version(path, replays)


def test_a_match_that_waits_for_a_slot_is_not_shown_as_played(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "_STORED_SECONDS", 0.0)
    pool = PretendPool(pretended, slots=2)
    notes = PlayingNotes(running.store, pool, print)
    tasks = [task_of(f"{number:032x}", {"hunter": "Ada v1", "prey": "Bob v1"}, {}) for number in range(5)]

    def told() -> dict[str, float]:
        now = running.store.playing.get(0)
        assert now is not None
        return {match.key: match.since for match in now.matches}

    notes.tick(tasks)
    first = told()
    assert list(first) == [task.key for task in tasks[:2]]
    # A worker has joined.
    pool.slots = 3
    notes.tick(tasks[1:])
    later = told()
    assert list(later) == [task.key for task in tasks[1:4]]
    assert first[tasks[1].key] == later[tasks[1].key] < later[tasks[3].key]
    # They are without workers.
    notes.tick(None)
    assert told() == {}


def test_an_arena_pauses_while_its_machine_fails_and_goes_on(
    running: Season, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arena, store = running.arena, running.store
    arena.isolate("none")
    done = arena.counts().done

    def fails(task: Task) -> Record:
        return Record(task.key, host="here", void="No memory is left.", cause="memory", hit=("Ada v1",))

    with pytest.raises(MachineFailed, match="No memory is left") as raised:
        run(arena, 2, PretendPool(fails))
    assert arena.counts().done == done

    tries: list[str] = []

    def fails_twice(*_: object) -> None:
        tries.append(store.season.now.paused)
        assert "No memory is left." in running.ask("/staff", TOKENS[None]).body.decode()
        if len(tries) < 3:
            raise MatchVoid("Known good bots fail.")

    monkeypatch.setattr(known_good, "check", fails_twice)
    monkeypatch.setattr(player, "RETRY_SECONDS", 0.0)
    pause(arena, Workers(1, None), str(raised.value), say)
    assert tries == 3 * [str(raised.value)]
    assert "No memory is left." not in running.ask("/staff", TOKENS[None]).body.decode()
    assert "No memory is left." in capsys.readouterr().err
    run(arena, 2)
    assert arena.counts().done > done


def test_an_arena_pauses_on_a_machine_that_lacks_memory_and_tells_the_staff(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    arena, store = running.arena, running.store
    arena.isolate("none")
    left = [UsageError("This container has 200 MiB left."), UsageError("This container has 300 MiB left.")]
    seen: list[str] = []

    def refuse(*_: object) -> None:
        seen.append(store.season.now.paused)
        if left:
            raise left.pop(0)

    monkeypatch.setattr(machine, "refuse", refuse)
    monkeypatch.setattr(player, "RETRY_SECONDS", 0.0)
    why = "This container has 200 MiB left."
    pause(arena, Workers(1, None), why, say)
    assert (seen, store.season.now.paused) == (3 * [why], "")

    class Paused(Exception):
        """The play has come to a pause."""

    def paused(_: object, __: object, why: str, ___: object) -> None:
        raise Paused(why)

    def lacks(*_: object) -> None:
        raise UsageError(why)

    monkeypatch.setattr(player, "open_pool", lacks)
    monkeypatch.setattr(player, "pause", paused)
    with pytest.raises(Paused, match="200 MiB"):
        player.play(arena, Workers(1, None), say)


def test_a_version_that_a_failing_machine_refuses_waits(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise MatchVoid("Known good bots fail.")

    running.arena.isolate("none")
    monkeypatch.undo()
    monkeypatch.setattr(known_good, "check", fails)
    number = running.hand_in(b"raise SystemExit(3)").json["id"]
    with pytest.raises(MatchVoid):
        Checker(running.arena, print).check_next()
    found = running.store.versions.handed_in(number)
    assert found is not None
    assert found.state not in ("accepted", "refused")


def test_matches_of_this_minute_are_one_click_from_the_viewer(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = running.ask("/live", TOKENS[None]).body.decode()
    ended = [one["id"] for one in running.ask("/api/matches").json["matches"]]
    assert re.findall(r'href="/watch/(\w+)/"', shown) == ended
    assert [key for key in ended if f'data-replay="/boards/{key}"' in shown] == ended
    assert all(b'"type":"result"' in gzip.decompress(running.ask(f"/boards/{key}", TOKENS[None]).body) for key in ended)
    # What was told of as played may be over meanwhile.
    playing(running, ended[0])
    again = running.ask("/live", TOKENS[None]).body.decode()
    assert (re.findall(r'href="/watch/(\w+)/"', again), f'href="/matches/{ended[0]}"' in again) == (ended, False)
    assert "They have been playing" not in running.ask(f"/matches/{ended[0]}", TOKENS[None]).body.decode()
    monkeypatch.setattr(live, "_MINUTE", -1.0)
    assert "/watch/" not in running.ask("/live", TOKENS[None]).body.decode()


def test_the_projector_gets_the_newest_match_and_the_standings(running: Season) -> None:
    staff = TOKENS[None]
    assert "Projector" in running.ask("/projector", staff).body.decode()
    first = running.ask("/list?from=0", staff).json
    matches = running.ask("/api/matches").json["matches"]
    assert [key for key, _ in first["entries"]] == [one["id"] for one in reversed(matches)]
    assert running.ask(f"/list?from={first['next']}", staff).json["entries"] == []
    play(running, 2)
    (newest,) = running.ask(f"/list?from={first['next']}", staff).json["entries"]
    assert newest[0] == running.ask("/api/matches").json["matches"][0]["id"]
    assert running.ask(f"/replay/{newest[0]}/replay", staff).body[:2] == b"\x1f\x8b"
    assert [running.ask("/list?from=0").json["entries"], running.ask("/list?from=x").status] == [[], 422]
    rows = running.ask("/standings").json["rows"]
    assert [(row["place"], row["team"]) for row in rows] == [
        (one["rank"], one["team"]) for one in running.ask("/api/standings").json["entries"]
    ]
