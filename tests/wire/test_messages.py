"""The messages of the protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee import games
from referee.wire import constants, encode, messages
from referee.wire.messages import Malformed, read_move, read_ready
from sdk import _bot

DOCS = Path(__file__).parents[2] / "docs"


def test_good_messages() -> None:
    assert read_ready(b'{"type":"ready","protocol":1,"name":"Boxer","more":1}').name == "Boxer"
    assert read_ready(b'{"type":"ready","protocol":1}').name is None
    move = read_move(b'{"type":"move","turn":17,"move":{"go":[0,1]},"say":"hi","new":[]}')
    assert (move.turn, move.move, move.say, move.draw) == (17, {"go": [0, 1]}, "hi", None)


def test_drawings() -> None:
    shapes: list[dict[str, Any]] = [
        {"shape": "line", "start": [0, 0], "end": [1.5, 2], "color": "red"},
        {"shape": "rect", "start": [0, 0], "end": [1, 2]},
        {"shape": "text", "at": [3, 4], "text": "<b>"},
        {"shape": "cells", "cells": [[1, 2], [3, 4]]},
    ]
    line = json.dumps({"type": "move", "turn": 0, "move": {}, "draw": shapes}).encode()
    drawn = read_move(line).draw
    assert drawn is not None
    assert [shape.model_dump(exclude_none=True) for shape in drawn] == shapes


BAD = [
    (b'{"type":"ready","turn":1,"move":{}}', 'has no "type":"move"'),
    (b'{"turn":1,"move":{}}', 'has no "type":"move"'),
    (b"[]", "is JSON but not an object"),
    (b"debug 3", "is not JSON: 'debug 3' - print to stderr"),
    (b'{"type":"move","move":{}}', "has no key 'turn'"),
    (b'{"type":"move","turn":1}', "has no key 'move'"),
    (b'{"type":"move","turn":"1","move":{}}', "has a wrong 'turn'"),
    (b'{"type":"move","turn":1.0,"move":{}}', "has a wrong 'turn'"),
    (b'{"type":"move","turn":true,"move":{}}', "has a wrong 'turn'"),
    (b'{"type":"move","turn":-1,"move":{}}', "has a wrong 'turn'"),
    (b'{"type":"move","turn":1,"move":[]}', "has a wrong 'move'"),
    (b'{"type":"move","turn":1,"move":{},"say":3}', "has a wrong 'say'"),
    (b'{"type":"move","turn":1,"move":{},"draw":[{"shape":"star"}]}', "has a wrong 'draw.0'"),
    (b'{"type":"move","turn":1,"move":{},"draw":[{"shape":"cells","cells":[[true,0]]}]}', "has a wrong 'draw.0.cells"),
    (b'{"type":["move"],"turn":1,"move":{}}', 'has no "type":"move"'),
]


@pytest.mark.parametrize(("line", "why"), BAD)
def test_bad_messages_say_what_is_wrong(line: bytes, why: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_move(line)
    assert why in str(caught.value)


@pytest.mark.parametrize("line", [b'{"type":"ready","protocol":2}', b'{"type":"ready"}', b'{"type":"ready","protocol":true}'])
def test_another_protocol_is_refused(line: bytes) -> None:
    with pytest.raises(Malformed, match="protocol"):
        read_ready(line)


def test_the_sdk_knows_the_same_numbers() -> None:
    # It can't import them: a bot loads the rules and the standard library alone.
    assert (_bot.SAY_LENGTH, _bot.DRAW_SHAPES, _bot.DRAW_BYTES) == (constants.SAY_LENGTH, constants.MOST_SHAPES, constants.DRAW_BYTES)


def test_lines_of_the_referee_are_messages_of_the_schema() -> None:
    info = games.info("maze")
    control = {"kind": "wall", "startup": 10.0, "move": None, "bank": 2.5, "increment": 0.0}
    start = encode.start(info, "standard", "thief", {"apart": 16}, clock=control, seed=7, match="m")
    assert messages.Start.model_validate_json(start).clock.bank == 2.5
    notices = [{"code": "illegal-order", "text": "it goes D"}]
    turn = messages.Turn.model_validate_json(encode.turn(3, '{"step":3}', notices, encode.limit(1.0), None))
    assert (turn.turn, turn.state, turn.left.move, turn.left.bank) == (3, {"step": 3}, 1.0, None)
    assert [notice.code for notice in turn.notices] == ["illegal-order"]
    assert messages.End.model_validate_json(encode.end({"winner": None})).result == {"winner": None}
    for line in (start, encode.turn(0, "{}", [], "null", 0.12345), encode.end({})):
        assert line.endswith(b"}\n")
        assert line.count(b"\n") == 1


def test_the_shipped_schema_is_the_generated_one() -> None:
    shipped = json.loads((DOCS / "protocol.schema.json").read_text())
    assert shipped == messages.json_schema(), "run: python -m referee.wire.messages > docs/protocol.schema.json"


@pytest.mark.parametrize("model", [*messages.TO_BOT, *messages.FROM_BOT], ids=lambda model: model.__name__)
def test_the_reference_names_every_field(model: type[messages.Message]) -> None:
    page = (DOCS / "protocol.md").read_text()
    for name in model.model_fields:
        assert f"`{name}`" in page, f"docs/protocol.md does not speak of {model.__name__}.{name}"
