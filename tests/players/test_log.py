"""A bot's stderr on disk."""

from __future__ import annotations

from pathlib import Path

from referee.players.log import Log


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
    log.flush()
    log.close()
    assert not (tmp_path / "bot.log").exists()
    assert log.last_lines() == []
