"""referee stats: the calculators for sequential tests and ratings."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import referee.cli.stats  # noqa: F401 - registers the commands
from referee.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "tests/data/statistics.json").read_text())
PAGE = (ROOT / "docs/statistics.md").read_text()


def test_sprt_as_json(referee: Cli) -> None:
    case = VECTORS["sprt"][1]
    done = referee(
        "stats", "sprt", "--counts", ",".join(map(str, case["counts"])), "--p0", case["s0"], "--p1", case["s1"],
        "--alpha", case["alpha"], "--beta", case["beta"], "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found) == ["llr", "lower", "upper", "decision"]
    assert found["llr"] == pytest.approx(case["llr"], abs=1e-3)
    assert [found["lower"], found["upper"]] == pytest.approx(case["bounds"], abs=1e-5)
    assert found["decision"] == "continue"


@pytest.mark.parametrize(("counts", "told"), [("0,3,90", "H1 is accepted"), ("90,3,0", "H0 is accepted"), ("1, 2, 3, 2, 1", "Undecided")])
def test_sprt_in_words(counts: str, told: str, referee: Cli) -> None:
    done = referee("stats", "sprt", "--counts", counts)
    assert done.returncode == 0, done.stderr
    assert told in done.stdout


def test_the_help_says_in_which_order_counts_are(referee: Cli) -> None:
    shown = referee("stats", "sprt", "--help").stdout
    assert "Counts go from loss to win" in shown


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--counts", "10,5,x"], "--counts is '10,5,x', but must be whole numbers"),
        (["--counts", "10,-5,3"], "must be whole numbers"),
        (["--counts", ""], "must be whole numbers"),
        (["--counts", "1,2,\x1b[31m"], "'1,2,\\x1b[31m'"),
        (["--counts", "1,2," + "9" * 5000], "must be whole numbers"),
        (["--counts", "1,2,²"], "must be whole numbers"),
        (["--counts", "10,5"], "has 2 numbers"),
        (["--counts", "1,2,3,4"], "has 4 numbers"),
        (["--counts", "0,0,0"], "all 0"),
        (["--counts", "1,2,3", "--p0", "0.6", "--p1", "0.6"], "p0 must be less than p1"),
        (["--counts", "1,2,3", "--p0", "0"], "--p0 is 0.0"),
        (["--counts", "1,2,3", "--p0", "nan"], "--p0 is nan"),
        (["--counts", "1,2,3", "--p1", "1.5"], "--p1 is 1.5"),
        (["--counts", "1,2,3", "--alpha", "0"], "--alpha is 0.0"),
        (["--counts", "1,2,3", "--beta", "inf"], "--beta is inf"),
        (["--counts", "1,2,3", "--alpha", "0.6", "--beta", "0.6"], "sum must be less than 1"),
    ],
)
def test_sprt_refuses_with_a_sentence(options: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["stats", "sprt", *options, "--json"])
    assert done.exit_code == 2
    assert told in json.loads(done.stdout)["error"]
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


def rows_of(tmp_path: Path, data: bytes | str, *options: str) -> list[dict[str, Any]]:
    (tmp_path / "r.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    done = CliRunner().invoke(app, ["stats", "rating", str(tmp_path / "r.csv"), "--json", *options])
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_ratings_as_json(tmp_path: Path, referee: Cli) -> None:
    case = VECTORS["ratings"][2]
    text = "a,b,score\n" + "".join(f"{a},{b},{score}\n" for a, b, score in case["results"])
    found = rows_of(tmp_path, text)
    assert all(list(row) == ["team", "elo", "low", "high"] for row in found)
    assert {int(row["team"]): row["elo"] for row in found} == pytest.approx(dict(enumerate(case["elo"])), abs=0.01)
    assert all(row["low"] < row["elo"] < row["high"] for row in found)
    assert [row["elo"] for row in found] == sorted((row["elo"] for row in found), reverse=True)
    assert json.loads(referee("stats", "rating", "r.csv", "--json").stdout) == found
    assert rows_of(tmp_path, text, "--seed", "1") != found


PLAIN = "a,b,score\nX,Y,1\nY,Z,0.5\nZ,X,0\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace(",", ";").replace("0.5", "0,5"),
        PLAIN.replace(",", "\t"),
        'A, B ,Score,round\n"X",Y,1.0,1\n\n Y ,Z,.5,1\n,,,\nZ,X,0,2\n',
        "score,b,a\n1,Y,X\n0.5,Z,Y\n0,X,Z",
    ],
    ids=["BOM and CRLF", "CR", "semicolons and commas", "tabs", "spaces and quotes", "another order"],
)
def test_what_spreadsheets_write(data: bytes | str, tmp_path: Path) -> None:
    assert rows_of(tmp_path, data) == rows_of(tmp_path, PLAIN)


def test_starts_are_drawn_if_the_file_names_them(tmp_path: Path) -> None:
    rows = [f"X,Y,{score}" for score in (1, 1, 0, 1, 0.5, 1)]
    named = "a,b,score,start\n" + "".join(f"{row},start {number}\n" for number, row in enumerate(rows) for _ in range(4))
    plain = "a,b,score\n" + "".join(f"{row}\n" for row in rows for _ in range(4))
    by_start, by_row = (rows_of(tmp_path, text)[0] for text in (named, plain))
    assert by_start["elo"] == by_row["elo"]
    assert by_start["high"] - by_start["low"] > 1.5 * (by_row["high"] - by_row["low"])


def test_one_start_has_wide_intervals_and_a_note(referee: Cli, tmp_path: Path) -> None:
    text = "a,b,score,start\nX,Y,1,\nY,Z,1,\n"
    assert all(row["high"] - row["low"] > 800 for row in rows_of(tmp_path, text))
    assert "All results are on one start." in referee("stats", "rating", "r.csv").stdout


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf\r\n", "has no column a and no column b and no column score"),
        (b"X,Y,1\n", "has no column a"),
        (b"a,b\nX,Y\n", "has no column score"),
        (b"a,a,b,score\n", "has no column a"),
        (b"a,b,score\n", "has no results"),
        (b"a,b,score\nX,Y,1\nX,Y\n", "line 3 has 2 of 3 columns"),
        (b"a,b,score\nX,Y,1\nX,Y,2\n", "line 3: the score is '2'"),
        (b"a,b,score\r\nX,Y,1\r\nX,Y,win\x1b[2J\r\n", "line 3: the score is 'win\\x1b[2J'"),
        (b"a,b,score\nX,Y,nan\n", "line 2: the score is 'nan'"),
        (b"a,b,score\nX,Y,\n", "line 2: the score is ''"),
        (b"a,b,score\nX,X,1\n", "line 2 has 'X' play against itself"),
        (b"a,b,score\nX,,1\n", "line 2 has no name of a team in column b"),
        (b"a,b,score\nX,Y\xff,1\n", "is not UTF-8"),
        ("a,b,score\nX,Y,1\n".encode("utf-16"), "is not UTF-8"),
        (b'a,b,score\n"X,Y,1\n', "is not a line of a CSV file"),
        (b"a,b,score\nX," + b"Y" * 200_000 + b",1\n", "is not a line of a CSV file"),
        (b"a,b,score," + b"c" * 200_000 + b"\nX,Y,1,\n", "is not a line of a CSV file"),
        (b"\0" * 100, "r.csv"),
    ],
)
def test_rating_refuses_with_a_sentence(data: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(data)
    done = CliRunner().invoke(app, ["stats", "rating", str(tmp_path / "r.csv"), "--json"])
    assert done.exit_code == 2, done.output
    assert told in json.loads(done.stdout)["error"]
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.slow
def test_files_that_are_none(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "fifo").mkdir()
    for name in ("missing.csv", "fifo", "/dev/zero", "x\x1b[31m.csv"):
        done = referee("stats", "rating", name)
        assert done.returncode == 2
        assert "can't be read" in done.stderr
        assert "\x1b" not in done.stderr


@pytest.mark.slow
def test_names_of_teams_are_shown_harmlessly(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("a,b,score\n\x1b[31mRed,[bold]Bold,1\n" + f"Long{'g' * 500},[bold]Bold,0\n")
    for columns in ("40", "120"):
        done = referee("stats", "rating", "r.csv", env={"COLUMNS": columns})
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= int(columns)
        assert "[bold]Bold" in re.sub(r"\s+", "", done.stdout) or columns == "40"


def test_the_page_shows_what_is_printed(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(PAGE.split("```csv\n")[1].split("```")[0])
    commands = re.findall(r"```sh\nreferee ([^`]*?)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(commands) == 2
    for command, shown in commands:
        printed = referee(*command.split(), env={"COLUMNS": "80"}).stdout.split()
        for word, expected in zip(printed, shown.split(), strict=True):
            # What a bootstrap draws may differ between versions of NumPy.
            assert word == expected or abs(float(word) - float(expected)) <= 20


def test_help_loads_nothing_that_only_statistics_need() -> None:
    code = (
        "import sys\nsys.argv = ['referee', *sys.argv[1:]]\nfrom referee.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint(*sys.modules, file=sys.stderr)\n"
    )
    for arguments in (["--help"], ["stats", "--help"], ["stats", "sprt", "--help"]):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
        # The list of commands loads none of them.
        assert ("referee.cli.stats" in done.stderr.split()) is (arguments != ["--help"])
        assert not {"numpy", "scipy", "networkx", "sqlalchemy", "psutil"} & set(done.stderr.split())


def test_what_the_statistics_need_is_named_where_it_is_missing(hidden: Callable[..., None]) -> None:
    hidden("numpy", "scipy")
    for arguments in (["stats", "sprt", "--counts", "1,2,3"], ["stats", "rating", "r.csv"]):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 2, done.output
        assert "referee stats needs numpy and scipy" in done.stderr
        assert "-m pip install numpy scipy" in done.stderr


def test_the_largest_counts_are_tested(referee: Cli) -> None:
    done = referee("stats", "sprt", "--counts", f"{2**53},{2**53},{2**53}", "--json")
    assert math.isfinite(json.loads(done.stdout)["llr"])
