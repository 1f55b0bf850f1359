"""What play offers after a fault: the explanation that fits its cause."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

HUNTER = """\
from sdk import HunterBot
class Mine(HunterBot):
    rules = ("classic",)
    def hunt(self, state):
        %s
Mine.main()
"""
#: The hunter's move, the words of play, the code that is explained, its kind, and what the fault says.
ENDS = {
    "rules": (
        "return None",
        ("bot.py", "still", "--rules", "gameserver"),
        "refusal",
        "crashed",
        "Mine plays the rules classic, but was asked to play gameserver",
    ),
    "seat": ("return None", ("straight", "bot.py"), "refusal", "crashed", "Mine plays hunter, but was asked to play prey"),
    "memory": ("raise MemoryError", ("bot.py", "still"), "memory", "crashed", "MemoryError, at bot.py:5 in hunt"),
    "crash": ("raise IndexError", ("bot.py", "still"), "crashed", "crashed", "IndexError, at bot.py:5 in hunt"),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_explanation_fits_the_cause(end: str, tmp_path: Path, referee: Cli) -> None:
    move, words, code, kind, said = ENDS[end]
    (tmp_path / "bot.py").write_text(HUNTER % move)
    words = ("play", *words, "--isolation", "none", "--max-steps", "9")
    done = referee(*words)
    assert [line.split()[-1] for line in done.stdout.splitlines() if " explain " in line] == [code]
    told = referee(*words, "--json").stdout
    faults = [player["fault"] for player in json.loads(told)["players"].values() if player["fault"]]
    assert [(fault["kind"], said in fault["text"]) for fault in faults] == [(kind, True)]
    assert "limit of" not in faults[0]["text"], "without isolation there is no such limit"
    explained = referee("explain", code)
    assert (explained.returncode, "What to do" in explained.stdout) == (0, True)


def test_a_limit_of_memory_is_explained(tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "bot.py").write_text(HUNTER % "raise MemoryError")
    done = referee("play", "bot.py", "still", "--isolation", "limits", "--max-steps", "9")
    assert "used more memory than its limit of 512 MiB" in done.stdout
    assert " explain memory\n" in done.stdout
