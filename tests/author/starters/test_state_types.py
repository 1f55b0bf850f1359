"""The types in the templates: those of settings, states and moves have only fields that games send."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from recorded_games import steps_of

from referee import games
from referee.replay.reader import verify

ROOT = Path(__file__).parents[3]
#: The languages whose bots have types.
TYPED = ("cpp", "go", "java", "rust")
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
        found.update(*(keys_in(json.loads(room.codec.view_text(step.before, None))) for step in steps_of(path)))
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
