"""The page docs/many-matches.md, line by line."""

from __future__ import annotations

import re
import shlex
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from serving import PATIENCE

if TYPE_CHECKING:
    from commands import Commands

PAGE = Path(__file__).parents[2] / "docs" / "many-matches.md"


@pytest.mark.slow
def test_every_command_of_the_page_does_what_it_says(commands: Commands, tmp_path: Path) -> None:
    lines = [line for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL) for line in block.splitlines()]
    assert len(lines) == 3
    for line in lines:
        words = shlex.split(line)[1:]
        serves = words[0] == "watch"
        page = ["--port", "0", "--no-browser"] if serves else []
        process = commands.start(*words, *page, cwd=tmp_path)
        if serves:
            address = process.stdout.readline().strip()
            with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
                assert answer.status == 200
            process.terminate()
        out, err = process.communicate(PATIENCE)
        assert serves or process.returncode == 0, (line, out, err)
    assert sorted(path.name for path in (tmp_path / "evening").glob("*.gz")) == [f"{number}.replay.jsonl.gz" for number in range(1, 7)]
