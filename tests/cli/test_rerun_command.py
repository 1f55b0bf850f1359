"""``referee rerun`` on the command line."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from conftest import play_match

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def replay(tmp_path: Path) -> str:
    """A match of 20 steps, in which the prey is asked 10 times."""
    play_match("straight", "runner", replay=tmp_path / "game.gz", max_steps=20)
    return "game.gz"


def test_the_same_bot(referee: Cli, replay: str) -> None:
    done = referee("rerun", replay, "--seat", "prey", "runner")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "all 10 answers equal: this bot played this match",
        "The bot's file has the hash that the replay names.",
    ]


def test_the_answers_of_another_bot_are_compared_with_the_recorded_ones(referee: Cli, replay: str) -> None:
    done = referee("rerun", replay, "--seat", "prey", "still", "--differences", "2")
    assert done.returncode == 1
    first, second, more, verdict, file, clock = done.stdout.splitlines()
    assert first.startswith("step 1: recorded {")
    assert first.endswith("; now {}")
    assert second.startswith("step 3: ")
    assert more == "... and 8 more"
    assert verdict == "10 of 10 answers differ"
    assert file == "The bot's file is not the one whose hash the replay names."
    assert "looks at the clock" in clock


def test_json_counts_the_answers_that_are_equal_and_that_differ(referee: Cli, replay: str) -> None:
    found = json.loads(referee("rerun", replay, "--seat", "prey", "runner", "--json").stdout)
    assert found["ok"] is True
    assert (found["answers"], found["equal"], found["differing"], found["unasked"]) == (10, 10, 0, 0)
    done = referee("rerun", replay, "--seat", "prey", "still", "--json", "--differences", "1")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["ok"], found["differing"], found["seat"]) == (False, 10, "prey")
    ((difference),) = found["differences"]
    assert difference["step"] == 1
    assert difference["new"] == {"kind": "move", "move": {}}


def test_the_exit_status_says_what_is_wrong(referee: Cli, replay: str, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("#!/no/such/interpreter\n")
    (tmp_path / "odd").chmod(0o755)
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"text\n"))
    for words, status, text in (
        ((replay, "--seat", "c", "runner"), 2, "has no seat 'c'; there are hunter, prey"),
        ((replay, "--seat", "prey", "nobody.py"), 2, "does not exist"),
        ((replay, "--seat", "prey", "human"), 2, "Only a program can be asked again"),
        ((replay, "--seat", "prey", "runner", "--isolation", "much"), 2, "--isolation is 'much'"),
        ((replay, "nobody.py"), 2, "name the seat, as in"),
        ((replay, "--seat", "prey", "./odd", "--isolation", "none"), 3, "can't be started"),
        (("text.gz", "--seat", "prey", "runner"), 2, "the first line is not JSON"),
        (("nothing.gz", "--seat", "prey", "runner"), 2, "can't be read"),
    ):
        done = referee("rerun", *words)
        assert done.returncode == status, done.stderr
        assert text in done.stderr
        assert "Traceback" not in done.stderr


def test_a_bot_that_is_never_ready(referee: Cli, replay: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("raise SystemExit(4)\n")
    done = referee("rerun", replay, "--seat", "prey", "bot.py", "--isolation", "none")
    assert done.returncode == 1
    assert done.stdout.startswith("before the first step: recorded it was ready; now The prey")
    assert "none of 10 answers compared: the bot failed before its first question" in done.stdout


def test_a_strict_sandbox(referee: Cli, replay: str) -> None:
    from sandboxes import missing, need

    need(not missing(), missing())
    assert referee("rerun", replay, "--seat", "hunter", "straight", "--isolation", "strict").returncode == 0
