"""Packages that a feature needs: which are missing, and how to install them for a Python."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The packages of the extras, each with the module that it installs.
WEB = {"starlette": "starlette", "uvicorn": "uvicorn", "websockets": "websockets"}
_EXPORT = {"pillow": "PIL"}
_LEAGUE = {name: name for name in ("networkx", "numpy", "psutil", "scipy", "sqlalchemy")}
_SIGN = {"cryptography": "cryptography"}
_AUTHOR = {"watchfiles": "watchfiles"}
_DEBUGGER = {"debugpy": "debugpy"}
_STATISTICS = {"numpy": "numpy", "rich": "rich", "scipy": "scipy"}


def install_command(*packages: str, python: str | None = None) -> str:
    """Return the command that installs packages for a Python, by default the one that runs.

    It names the packages themselves. An extra of the referee can be installed only from the referee's own source.
    """
    return f"{shlex.quote(python or sys.executable)} -m pip install {' '.join(map(shlex.quote, packages))}"


def missing_packages(packages: Mapping[str, str]) -> list[str]:
    """Return those packages whose modules are not installed."""
    from importlib.util import find_spec

    return [package for package, module in packages.items() if find_spec(module) is None]


def _need(packages: Mapping[str, str], what: str) -> None:
    if missing := missing_packages(packages):
        raise UsageError(f"{what} needs {' and '.join(missing)}; install what is missing: {install_command(*missing)}")


#: Each raises UsageError if a package of an extra isn't installed. The argument names the feature in the message.
need_web, need_export = partial(_need, WEB), partial(_need, _EXPORT)
need_league, need_statistics = partial(_need, _LEAGUE), partial(_need, _STATISTICS)
need_sign, need_author = partial(_need, _SIGN), partial(_need, _AUTHOR)
need_debugger = partial(_need, _DEBUGGER)
