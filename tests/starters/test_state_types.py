"""The types of settings, states and moves in the templates: they are written by hand, because the schema of the protocol leaves them open."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from referee import games
from referee.replay.reader import Step, verify
from referee.starters.message_types import EMITTERS

ROOT = Path(__file__).parents[2]
#: How the templates name a key of JSON, by what stands before it.
KEY = re.compile(r'(?:json\["|json:"|json\.get\("|\(json, "|number\(")(\w+)"')
TEMPLATES = [
    path for path in sorted(ROOT.glob("referee/games/*/starters/*/game.*.template")) if path.parent.name in EMITTERS
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

    def add(step: Step) -> None:
        found.update(keys_in(room.codec.view(step.before, None)))

    for path in sorted((ROOT / "tests" / "data" / "replays").glob(f"{game}-*.gz")):
        with gzip.open(path) as file:
            head, *lines = map(json.loads, file)
        found.update(head["settings"], *(keys_in(line.get("moves")) for line in lines))
        assert verify(path, add).problem is None
    return found


def read(path: Path) -> set[str]:
    """The keys that a template reads or writes."""
    text = path.read_text("utf-8")
    records = re.findall(r"^interface (?!Way)\w+ \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return {*KEY.findall(text)}.union(*(re.findall(r"^  (\w+)\??:", record, re.MULTILINE) for record in records))


@pytest.mark.parametrize("path", TEMPLATES, ids=[str(path.relative_to(ROOT / "referee" / "games")) for path in TEMPLATES])
def test_the_types_of_a_template_have_only_fields_that_its_game_sends(path: Path) -> None:
    game = path.parts[-4]
    found = read(path)
    assert found, "no key was found: do the templates read JSON in another way?"
    assert found <= sent(game), found - sent(game)


def test_every_typed_language_is_checked() -> None:
    assert len(TEMPLATES) == len(EMITTERS) * len({path.parts[-4] for path in TEMPLATES}) >= 21
