"""The commands of leagues, with real bots."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from leagues import write_league

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Referee = Callable[..., subprocess.CompletedProcess[str]]


def standings(referee: Referee, folder: Path) -> list[dict[str, Any]]:
    """The standings as ``--json`` prints them."""
    found: list[dict[str, Any]] = json.loads(referee("league", "standings", folder, "--json").stdout)["standings"]
    return found


def test_a_league_from_its_file_to_its_report(referee: Referee, tmp_path: Path) -> None:
    file = write_league(tmp_path / "in", 3)
    out = tmp_path / "out"
    done = referee("league", "run", file, "--out", out, "--slots", "2")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "test: 3 teams, round-robin, 2 at once" in done.stderr
    assert re.search(r"T0 +1", done.stdout)
    resumed = referee("league", "resume", out, "--json")
    found = json.loads(resumed.stdout)
    assert found["complete"]
    assert found["matches"] == {"planned": 0, "done": 6, "stopped": 0, "voids": 0, "total": 6}
    assert [row["team"] for row in found["standings"]] == ["T0", "T1", "T2"]
    for columns in (40, 60, 120):
        lines = referee("league", "standings", out, env={"COLUMNS": f"{columns}"}).stdout.splitlines()
        assert len(lines) == 4
        assert max(map(len, lines)) <= columns
    checked = referee("league", "verify", out)
    assert (checked.returncode, checked.stdout) == (0, "6 replays checked, 0 problems.\n")
    page = referee("league", "report", out)
    assert page.returncode == 0, page.stderr
    assert (out / "report.html").stat().st_size > 10_000
    rows = list(csv.DictReader(referee("league", "export", out, "--csv").stdout.splitlines()))
    assert len(rows) == 6
    assert {row["hunter"] for row in rows} == {"T0", "T1", "T2"}
    matches = json.loads(referee("league", "export", out, "--json").stdout)["matches"]
    assert [match["reason"] for match in matches] == ["evaded"] * 6


@pytest.mark.slow
def test_a_tampered_replay_is_found(referee: Referee, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert referee("league", "run", write_league(tmp_path / "in", 3), "--out", out).returncode == 0
    replay = next((out / "replays").rglob("*.gz"))
    whole = replay.read_bytes()
    replay.write_bytes(whole[: len(whole) // 2])
    checked = referee("league", "verify", out)
    assert checked.returncode == 1
    assert str(replay) in checked.stdout
    replay.unlink()
    assert "the file is missing" in referee("league", "verify", out).stdout
    with contextlib.closing(sqlite3.connect(out / "league.sqlite")) as store, store:
        (result,) = store.execute("select result from records where key <> ? limit 1", (replay.name.partition(".")[0],)).fetchone()
        store.execute("update records set result = ? where result = ?", (result.replace('"steps":40', '"steps":39'), result))
    assert "its steps differs from the store's" in referee("league", "verify", out).stdout


def test_the_database_of_something_else_and_of_a_newer_version_are_refused(referee: Referee, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "league.sqlite")) as store, store:
        store.execute("create table cats (name text)")
    assert "is the database of something else" in referee("league", "standings", ".").stderr
    out = tmp_path / "out"
    assert referee("league", "run", write_league(tmp_path / "in", 2), "--out", out).returncode == 0
    with contextlib.closing(sqlite3.connect(out / "league.sqlite")) as store, store:
        store.execute("update about set value = '99' where name = 'version'")
    newer = referee("league", "resume", out)
    assert newer.returncode == 2
    assert "newer version of the referee" in newer.stderr
    (out / "league.sqlite").write_bytes(b"not a database at all, but long enough to look like one" * 100)
    broken = referee("league", "resume", out)
    assert broken.returncode == 2
    assert "can't be opened" in broken.stderr
