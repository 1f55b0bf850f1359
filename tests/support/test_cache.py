"""The folder of what is kept from one run to the next."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.support import cache


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"REFEREE_CACHE": "/kept", "XDG_CACHE_HOME": "/xdg", "HOME": "/home/ada"}, "/kept"),
        ({"REFEREE_CACHE": "", "XDG_CACHE_HOME": "/xdg", "HOME": "/home/ada"}, ""),
        ({"XDG_CACHE_HOME": "/xdg", "HOME": "/home/ada"}, "/xdg/referee"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/ada"}, "/home/ada/.cache/referee"),
        ({"XDG_CACHE_HOME": "not/absolute", "HOME": "/home/ada"}, "/home/ada/.cache/referee"),
        ({"HOME": "/home/ada"}, "/home/ada/.cache/referee"),
        ({"HOME": "nowhere"}, ""),
        ({"REFEREE_CACHE": "near", "HOME": "/home/ada"}, "HERE/near"),
    ],
)
def test_the_cache_folder_follows_the_environment(given: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REFEREE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert cache.folder() == wanted.replace("HERE", os.getcwd())


def test_a_place_below_a_folder_that_is_gone_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv(cache.VARIABLE, "near")
    assert cache.folder() == ""
