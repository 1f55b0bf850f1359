"""What counts as JSON from a stranger."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.replay.faults import predicate
from referee.wire.strict_json import MOST_DEPTH, NotJson, read

GOOD: list[tuple[bytes, Any]] = [
    (b'{"a":[1,-2,3.5,true,null,"x"]}', {"a": [1, -2, 3.5, True, None, "x"]}),
    ('"h\u00e9 \U0001f600"'.encode(), "h\u00e9 \U0001f600"),
    (b'"\\ud83d\\ude00"', "\U0001f600"),
    (b"9" * 4300, int("9" * 4300)),
    (b'"' + b"9" * 5000 + b'"', "9" * 5000),
    (b"[" * MOST_DEPTH + b"]" * MOST_DEPTH, json.loads("[" * MOST_DEPTH + "]" * MOST_DEPTH)),
    (b'"' + b"[" * 100 + b'"', "[" * 100),
    (b'{"a":1,"b":{"a":1}}', {"a": 1, "b": {"a": 1}}),
]


@pytest.mark.parametrize(("line", "value"), GOOD)
def test_good_json_is_read(line: bytes, value: Any) -> None:
    assert read(line) == value


BAD = [
    (b"", "is not JSON"),
    (b"go north", "is not JSON"),
    (b"{'a':1}", "is not JSON"),
    (b"[1] [2]", "is not JSON"),
    (b"\xff\xfe", "is not UTF-8 (byte 1 is 0xff)"),
    (b"\xed\xa0\x80", "is not UTF-8"),
    (b"\xef\xbb\xbf{}", "byte order mark"),
    (b"[NaN]", "NaN"),
    (b"[Infinity]", "Infinity"),
    (b"[-Infinity]", "-Infinity"),
    (b"[1e400]", "1e400"),
    (b"[-1e400]", "too large"),
    (b"[1" + b"0" * 4300 + b"]", "more than 4,300 digits"),
    (b'{"a":1,"a":1}', "'a' twice"),
    (b'{"b":{"a":1,"\\u0061":2}}', "'a' twice"),
    (b'"\\ud800"', "lone surrogate"),
    (b'{"\\udfff":1}', "lone surrogate"),
    (b'["\\ud83d\\ud83d"]', "lone surrogate"),
    (b"[" * (MOST_DEPTH + 1) + b"]" * (MOST_DEPTH + 1), "nested deeper"),
    (b"[" * 100_000, "nested deeper"),
    (b'{"a":' * 100_000, "nested deeper"),
]


@pytest.mark.parametrize(("line", "why"), BAD, ids=[why for _, why in BAD])
def test_bad_json_is_refused_with_its_reason(line: bytes, why: str) -> None:
    with pytest.raises(NotJson) as caught:
        read(line)
    said = predicate(caught.value)
    assert why in said
    assert len(said) < 120


@pytest.mark.parametrize("size", [1_000, 1_000_000])
def test_lines_made_to_be_slow_are_read_in_one_pass(size: int) -> None:
    for line in (b'"' + b'\\"' * size, b'["' + b'\\"' * size, b"[" * 60 + b'"' + b'\\"' * size, b"[{" * 40 + b'"' + b"\\" * size):
        with pytest.raises(NotJson):
            read(line)


@given(st.binary(max_size=60) | st.text('[]{}",:0123456789.eE-+ntfalsrueNI\\u', max_size=40).map(str.encode))
def test_anything_is_read_or_refused(line: bytes) -> None:
    try:
        value = read(line)
    except NotJson:
        return
    assert value == json.loads(line)
    assert json.loads(json.dumps(value, allow_nan=False).encode()) == value
