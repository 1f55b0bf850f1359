"""Warnings about answers: a replay has their codes beside their sentences; older replays have the sentences alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.cli.terminal import Live
from referee.replay.answers import WARNING_CODES, AnswerWarning, JudgedAnswer, Remark
from referee.replay.events import StepTaken
from referee.replay.faults import MALFORMED, Fault
from referee.replay.records import answers_of

WARNINGS = [
    (AnswerWarning.of("say-cut"), "ignored", "say was cut after 500 characters"),
    (AnswerWarning.of("draw-dropped", 700), "ignored", "draw was dropped: 700 shapes, at most 500 in 20,000 bytes are shown"),
    (
        AnswerWarning.of("unknown-keys", "The hunter's", "x\x1b It counts as a pass."),
        "ignored",
        "unknown key in the answer, ignored: The hunter's, x\\x1b It counts as a pass.",
    ),
    (
        AnswerWarning.of("budget-spent", 1 << 20),
        "ignored",
        "say, draw and warnings are no longer kept in the replay: their budget of 1 MiB is used up",
    ),
    (AnswerWarning.of("dialect", "is no answer: '\x07'"), "ignored", "is no answer: '\\x07'"),
    (
        AnswerWarning.of("passed", Fault.of(MALFORMED, "bad-move", {"seat": "hunter", "turn": 2, "why": "it is no object"}).text),
        "malformed",
        "The hunter's answer in turn 2 has a malformed move: it is no object. It counts as a pass.",
    ),
]


def remark_of(remarks: object) -> Remark | None:
    """The remark of the hunter in a step of a replay."""
    return answers_of({"us": {"hunter": 1}, "remarks": remarks}, {}, {})["hunter"].remark


@pytest.mark.parametrize(("warning", "code", "text"), WARNINGS)
def test_a_replay_keeps_the_code_and_the_sentence_of_a_warning(warning: AnswerWarning, code: str, text: str) -> None:
    assert (warning.notice_code, warning.text) == (code, text)
    record = json.loads(json.dumps(Remark(warnings=(warning,)).to_json()))
    assert record == {"warnings": [text], "codes": [warning.code]}
    assert remark_of({"hunter": record}) == Remark(warnings=(warning,))


def test_every_warning_is_written_and_read() -> None:
    assert {warning.code for warning, _, _ in WARNINGS} == WARNING_CODES


def test_a_warning_of_an_older_replay_has_no_code_unless_its_sentence_says_that_it_is_a_pass() -> None:
    for _, code, text in WARNINGS:
        record = {"warnings": [text]}
        read = remark_of({"hunter": record})
        assert read is not None
        assert read.warnings == (AnswerWarning("passed" if code == "malformed" else "", text),)
        assert [warning.notice_code for warning in read.warnings] == [code]
        # It is written again as it is.
        assert read.to_json() == {**record, **({"codes": ["passed"]} if code == "malformed" else {})}


def test_codes_that_do_not_fit_their_warnings_are_ignored() -> None:
    for codes in (5, ["say-cut"], ["say-cut", "nonsense"], ["say-cut", ["passed"]]):
        read = remark_of({"hunter": {"warnings": ["one", "two"], "codes": codes}})
        assert read == Remark(warnings=(AnswerWarning("", "one"), AnswerWarning("", "two")))


def test_a_bot_can_not_choose_the_code_of_a_warning_of_an_older_replay() -> None:
    texts = [
        "unknown key in the answer, ignored: move.x It counts as a pass.",
        "The hunter's answer in turn 3 is not JSON: 'x'. It counts as a pass.",
    ]
    read = remark_of({"hunter": {"warnings": texts}})
    assert read is not None
    assert [warning.notice_code for warning in read.warnings] == ["ignored", "malformed"]


def test_a_remark_of_a_replay_that_is_nothing_of_the_kind_is_none() -> None:
    odd: tuple[Any, ...] = (None, [], "say", {"hunter": "say"}, {"hunter": []}, {"prey": {"say": "here"}})
    for remarks in odd:
        assert remark_of(remarks) is None
    assert remark_of({"hunter": {"warnings": "no list", "rescued": 1}}) == Remark()


def test_the_terminal_counts_warnings_by_their_codes(capsys: pytest.CaptureFixture[str]) -> None:

    live = Live()
    for turn in range(50):
        # Each sentence begins with another word.
        warnings = (AnswerWarning.of("dialect", f"{turn} is no answer"), AnswerWarning.of("say-cut"))
        answer = JudgedAnswer(None, 0.0, 0.0, Remark(warnings=warnings))
        live.stepped(StepTaken(turn, None, None, {}, (), {"hunter": answer}, {}))
    live.stopped()
    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == [
        "47 more, the last in step 49, hunter: 49 is no answer",
        "47 more, the last in step 49, hunter: say was cut after 500 characters",
    ]
