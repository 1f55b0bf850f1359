"""What commands print where there is one of a thing, a shared rank, or the result of a duel in place of a replay."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

_PLURAL = re.compile(r"\b1 (?:answer|duel|game|matche|move|question|replay|step)s\b")
_MATCH = ("play", "straight", "still", "--isolation", "none", "--max-steps", "1", "--out", "a.gz")
CALLS = {
    "play": _MATCH,
    "games": (*_MATCH[:-2], "--games", "1"),
    "verify": ("verify", "a.gz"),
    "show": ("show", "a.gz"),
    "analyze": ("analyze", "a.gz"),
    "rerun": ("rerun", "a.gz", "straight", "--isolation", "none"),
    "compare": ("compare", "boxer", "straight", "--isolation", "none", "--max-steps", "1", "--duels", "1"),
}


@pytest.fixture
def folder(tmp_path: Path, referee: Cli) -> Path:
    """A folder with a replay of one step, which asks the hunter once."""
    assert referee(*_MATCH).returncode == 0
    return tmp_path


@pytest.mark.parametrize("name", CALLS)
def test_one_is_no_plural(name: str, folder: Path, referee: Cli) -> None:
    done = referee(*CALLS[name])
    assert done.returncode in (0, 1), done.stderr
    text = f"{done.stdout}{done.stderr}"
    assert re.search(r"\b1 (?:answer|duel|game|match|question|step)\b", text), text
    assert _PLURAL.findall(text) == []


def test_a_shared_rank_has_a_sign(tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "still.py").write_text(
        "from sdk import RectangleBot\nclass Still(RectangleBot):\n    def orders(self, state):\n        return ''\nStill.main()\n"
    )
    done = referee("play", "--game", "rectangle", "still.py", "still.py", "--isolation", "none", "--cap", "5")
    assert "  ranks    1= a, 1= b\n" in done.stdout


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("exit(3)", "Player a (bot.py) exited with status 3"),
        ("print('no', flush=True)\ninput()", "Player a's stdout line 1 is not JSON: 'no'"),
    ],
    ids=["crashed", "malformed"],
)
def test_a_seat_that_is_a_letter_is_called_a_player(program: str, said: str, tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "bot.py").write_text(f"{program}\n")
    done = referee("play", "--game", "rectangle", "bot.py", "random", "--isolation", "none", "--cap", "5")
    assert f"  fault    {said}" in done.stdout


@pytest.mark.parametrize("words", [("show",), ("verify",), ("watch", "--no-browser"), ("analyze",), ("rerun",), ("debug",)], ids=" ".join)
def test_the_result_of_a_duel_is_told_from_a_replay(words: tuple[str, ...], folder: Path, referee: Cli) -> None:
    (folder / "a.duel.json").write_text(json.dumps({"winner": "a"}))
    done = referee(words[0], "a.duel.json", *words[1:])
    assert done.returncode == 2
    assert "a.duel.json is the result of a duel, not a replay; name one of the two replays that it lists" in done.stderr
