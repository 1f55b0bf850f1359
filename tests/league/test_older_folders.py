"""Folders of leagues of before 2.0 are refused in one sentence; their replays verify."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from referee.version import __version__

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Referee = Callable[..., subprocess.CompletedProcess[str]]

DATA = Path(__file__).parents[1] / "data" / "leagues" / "earlier.tar.gz"
REFUSAL = (
    f"referee: earlier/out was written by an earlier version of the referee, and this is version {__version__}: go on with the version that wrote "
    "it, or begin anew in another folder.\n"
)


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A league of three folders, as version 0.1 left it."""
    with tarfile.open(DATA) as archive:
        archive.extractall(tmp_path)
    return tmp_path / "earlier"


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_command_refuses_an_older_league_and_changes_nothing(earlier: Path, referee: Referee) -> None:
    before = contents(earlier)
    for words in (
        ("league", "resume", "earlier/out"),
        ("league", "standings", "earlier/out"),
        ("league", "report", "earlier/out"),
        ("league", "export", "earlier/out", "--csv"),
        ("league", "verify", "earlier/out"),
        ("league", "run", "earlier/league.toml", "--out", "earlier/out"),
    ):
        done = referee(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", REFUSAL), words
    done = referee("compare", "boxer", "straight", "--out", "earlier/out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(
        "referee: earlier/out holds a league, so no comparison can be kept there; name another folder with --out.\n"
    )
    assert contents(earlier) == before


def test_the_replays_of_an_older_league_verify(earlier: Path, referee: Referee) -> None:
    replays = sorted((earlier / "out" / "replays").rglob("*.gz"))
    assert len(replays) == 6
    done = referee("verify", *replays)
    assert done.returncode == 0, done.stderr
