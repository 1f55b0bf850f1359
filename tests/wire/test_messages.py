"""The messages of the protocol."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee import games
from referee.wire import constants, decode, encode, messages
from sdk import bot

DOCS = Path(__file__).parents[2] / "docs"


def test_the_sdk_knows_the_same_numbers() -> None:
    # It can't import them: a bot loads the rules and the standard library alone.
    assert (bot.SAY_LENGTH, bot.DRAW_SHAPES, bot.DRAW_BYTES) == (constants.SAY_LENGTH, constants.MOST_SHAPES, constants.DRAW_BYTES)


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


def test_answers_of_the_referee_s_own_players_are_read_back() -> None:
    assert decode.ready(encode.ready("Ada")) == "Ada"
    assert decode.ready(encode.ready()) == ""
    line = encode.move(12, {"go": [1, 0]})
    assert decode.move(line, 12) == decode.Answer({"go": [1, 0]}, None, None)
    assert decode.answer_key(line, 12) == decode.answer_key(encode.move(7, {"go": [1, 0]}), 7) != b""
    assert decode.question(encode.end({})) is None


def test_messages_are_made_and_read_in_wire_alone() -> None:
    """The SDK's bot side can't import wire. Texts for authors show messages."""
    message = re.compile(r"""["']type\\*["'](?:: ?|\] == )\\*["'](?:start|ready|turn|move|end)\\*["']|["']turn\\*["']: ?%d""")
    assert message.search('{"type": "ready"}')
    found = {
        path.relative_to(DOCS.parent).as_posix() for path in (DOCS.parent / "referee").rglob("*.py") if message.search(path.read_text())
    }
    texts = {"referee/author/check/answers.py", "referee/author/check/reading.py", "referee/author/check/starting.py"}
    assert found == {"referee/wire/decode.py", "referee/wire/encode.py", *texts}


def test_the_shipped_schema_is_the_generated_one() -> None:
    shipped = json.loads((DOCS / "protocol.schema.json").read_text())
    assert shipped == messages.json_schema(), "run: python -m referee.wire.messages > docs/protocol.schema.json"


@pytest.mark.parametrize("model", [*messages.TO_BOT, *messages.FROM_BOT], ids=lambda model: model.__name__)
def test_the_reference_names_every_field(model: type[messages.Message]) -> None:
    page = (DOCS / "protocol.md").read_text()
    for name in model.model_fields:
        assert f"`{name}`" in page, f"docs/protocol.md does not speak of {model.__name__}.{name}"
