"""Archives: what is unpacked, and what is refused by name."""

from __future__ import annotations

import errno
import os
import resource
import stat
from collections.abc import Collection
from pathlib import Path

import pytest
from hostile_archives import BOT, HOSTILE, badly_named, tarred, zipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.errors import PlayerError, RefereeError, UsageError
from referee.handins.archive import unpack, unpack_class
from referee.handins.names import is_archive, is_ignored, without_suffix


@pytest.fixture
def target(tmp_path: Path) -> Path:
    made = tmp_path / "target"
    made.mkdir()
    return made


def inside(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_by_name(name: str, tmp_path: Path, target: Path) -> None:
    words, build = HOSTILE[name]
    build(tmp_path / name)
    with pytest.raises(PlayerError) as caught:
        unpack(tmp_path / name, target, name)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"The hand-in '{name}' ")
    assert str(caught.value).isprintable()
    assert str(caught.value).endswith(".")
    assert set(os.listdir(tmp_path)) == {name, "target"}, "nothing is written elsewhere"
    assert sum(path.stat().st_size for path in target.rglob("*")) <= 300 << 20
    assert not [path for path in target.rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("end", [".zip", ".tar", ".tar.gz", ".tgz"])
def test_what_is_packed_comes_out_again(end: str, tmp_path: Path, target: Path) -> None:
    files = {
        "main.py": BOT,
        "lib/\u00fcber \u6587\u5b57.txt": "unicode and spaces",
        "-rf": "a dash",
        "two\nlines": "a newline",
        "Main.py": "another case",
        "./here.txt": "here",
        "x//y.txt": "y",
    }
    path = tmp_path / f"bot{end}"
    (zipped if end == ".zip" else tarred)(path, files)
    unpack(path, target, "bot")
    assert inside(target) == {
        "main.py", "lib", "lib/\u00fcber \u6587\u5b57.txt", "-rf", "two\nlines", "Main.py", "here.txt", "x", "x/y.txt",
    }  # fmt: skip
    assert (target / "main.py").read_text() == BOT
    assert stat.S_IMODE((target / "main.py").stat().st_mode) == 0o400
    assert stat.S_IMODE((target / "lib").stat().st_mode) == 0o700


def test_only_the_right_to_be_executed_is_kept(tmp_path: Path, target: Path) -> None:
    zipped(tmp_path / "a.zip", {"run": "#!/bin/sh", "data": ""}, {"run": 0o104777})
    unpack(tmp_path / "a.zip", target, "a")
    assert stat.S_IMODE((target / "run").stat().st_mode) == 0o500
    assert stat.S_IMODE((target / "data").stat().st_mode) == 0o400


def test_what_computers_leave_behind_is_left_out(tmp_path: Path, target: Path) -> None:
    junk = ("__MACOSX/._main.py", ".DS_Store", "lib/__pycache__/a.pyc", ".git/config", "._main.py")
    zipped(tmp_path / "a.zip", {"main.py": BOT, **dict.fromkeys(junk, "")})
    unpack(tmp_path / "a.zip", target, "a")
    assert inside(target) == {"main.py"}
    assert is_ignored("__MACOSX")
    assert not is_ignored(".gitignore")


def test_backslashes_of_windows_are_folders(tmp_path: Path, target: Path) -> None:
    zipped(tmp_path / "a.zip", {"bot\\main.py": BOT, "bot\\lib\\": ""})
    unpack(tmp_path / "a.zip", target, "a")
    assert inside(target) == {"bot", "bot/main.py", "bot/lib"}


def test_names_in_utf_8_that_do_not_say_so(tmp_path: Path, target: Path) -> None:
    zipped(tmp_path / "a.zip", {"m__n.txt": ""})
    data = (tmp_path / "a.zip").read_bytes().replace(b"m__n", "m\u00fcn".encode())
    (tmp_path / "a.zip").write_bytes(data)
    unpack(tmp_path / "a.zip", target, "a")
    assert inside(target) == {"m\u00fcn.txt"}


def test_a_zip_with_another_name_is_still_a_zip(tmp_path: Path, target: Path) -> None:
    zipped(tmp_path / "a.tar.gz", {"main.py": BOT})
    unpack(tmp_path / "a.tar.gz", target, "a")
    assert inside(target) == {"main.py"}
    assert is_archive("HW3.ZIP")
    assert without_suffix("hw3.tar.GZ") == "hw3"
    assert without_suffix(".zip") == ".zip"


def test_a_bomb_costs_little_memory(tmp_path: Path, target: Path) -> None:
    words, build = HOSTILE["long-header.tar.gz"]
    build(tmp_path / "a.tar.gz")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(PlayerError, match=words):
        unpack(tmp_path / "a.tar.gz", target, "a")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_full_disk_is_no_fault_of_the_hand_in(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zipped(tmp_path / "a.zip", {"lib/main.py": BOT})

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "mkdir", full)
    with pytest.raises(RefereeError, match="No space left") as caught:
        unpack(tmp_path / "a.zip", target, "a")
    assert not isinstance(caught.value, UsageError)


def never(*_: object) -> bool:
    return False


@pytest.mark.slow
def test_in_the_archive_of_a_class_each_hand_in_has_its_own_limits(tmp_path: Path, target: Path) -> None:
    files: dict[str, bytes | str] = {f"bob/{number}": "" for number in range(10_005)}
    files |= {"alice/main.py": BOT, "carol.py": bytes(300 << 20), "../dave.py": "", "/erin/main.py": "", "frank/link": "x", "zoe.py": BOT}
    zipped(tmp_path / "class.zip", files, {"frank/link": stat.S_IFLNK | 0o777})
    refused = unpack_class(tmp_path / "class.zip", target, never)
    assert set(refused) == {"bob", "carol.py", "../dave.py", "erin", "frank"}
    assert refused["bob"] == "The hand-in 'bob' has more than 10,000 files; submit only the bot's own files."
    assert "The hand-in 'carol.py' has more than 256 MiB" in refused["carol.py"]
    assert "'../dave.py' has a path that leads out of it" in refused["../dave.py"]
    assert {"alice", "alice/main.py", "zoe.py"} <= inside(target)


def test_a_folder_around_a_class_is_left_out(tmp_path: Path, target: Path) -> None:
    tarred(tmp_path / "class.tar.gz", {"export/a/main.py": BOT, "export/b.py": BOT, "__MACOSX/._x": ""})
    seen: list[object] = []

    def is_wrapper(name: str, inner: Collection[str]) -> bool:
        seen.append((name, set(inner)))
        return name == "export"

    assert unpack_class(tmp_path / "class.tar.gz", target, is_wrapper) == {}
    assert inside(target) == {"a", "a/main.py", "b.py"}
    assert seen == [("export", {"a", "b.py"})]


def test_the_archive_of_a_class_that_can_not_be_read(tmp_path: Path, target: Path) -> None:
    (tmp_path / "class.zip").write_bytes(b"PK but nothing else")
    with pytest.raises(UsageError, match=r"'class.zip' is an archive that can't be read"):
        unpack_class(tmp_path / "class.zip", target, never)


NAMES = st.text(st.characters(codec="utf-8") | st.sampled_from("/\\.~-\n\0 :"), min_size=1, max_size=60)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(NAMES | st.sampled_from(["..", "/", "a/..", "../x", "a", "A", "a/b", "a/"]), min_size=1, max_size=6),
    is_tar=st.booleans(),
)
def test_no_name_leads_out(names: list[str], is_tar: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("names")
    target = home / "target"
    target.mkdir()
    files = dict.fromkeys(names, b"x")
    path = (tarred if is_tar else zipped)(home / ("a.tar" if is_tar else "a.zip"), files)
    try:
        unpack(path, target, "a")
    except PlayerError as error:
        assert str(error).isprintable()
    assert set(os.listdir(home)) == {path.name, "target"}
    assert all(os.path.realpath(found).startswith(str(target)) for found in target.rglob("*"))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.integers(0, 2000), new=st.binary(min_size=1, max_size=12), is_tar=st.booleans())
def test_a_spoilt_archive_is_unpacked_or_refused(where: int, new: bytes, is_tar: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("spoilt")
    target = home / "target"
    target.mkdir()
    path = (tarred if is_tar else zipped)(home / ("a.tar" if is_tar else "a.zip"), {"main.py": BOT, "lib/a.py": BOT, "b" * 120: BOT})
    data = bytearray(path.read_bytes())
    where %= len(data)
    data[where : where + len(new)] = new
    path.write_bytes(data)
    try:
        unpack(path, target, "a")
    except PlayerError as error:
        assert str(error).isprintable()
    assert set(os.listdir(home)) == {path.name, "target"}


KINDS = {
    "RAR": b"Rar!\x1a\x07\x01\x00",
    "7z": b"7z\xbc\xaf\x27\x1c",
    "xz": b"\xfd7zXZ\x00",
    "bzip2": b"BZh91AY&SY",
    "zstd": b"(\xb5/\xfd",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", [".zip", ".tar.gz"])
def test_an_archive_of_another_kind_is_known_by_its_content(kind: str, end: str, tmp_path: Path, target: Path) -> None:
    path = tmp_path / f"hw{end}"
    path.write_bytes(KINDS[kind] + bytes(500))
    with pytest.raises(PlayerError) as caught:
        unpack(path, target, path.name)
    assert str(caught.value) == (
        f"The hand-in '{path.name}' is an archive of the kind {kind}, whatever its name says; submit a zip or tar.gz file."
    )
    with pytest.raises(
        UsageError, match=f"of the kind {kind}, whatever its name says; unpack it with another program, and name the folder."
    ):
        unpack_class(path, target, lambda *_: False)


def test_a_web_page_is_no_archive(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "hw.zip"
    path.write_text("<!DOCTYPE html>\n<title>Sign in</title>")
    with pytest.raises(PlayerError, match=r"'hw\.zip' is a web page and not an archive"):
        unpack(path, target, path.name)


def test_a_name_that_is_not_utf8_though_the_archive_says_so(tmp_path: Path, target: Path) -> None:
    path = badly_named(tmp_path / "hw.zip", b"M\xfcller.py")
    with pytest.raises(PlayerError) as caught:
        unpack(path, target, path.name)
    told = "The hand-in 'hw.zip' has a file name that is not UTF-8, though the archive says so: 'M\ufffdller.py'; rename that file, or"
    assert str(caught.value) == f"{told} pack it again."
    with pytest.raises(UsageError, match="rename that file, or unpack it with another program, and name the folder"):
        unpack_class(path, target, lambda *_: False)
