"""The bytes of one player: what a link makes of every way in which they can come."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from referee.isolation.log import Log
from referee.players.link import Link
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Iterator


class Peer:
    """A link with the player's ends of its pipes."""

    def __init__(self, *, keeps_early: bool = False, overdue: bytes = b"") -> None:
        (self.stdin, stdin), (stdout, self.stdout), (stderr, self.stderr) = os.pipe(), os.pipe(), os.pipe()
        lines = LineBuffer(16, keeps_blank=keeps_early)
        self.link = Link((stdin, stdout, stderr), Log(None, 100), lines, keeps_early=keeps_early, overdue=overdue)

    def write(self, data: bytes) -> None:
        """Write to the player's stdout."""
        os.write(self.stdout, data)

    def close(self) -> None:
        """Close all ends."""
        self.link.close()
        for fd in (self.stdin, self.stdout, self.stderr):
            with suppress(OSError):
                os.close(fd)


@pytest.fixture
def peer() -> Iterator[Peer]:
    peer = Peer()
    yield peer
    peer.close()


def test_a_question_larger_than_a_pipe_goes_out_piece_by_piece(peer: Peer) -> None:
    question = os.urandom(200_000)
    assert peer.link.send(question)
    received = b""
    while peer.link.unsent:
        received += os.read(peer.stdin, 65_536)
        assert peer.link.send(b"")
    assert received + os.read(peer.stdin, 200_000) == question


def test_a_player_that_has_closed_its_stdin_is_sent_nothing(peer: Peer) -> None:
    os.close(peer.stdin)
    assert not peer.link.send(b"{}\n")
    assert not peer.link.unsent


@pytest.mark.parametrize(
    ("data", "answer", "lines"),
    [
        (b"{}\n", b"{}", []),
        (b"", None, []),  # it has taken back what it wrote
        (b"{", None, []),
        (b"{}\n{}\n", None, [b"{}", b"{}"]),
        (b"\n{}\n", None, [b"{}"]),
        (b" {}\n", None, [b" {}"]),
        (b"\r\n", None, []),
        (b"123456789012345\n", b"123456789012345", []),
        (b"1234567890123456\n", None, [b"1234567890123456"]),
        (b"12345678901234567890\n", None, [b"1234567890123456"]),  # too long: its beginning, for the fault
    ],
)
def test_an_answer_is_one_line_or_waits_in_the_buffer(peer: Peer, data: bytes, answer: bytes | None, lines: list[bytes]) -> None:
    peer.write(data)
    assert peer.link.receive_answer() == answer
    assert list(iter(peer.link.take, None)) == lines


def test_the_end_of_stdout_is_told_apart_from_silence(peer: Peer) -> None:
    assert peer.link.read() is None
    assert peer.link.receive()
    os.close(peer.stdout)
    assert peer.link.receive_answer() == b""
    assert not peer.link.receive()
    assert not peer.link.receive_early()


def test_what_is_kept_early_has_the_length_of_one_line() -> None:
    peer = Peer(keeps_early=True)
    try:
        peer.write(b"1\n" * 20_000)
        assert peer.link.receive_early()
        assert peer.link.lines.is_full
        peer.write(b"2\n")
        assert peer.link.receive_early()
        assert peer.link.read() == b"2\n", "the rest stays in the pipe"
        assert peer.link.take() == b"1"
    finally:
        peer.close()


def test_an_overdue_answer_is_dropped_once() -> None:
    peer = Peer(overdue=b"old ")
    try:
        peer.write(b"old 1\nnew 1\nold 2\n")
        assert peer.link.receive_answer() is None
        assert [peer.link.take(), peer.link.take(), peer.link.take()] == [b"new 1", b"old 2", None]
        peer.write(b"next\n")
        assert peer.link.receive_answer() == b"next"
    finally:
        peer.close()


def test_a_player_whose_time_is_up_is_read_once_more(peer: Peer) -> None:
    assert peer.link.receive_rest() is None
    peer.write(b"{")
    assert peer.link.receive_rest() is None
    peer.write(b"}\nmore")
    assert peer.link.receive_rest() == b"{}"
