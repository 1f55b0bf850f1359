"""The memory of a check doesn't grow with the length of a replay, and that of an analysis and of a page hardly."""

from __future__ import annotations

import gzip
import hashlib
import tracemalloc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from referee import games
from referee.games.evasion.state import PreyMove
from referee.replay.match_analysis import MatchAnalysis
from referee.replay.reader import read_lines, verify
from referee.replay.replay_index import ReplayIndex
from referee.replay.writer import DIGEST_KEY, dumps

if TYPE_CHECKING:
    from collections.abc import Callable


def long_replay(path: Path, steps: int) -> Path:
    """A replay of a match that lasts to its step limit."""
    game = games.get("evasion")
    settings = game.codec.settings("classic", {"max_steps": steps, "max_walls": 0})
    state = game.start(settings, b"")
    head = {"type": "head", "format": 1, "game": "evasion", "version": game.info.version, "rules": "classic"}
    head |= {"settings": game.codec.settings_json(settings), "players": {seat: {"name": seat} for seat in game.seats(settings)}}
    digest = hashlib.sha256()
    with gzip.open(path, "wb", 1) as file:

        def put(text: str) -> None:
            digest.update(text.encode())
            file.write(text.encode())

        put(dumps(head) + "\n")
        for turn in range(steps):
            after, _ = game.step(state, {"prey": PreyMove((0, 1 if turn // 400 % 2 else -1))})
            moves = f',"moves":{{"prey":{{"go":[0,{1 if turn // 400 % 2 else -1}]}}}}' if turn % 2 else ""
            put(f'{{"turn":{turn}{moves},"changes":{game.codec.changes_text(state, after)},"us":{{"hunter":{turn % 977}}}}}\n')
            state = after
        outcome = game.outcome(state)
        assert outcome is not None
        put(dumps({"type": "result", **outcome.to_json(), "steps": steps})[:-1] + DIGEST_KEY)
        file.write(f'{digest.hexdigest()}"}}\n'.encode())
    return path


def peak_of(work: Callable[[], None]) -> int:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.soak
def test_a_replay_ten_times_as_long_takes_no_more_memory(tmp_path: Path) -> None:
    short, long = long_replay(tmp_path / "short.replay.jsonl.gz", 10_000), long_replay(tmp_path / "long.replay.jsonl.gz", 100_000)

    def check(path: Path, steps: int) -> None:
        found = verify(path)
        assert found.problem is None
        assert found.turns == steps

    def analyze(path: Path, steps: int) -> None:
        found = MatchAnalysis(path, 600.0)
        found.run(every=False, on_judged=lambda position: None)
        assert found.steps == steps
        assert found.verified["status"] == "good"
        assert found.losses

    def show_on_a_page(path: Path, steps: int) -> None:
        recorded = ReplayIndex(None)
        assert recorded.play(path, read_lines(path))["status"] == "good"
        recorded.compute_verdicts()
        assert recorded.steps == steps
        assert recorded.judged

    for work, most_a_step in ((check, 1), (analyze, 40), (show_on_a_page, 40)):
        work(short, 10_000)
        before = peak_of(partial(work, short, 10_000))
        after = peak_of(partial(work, long, 100_000))
        assert after < before + 90_000 * most_a_step, (work.__name__, before, after)
