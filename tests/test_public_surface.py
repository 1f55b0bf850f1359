"""The public surface keeps what it has: a change that could break somebody's program is deliberate, and recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from public_surface import FILE, commands, lost, printed, python

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

RECORDED = json.loads(FILE.read_text())
_WHAT_TO_DO = "docs/stability.md promises to keep it; if it must go, announce that first, then run python tests/public_surface.py"
_TO_RECORD = "what is new will be promised, too: if it is as it shall stay, run python tests/public_surface.py"


def test_no_name_of_the_python_modules_is_lost_and_none_is_new_unnoticed() -> None:
    assert lost(RECORDED["python"], python(), " python") == [], _WHAT_TO_DO
    assert lost(python(), RECORDED["python"]) == [], _TO_RECORD


def test_no_command_and_no_option_is_lost_and_none_is_new_unnoticed() -> None:
    assert lost(RECORDED["commands"], commands()) == [], _WHAT_TO_DO
    assert lost(commands(), RECORDED["commands"]) == [], _TO_RECORD


@pytest.mark.slow
def test_no_key_of_json_and_no_exit_status_is_lost(referee: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    assert lost(RECORDED["json"], printed(referee, tmp_path)) == [], _WHAT_TO_DO


def test_what_counts_as_lost() -> None:
    before = {"play": ["first", "second=", "*more"], "duel": None}
    assert lost(before, {"play": ["first", "second=", "third=", "*more"], "duel": None, "new": ["x"]}, " python") == []
    assert lost(before, {"play": ["first=", "second=", "*more"], "duel": None}, " python") == []
    assert lost(before, {"play": ["first", "second=", "*more"]}, " python") == [" python duel"]
    assert lost(before, {"play": ["first", "*more"], "duel": None}, " python") == [" python play: second="]
    assert lost(before, {"play": ["first", "second=", "third", "*more"], "duel": None}, " python") == [" python play: third is needed"]
    assert lost({"verify": [".ok"]}, {"verify": [".ok", ".more"]}) == []
    assert lost({"verify": [".ok"]}, {"verify": []}) == [" verify: .ok"]
