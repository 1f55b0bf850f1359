"""The types in the templates: those of messages have all fields of the protocol's schema, those of settings, states and moves what games send."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from replay_records import steps_of

from referee import games
from referee.replay.reader import verify

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "docs" / "protocol.schema.json").read_text("utf-8"))
#: The messages and their parts, by name, with their fields; no starter draws shapes.
TYPES = {
    name: set(record["properties"]) - {"type", "draw"}
    for direction in ("to_bot", "from_bot")
    for name, record in SCHEMA[direction]["$defs"].items()
    if "shape" not in record["properties"]
}
MESSAGES = sorted(ROOT.glob("referee/author/starters/*/messages.*.template"))
#: The languages whose bots have types.
TYPED = [path.parent.name for path in MESSAGES]
#: How the templates name a key of JSON, by what stands before it.
KEY = re.compile(r'(?:json\["|json:"|json\.get\("|\(json, "|number\(")(\w+)"')
TEMPLATES = [
    path for path in sorted(ROOT.glob("referee/games/*/starters/*/game.*.template")) if path.parent.name in TYPED
]  # fmt: skip


def keys_in(value: Any) -> set[str]:
    """The keys of all objects in a JSON value."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_in, value.values()))
    return set().union(*map(keys_in, value)) if isinstance(value, list) else set()


@cache
def sent(game: str) -> set[str]:
    """The keys in the settings, states and moves of the recorded games."""
    room, found = games.get(game), set[str]()

    for path in sorted((ROOT / "tests" / "data" / "replays").glob(f"{game}-*.gz")):
        with gzip.open(path) as file:
            head, *lines = map(json.loads, file)
        found.update(head["settings"], *(keys_in(line.get("moves")) for line in lines))
        found.update(*(keys_in(room.codec.view(step.before, None)) for step in steps_of(path)))
        assert verify(path).problem is None
    return found


def read(path: Path) -> set[str]:
    """The keys that a template reads or writes."""
    return {*KEY.findall(path.read_text("utf-8"))}


@pytest.mark.parametrize("path", TEMPLATES, ids=[str(path.relative_to(ROOT / "referee" / "games")) for path in TEMPLATES])
def test_the_types_of_a_template_have_only_fields_that_its_game_sends(path: Path) -> None:
    game = path.parts[-4]
    found = read(path)
    assert found, "no key was found: do the templates read JSON in another way?"
    assert found <= sent(game), found - sent(game)


def test_every_typed_language_is_checked() -> None:
    assert len(TEMPLATES) == len(TYPED) * len({path.parts[-4] for path in TEMPLATES}) >= 12


@pytest.mark.parametrize("path", MESSAGES, ids=TYPED)
def test_the_types_of_messages_have_every_field_of_the_schema(path: Path) -> None:
    # Each type stands below a remark, with all that reads or writes it.
    parts = re.split(r"\n\n//+ ", path.read_text("utf-8"))
    for name, fields in TYPES.items():
        own = [
            part
            for part in parts
            if re.search(rf"(?:(?<!impl )\b(?:struct|record|class|interface|type) {name}\b|^}} {name};)", part, re.MULTILINE)
        ]
        assert len(own) == 1, name
        code = re.sub("//.*", "", own[0].partition("\n")[2])
        assert {field for field in fields if not re.search(rf"\b{field}\b", code)} == set(), name
