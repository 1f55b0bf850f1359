"""The command that installs what is missing works where it is printed."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from referee.errors import UsageError
from referee.support.packages import EXTRAS, install_command, missing_of_extras, need_export, need_web

ROOT = Path(__file__).parents[2]


def test_the_command_is_for_the_python_that_misses_the_packages() -> None:
    assert shlex.split(install_command("numpy", "psycopg[binary]")) == [sys.executable, "-m", "pip", "install", "numpy", "psycopg[binary]"]


def test_of_each_extra_the_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = [
        "pytest>=8.0",
        "absent-always>=1.0",
        'pytest>=8.0; extra == "web"',
        'absent-web<3,>=1.0; python_version >= "3.9" and extra == "web"',
        "absent-league ; extra == 'league'",
        "referee[league,web]; extra == 'grade'",
        'absent-driver[binary]>=3.1; extra == "postgres"',
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: {"referee": needs}[name])
    found = missing_of_extras()
    assert list(found) == list(EXTRAS)
    assert {name: packages for name, packages in found.items() if packages} == {
        "web": ["absent-web"],
        "league": ["absent-league"],
        "grade": ["absent-league", "absent-web"],
        "postgres": ["absent-driver[binary]"],
    }


def test_every_extra_for_users_has_a_line() -> None:
    text = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    assert set(re.findall(r"^(\w+) = \[", text, re.MULTILINE)) == {*EXTRAS, "docs", "dev"}


def test_no_other_module_words_such_a_command() -> None:
    """An extra, as in "referee[web]", can be installed only from the source of the referee, and "pip" alone may be that of another Python."""
    files = [path for folder in ("referee", "sdk") for path in (ROOT / folder).rglob("*.py") if path.name != "packages.py"]
    assert len(files) > 200
    assert not [str(path) for path in files if "pip install" in path.read_text()]


def test_what_is_missing_is_named_as_it_can_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError) as raised:
        need_web("--live")
    assert str(raised.value).endswith("-m pip install starlette uvicorn websockets")
    with pytest.raises(UsageError, match=r"-m pip install pillow playwright$"):
        need_export("--png")
