"""The words of the commands of a grading: their usual output, their refusals, and the keys of their --json."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from golden import plain, transcript
from gradings import CRASHES, HEAD, RUBRIC, SEED, table
from leagues import IDLE

from referee.errors import UsageError
from referee.grading import rubric

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Commands
    from syrupy.assertion import SnapshotAssertion

GRADING = """
0 grade init
0 grade run class --out out --rubric rubric.toml --roster roster.csv --slots 1
0 grade run --out out --json
0 grade run --out out -q
0 grade run --out out --after-due --gradebook canvas.csv
0 grade rerun ada --out out --slots 1
0 grade check-rubric rubric.toml --starts
0 grade check-rubric rubric.toml --starts --json
0 grade gradescope rubric.toml --max-runs-per-day 3
0 grade run class --out guessed --rubric guessed.toml --roster roster.csv --slots 1
"""
REFUSALS = """
2 grade init
2 grade run
2 grade run class --rubric none.toml --json
2 grade run class --rubric rubric.toml --out x --isolation tight
2 grade run class --rubric rubric.toml --out x --roster none.csv
2 grade run class --rubric rubric.toml --out x --only ada --missing-is-zero
2 grade run empty --rubric rubric.toml --out x
2 grade run nothing --rubric rubric.toml --out x
2 grade run --out x
2 grade run --out x --rubric rubric.toml
2 grade run --out x --roster roster.csv
2 grade run --out x --column x
2 grade run --out x --slots 0
2 grade run --out x --cluster foo
2 grade run --out x --only ada
2 grade run --out out --gradebook none.csv
2 grade run --out out --gradebook other.csv
2 grade run class --rubric rubric.toml --out out --isolation limits
2 grade run class --rubric other.toml --out out
2 grade run class --rubric rubric.toml --out x --layout round
2 grade rerun eve --out out
2 grade check-rubric none.toml
2 grade check-rubric out/private/commitment.toml
2 grade check-rubric rubric.toml --starts --slots 2
2 grade check-rubric drawn.toml --starts
2 league starts out/private/commitment.toml
2 league starts rubric.toml
2 grade gradescope nothing.toml
2 grade gradescope --in-container --deadline 0
2 grade gradescope --in-container --out a.zip
2 grade gradescope --autograder somewhere
2 grade gradescope --in-container --max-runs-per-day 0
2 grade gradescope rubric.toml --out .
"""
GOOD = table(seat='"hunter"', against='"runner"', need="{ wins = true }")
#: What stands in a rubric that is refused, before its one good test.
FILES = (
    "nmae = 'x'",
    "max_steps = 3",
    "[settings]\nmax_step = 3",
    "[time]\nclock = 'cpu'",
    "[run]\nisolation = 'strict'",
    "[time]\nmove = 0",
    "[limits]\nmemory_bytes = '1KiB'",
    "isolation = 'loose'",
    "clock = 'sand'",
    "rules = 'chess'",
    "this is not toml",
    "name = ''",
    r'name = "a\u001b"',
    f"name = '{'x' * 81}'",
    "name = '==='",
    "name = 3",
    "game = 'chess'",
    "seed = true",
    "seed = 1.5",
    "seed = ''",
    r'seed = "a\u0007"',
)
#: What the second test of a rubric has that is refused; None: it lacks the key.
TESTS: tuple[dict[str, str | None], ...] = (
    {"ponts": "3"},
    {"catch_within": "3"},
    {"need": "{ catch_witin = 3 }"},
    {"name": "3"},
    {"name": "''"},
    {"name": '"a\\nb"'},
    {"name": '"T"'},
    {"seat": "'huntr'"},
    {"seat": None},
    {"against": None},
    {"against": "'runer'"},
    {"against": "'boxer'"},
    {"against": "'human'"},
    {"against": "''"},
    {"against": '"run\\u001bner"'},
    {"starts": "0"},
    {"starts": "100000"},
    {"hidden": "2"},
    {"hidden": "-1"},
    {"points": "0"},
    {"points": "nan"},
    {"points": "inf"},
    {"points": None},
    {"need": None},
    {"need": "{}"},
    {"need": "'wins'"},
    {"need": "{ wins = false }"},
    {"need": "{ wins = 1 }"},
    {"need": "{ catch_within = 0 }"},
    {"need": "{ catch_within = 2.5 }"},
    {"need": "{ catch_within = 10001 }"},
    {"need": "{ catch_within = 51 }", "settings": "{ max_steps = 50 }"},
    {"need": "{ survive = 5 }"},
    {"need": "{ score_at_least = 5 }"},
    {"need": "{ mean_seconds_below = 0 }"},
    {"need": "{ beats = 'searcher' }"},
    {"need": "{ beats = 'searcher' }", "seat": None},
    {"need": "{ beats = 'serch' }", "seat": None, "against": None},
    {"need": "{ beats = 'human' }", "seat": None, "against": None},
    {"need": "{ beats = 'boxer', wins = true }", "seat": None, "against": None},
    {"when": "'never'"},
    {"settings": "{ widht = 9 }"},
    {"starts": "2", "settings": "{ prey = [99, 99] }"},
    {"settings": "{ width = 9, height = 9 }"},
    {"starts": "9999", "settings": "{ width = 13, height = 13 }"},
)
#: Rubrics of other games, and others that are refused as a whole.
WHOLE = (
    'game = "evasion"',
    HEAD.format(game="evasion"),
    HEAD.format(game="evasion") + "tests = 3",
    HEAD.format(game="rectangle") + table(seat='"a"', against='"idle"', need="{ catch_within = 5 }"),
    HEAD.format(game="rectangle") + table(seat='"a"', against='"idle"', need="{ survive = 5 }"),
    HEAD.format(game="maze") + table(seat='"thief"', against='"easy"', need="{ survive = 401 }"),
)


@pytest.fixture
def folder(scene_folder: Path) -> Path:
    """A class with its rubric, its roster and its gradebook, and rubrics that are refused later."""
    for name in ("class", "empty", "class/none", "class/three"):
        (scene_folder / name).mkdir()
    files = {
        "class/ada.py": IDLE,
        "class/bob.py": CRASHES,
        "class/\x1b[31mred.py": IDLE,
        "class/three/a.py": IDLE,
        "class/three/b.py": IDLE,
        "canvas.csv": "Student,ID,SIS Login ID,Homework (77)\nPoints Possible,,,20\nAda,1,ada,\nAda,2,ada,\nBob,3,bob,\n",
        "drawn.toml": RUBRIC.replace(f'seed = "{SEED}"\n', ""),
        "guessed.toml": RUBRIC.replace(SEED, "7"),
        "other.csv": "Student,ID,Other (7),More (8)\nAda,1,,\n",
        "other.toml": RUBRIC.replace("points = 12", "points = 13"),
        "roster.csv": "student\nada\nbob\ngone\n",
        "rubric.toml": RUBRIC,
    }
    for name, text in files.items():
        (scene_folder / name).write_text(text)
    return scene_folder


def test_a_grading(folder: Path, commands: Commands, golden: SnapshotAssertion) -> None:
    assert transcript(GRADING, commands.run, folder) == golden


def test_refusals(folder: Path, commands: Commands, golden: SnapshotAssertion) -> None:
    begin = "0 grade run class --out out --rubric rubric.toml --roster roster.csv --slots 1 -q"
    transcript(f"0 grade init\n{begin}", commands.run, folder)
    assert transcript(REFUSALS, commands.run, folder) == golden
    assert not (folder / "x").exists()


def test_rubrics(scene_folder: Path, golden: SnapshotAssertion) -> None:
    file, parts = scene_folder / "rubric.toml", []
    head = HEAD.format(game="evasion")
    texts = {
        text: "".join(line for line in head.splitlines(True) if line.split()[0] != text.split()[0]) + f"{text}\n{GOOD}" for text in FILES
    }
    good = {"points": "10", "name": '"u"', "seat": '"hunter"', "against": '"runner"', "need": "{ wins = true }"}
    for changes in TESTS:
        keys = {key: value for key, value in {**good, **changes}.items() if value is not None}
        texts[str(changes)] = f"{head}{GOOD}[[tests]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
    for name, text in {**texts, **{text: text for text in WHOLE}}.items():
        file.write_text(text)
        with pytest.raises(UsageError, match=r"rubric\.toml") as caught:
            rubric.load(file)
        assert str(caught.value).isprintable()
        parts.append(f"{name}\n! {plain(str(caught.value), scene_folder)}\n")
    assert "\n".join(parts) == golden
