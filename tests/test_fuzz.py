"""Many random matches over random settings: nothing raises, every replay verifies, every repeat is the same."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from referee.games.evasion.board.walls import KINDS
from referee.games.game import SettingsError
from referee.replay.reader import verify
from sdk import HunterBot, HunterMove, PreyBot, PreyMove, State
from sdk.testing import play


class Anything(HunterBot, PreyBot):
    """Moves without sense: spans that can't be, ids that aren't, remarks in every script."""

    def hunt(self, state: State) -> HunterMove | None:
        draw = self.random
        if draw.random() < 0.3:
            self.say(chr(draw.randrange(0x10FFFF)) * draw.randrange(3))
        if draw.random() < 0.1:
            self.draw.cells([(draw.randrange(9), draw.randrange(9))], "red")
        if draw.random() < 0.4:
            return None
        remove = tuple(draw.randrange(-1, state.next_id + 2) for _ in range(draw.randrange(3)))
        if draw.random() < 0.4:
            return self.remove(*remove)
        span = (draw.randrange(-2, 50), draw.randrange(-2, 50)) if draw.random() < 0.3 else None
        return self.build(draw.choice(KINDS), span, remove)

    def flee(self, state: State) -> PreyMove | None:
        if self.random.random() < 0.3:
            return None
        return self.go(self.random.randint(-1, 1), self.random.randint(-1, 1))


def some_settings(draw: random.Random) -> dict[str, Any]:
    width, height = draw.randint(1, 60), draw.randint(1, 60)
    return {
        "rules": draw.choice(["classic", "diagonal"]),
        "width": width,
        "height": height,
        "hunter": [draw.randrange(width), draw.randrange(height), draw.choice([-1, 1]), draw.choice([-1, 1])],
        "prey": [draw.randrange(width), draw.randrange(height)],
        "cooldown": draw.choice([0, 1, 2, 5, 20]),
        "max_walls": draw.choice([0, 1, 3, 10, 40]),
        "capture_radius": draw.choice([0, 1, 4]),
        "prey_period": draw.choice([1, 2, 3]),
        "max_steps": draw.choice([1, 10, 100, 400]),
    }


def without_times(path: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in gzip.open(path).read().splitlines()]
    for record in records:
        for key in ("us", "cpu_us", "time", "sha256"):
            record.pop(key, None)
    return records


def play_random_matches(count: int, seed: int, folder: Path) -> int:
    draw, played = random.Random(seed), 0
    while played < count:
        given = some_settings(draw)
        try:
            paths = [folder / "a.gz", folder / "b.gz"]
            for path in paths if played % 10 == 0 else paths[:1]:
                play(Anything, Anything, seed=played, replay=path, **given)
        except SettingsError:
            continue
        assert verify(paths[0]).problem is None, given
        if played % 10 == 0:
            assert without_times(paths[0]) == without_times(paths[1]), given
        played += 1
    return played


def test_some_random_matches(tmp_path: Path) -> None:
    assert play_random_matches(40, 1, tmp_path) == 40


@pytest.mark.slow
def test_a_thousand_random_matches(tmp_path: Path) -> None:
    assert play_random_matches(1_000, 2, tmp_path) == 1_000
