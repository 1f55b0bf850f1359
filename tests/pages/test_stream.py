"""The stream that readers of a running match get."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.pages.stream import Stream, public_fault
from referee.replay.faults import CRASHED, Fault

HEAD = {"type": "head", "format": 1, "secret": "00ff", "seed": 7, "players": {"hunter": {"name": "A"}}}


def lines(remarks: list[str]) -> list[bytes]:
    records = [{"turn": turn, "changes": {}, "us": {}, "remarks": {"hunter": {"say": say}}} for turn, say in enumerate(remarks)]
    return [json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in [HEAD, *records]]


@given(st.lists(st.text(max_size=300), max_size=40), st.lists(st.integers(1, 9), min_size=1), st.integers(1, 500))
def test_a_reader_gets_every_byte_whatever_its_pieces(remarks: list[str], batches: list[int], piece: int) -> None:
    stream = Stream(point_every=200)
    told = lines(remarks)
    points = []
    at = 0
    for count in batches * (len(told) + 1):
        stream.write(told[at : at + count])
        points.append(stream.point)
        at += count
        if at >= len(told):
            break
    stream.finish()
    data = b""
    while len(data) < stream.size:
        data += stream.read(len(data), piece)
    text = zlib.decompress(data, 31)
    assert text.splitlines()[1:] == [line[:-1] for line in told[1:]]
    for point in points[-3:]:
        if point.offset:
            # Whoever goes on afresh from a point reads just the steps after it.
            assert stream.end is not None
            rest = zlib.decompressobj(-15).decompress(data[point.offset : stream.end])
            assert [json.loads(line)["turn"] for line in rest.splitlines()] == list(range(point.turn, len(remarks)))
    stream.close()


def test_a_reader_that_comes_back_goes_on_where_it_was() -> None:
    stream = Stream()
    told = lines(["x" * 50] * 20)
    stream.write(told[:5])
    inflate = zlib.decompressobj(31)
    first = stream.read(0, 1 << 20)
    text = inflate.decompress(first)
    assert text.count(b"\n") == 5
    stream.write(told[5:])
    stream.finish()
    text += inflate.decompress(stream.read(len(first), 1 << 20))
    assert text.count(b"\n") == 21
    assert inflate.eof
    stream.close()


def test_no_secret_is_in_any_stream_and_no_remark_in_that_of_players() -> None:
    told = [*lines(["my plan"]), b'{"turn":1,"changes":{},"us":{},"log":{"hunter":12}}\n', b'{"type":"result"}\n']
    texts = []
    for hides in (False, True):
        stream = Stream(hides_remarks=hides)
        stream.write(told)
        stream.finish()
        texts.append(zlib.decompress(stream.read(0, stream.size), 31))
        stream.close()
    assert all(b"secret" not in text and b"00ff" not in text and b'"seed"' not in text for text in texts)
    assert b"my plan" in texts[0]
    assert b'"log"' in texts[0]
    assert b"my plan" not in texts[1]
    assert b'"log"' not in texts[1]
    assert texts[1].count(b"\n") == texts[0].count(b"\n")


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("/home/ada/bots/x.py", "x.py"),
        ("python3 '/home/ada/my bots/x.py' --log=/tmp/log", "python3 'my bots/x.py' --log=log"),
        ("~/x.py", "x.py"),
        ("bots/x.py", "bots/x.py"),
        ("boxer", "boxer"),
    ],
)
def test_spectators_see_no_folder_of_the_machine(named: str, shown: str) -> None:
    stream = Stream()
    stream.write([json.dumps({**HEAD, "players": {"hunter": {"program": named}}, "from": {"file": named}}).encode() + b"\n"])
    stream.finish()
    head = json.loads(gzip.decompress(stream.read(0, stream.size)))
    assert (head["players"]["hunter"]["program"], head["from"]["file"]) == (shown, shown)
    stream.close()


def test_other_players_see_neither_code_nor_values_of_a_fault() -> None:
    values = {"seat": "hunter", "label": "bot.py", "words": "KeyError: 'secret'"}
    fault = Fault.of(CRASHED, "raised", values, "'secret'", {"stderr": ["secret"]})
    line = json.dumps({"type": "fault", "turn": 3, "faults": {"hunter": fault.to_json()}, "us": {"hunter": 1}}).encode()
    assert b"secret" in line
    public = json.loads(public_fault(line))
    assert public["us"] == {"hunter": 1}
    assert public["faults"]["hunter"].keys() == {"kind", "cause", "text"}
    assert "secret" not in json.dumps(public)
