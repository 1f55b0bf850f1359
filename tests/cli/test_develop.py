"""The keys of referee bots."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]


def documented(what: str) -> list[str]:
    """The keys in the table of docs/results.md with that heading, in their order."""
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    table = page.partition(f"| key of a {what} | meaning |\n")[2].partition("\n\n")[0]
    return [key for line in table.splitlines()[1:] for key in re.findall(r"`(\w+)`", line.split("|")[1])]


def test_the_keys_of_bots_are_those_of_the_page(referee: Cli) -> None:
    bots = json.loads(referee("bots", "--json").stdout)
    assert len(bots) > 10
    for bot in bots:
        assert list(bot) == documented("bot")
        assert Path(bot["file"]).is_file()
