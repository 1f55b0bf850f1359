"""referee play and duel, as a user types them."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import read_to_end
from conftest import HOSTILE
from recorded_games import records

from referee.isolation.limits import LEVELS
from referee.match.options import TimeControl

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]


def test_json_is_one_object_on_stdout(referee: Cli) -> None:
    done = referee("play", "boxer", "runner", "--json", "--seed", "4")
    result = json.loads(done.stdout)
    assert result["reason"] == "caught"
    assert result["winner"] == "hunter"
    assert result["scores"] == {"hunter": result["steps"]}
    assert result["seed"] == 4
    assert result["started"] is True
    assert result["isolation"] in LEVELS
    assert Path(result["replay"]).name.endswith(".replay.jsonl.gz")
    assert set(result["players"]["prey"]) == {"name", "program", "fault", "time"}


def test_a_bot_that_cannot_start_exits_3_with_an_object(referee: Cli, tmp_path: Path) -> None:
    done = referee("play", "straight", HOSTILE / "exits_at_once.py", "--json", "--isolation", "none")
    assert done.returncode == 3
    result = json.loads(done.stdout)
    assert result["started"] is False
    assert result["players"]["prey"]["fault"]["detail"]["status"] == 7
    broken = tmp_path / "broken"
    broken.write_text("nothing\n")
    broken.chmod(0o755)
    done = referee("play", "straight", broken, "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["exit_code"] == 3
    assert "can't be started" in json.loads(done.stdout)["error"]
    assert not list(tmp_path.glob("matches/replays/*broken*.gz")), "no empty replay is left"


def test_only_a_replay_is_replaced(referee: Cli, tmp_path: Path) -> None:
    words = ("play", "straight", "still", "--isolation", "none", "--max-steps", "5", "-q", "--out", "mine.gz")
    (tmp_path / "mine.gz").write_text("")
    assert referee(*words).returncode == 0
    whole = (tmp_path / "mine.gz").read_bytes()
    # One that breaks off is a replay, too.
    for replay in (whole, whole[: len(whole) // 2], whole[:10]):
        (tmp_path / "mine.gz").write_bytes(replay)
        assert referee(*words).returncode == 0
    for other in (b"my notes\n", b"\x00\xff", gzip.compress(b"my notes\n"), gzip.compress(b'{"type":"other"}\n')):
        (tmp_path / "mine.gz").write_bytes(other)
        done = referee(*words)
        assert done.returncode == 2
        assert "mine.gz exists, and this command did not write it; name another place with --out" in " ".join(done.stderr.split())
        assert (tmp_path / "mine.gz").read_bytes() == other
    # With --force it is replaced, under this one of its names.
    os.link(tmp_path / "mine.gz", tmp_path / "other.gz")
    assert referee(*words, "--force").returncode == 0
    assert ((tmp_path / "mine.gz").read_bytes()[:2], (tmp_path / "other.gz").read_bytes()) == (b"\x1f\x8b", other)
    (tmp_path / "mine.gz").unlink()
    os.mkfifo(tmp_path / "mine.gz")
    done = referee(*words)
    assert (done.returncode, "not an ordinary file" in done.stderr) == (2, True)


@pytest.mark.parametrize("columns", [40, 60])
def test_lines_fit_a_narrow_terminal_and_paths_stay_whole(columns: int, referee: Cli) -> None:
    words = ("play", "boxer", "runner", "--max-steps", "60", "--isolation", "none")
    done = referee(*words, env={"COLUMNS": str(columns)})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if len(line) > columns and "matches/replays/" not in line] == []
    assert [line for line in lines if re.fullmatch(r"  replay +matches/replays/\S+\.replay\.jsonl\.gz", line)]


def test_all_settings_reach_the_match(referee: Cli) -> None:
    done = referee(
        *(
            "play",
            "straight",
            "still",
            "--rules",
            "diagonal",
            "--size",
            "50x40",
            "--hunter",
            "3,4,-1,1",
            "--prey",
            "30,20",
            "-N",
            "7",
            "-M",
            "2",
        ),
        *(
            "--max-steps",
            "12",
            "--set",
            "capture_radius=2",
            "--move-time",
            "none",
            "--bank",
            "50.5",
            "--increment",
            "0.5",
            "--startup",
            "9",
            "--seed",
            "0",
        ),
        *("--cores", "0", "--idle", "run", "--on-malformed", "pass", "--out", "here/", "--json"),
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["replay"].startswith("here/")
    shown = json.loads(referee("show", "--json", result["replay"]).stdout)
    head = shown["head"]
    assert head["rules"] == "diagonal"
    assert head["settings"] == {
        "width": 50,
        "height": 40,
        "hunter": [3, 4, -1, 1],
        "prey": [30, 20],
        "cooldown": 7,
        "max_walls": 2,
        "capture_radius": 2,
        "prey_period": 2,
        "max_steps": 12,
    }
    assert head["clock"] == TimeControl(startup=9.0, move=None, bank=50.5, increment=0.5).to_json()
    assert (head["seed"], head["idle"], head["on_malformed"]) == (0, "run", "pass")
    assert "secret" not in head


def test_a_match_file_holds_everything_and_flags_win(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        'players = ["straight", "still"]\nrules = "diagonal"\nseed = 3\n[settings]\nwidth = 60\nheight = 60\nprey = [40, 30]\nmax_steps = 9\n'
        '[time]\nmove = "none"\nbank = 30.0\n[run]\ncores = 0\nidle = "run"\n[limits]\nstderr_bytes = 1000\n'
    )
    done = referee("play", "--match", "m.toml", "--max-steps", "5", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["steps"], result["rules"], result["seed"]) == (5, "diagonal", 3)


@pytest.mark.parametrize("file", sorted((Path(__file__).parents[2] / "matches").glob("*.toml")), ids=lambda path: path.name)
def test_the_example_match_files_play(file: Path, referee: Cli) -> None:
    done = referee("play", "--match", file, "--max-steps", "20", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["steps"] == 20
    assert told["rules"] == ("diagonal" if "diagonal" in file.name else "classic")


def test_ctrl_c_ends_the_bots_keeps_the_replay_and_exits_130(referee: Cli, tmp_path: Path, shared_folder: Path) -> None:
    note = shared_folder / "note"
    bot = tmp_path / "waits.py"
    bot.write_text(
        f"from sdk import HunterBot\nimport time\nclass Waits(HunterBot):\n    def hunt(self, state):\n"
        f"        if state.step == 5:\n            open({str(note)!r}, 'w').close()\n            time.sleep(60)\nWaits.main()\n"
    )
    command = [sys.executable, "-m", "referee", "play", str(bot), "still", "--move-time", "none", "--out", "x.gz", "--isolation", "none"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not note.exists() and process.poll() is None:
        select.select([], [], [], 0.02)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "referee: Interrupted." in error
    assert "Traceback" not in error
    done = referee("verify", "x.gz")
    assert done.returncode == 1
    assert "after 5 steps, which are good" in done.stderr


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [(80, rb"step [\d,]+  distance .*hunter .* s  prey [\d.]+ of 120 s"), (40, rb"[\d,]+ [\d.]+ \d+  H [\d.]+s  P [\d.]+s")],
)
def test_the_live_line_on_a_terminal_and_nothing_of_it_left(columns: int, wanted: bytes, tmp_path: Path) -> None:
    outside, inside = pty.openpty()
    command = [sys.executable, "-m", "referee", "play", "straight", "still", "--max-steps", "4000", "--cores", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=inside, env={**os.environ, "COLUMNS": str(columns)})
    os.close(inside)
    drawn = read_to_end(outside)
    assert process.wait() == 0
    lines = re.findall(rb"\r\x1b\[K([^\r]+)\r", drawn)
    assert lines, drawn
    assert all(len(line) < columns and re.fullmatch(wanted, line) for line in lines)
    assert drawn.rstrip(b"\r\n").endswith(b"\x1b[K")


def test_a_duel_plays_both_roles_and_names_the_winner(referee: Cli, tmp_path: Path) -> None:
    team = tmp_path / "team"
    team.mkdir()
    examples = Path(__file__).parents[2] / "example_bots" / "evasion"
    (team / "hunter.py").write_text((examples / "boxer.py").read_text())
    (team / "prey.py").write_text((examples / "still.py").read_text())
    done = referee("duel", team, "random", "--seed", "1", "--max-steps", "1500", "--json", "--quiet", "--out", "out")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    steps = {name: report["scores"][name] for name in ("a", "b")}
    better = min(steps, key=lambda name: (steps[name] is None, steps[name] or 0))
    assert report["winner"] in (better, None)
    assert json.loads(Path(tmp_path / report["result_file"]).read_text()) == report
    replays = [game["replay"] for game in report["games"].values()]
    assert len(set(replays)) == 2
    assert referee("verify", *replays).returncode == 0
    plain = referee("duel", "random", "random", "--seed", "1", "--max-steps", "400")
    assert "A hunts" in plain.stdout
    assert "B hunts" in plain.stdout
    assert "result   matches/replays/" in plain.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_descriptors_do_no_harm(closed: str, tmp_path: Path, referee: Cli) -> None:
    line = f"{sys.executable} -m referee play boxer runner --max-steps 20 --out x.gz {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert referee("verify", "x.gz").stdout == "x.gz: good, 20 steps\n"


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    line = f"{sys.executable} -m referee bots | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("evasion")


@pytest.mark.slow
def test_ten_matches_at_once_all_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "referee", "play", "boxer", "runner", "--json", "--quiet"]
    processes = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(10)]
    results = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0] * 10
    assert len({result["replay"] for result in results}) == 10
    assert all(result["notes"] in ([], ["No core was free: the match is not pinned, so its times vary more."]) for result in results)


def test_a_log_that_was_cut_is_noted(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "talks.py").write_text(
        "import sys\nfrom sdk import PreyBot\nclass Talks(PreyBot):\n    def flee(self, state):\n        print('x' * 999, file=sys.stderr)\nTalks.main()\n"
    )
    done = referee("play", "straight", "talks.py", "--max-steps", "8", "--limit", "stderr=1500", "--cores", "0", "--json")
    assert json.loads(done.stdout)["notes"] == ["The prey wrote 4,000 bytes to stderr; the first 1,500 are kept."]
    assert (
        Path(json.loads(done.stdout)["logs"]["prey"]).is_absolute()
        or (tmp_path / json.loads(done.stdout)["logs"]["prey"]).stat().st_size == 1500
    )


NEVER_FLUSHES = """
import io, sys
out = io.BufferedWriter(io.FileIO(1, "w"), 1 << 20)
for line in sys.stdin:
    out.write(b'{"type":"ready","protocol":1}\\n')
"""


def test_a_bot_that_never_flushes_is_told_of_that(tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "keeps.py").write_text(NEVER_FLUSHES)
    # On a busy machine the referee may be late, too; that voids a match unless it is allowed.
    (tmp_path / "match.toml").write_text("[time]\nstartup = 0.5\n[run]\nmax_lateness = 3600\n")
    done = referee("play", "keeps.py", "still", "--match", "match.toml")
    assert done.returncode == 3
    assert "within the start-up limit of 0.5 s. Did it flush its output?" in done.stdout


def test_a_match_without_a_seed_can_be_played_again(tmp_path: Path, referee: Cli) -> None:
    done = referee("play", "random", "random", "--max-steps", "40", "--out", "first.replay.jsonl.gz")
    assert done.returncode == 0, done.stderr
    found = re.search(r"^  seed     (\d+)$", done.stdout, re.MULTILINE)
    assert found
    head, *steps, _ = records(tmp_path / "first.replay.jsonl.gz")
    assert head["seed"] == int(found[1]) < 2**53
    again = referee("play", "random", "random", "--max-steps", "40", "--seed", found[1], "--out", "again.replay.jsonl.gz")
    assert again.returncode == 0, again.stderr
    other_head, *other_steps, _ = records(tmp_path / "again.replay.jsonl.gz")
    assert other_head["secret"] == head["secret"]
    assert [step.get("moves") for step in other_steps] == [step.get("moves") for step in steps]
    third = referee("play", "random", "random", "--max-steps", "40", "--out", "third.replay.jsonl.gz")
    assert third.returncode == 0
    assert records(tmp_path / "third.replay.jsonl.gz")[0]["seed"] != head["seed"]
