"""Bots that are late or take too much memory: what a check says of them, and what it doesn't try again."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from broken_bots import GOOD, check, named, texts

from referee.author.check.answers import answers
from referee.author.check.check import LATE, NO_ANSWER, NOT_READY
from referee.author.check.check_result import FAILED, KEEPING, SKIPPED, WARNING
from referee.author.check.interview import LateBudget, LateBudgetSpent, Response, longest_wait
from referee.author.check.shared_runs import QuestionRecord
from referee.author.check.starting import starts
from referee.isolation.endings import MEMORY
from referee.isolation.limits import LIMITS, Limits
from referee.match.options import TimeControl
from referee.replay.faults import EXCEEDED, Fault

if TYPE_CHECKING:
    from pathlib import Path

    from referee.author.check.run import Report
    from referee.author.check.shared_runs import CheckedBot

#: A hunter of the SDK with a line in its ``hunt``, which is line 6 of its file.
HUNTER = """from sdk import HunterBot


class Mine(HunterBot):
    def hunt(self, state):
        {}


if __name__ == "__main__":
    Mine.main()
"""
_SHORT = TimeControl(move=0.2)
_MOVE = "    move = {}\n"


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question to a bot that computes without end waits 1 s: three times the limit of a move and 0.4 s more."""
    monkeypatch.setattr("referee.author.check.interview._MORE", 0.4)


def hunter(folder: Path, line: str) -> str:
    path = folder / "bot.py"
    path.write_text(HUNTER.format(line))
    return path.name


def changed(folder: Path, line: str, setup: str = "") -> str:
    """A bot without the SDK, with a line before each move."""
    path = folder / "bot.py"
    path.write_text(GOOD.replace("ASKED = []\n", f"ASKED = []\n{setup}\n").replace(_MOVE, f"{_MOVE}    {line}\n"))
    return path.name


def starts_of(report: Report) -> int:
    """The number of processes that a check has started, as the check of their times says it."""
    found = re.search(r"The fastest of (\d+) start", texts(report)["start-time"])
    assert found is not None
    return int(found[1])


def test_an_endless_loop_is_named_by_its_line_and_waited_for_once(brief: None, tmp_path: Path) -> None:
    report = check(hunter(tmp_path, "while True: pass"), time=_SHORT)
    assert named(report, FAILED) == {"answers"}
    said = texts(report)
    assert said["answers"].endswith("gave no answer within the 1 s that a check waits. It was at bot.py:6 in hunt.")
    # The second one is asked no question.
    assert starts_of(report) <= 2
    # Nothing that presupposes an answer is ok.
    for name in ("flushes", "well-formed", "exits-at-end", "match"):
        assert said[name] == NO_ANSWER, name


def test_a_loop_without_the_sdk_gets_no_advice_about_flushing(brief: None, tmp_path: Path) -> None:
    report = check(changed(tmp_path, "while True: pass"), only=["answers", "flushes"], time=_SHORT)
    assert re.search(r"waits\. It was at bot\.py:\d+ in turn\.$", texts(report)["answers"])
    assert named(report, SKIPPED) == {"flushes"}


def test_a_bot_that_waits_for_nothing_still_gets_that_advice(tmp_path: Path) -> None:
    report = check(changed(tmp_path, "return"), only=["answers", "flushes"], time=_SHORT)
    assert re.search(r"Did it flush its output\?", texts(report)["answers"])


def test_a_late_answer_is_named_by_its_line_and_the_rest_is_not_tried(tmp_path: Path) -> None:
    line = "__import__('time').sleep(0 if state.step else 1.5)"
    report = check(hunter(tmp_path, line), only=["answers", "slow-answers", "match", "same-seed", "positions", "start-time"], time=_SHORT)
    said = texts(report)
    assert "answers" not in named(report, FAILED)
    assert re.search(r"takes 1\.\d+ s; the limit is 0\.2 s\. .* It was at bot\.py:6 in hunt\.$", said["slow-answers"])
    assert {"slow-answers", "match"} <= named(report, FAILED)
    assert said["positions"] == LATE
    # The first process, the long row, the match and at most two more: 5.2 s of late answers and what was begun before.
    assert starts_of(report) <= 4


def test_a_bot_that_is_always_late_is_asked_few_questions(tmp_path: Path) -> None:
    report = check(hunter(tmp_path, "__import__('time').sleep(2.3)"), time=_SHORT)
    said = texts(report)
    assert said["answers"].startswith("It answered 2 of 2")
    assert "slow-answers" in named(report, FAILED)
    assert said["positions"] == said["wire-forms"] == LATE
    assert starts_of(report) <= 2


def test_a_bot_that_loops_before_it_is_ready_is_not_started_for_each_seat(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text(HUNTER.format("return None").replace("    def hunt", "    def begin(self):\n        while True: pass\n\n    def hunt"))
    report = check(path.name, ("hunter", "prey"), time=TimeControl(startup=0.5))
    assert report.seats == ("hunter",)
    assert "It isn't ready as hunter" in report.not_checked["prey"]
    assert named(report, FAILED) == {"ready"}
    assert "It was at bot.py:6 in begin." in texts(report)["ready"]


def test_patience_counts_late_answers_only_and_belongs_to_a_seat() -> None:
    assert longest_wait(TimeControl()) == 5.0
    patience = LateBudget(TimeControl(), 0.5)
    patience.check()
    patience.spend(2.5)
    patience.check()
    patience.spend(2.5)
    with pytest.raises(LateBudgetSpent):
        patience.check()
    assert not LateBudget(TimeControl(move=None)).is_spent


def test_memory_that_grows_is_measured_though_the_bot_goes_over_its_limit(tmp_path: Path) -> None:
    bot = changed(tmp_path, "KEPT.append(b'x' * (4 << 20))", "KEPT = []")
    report = check(bot, only=["memory"], limits=Limits(memory_bytes=96 << 20))
    said = texts(report)
    assert named(report, FAILED) == {"memory"}
    assert re.search(r"the limit is 96 MiB\. Its memory grows by (4|4\.0\d*) MiB a move\.$", said["memory"])


def test_memory_is_measured_though_the_bot_is_ended_for_it(tmp_path: Path) -> None:
    bot = changed(tmp_path, "KEPT.append(b'x' * (16 << 20))", "KEPT = []")
    report = check(bot, only=["memory"], limits=Limits(memory_bytes=256 << 20), level=LIMITS)
    said = texts(report)
    assert named(report, FAILED) == {"memory"}
    assert re.search(r"its limit of 256 MiB in question 1\d, and was ended\. Its memory grows by 16(\.\d+)? MiB a move\.$", said["memory"])


def test_growth_over_a_few_moves_is_not_ok(tmp_path: Path) -> None:
    bot = changed(tmp_path, "KEPT.append(b'x' * (30 << 20)); 1 / (5 - len(KEPT))", "KEPT = []")
    report = check(bot, only=["memory"])
    assert named(report, WARNING) == {"memory"}
    said = texts(report)["memory"]
    assert re.search(r"grows by (29|30)(\.\d+)? MiB a move\. It meets the limit after about 1[67] of up to 10,000 moves\.$", said)


def test_a_bot_that_is_ended_for_its_memory_in_its_second_question(tmp_path: Path) -> None:
    bot = changed(tmp_path, "KEPT.append(b'x' * (150 << 20)); len(KEPT) > 1 and time.sleep(60)", "KEPT = []")
    report = check(bot, only=["answers", "memory"], limits=Limits(memory_bytes=256 << 20), level=LIMITS)
    said = texts(report)
    assert named(report, FAILED) == {"answers", "memory"}
    assert said["memory"] == "It used more memory than its limit of 256 MiB in question 2, and was ended."


def test_a_missing_answer_of_a_bot_that_was_ended_for_its_memory_has_the_remedy_of_memory() -> None:
    fault = Fault(EXCEEDED, "", {}, "The hunter (bot.py) used more memory than its limit of 512 MiB.", None, {"cause": MEMORY})
    ended = Response(None, reason="ended", fault=fault)
    seen = SimpleNamespace(
        questions=(QuestionRecord(b"{}", 1, None, ended),), held_back=b"", stderr=(), ready=ended, start=b"{}", status=None
    )
    for asks in (answers, starts):
        found = asks(cast("CheckedBot", SimpleNamespace(transcript=seen)))
        assert (found.status, found.text, found.remedy) == (FAILED, fault.text, KEEPING)


def test_a_match_that_ended_for_its_memory_has_the_remedy_of_memory(tmp_path: Path) -> None:
    bot = changed(tmp_path, "KEPT.append(b'x' * (40 << 20))", "KEPT = []")
    report = check(bot, only=["match"], limits=Limits(memory_bytes=256 << 20), level=LIMITS)
    (found,) = (one.finding for one in report.results if one.check.name == "match")
    assert (found.status, found.remedy) == (FAILED, KEEPING)


def test_tables_that_are_filled_at_first_are_no_growth(tmp_path: Path) -> None:
    bot = changed(tmp_path, "len(KEPT) < 40 and KEPT.append(b'x' * (1 << 20))", "KEPT = []")
    report = check(bot, only=["memory"], limits=Limits(memory_bytes=128 << 20))
    assert not named(report, FAILED) | named(report, WARNING), texts(report)


def test_memory_of_a_bot_that_never_answers_is_measured(tmp_path: Path) -> None:
    bot = changed(tmp_path, "KEPT.append(b'x' * (64 << 20)); time.sleep(60)", "KEPT = []")
    report = check(bot, only=["memory"], time=_SHORT, limits=Limits(memory_bytes=48 << 20))
    assert named(report, FAILED) == {"memory"}


@pytest.mark.parametrize("line", ["import nothing_of_this_name", "from sdk import NoSuchBot", "def hunt(self, state)"])
def test_a_program_with_an_error_fails_one_check_at_one_seat(line: str, tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text(f"{line}\n{HUNTER.format('return None')}")
    report = check(path.name, ("hunter", "prey"))
    assert report.seats == ("hunter",)
    assert "It fails as at the seat hunter" in report.not_checked["prey"]
    (failed,) = [one.finding for one in report.results if one.finding.status == FAILED]
    assert "mend bot.py:1, then check again" in failed.remedy
    assert [one.finding.text for one in report.results if one.finding is not failed] == [NOT_READY] * (len(report.results) - 1)


def test_a_bot_that_exits_at_its_first_question_passes_no_check_of_its_end(tmp_path: Path) -> None:
    report = check(hunter(tmp_path, "raise SystemExit"), only=["answers", "exits-at-end"])
    assert named(report, FAILED) == {"answers"}
    assert named(report, SKIPPED) == {"exits-at-end"}
