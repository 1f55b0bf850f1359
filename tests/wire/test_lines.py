"""Lines out of bytes, however the bytes arrive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.wire.lines import LineBuffer


def lines_of(chunks: list[bytes], max_bytes: int = 20) -> list[tuple[bytes, bool]]:
    buffer, found = LineBuffer(max_bytes), []
    for chunk in chunks:
        buffer.feed(chunk)
        while (line := buffer.take()) is not None:
            found.append((line, buffer.is_overlong))
    return found


CASES = [
    (b"one\ntwo\n", [(b"one", False), (b"two", False)]),
    (b"one\r\n\r\n  \n\ntwo\n", [(b"one", False), (b"two", False)]),
    (b"no end", []),
    (b"x" * 20 + b"\n", [(b"x" * 20, False)]),
    (b"x" * 20 + b"\r\n", [(b"x" * 20, False)]),
    (b"x" * 21 + b"\nafter\n", [(b"x" * 20, True), (b"after", False)]),
    (b"x" * 5000 + b"\nafter\n", [(b"x" * 20, True), (b"after", False)]),
]


@pytest.mark.parametrize(("stream", "expected"), CASES)
@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_the_same_lines_whole_and_byte_by_byte(stream: bytes, expected: list[tuple[bytes, bool]], size: int) -> None:
    found = lines_of([stream[at : at + size] for at in range(0, len(stream), size)])
    assert [overlong for _, overlong in found] == [overlong for _, overlong in expected]
    for (line, overlong), (wanted, _) in zip(found, expected, strict=True):
        assert line[:20] == wanted if overlong else line == wanted


@given(st.lists(st.binary(max_size=30)))
def test_nothing_breaks_it_and_memory_is_bounded(chunks: list[bytes]) -> None:
    buffer = LineBuffer(8)
    for chunk in chunks:
        buffer.feed(chunk)
        while (line := buffer.take()) is not None:
            assert b"\n" not in line
            assert line.strip(b" \t\r")
        assert not buffer.is_full


def test_an_endless_line_is_dropped_up_to_its_end() -> None:
    buffer = LineBuffer(10)
    buffer.feed(b"y" * 12)
    assert buffer.take() == b"y" * 10
    for _ in range(100):
        buffer.feed(b"y" * 1000)
        assert not buffer.has_bytes
    buffer.feed(b"yy\ngood\n")
    assert buffer.take() == b"good"
    assert buffer.number == 2


def test_clear_gives_back_what_was_not_taken() -> None:
    buffer = LineBuffer(100)
    buffer.feed(b"a\nb\nhalf")
    assert buffer.take() == b"a"
    assert buffer.clear() == b"b\nhalf"
    buffer.feed(b" a line\nnext\n")
    assert buffer.take() == b"next"
    buffer.feed(b"\n \r\n")
    assert buffer.clear() == b""


def test_blank_lines_by_the_thousand_cost_one_stroke() -> None:
    lines = LineBuffer()
    lines.feed(b"\n" * 60_000 + b"\r\n" + b"{}\n\n\n")
    assert lines.take() == b"{}"
    assert lines.number == 60_002
    assert lines.take() is None
    assert not lines.has_bytes
