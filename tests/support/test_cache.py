"""What is kept from one run to the next, and what is not believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.support import cache


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "deep" / "cache"))
    return tmp_path / "deep" / "cache"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"REFEREE_CACHE": "/kept", "XDG_CACHE_HOME": "/xdg", "HOME": "/home/ada"}, "/kept"),
        ({"REFEREE_CACHE": "", "XDG_CACHE_HOME": "/xdg", "HOME": "/home/ada"}, ""),
        ({"XDG_CACHE_HOME": "/xdg", "HOME": "/home/ada"}, "/xdg/referee"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/ada"}, "/home/ada/.cache/referee"),
        ({"XDG_CACHE_HOME": "not/absolute", "HOME": "/home/ada"}, "/home/ada/.cache/referee"),
        ({"HOME": "/home/ada"}, "/home/ada/.cache/referee"),
        ({"HOME": "nowhere"}, ""),
        ({"REFEREE_CACHE": "near", "HOME": "/home/ada"}, "HERE/near"),
    ],
)
def test_the_cache_folder_follows_the_environment(given: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REFEREE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert cache.folder() == wanted.replace("HERE", os.getcwd())


def test_a_place_below_a_folder_that_is_gone_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv(cache.VARIABLE, "near")
    assert cache.folder() == ""
    cache.keep("one", b"first", kind="one", most=100)
    assert cache.recall("one", 100) is None


def test_what_is_kept_is_had_again_whole(place: Path) -> None:
    assert cache.recall("one", 100) is None
    cache.keep("one", b"first", kind="one", most=100)
    cache.keep("one", b"second", kind="one", most=100)
    assert cache.recall("one", 100) == b"second"
    assert [path.name for path in place.iterdir()] == ["one"]
    assert place.stat().st_mode & 0o777 == 0o700


def test_the_oldest_of_a_kind_go(place: Path) -> None:
    cache.keep("other", b"x" * 500, kind="other", most=500)
    for number in range(5):
        cache.keep(f"maze-{number}", b"x" * 40, kind="maze-", most=1000)
        os.utime(place / f"maze-{number}", (number, number))
    # What a process that was killed has left goes with the others.
    (place / "maze-9.123.part").write_bytes(b"x" * 40)
    os.utime(place / "maze-9.123.part", (1, 1))
    # What is odd there is no hindrance, and what claims to be of the future is not kept forever in the place of what is new.
    (place / "maze-link").symlink_to("/nowhere")
    os.utime(place / "maze-link", (2, 2), follow_symlinks=False)
    (place / "maze-folder").mkdir()
    os.utime(place / "maze-4", (1 << 32, 1 << 32))
    cache.keep("maze-new", b"x" * 40, kind="maze-", most=120)
    assert sorted(path.name for path in place.iterdir()) == ["maze-3", "maze-4", "maze-folder", "maze-new", "other"]
    cache.keep("maze-new", b"x" * 120, kind="maze-", most=120)
    assert sorted(path.name for path in place.iterdir()) == ["maze-folder", "maze-new", "other"]


def test_what_is_too_large_strange_or_empty_is_not_taken(place: Path) -> None:
    cache.keep("large", b"x" * 11, kind="large", most=100)
    assert cache.recall("large", 10) is None
    (place / "folder").mkdir()
    assert cache.recall("folder", 10**6) is None
    # Would wait for a writer forever.
    os.mkfifo(place / "pipe")
    assert cache.recall("pipe", 10**6) is None
    (place / "empty").touch()
    assert cache.recall("empty", 10) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: gives a file to another user")
def test_what_is_another_users_is_not_taken(place: Path) -> None:
    cache.keep("one", b"theirs", kind="one", most=100)
    os.chown(place / "one", 12345, 12345)
    assert cache.recall("one", 100) is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder")
    monkeypatch.setenv(cache.VARIABLE, str(blocked))
    cache.keep("one", b"first", kind="one", most=100)
    assert cache.recall("one", 100) is None
    assert blocked.read_text() == "no folder"


def test_what_was_kept_stays_whole_when_the_next_can_not_be_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.keep("one", b"first", kind="one", most=100)

    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "replace", fail)
    cache.keep("one", b"second", kind="one", most=100)
    assert cache.recall("one", 100) == b"first"
    assert [path.name for path in place.iterdir()] == ["one"]


def test_another_process_writes_its_own_unfinished_file(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(parents=True)
    (place / f"one.{os.getpid() + 1}.part").write_bytes(b"another's")
    cache.keep("one", b"first", kind="one", most=100)
    assert cache.recall("one", 100) == b"first"


def test_what_can_not_be_renamed_leaves_nothing_behind(place: Path) -> None:
    (place / "one" / "inner").mkdir(parents=True)
    cache.keep("one", b"first", kind="one", most=100)
    assert [path.name for path in place.iterdir()] == ["one"]
