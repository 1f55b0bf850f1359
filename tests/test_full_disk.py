"""Bots that write as much as they can, and disks that are full."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from conftest import UNHURRIED, play_match

from referee.isolation.level import Level
from referee.isolation.limits import Limits
from referee.replay.reader import verify

if TYPE_CHECKING:
    from pathlib import Path

    from referee.replay.events import StepTaken

TALKS = """
import json, random, sys
random.seed(1)
text = "".join(chr(random.randrange(0x4e00, 0x9fff)) for _ in range(500))
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "turn":
        for notice in message["notices"]:
            print("told", notice["code"], notice["text"], file=sys.stderr, flush=True)
        draw = [{"shape": "text", "at": [random.randrange(300), 1], "text": str(random.random())} for _ in range(150)]
        print(json.dumps({"type": "move", "turn": message["turn"], "move": {}, "say": text, "draw": draw}), flush=True)
"""


@pytest.fixture
def talker(tmp_path: Path) -> Path:
    path = tmp_path / "talks.py"
    path.write_text(TALKS)
    return path


@pytest.mark.slow
def test_what_a_bot_says_has_a_budget_and_it_is_told_once(talker: Path, tmp_path: Path) -> None:
    from referee.replay.events import Listener

    seen: list[StepTaken] = []

    class Recorder(Listener):
        def stepped(self, event: StepTaken) -> None:
            seen.append(event)

    replay = tmp_path / "match.replay.jsonl.gz"
    limits = Limits(remarks_bytes=100_000)
    options = UNHURRIED._replace(isolation=Level(limits=limits))
    result = play_match(str(talker), "still", options=options, replay=replay, listeners=[Recorder()], max_steps=300)
    assert not result.faults
    told = [event.turn for event in seen if any(answer.remark is not None for answer in event.answers.values())]
    assert 3 < len(told) < 30
    assert told == list(range(len(told)))
    last = seen[told[-1]].answers["hunter"].remark
    assert last is not None
    text = "say, draw and warnings are no longer kept in the replay: their budget of 97.66 KiB is used up"
    assert last.to_json() == {"warnings": [text], "codes": ["budget-spent"]}
    assert replay.stat().st_size < 100_000
    assert verify(replay).problem is None
    log = result.logs["hunter"].read_text()
    assert log.count("no longer kept in the replay") == 1


def full(folder: Path, command: list[str]) -> list[str]:
    """A command that runs where there is room for 60 KiB in a folder."""
    script = (
        f"mount -t tmpfs -o size=60k none {shlex.quote(str(folder))} && cd {shlex.quote(str(folder))} && {shlex.join(command)}; status=$?; "
    )
    return ["unshare", "--mount", "sh", "-c", f"{script}cp -a . {shlex.quote(str(folder))}-kept; exit $status"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["full disk", "limit on a file"])
def test_a_full_disk_leaves_what_was_played(how: str, talker: Path, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    kept = folder
    command = [sys.executable, "-m", "referee", "play", str(talker), "still", "--isolation", "none", "--max-steps", "2000", "--json"]
    command += ["--out", f"{folder}/match.replay.jsonl.gz"]
    options: dict[str, Any] = {}
    if how == "full disk":
        if os.geteuid() != 0:
            pytest.skip("only root can make a small disk")
        command = full(folder, command)
        kept = tmp_path / "disk-kept"
    else:
        options["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 4, done.stderr
    report = json.loads(done.stdout)
    why = "No space left on device" if how == "full disk" else "File too large"
    assert f"can't be continued ({why}): it is good up to step {report['steps']:,}" in report["error"]
    assert "Traceback" not in done.stderr
    replay = kept / "match.replay.jsonl.gz"
    assert report["replay"].endswith("match.replay.jsonl.gz")
    found = verify(replay)
    assert found.problem is not None
    assert found.problem.kind == "cut"
    assert found.turns == report["steps"] > 0


def test_a_log_that_cannot_be_written_costs_nothing(tmp_path: Path, talker: Path) -> None:
    noisy = tmp_path / "noisy.py"
    noisy.write_text(
        TALKS.replace("        draw =", "        print('x' * 5000, file=sys.stderr, flush=True)\n        draw =").replace(
            '"say": text, "draw": draw', '"say": ""'
        )
    )
    command = [sys.executable, "-m", "referee", "play", str(noisy), "still", "--isolation", "none", "--max-steps", "30", "--json"]
    limit = (20_000, 20_000)
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "noisy.replay.jsonl.gz")],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["steps"] == 30
    assert 15_000 < os.path.getsize(report["logs"]["hunter"]) <= 20_000
