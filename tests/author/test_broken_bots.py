"""For each check there is a bot that is broken in this way, and the check finds it."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
from pathlib import Path

import psutil
import pytest
from broken_bots import BROKEN, GOOD, NODE, SHELL, C, check, named, texts
from sandboxes import need

from referee.author.check.check_result import FAILED, SKIPPED, WARNING
from referee.author.check.interview import own_time
from referee.author.check.run import CHECKS
from referee.match.options import TimeControl

NAMES = [one.name for one in CHECKS]


def bot_of(folder: Path, name: str) -> str:
    path = folder / "bot.py"
    path.write_text(BROKEN[name].source if name else GOOD)
    return str(path)


def test_there_is_a_broken_bot_for_each_check() -> None:
    assert {check for broken in BROKEN.values() for check in (*broken.fails, *broken.warns)} == set(NAMES)
    assert len(NAMES) == len(set(NAMES)) >= 20


def among(name: str) -> set[str]:
    """The checks that a bot doesn't pass, and a fifth of all others: over all bots each check has its turns."""
    broken, place = BROKEN[name], list(BROKEN).index(name)
    others = {other for index, other in enumerate(NAMES) if (index + place) % 5 == 0}
    return {*broken.fails, *broken.warns} | others


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_the_check_finds_the_broken_bot_and_no_other_does(name: str, tmp_path: Path) -> None:
    broken = BROKEN[name]
    report = check(bot_of(tmp_path, name), broken.seat, among(name), broken.time, broken.limits)
    wrong = [one.finding for one in report.results if one.finding.status in (FAILED, WARNING)]
    assert named(report, FAILED) - broken.may == broken.fails, wrong
    assert named(report, WARNING) - broken.may == broken.warns, wrong
    for found in wrong:
        assert all((found.text, found.sent, found.came, found.remedy)), found
        # What an author can copy has no dots in place of a word.
        assert "..." not in found.remedy
    assert report.ok is not bool(named(report, FAILED))


@pytest.mark.slow
def test_the_good_bot_passes_all_checks(tmp_path: Path) -> None:
    report = check(bot_of(tmp_path, ""))
    assert report.ok
    assert not named(report, WARNING) | named(report, FAILED) | named(report, SKIPPED)


def test_one_late_answer_of_a_match_is_enough(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(GOOD.replace("    move = {}\n", "    move = {}\n    number == 130 and time.sleep(0.4)\n"))
    (found,) = check(str(tmp_path / "bot.py"), only=["match"], time=TimeControl(move=0.2)).results
    assert found.finding.status == FAILED
    assert re.search(r"Its answer in turn 130 takes 0\.[2-9]", found.finding.text), found.finding.text
    assert "the limit is 0.2 s" in found.finding.text


def test_the_bot_is_told_the_limits_of_a_match(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(GOOD.replace("    move = {}\n", "    move = {}\n    assert question['left']['move'] == 0.2\n"))
    report = check(str(tmp_path / "bot.py"), only=["match"], time=TimeControl(move=0.2))
    assert report.ok, report.results


def test_the_time_of_others_and_of_more_processors_is_left_out() -> None:
    assert own_time(2.0, 0.1, 1.5) == 0.5
    assert own_time(2.0, 1.0, 1.5) == 1.0
    assert own_time(0.5, 2.0, 0.0) == 0.5


def test_a_shell_script_that_answers_everything(tmp_path: Path) -> None:
    path = tmp_path / "bot"
    path.write_text(SHELL)
    path.chmod(0o755)
    report = check(str(path), only=["starts", "ready", "answers", "unknown-fields"])
    assert named(report, FAILED) == {"unknown-fields"}


def test_a_node_program_whose_answers_have_several_lines(tmp_path: Path) -> None:
    need(shutil.which("node") is not None, "node is missing")
    (tmp_path / "bot.js").write_text(NODE)
    report = check(f"node {tmp_path / 'bot.js'}", only=["ready", "well-formed", "positions"])
    assert named(report, FAILED) == {"well-formed"}
    assert texts(report)["well-formed"] == "The answer has several lines."


def test_a_c_program_with_a_buffer_of_a_fixed_size(tmp_path: Path) -> None:
    need(shutil.which("gcc") is not None, "gcc is missing")
    (tmp_path / "bot.c").write_text("#include <stdlib.h>\n" + C)
    subprocess.run(["gcc", "-o", tmp_path / "bot", tmp_path / "bot.c"], check=True)
    report = check(str(tmp_path / "bot"), only=["answers", "positions"], time=TimeControl(move=0.2))
    assert named(report, FAILED) == {"positions"}
    assert "With a state of " in texts(report)["positions"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    bot = bot_of(tmp_path, "")
    Path(bot).write_text(GOOD.replace("ASKED = []\n", "ASKED = []\nsubprocess.Popen(['sleep', '60'], start_new_session=True)\n"))
    # What is opened once and stays, such as the supervisors' own part, is there after the first check.
    check(bot, only=["starts"])
    # What other tests have left to the garbage collector may close in the meantime.
    gc.collect()
    before = set(os.listdir("/proc/self/fd")), set(psutil.Process().children(recursive=True))
    assert check(bot, only=["starts", "same-seed"]).ok
    assert (set(os.listdir("/proc/self/fd")), set(psutil.Process().children(recursive=True))) == before
    assert [process.pid for process in psutil.process_iter(["cmdline"]) if bot in (process.info["cmdline"] or ())] == []
