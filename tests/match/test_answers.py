"""Warnings about answers: a code and values in the match, a sentence in the replay, and the code again when the replay is read."""

from __future__ import annotations

from typing import Any

import pytest

from referee.cli.terminal import Live
from referee.match.options import TimeControl
from referee.players.clock import Clock
from referee.replay.answers import AnswerWarning, JudgedAnswer, Remark
from referee.replay.events import StepTaken
from referee.replay.faults import MALFORMED, Fault
from referee.replay.recorded import recovered, remark_of

WARNINGS = [
    (AnswerWarning("say-cut"), "ignored", "say was cut after 500 characters"),
    (AnswerWarning("draw-dropped", (700,)), "ignored", "draw was dropped: 700 shapes, at most 500 in 20,000 bytes are shown"),
    (
        AnswerWarning("unknown-keys", ("The hunter's", "x\x1b It counts as a pass.")),
        "ignored",
        "unknown key in the answer, ignored: The hunter's, x\\x1b It counts as a pass.",
    ),
    (
        AnswerWarning("budget-spent", (1 << 20,)),
        "ignored",
        "say, draw and warnings are no longer kept in the replay: their budget of 1 MiB is used up",
    ),
    (AnswerWarning("dialect", ("is no answer: '\x07'",)), "ignored", "is no answer: '\\x07'"),
    (
        AnswerWarning("passed", (Fault(MALFORMED, "bad-move", {"seat": "hunter", "turn": 2, "why": "it is no object"}),)),
        "malformed",
        "The hunter's answer in turn 2 has a malformed move: it is no object. It counts as a pass.",
    ),
]


@pytest.mark.parametrize(("warning", "code", "text"), WARNINGS)
def test_a_warning_has_a_code_and_a_sentence_which_a_replay_keeps(warning: AnswerWarning, code: str, text: str) -> None:
    assert (warning.code, warning.text) == (code, text)
    read = remark_of({"remarks": {"hunter": Remark(warnings=(warning,)).to_json()}}, "hunter")
    assert read is not None
    assert [(one.code, one.text) for one in read.warnings] == [(code, text)]


def test_the_sentence_of_a_fault_that_a_replay_holds_is_written_again_as_it_is() -> None:
    (fault,) = recovered("hunter", "The hunter did it. It counts as a pass.").values
    assert fault.text == "The hunter did it."


def test_a_remark_of_a_replay_that_is_nothing_of_the_kind_is_none() -> None:
    odd: tuple[Any, ...] = (None, [], "say", {"hunter": "say"}, {"hunter": []}, {"prey": {"say": "here"}})
    for remarks in odd:
        assert remark_of({"remarks": remarks}, "hunter") is None
    assert remark_of({"remarks": {"hunter": {"warnings": "no list", "rescued": 1}}}, "hunter") == Remark()


def test_the_terminal_counts_warnings_by_their_codes(capsys: pytest.CaptureFixture[str]) -> None:
    from referee import games

    live = Live(games.get("evasion"), {"hunter": Clock(TimeControl())})
    for turn in range(50):
        # Each sentence begins with another word.
        warnings = (AnswerWarning("dialect", (f"{turn} is no answer",)), AnswerWarning("say-cut"))
        answer = JudgedAnswer(None, 0.0, 0.0, Remark(warnings=warnings))
        live.stepped(StepTaken(turn, None, None, {}, (), {"hunter": answer}, {}))
    live.stopped()
    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == [
        "47 more, the last in step 49, hunter: 49 is no answer",
        "47 more, the last in step 49, hunter: say was cut after 500 characters",
    ]
