"""Files: written whole or not at all, and opened without links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.support import files


def test_a_file_is_replaced_at_once_and_nothing_else_is_left(tmp_path: Path) -> None:
    place = tmp_path / "report.json"
    place.write_bytes(b"old")
    with place.open("rb") as reader:
        files.write_whole(place, b"new")
        assert reader.read() == b"old"
    assert place.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["report.json"]


def test_what_is_no_file_gets_the_data_and_stays_what_it_is(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    files.write_whole(fifo, b"new")
    assert os.read(reader, 100) == b"new"
    os.close(reader)
    assert fifo.is_fifo()

    target = tmp_path / "target"
    with target.open("wb") as opened:
        files.write_whole(f"/dev/fd/{opened.fileno()}", b"new")
    assert target.read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["fifo", "target"]


@pytest.mark.parametrize("failing", ["write", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "report.json"
    place.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    if failing == "replace":
        monkeypatch.setattr(os, "replace", fail)
    with pytest.raises((OSError, TypeError)) as caught:
        files.write_whole(place, "no bytes" if failing == "write" else b"new")  # type: ignore[arg-type]
    assert place.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.json"]
    if failing == "replace":
        assert getattr(caught.value, "filename", None) == str(place)


def test_nothing_above_a_folder_and_no_link_below_it_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "team").mkdir(parents=True)
    for path in (folder / "a", folder / "team" / "a", tmp_path / "a"):
        path.write_text("data")
    (folder / "link").symlink_to(folder / "a")
    (folder / "away").symlink_to(tmp_path)
    os.mkfifo(folder / "fifo")
    for name in ("a", "team/a"):
        with files.open_regular(folder / name, folder) as file:
            assert file.read() == b"data"
    for name in ("link", "away/a", "../a", "team/../../a", "fifo", "team", "missing", "a/a", "."):
        with pytest.raises(OSError, match=r"."):
            files.open_regular(folder / name, folder)
    for path in (tmp_path / "a", Path("/dev/stdin"), Path("a")):
        with pytest.raises(OSError, match="not below"):
            files.open_regular(path, folder)


@pytest.mark.skipif(not os.access("/dev", os.W_OK), reason="only root may make a name among the devices")
def test_a_device_that_leads_nowhere_is_not_replaced() -> None:
    # As /dev/stdout does where stdout was closed: every program of the machine needs it.
    place = Path(f"/dev/referee-test-{os.getpid()}")
    place.symlink_to("/proc/self/fd/9999")
    try:
        with pytest.raises(OSError):
            files.write_whole(place, b"text")
        assert place.is_symlink()
    finally:
        place.unlink()
