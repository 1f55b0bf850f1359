"""A bot's stderr on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.isolation.file_names import FileNames
from referee.isolation.log import Log


def test_kept_to_the_cap_and_counted_on(tmp_path: Path) -> None:
    log = Log(tmp_path / "bot.log", 10)
    log.take(b"12345")
    log.take(b"6789012345")
    log.take(b"more\nthe last line\n\n")
    log.close()
    assert (tmp_path / "bot.log").read_bytes() == b"1234567890"
    assert (log.total, log.kept) == (35, 10)
    assert log.last_lines()[-1] == b"the last line"


def test_no_file_for_a_silent_bot(tmp_path: Path) -> None:
    log = Log(tmp_path / "bot.log", 10)
    log.close()
    assert not (tmp_path / "bot.log").exists()
    assert log.last_lines() == []


def test_the_end_of_a_long_log_stays_in_memory() -> None:
    log = Log(None, 0)
    log.take(b"early\n")
    before = log.total
    assert log.tail(before) == ""
    for _ in range(300):
        log.take(b"x" * 999 + b"\n")
    log.take("the last lin\u00e9\n".encode() + b"\xff")
    assert log.tail().endswith("\nthe last lin\u00e9\n\ufffd")
    assert len(log.tail().encode()) <= 65_540
    assert log.tail(log.total - 3) == "\ufffd\n\ufffd"
    assert log.last_lines()[-2] == "the last lin\u00e9".encode()
    assert sum(map(len, log.last_lines())) <= 4096


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 1_000])
def test_paths_are_renamed_however_the_text_is_cut(tmp_path: Path, size: int) -> None:
    said = b'  File "/bot/my.py", line 3, in hunt\nthe folder /bot/data and /botany, at last /bot/my.py'
    log = Log(tmp_path / "bot.log", 1_000)
    log.rename_files(FileNames((("/bot", "bots"), ("/bot/my.py", "bots/my.py"))).named_bytes)
    for at in range(0, len(said), size):
        log.take(said[at : at + size])
    wanted = b'  File "bots/my.py", line 3, in hunt\nthe folder bots/data and /botany, at last bots/my.py'
    assert log.last_lines()[-1].endswith(b"at last bots/my.py"), "a reader also gets a path that may go on"
    log.close()
    assert (tmp_path / "bot.log").read_bytes() == wanted
    assert log.total == log.kept == len(wanted)


@pytest.mark.parametrize("size", [1, 3, 7, 50, 1_000])
def test_a_path_with_a_space_in_it_is_renamed_however_the_text_is_cut(tmp_path: Path, size: int) -> None:
    """The part before the space was kept as soon as the next word had begun."""
    said = b"I am /home/ada/my bots/a b.py in /home/ada/my bots\nand " + b"/x" * 3_000 + b" /home/ada/my"
    log = Log(tmp_path / "bot.log", 10_000)
    log.rename_files(FileNames((("/home/ada/my bots", "my bots"),)).published)
    for at in range(0, len(said), size):
        log.take(said[at : at + size])
    log.close()
    assert (tmp_path / "bot.log").read_bytes() == b"I am my bots/a b.py in my bots\nand " + b"/x" * 3_000 + b" /home/ada/my"
