"""A bot's lines as values: messages, or what is wrong with them."""

from __future__ import annotations

import itertools
import json
from typing import Any, get_args

import pytest

from referee.match import judge
from referee.wire import decode, messages
from referee.wire.decode import Answer, Problem


def test_good_messages_are_read() -> None:
    assert decode.ready(b'{"type":"ready","protocol":1,"name":"Boxer","more":1}') == "Boxer"
    assert decode.ready(b'{"type":"ready","protocol":1}') == ""
    move = decode.move(b'{"type":"move","turn":17,"move":{"go":[0,1]},"say":"hi","new":[]}', 17)
    assert move == Answer({"go": [0, 1]}, "hi", None)


def test_drawings_are_read_as_they_are_sent() -> None:
    shapes: list[dict[str, Any]] = [
        {"shape": "line", "start": [0, 0], "end": [1.5, 2], "color": "red"},
        {"shape": "rect", "start": [0, 0], "end": [1, 2]},
        {"shape": "text", "at": [3, 4], "text": "<b>"},
        {"shape": "cells", "cells": [[1, 2], [3, 4]]},
    ]
    line = json.dumps({"type": "move", "turn": 0, "move": {}, "draw": shapes}).encode()
    assert decode.move(line, 0) == Answer({}, None, shapes)


def test_ordinary_drawings_are_read_without_the_models_as_they_would_read_them() -> None:
    points: list[Any] = [[0.5, 1.0], [1, 2], [1.0], ["a", 1.0], None, 1.0, [[1, 2]], [[1, 2], [3.0, 4]], "text", {}]
    shapes: list[Any] = [None, 1, [], {}, {"shape": ["line"]}, {"shape": "circle", "start": [1.0, 2.0]}]
    for first, second, color in itertools.product(points, points, [None, "red", 1]):
        more = {"color": color, "width": 3}
        shapes += [{"shape": kind, "end": second, "start": first, **more} for kind in ("line", "rect")]
        shapes += [{"shape": "text", "text": first, "at": second, **more}, {"shape": "cells", "cells": first, "at": second, **more}]
    quick = 0
    for shape in shapes:
        draw = [{"shape": "text", "at": [1.0, 2.0], "text": "ok"}, shape]
        try:
            drawn = messages.Move.model_validate({"type": "move", "turn": 1, "move": {}, "draw": draw}).draw
        except messages.ValidationError:
            drawn = None
        plain = decode._plain_shapes(draw)
        quick += plain is not None
        if plain is not None:
            assert drawn is not None, shape
            assert json.dumps(plain) == json.dumps([each.model_dump(exclude_none=True) for each in drawn])
    assert quick > 10


_VALUES: list[Any] = [None, True, False, 0, 1, 2, -1, 1.0, 10**30, "", "a", "\u00e9" * 99, [], [0], {}, {"go": [0, 1]}]


def test_the_short_way_judges_as_the_models_do() -> None:
    """Ordinary messages are read without the models of the messages, which would say the same."""
    lines = []
    for first, second in itertools.product(_VALUES, _VALUES):
        lines += [{"type": "ready", "protocol": first, "name": second}, {"type": "move", "turn": first, "move": second}]
        lines += [{"type": "move", "turn": 1, "move": {}, "say": first, "draw": second}]
    lines += [{"type": "ready"}, {"type": "ready", "protocol": 1}, {"type": "move", "turn": 1}, {"type": "move", "move": {}}]

    def read(message: dict[str, Any]) -> Any:
        line = json.dumps(message).encode()
        return decode.ready(line) if message["type"] == "ready" else decode.move(line, 1)

    def judge(message: dict[str, Any]) -> Any:
        try:
            if message["type"] == "ready":
                return messages.Ready.model_validate(message).name or ""
            move = messages.Move.model_validate(message)
        except messages.ValidationError as error:
            first = error.errors()[0]
            return "no-key" if first["type"] == "missing" else "wrong-value", ".".join(map(str, first["loc"]))
        if move.turn != 1:
            return "other-turn", move.turn
        return Answer(move.move, move.say, None if move.draw is None else [])

    found = [read(message) for message in lines]
    assert [problem_key(one) for one in found] == [judge(message) for message in lines]
    assert {type(one) for one in found} == {str, Answer, Problem}


def problem_key(found: str | Answer | Problem) -> Any:
    """What is wrong and where, without the words for it."""
    return (found.reason, found.data[0]) if isinstance(found, Problem) else found


BAD: list[tuple[bytes, Problem | str, str]] = [
    (b'{"type":"ready","turn":1,"move":{}}', Problem("other-type", ("move",)), 'has no "type":"move"'),
    (b'{"turn":1,"move":{}}', Problem("other-type", ("move",)), 'has no "type":"move"'),
    (b'{"type":["move"],"turn":1,"move":{}}', Problem("other-type", ("move",)), 'has no "type":"move"'),
    (b"[]", Problem("not-an-object"), "is JSON but not an object: '[]'."),
    (b"debug 3", Problem("not-json"), "is not JSON: 'debug 3' - print to stderr, stdout is only for answers."),
    (b'{"a":1,"a":1}', Problem("key-twice", ("a",)), "has the key 'a' twice in one object"),
    (b'{"type":"move","move":{}}', Problem("no-key", ("turn",)), "has no key 'turn'"),
    (b'{"type":"move","turn":1}', Problem("no-key", ("move",)), "has no key 'move'"),
    (b'{"type":"move","turn":"1","move":{}}', "turn", "has a wrong 'turn' (must be a whole number)"),
    (b'{"type":"move","turn":1.0,"move":{}}', "turn", "has a wrong 'turn'"),
    (b'{"type":"move","turn":true,"move":{}}', "turn", "has a wrong 'turn'"),
    (b'{"type":"move","turn":-1,"move":{}}', "turn", "has a wrong 'turn'"),
    (b'{"type":"move","turn":1,"move":[]}', "move", "has a wrong 'move'"),
    (b'{"type":"move","turn":1,"move":{},"say":3}', "say", "has a wrong 'say'"),
    (
        b'{"type":"move","turn":1,"move":{},"draw":[{"shape":"star"}]}',
        "draw.0",
        "has a wrong 'draw.0' (shape must be one of 'line', 'rect', 'text', 'cells')",
    ),
    (b'{"type":"move","turn":1,"move":{},"draw":[{"shape":"cells","cells":[[true,0]]}]}', "draw.0.cells", "has a wrong 'draw.0.cells"),
    (b'{"type":"move","turn":2,"move":{}}', Problem("other-turn", (2, 1)), "The prey answered turn 2 when asked for turn 1: "),
    (b'{"type":"move","turn":1' + b"0" * 9 + b',"move":{}}', "other", "The prey answered turn a huge number when asked for turn 1: "),
]


@pytest.mark.parametrize(("line", "what", "why"), BAD)
def test_bad_messages_are_values_and_their_sentences_say_what_is_wrong(line: bytes, what: Problem | str, why: str) -> None:
    found = decode.move(line, 1)
    assert isinstance(found, Problem)
    if isinstance(what, Problem):
        assert found == what
    elif what != "other":
        assert found.reason == "wrong-value"
        assert str(found.data[0]).startswith(what)
    fault = judge.malformed("prey", found, line, 1)
    assert why in fault.text
    assert fault.text.endswith(".")
    assert fault.kind == "malformed"


@pytest.mark.parametrize("line", [b'{"type":"ready","protocol":2}', b'{"type":"ready"}', b'{"type":"ready","protocol":true}'])
def test_another_protocol_is_refused(line: bytes) -> None:
    found = decode.ready(line)
    assert isinstance(found, Problem)
    assert found.data[0] == "protocol"
    assert judge.malformed("prey", found, line).text.startswith("The prey's stdout line 1 has ")


def test_every_reason_has_its_sentence() -> None:
    data: dict[str, tuple[Any, ...]] = {"not-utf8": (1, 255), "other-turn": (2, 1), "wrong-value": ("turn", "Input is bad")}
    for part in get_args(decode.LineReason):
        for reason in get_args(part):
            found = Problem(
                reason, data.get(reason, ("that",) if reason in ("key-twice", "too-large", "constant", "other-type", "no-key") else ())
            )
            assert "{" not in judge.malformed("prey", found, b"x", 1).text
