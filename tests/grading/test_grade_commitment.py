"""The commitment of a grading: the hash that is said, the file that is published, and the starts that follow from it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from gradings import RUBRIC, SEED
from leagues import IDLE

from referee.replay.reader import read_head, read_lines

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Referee = Callable[..., subprocess.CompletedProcess[str]]


def write(folder: Path, text: str) -> None:
    (folder / "rubric.toml").write_text(text)


def hand_in(folder: Path) -> str:
    (folder / "class").mkdir(exist_ok=True)
    (folder / "class" / "ada.py").write_text(IDLE)
    return "class"


def graded(referee: Referee, folder: Path) -> Path:
    write(folder, RUBRIC)
    done = referee("grade", "run", hand_in(folder), "--out", "out", "--slots", "1")
    assert done.returncode == 0, done.stderr
    return folder / "out"


def is_refused(done: subprocess.CompletedProcess[str], told: str) -> None:
    assert (done.returncode, told in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr


def test_a_grading_without_a_seed_begins_before_the_deadline(referee: Referee, tmp_path: Path) -> None:
    """Its secret is drawn when it begins, with the roster alone; the rubric is not rewritten."""
    text = RUBRIC.replace(f'seed = "{SEED}"\n', "")
    write(tmp_path, text)
    (tmp_path / "class").mkdir()
    (tmp_path / "roster.csv").write_text("student\nada\n")
    begun = referee("grade", "run", "class", "--out", "out", "--roster", "roster.csv")
    file = tmp_path / "out" / "private" / "commitment.toml"
    published = file.read_bytes()
    assert f"commitment to the starts: {hashlib.sha256(published).hexdigest()}\n" in begun.stderr
    done = referee("grade", "run", hand_in(tmp_path), "--out", "out", "--slots", "1")
    assert (done.returncode, "commitment" in done.stderr) == (0, False)
    assert (tmp_path / "rubric.toml").read_text() == text
    assert file.read_bytes() == published
    tests = json.loads(referee("grade", "check-rubric", file, "--starts", "--json").stdout)["tests"]
    assert {(each["seed"], str(each["settings"])) for test in tests for each in test["starts"]} == starts_of_replays(tmp_path / "out")


def starts_of_replays(out: Path) -> set[tuple[int, str]]:
    """The seed and the settings of each match of a grading, from the heads of the replays."""
    heads = [read_head(path, read_lines(path))[0] for path in (out / "private" / "replays").rglob("*.replay.jsonl.gz")]
    return {(head["seed"], str(head["settings"])) for head in heads}


def test_starts_of_a_rubric_or_a_commitment_are_printed(referee: Referee, tmp_path: Path) -> None:
    out = graded(referee, tmp_path)
    file = out / "private" / "commitment.toml"
    of_rubric, of_file = (referee("grade", "check-rubric", path, "--starts") for path in ("rubric.toml", file))
    assert of_file.stdout == f"sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}\n{of_rubric.stdout}"
    assert re.search(r'^test 1, start 3, hidden: "settings":\{.*\}, "seed":\d+$', of_rubric.stdout, re.MULTILINE)
    tests = json.loads(referee("grade", "check-rubric", "rubric.toml", "--starts", "--json").stdout)["tests"]
    assert {(each["seed"], str(each["settings"])) for test in tests for each in test["starts"]} == starts_of_replays(out)


def test_a_grading_begins_over_no_file_of_others_in_its_private_folder(referee: Referee, tmp_path: Path) -> None:
    write(tmp_path, RUBRIC)
    private = tmp_path / "out" / "private"
    private.mkdir(parents=True)
    words = ("grade", "run", hand_in(tmp_path), "--out", "out", "--slots", "1")
    for name, force, text in (
        ("rubric.toml", (), "this command did not write it"),
        ("commitment.toml", ("--force",), "is not the commitment of this grading"),
    ):
        (private / name).write_text("precious")
        is_refused(referee(*words, *force), text)
        assert (private / name).read_text() == "precious"
        (private / name).unlink()
    # Nothing has begun meanwhile, so a corrected rubric is taken.
    write(tmp_path, RUBRIC.replace("points = 12", "points = 13"))
    assert referee(*words).returncode == 0
