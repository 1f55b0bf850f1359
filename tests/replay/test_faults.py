"""Every fault is written with its code and values, and read back; older replays have the sentence alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from referee.replay.faults import CRASHED, EXCEEDED, FAULT_CODES, ILLEGAL, LATE, MALFORMED, Fault
from referee.replay.records import fault_of
from referee.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.game import Json

ODD = "\ud800\x1b[31m\n<b>"
_WHO = {"seat": "prey", "label": f"bot{ODD}.py"}
_MOVE: Json = {"name": "move", "seconds": 1.0, "clock": "wall"}
_LINE = {"seat": "prey", "turn": 3, "quote": "'debug'"}
_ENDED = {**_WHO, "signal": None, "excess": None, "crash": {"error": "", "place": "", "last": ""}, "is_remote": False, "is_start": False}
#: What is wrong with a line, and the values of that.
_LINES: dict[str, list[Json]] = {
    "not-utf8": [3, 255],
    "key-twice": [ODD * 1000],
    "too-large": ["9" * 60_000],
    "constant": ["NaN"],
    "other-type": ["move"],
    "no-key": ["move"],
    "wrong-value": ["move", "Input"],
    "other-turn": [4, 3],
}


def faults() -> Iterator[Fault]:
    """A fault of every code, and of every way in which a program ends."""
    bare = ("byte-order-mark", "not-json", "too-deep", "surrogate", "too-long", "not-an-object")
    for code, data in {**{code: [] for code in bare}, **_LINES}.items():
        yield Fault.of(MALFORMED, code, {**_LINE, "data": data, "is_python": False}, "'debug'")  # type: ignore[arg-type]
    for code in ("silent", "unread", "unfinished"):
        yield Fault.of(LATE, code, {**_WHO, "limit": _MOVE, "is_start": False}, None, {"cause": "time", "guard": True})  # type: ignore[arg-type]
        yield Fault.of(LATE, code, {**_WHO, "limit": None, "is_start": True}).advised(may_flush=True)  # type: ignore[arg-type]
        yield Fault.of(LATE, code, {**_WHO, "limit": None, "is_start": True}).advised(place="bot.py:3 in plan", may_flush=False)  # type: ignore[arg-type]
    yield Fault.of(MALFORMED, "early", {"seat": "prey", "quote": "'x'"}, "'x'")
    yield Fault.of(MALFORMED, "overlong", {"seat": "prey", "quote": "'x'", "number": 3, "most_bytes": 65536, "is_remote": True})
    for code in ("deaf", "left", "hung-up", "raised", "returned"):
        yield Fault.of(CRASHED, code, {**_WHO, "words": f"ValueError: {ODD}"})  # type: ignore[arg-type]
    yield Fault.of(CRASHED, "unsupervised", {**_WHO, "is_alone": True})
    yield Fault.of(LATE, "unjudged", {**_WHO, "is_alone": False})
    for status in (None, 0, 1, -9):
        yield Fault.of(CRASHED, "ended", {**_ENDED, "status": status, "is_start": True}, None, {"cause": "crash", "status": status})
    for excess in (["time", 0, 0], ["memory", 1 << 29, 0], ["processes", 64, 0], ["files", 10_000, 0], ["disk", 1 << 24, 1 << 20]):
        yield Fault.of(EXCEEDED, "ended", {**_ENDED, "status": 1, "excess": excess}, None, {"cause": "memory"})
    yield Fault.of(MALFORMED, "bad-line", {**_LINE, "why": "is no answer"}, "'x'")
    yield Fault.of(MALFORMED, "bad-move", {"seat": "prey", "turn": 3, "why": "move.go is 5"}, "'x'")
    yield Fault.of(ILLEGAL, "illegal-move", {"seat": "prey", "turn": 3, "why": "there is a wall"}, "'x'")
    yield Fault.of(LATE, "unconnected", {**_WHO, "dialect": "architect", "limit": None})


def test_there_is_a_fault_of_every_code() -> None:
    assert {fault.code for fault in faults()} == FAULT_CODES


@pytest.mark.parametrize("fault", [*faults()], ids=lambda fault: fault.code)
def test_a_replay_holds_the_code_the_values_and_the_sentence(fault: Fault) -> None:
    line = json.dumps(fault.to_json()).encode()
    # The reader refuses lone surrogates and other odd text. No value is as long as an answer can be.
    record = strict_json.read(line)
    assert len(line) < 2_500
    assert (record["code"], record["values"]) == (fault.code, fault.values)
    read = fault_of(record)
    assert (read.kind, read.cause, read.code, read.values, read.text, read.line) == (fault.kind, fault.cause, *fault[1:5])
    assert read.to_json() == fault.to_json()


def test_the_sentence_is_that_of_the_file() -> None:
    record = next(faults()).to_json()
    assert fault_of({**record, "values": {"seat": "hunter", "x": 1}, "text": "Edited."}).text == "Edited."


@pytest.mark.parametrize("change", [{"code": None}, {"code": "nonsense"}, {"code": ["late"]}, {"values": None}, {"values": []}])
def test_a_fault_without_a_good_code_is_that_of_an_older_replay(change: dict[str, Json]) -> None:
    record = next(faults()).to_json()
    read = fault_of({**record, **change})
    assert (read.code, read.values, read.text) == ("", {}, record["text"])
    assert read.to_json() == {key: value for key, value in record.items() if key not in ("code", "values")}


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (_MOVE, "within the move limit of 1 s"),
        ({"name": "move", "seconds": 0.5, "clock": "cpu"}, "within the move limit of 0.5 s of processor time"),
        ({"name": "bank", "seconds": 120.0, "clock": "fair"}, "within what was left of its bank of 120 s"),
        ({"name": "startup", "seconds": 10}, "within the start-up limit of 10 s"),
        ({"name": "wait", "seconds": 60.0, "why": "that a check waits"}, "within the 60 s that a check waits"),
        (
            {"name": "guard", "seconds": 5.9999, "rule": [5.0, 1.0, 3.0, 0.0]},
            "within the wall-clock guard of 6 s (5 times the move limit and 1 s more, or the rest of 3 times the bank), though its limit is by processor time",
        ),
    ],
)
def test_the_limit_that_a_late_player_met_is_a_value(limit: Json, words: str) -> None:
    fault = Fault.of(LATE, "silent", {"seat": "prey", "label": "b.py", "limit": limit, "is_start": False})
    assert fault.text == f"The prey (b.py) gave no answer {words}."
