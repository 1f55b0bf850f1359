"""referee profile: percentiles of billed times, the longest answers, and the functions of a Python bot."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from conftest import HOSTILE, play_match
from serving import PATIENCE

import referee as package
from referee.author import sampling
from referee.author.profile import percentile
from referee.author.sampling import Samples
from referee.match.options import TimeControl

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Commands

    Cli = Callable[..., subprocess.CompletedProcess[str]]

#: A prey that works in one function, long enough for samples however quick the machine is.
BUSY = """from sdk import PreyBot

def burn():
    total = 0
    for number in range(400_000):
        total += number * number
    return total

class Busy(PreyBot):
    def flee(self, state):
        burn()

if __name__ == "__main__":
    Busy.main()
"""
#: Limits that no busy machine reaches.
PATIENTLY = ("--move-time", "none", "--bank", "none", "--startup", "60")


def profiled(referee: Cli, *words: str | Path) -> dict[str, Any]:
    done = referee("profile", *words, *PATIENTLY, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    path = tmp_path / "busy.py"
    path.write_text(BUSY)
    return path


def test_the_functions_of_a_bot_are_found_and_drawn(referee: Cli, busy: Path, tmp_path: Path) -> None:
    found = profiled(referee, "busy.py", "straight", "--seat", "prey", "--max-steps", "30", "--flame", "flame.svg")
    samples = found["samples"]
    assert samples["problem"] is None, samples
    assert samples["count"] > 0
    by_name = {one["name"]: one for one in samples["functions"]}
    assert by_name["burn (busy.py:3)"]["self"] > 0
    # A stack that is read while the bot changes it can lack its callers.
    assert by_name["Busy.flee (busy.py:10)"]["total"] >= 0.9 * by_name["burn (busy.py:3)"]["self"]
    assert by_name["<module> (busy.py:1)"]["total_share"] <= 1
    assert found["flame"] == "flame.svg"
    titles = [title.text or "" for title in ET.parse(tmp_path / "flame.svg").iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.startswith("burn (busy.py:3) (") for title in titles), titles


def test_the_times_are_those_of_the_replays(referee: Cli, tmp_path: Path) -> None:
    found = profiled(referee, "runner", "straight", "--games", "2", "--max-steps", "40", "--seed", "7")
    assert (found["seat"], found["seed"], found["clock"], found["isolation"]) == ("prey", 7, TimeControl().to_json()["kind"], "none")
    replays = [package.open_replay(tmp_path / game["replay"]) for game in found["games"]]
    assert [replay.head["seed"] for replay in replays] == [7, 8]
    times = sorted(step.seconds["prey"] for replay in replays for step in replay.steps() if "prey" in step.seconds)
    assert found["answers"] == len(times)
    assert found["seconds"] == pytest.approx(sum(times))
    assert found["percentiles"] == {f"p{p}": pytest.approx(times[max(0, -(-len(times) * p // 100) - 1)]) for p in (50, 90, 99)}
    longest = found["longest"][0]
    assert longest["seconds"] == pytest.approx(times[-1])
    (replay,) = (replay for replay, game in zip(replays, found["games"], strict=True) if game["replay"] == longest["replay"])
    assert list(replay.steps())[longest["step"]].seconds["prey"] == pytest.approx(times[-1])
    assert longest["watch"].endswith(f"{longest['replay']} --step {longest['step']}")


def test_the_text_has_the_percentiles_the_longest_and_the_next_command(referee: Cli, busy: Path) -> None:
    done = referee("profile", "busy.py", "straight", "--seat", "prey", "--max-steps", "20", *PATIENTLY)
    assert done.returncode == 0, done.stderr
    for words in (
        "prey busy.py against straight: 1 game, ",
        "  p50 ",
        "  p90 ",
        "  p99 ",
        "longest answers:",
        "burn (busy.py:3)",
        "Next:  ",
    ):
        assert words in done.stdout


def test_a_bot_in_another_language_has_percentiles_only(referee: Cli, tmp_path: Path) -> None:
    client = tmp_path / "client.sh"
    client.write_text(
        '#!/bin/sh\nread start\necho \'{"type":"ready","protocol":1}\'\n'
        'while read line; do case $line in *\'"type":"turn"\'*) n=${line#*turn\\":}; n=${n#*turn\\":}; n=${n%%,*}\n'
        'echo "{\\"type\\":\\"move\\",\\"turn\\":$n,\\"move\\":{}}";; esac; done\n'
    )
    client.chmod(0o755)
    found = profiled(referee, "client.sh", "still", "--max-steps", "20")
    assert found["answers"] == 20
    assert set(found["percentiles"]) == {"p50", "p90", "p99"}
    assert found["samples"]["functions"] == []
    assert "no Python program" in found["samples"]["problem"]


@pytest.mark.parametrize("columns", [40, 60])
@pytest.mark.parametrize("command", ["profile", "play"])
def test_lines_fit_a_narrow_terminal_and_paths_stay_whole(command: str, columns: int, referee: Cli) -> None:
    words = (command, "boxer", "runner", "--max-steps", "60", "--isolation", "none", "--quiet")
    done = referee(*words, env={"COLUMNS": str(columns)})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if len(line) > columns and ".replay.jsonl.gz" not in line] == []
    assert [line for line in lines if re.fullmatch(r"(  replay)? +matches/replays/\S+\.replay\.jsonl\.gz", line)]


def test_a_bot_that_cannot_start_exits_3(referee: Cli) -> None:
    done = referee("profile", HOSTILE / "exits_at_once.py", "still")
    assert done.returncode == 3
    assert "exited with status 7" in done.stdout
    assert "p50" not in done.stdout


REFUSED = [
    (["boxer", "human"], "referee profile is for programs"),
    (["boxer", "runner", "--seat", "cat"], "--seat is 'cat', but must be hunter or prey."),
    (["boxer", "missing.py"], "The prey 'missing.py' does not exist"),
    (["boxer", "runner", "--seat", "prey"], "is an example that plays"),
    (["boxer", "runner", "--flame", "nowhere/flame.svg"], "--flame nowhere/flame.svg is in a folder that does not exist"),
    (["boxer", "runner", "--flame", "."], "--flame . is a folder"),
    (["boxer", "runner", "--games", "0"], "Invalid value for"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
def test_what_makes_no_sense_is_refused(words: list[str], said: str, referee: Cli) -> None:
    done = referee("profile", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_next_command_opens_the_step(commands: Commands, tmp_path: Path) -> None:
    play_match("straight", "still", replay=tmp_path / "g.replay.jsonl.gz", max_steps=20)
    process = commands.start("watch", "g.replay.jsonl.gz", "--step", "12", "--no-browser", "--port", "0", cwd=tmp_path)
    try:
        assert re.fullmatch(r"http://\S+/#t=12\n", process.stdout.readline())
    finally:
        process.terminate()
        process.communicate(PATIENCE)


def test_percentiles_are_values_that_occurred() -> None:
    values = list(range(1, 101))
    assert [percentile(values, p) for p in (50, 90, 99, 100)] == [50, 90, 99, 100]
    assert [percentile([3, 8], p) for p in (50, 90)] == [3, 8]
    assert percentile([5], 1) == 5


def test_samples_are_summed_by_function() -> None:
    samples = Samples()
    samples.add(["main (a.py:1);f (a.py:2);f (a.py:2) 3", "main (a.py:1);g (a.py:9) 2", "", "nothing", " 4", "esc\x1b[31m 1"])
    assert samples.count == 6
    assert [tuple(one) for one in samples.functions()] == [
        ("f (a.py:2)", 3, 3),
        ("g (a.py:9)", 2, 2),
        ("esc\\x1b[31m", 1, 1),
        ("main (a.py:1)", 0, 5),
    ]


def test_what_the_system_forbids_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scope = tmp_path / "scope"
    monkeypatch.setattr(sampling, "YAMA", scope)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert sampling.obstacle() is None
    assert sampling.wrapper() == ()
    scope.write_text("1\n")
    assert sampling.obstacle() is None
    (script,) = sampling.wrapper()
    done = subprocess.run([sys.executable, "-I", "-S", script, shutil.which("echo") or "", "hello"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    scope.write_text("3\n")
    assert "only root" in (sampling.obstacle() or "")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert sampling.obstacle() is None
    assert sampling.wrapper() == ()


def test_without_py_spy_there_are_percentiles_and_no_flame_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.author.profile import _usable_spy
    from referee.errors import UsageError

    monkeypatch.setattr(sampling, "py_spy", lambda: None)
    spy, problem = _usable_spy(None)
    assert spy is None
    assert "-m pip install py-spy" in (problem or "")
    with pytest.raises(UsageError, match=r"--flame needs py-spy; install what is missing: .* -m pip install py-spy"):
        _usable_spy(Path("flame.svg"))
