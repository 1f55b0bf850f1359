"""Files that commands write: the same command may replace its own, and no command replaces anything else or its own input."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from arenas import begin
from gradings import table
from gradings import write as write_rubric
from leagues import write_league

from referee.support.outputs import check_output

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

REPLAY = Path(__file__).parents[1] / "data" / "replays" / "evasion-classic-hunter-fault.replay.jsonl.gz"
NOTES = b"import referee export  # not the mark of a file\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a replay, a bot, a league with a result and an arena, in which all commands run."""
    shutil.copy(REPLAY, tmp_path / "a.gz")
    (tmp_path / "bot.py").write_bytes(NOTES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(done: subprocess.CompletedProcess[str], why: str) -> bool:
    return done.returncode == 2 and why in " ".join(done.stderr.split()) and "Traceback" not in done.stderr


@pytest.fixture
def league(here: Path, referee: Cli) -> str:
    assert referee("league", "run", str(write_league(here / "season", 2)), "--out", "out", "-q").returncode == 0
    return "out"


def commands(league: str) -> list[tuple[str, ...]]:
    """Return the commands that write one file, each without the option that names it."""
    return [
        ("watch", "a.gz", "--export"),
        ("export", "a.gz", "--html", "--out"),
        ("export", "a.gz", "--gif", "--out"),
        ("league", "export", league, "--csv", "--out"),
        ("arena", "export", "arena", "--json", "--out"),
    ]


def test_a_file_is_replaced_by_its_own_command_or_with_force(here: Path, league: str, referee: Cli) -> None:
    begin(here / "arena").close()
    for number, words in enumerate(commands(league)):
        ending = words[-2].strip("-") if words[0] == "export" else "x"
        place = here / f"out{number}.{ending}"
        # An empty file, such as mktemp makes, is nobody's.
        place.touch()
        for _ in range(2):
            done = referee(*words, str(place))
            assert done.returncode == 0, (words, done.stderr)
        written = place.read_bytes()
        place.write_bytes(NOTES)
        link = here / f"link{number}.{ending}"
        link.symlink_to(place)
        assert refused(referee(*words, str(link)), "exists, and this command did not write it"), words
        assert place.read_bytes() == NOTES
        assert referee(*words, str(link), "--force").returncode == 0
        assert link.is_symlink()
        assert len(place.read_bytes()) == len(written)


def test_what_one_command_wrote_is_not_replaced_by_another(here: Path, league: str, referee: Cli) -> None:
    begin(here / "arena").close()
    assert referee("export", "a.gz", "--out", "a.html").returncode == 0
    assert referee("league", "export", league, "--csv", "--out", "a.csv").returncode == 0
    assert referee("league", "report", league, "--out", "page").returncode == 0
    for words, place in (
        (("league", "export", league, "--csv", "--out"), "a.html"),
        (("league", "export", league, "--json", "--out"), "page/report.html"),
        (("watch", "a.gz", "--export"), "page/report.html"),
        (("watch", "a.gz", "--export"), "a.csv"),
        (("play", "straight", "still", "--out"), "a.html.gz"),
    ):
        if place.endswith(".gz"):
            shutil.copy("a.html", place)
        before = Path(place).read_bytes()
        assert refused(referee(*words, place), "did not write it"), (words, place)
        assert Path(place).read_bytes() == before


def test_no_output_is_an_input_under_any_name(here: Path, league: str, referee: Cli) -> None:
    (here / "a.hunter.stderr.log").write_text("a log of the replay")
    (here / "soft.html").symlink_to("a.gz")
    (here / "hard.html").hardlink_to("a.gz")
    (here / "folder").symlink_to(".")
    store = f"{league}/league.sqlite"
    os.link(store, "store.csv")
    cases = [
        *(
            (("export", "a.gz", "--html", "--out"), name)
            for name in ("a.gz", "soft.html", "hard.html", "folder/a.gz", "a.hunter.stderr.log")
        ),
        (("watch", "a.gz", "--export"), "hard.html"),
        (("play", "--from", "a.gz@2", "still", "still", "--out"), "a.gz"),
        (("league", "export", league, "--csv", "--out"), store),
        (("league", "export", league, "--csv", "--out"), "store.csv"),
    ]
    for words, place in cases:
        before = Path(place).read_bytes()
        for more in ((), ("--force",)):
            assert refused(referee(*words, place, *more), "is an input of this command"), (words, place, more)
        assert Path(place).read_bytes() == before


def test_a_report_replaces_only_reports(here: Path, league: str, referee: Cli) -> None:
    words = ("league", "report", league, "--out", "page")
    for _ in range(2):
        assert referee(*words).returncode == 0
    for name in ("report.html", "viewer.html"):
        shutil.rmtree("page")
        Path("page").mkdir()
        Path("page", name).write_bytes(NOTES)
        assert refused(referee(*words), f"page/{name} exists, and this command did not write it")
        assert os.listdir("page") == [name]
        assert referee(*words, "--force").returncode == 0
    (here / "page/report.html").unlink()
    (here / "page/report.html").symlink_to(here / league / "league.sqlite")
    assert refused(referee(*words, "--force"), "is an input of this command")


def test_marks_replace_neither_hand_ins_nor_what_no_grading_wrote(here: Path, referee: Cli) -> None:
    one = table(seat='"prey"', against='"straight"', need="{ finishes = true }")
    rubric = write_rubric(here, f'isolation = "none"\n{one}[settings]\nmax_steps = 5\n')
    (here / "students/ada").mkdir(parents=True)
    (here / "students/ada/prey.py").write_text("raise SystemExit")
    (here / "roster.csv").write_text("student\nada\n")
    words = ("grade", "run", "students", "--rubric", str(rubric), "--roster", "roster.csv", "-q", "--out")
    before = sorted(here.rglob("*"))
    assert refused(referee(*words, "students", "--force"), "students is an input of this command")
    assert refused(referee(*words, ".", "--force"), "students is an input of this command")
    assert sorted(here.rglob("*")) == before
    (here / "marks").mkdir()
    for name in ("grades.csv", "report.html"):
        (here / "marks" / name).write_bytes(NOTES)
        assert refused(referee(*words, "marks"), f"marks/{name} exists, and this command did not write it")
        assert os.listdir("marks") == [name]
        (here / "marks" / name).unlink()
    for _ in range(2):
        done = referee(*words, "marks")
        assert done.returncode == 0, done.stderr
    # A folder of marks may have those of before, which are no roster that it may replace.
    again = ("grade", "run", "students", "--rubric", str(rubric), "--out", "marks", "--roster", "marks/grades.csv", "--force")
    assert refused(referee(*again), "marks/grades.csv is an input of this command")


def test_many_games_replace_replays_alone_and_leave_other_folders(here: Path, referee: Cli) -> None:
    (here / "matches").mkdir()
    (here / "matches/kept").touch()
    words = ("play", "straight", "still", "--games", "2", "--slots", "1", "--max-steps", "3", "--isolation", "none", "-q", "--out", ".")
    for _ in range(2):
        assert referee(*words).returncode == 0
    assert (here / "matches/kept").exists()
    assert not list(here.glob(".games-*"))
    (here / "2.replay.jsonl.gz").write_bytes(NOTES)
    first = (here / "1.replay.jsonl.gz").read_bytes()
    assert refused(referee(*words), "2.replay.jsonl.gz exists, and this command did not write it")
    assert (here / "1.replay.jsonl.gz").read_bytes() == first


@pytest.mark.parametrize("place", ["none", "none/deeper", "file/below", "dangling", "\0", "folder"])
def test_where_nothing_is_nothing_is_replaced(place: str, here: Path) -> None:
    (here / "file").touch()
    (here / "folder").mkdir()
    (here / "dangling").symlink_to("nowhere")
    check_output(here / place, lambda _: False, [here / "missing", here / "file"])


def test_a_match_replaces_nothing_of_its_players(here: Path, referee: Cli) -> None:
    shutil.copy(REPLAY, here / "data.gz")
    (here / "soft.gz").symlink_to("bot.py")
    (here / "m.gz").write_text('game = "evasion"\n')
    (here / "team").mkdir()
    (here / "team/bot.toml").write_text('run = "./main.py"\n')
    (here / "team/main.py").write_text("raise SystemExit")
    (here / "y.hunter.stderr.log").write_text("raise SystemExit")
    command = "python3 bot.py data.gz"
    cases: list[tuple[tuple[str, ...], str]] = [
        (("play", "bot.py", "still"), "soft.gz"),
        (("play", "straight", "still", "--match", "m.gz"), "m.gz"),
        (("play", command, "still"), "data.gz"),
        (("play", "python3 bot.py --data=data.gz", "still"), "data.gz"),
        (("play", "team", "still"), "team"),
        (("play", "team", "still"), "team/notes.gz"),
        (("play", "team", "still"), "team/matches/"),
        (("play", "team", "still", "--games", "2"), "team"),
        (("play", "python3 y.hunter.stderr.log", "still"), "y.gz"),
    ]
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    for words, place in cases:
        for more in ((), ("--force",)):
            assert refused(referee(*words, "--isolation", "none", "--out", place, *more), "is an input of this command"), (
                words,
                place,
                more,
            )
    assert refused(referee("duel", "team", "team", "--isolation", "none", "--out", "team"), "is an input of this command")
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_a_log_is_replaced_with_its_replay_alone(here: Path, referee: Cli) -> None:
    (here / "noisy.py").write_text("import sys\nsys.exit('one')\n")
    words = ("play", "noisy.py", "still", "--isolation", "none", "-q", "--out", "x.gz")
    log = here / "x.hunter.stderr.log"
    log.write_bytes(NOTES)
    for is_there in (False, True):
        if is_there:
            (here / "x.gz").touch()
        assert refused(referee(*words), "x.hunter.stderr.log exists, and this command did not write it")
        assert log.read_bytes() == NOTES
    for more in (("--force",), ()):
        assert referee(*words, *more).returncode == 3
        assert log.read_bytes() == b"one\n"


def test_no_folder_of_results_is_a_program(here: Path, referee: Cli) -> None:
    file = write_league(here / "season", 2)
    for name in ("a", "b"):
        (here / name).mkdir()
        (here / name / "main.py").write_text("raise SystemExit")
    (here / "a.toml").write_text(
        'name = "x"\nisolation = "none"\n[[teams]]\nname = "A"\nprogram = "a"\n[[teams]]\nname = "B"\nprogram = "b"\n'
    )
    before = sorted(here.rglob("*"))
    for words in (
        ("league", "run", "a.toml", "--out", "a"),
        ("league", "run", "a.toml", "--out", "./b"),
        ("league", "run", str(file), "--out", "season/bot0.py"),
        ("compare", "a", "b", "--duels", "1", "--isolation", "none", "--out", "a"),
        ("compare", "a", "a", "--against", "b", "--duels", "1", "--isolation", "none", "--out", "b"),
    ):
        assert refused(referee(*words), "is an input of this command"), words
    assert sorted(here.rglob("*")) == before


def test_a_report_removes_only_parts_of_its_own(here: Path, league: str, referee: Cli) -> None:
    pages = here / "page/pages"
    pages.mkdir(parents=True)
    for name in ("a.js.mine.part", "a.js.12.part"):
        (pages / name).write_bytes(NOTES)
    assert referee("league", "report", league, "--out", "page").returncode == 0
    assert (pages / "a.js.mine.part").exists()
    assert not (pages / "a.js.12.part").exists()
