"""Finds the missing packages of a feature, and the command that installs them."""

from __future__ import annotations

import re
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.support.words import program

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The packages of the extras, each with the module that it installs.
WEB = {"starlette": "starlette", "uvicorn": "uvicorn", "websockets": "websockets"}
_EXPORT = {"pillow": "PIL", "playwright": "playwright"}
_LEAGUE = {name: name for name in ("numpy", "psutil", "scipy", "sqlalchemy", "threadpoolctl")}
_STATISTICS = {"numpy": "numpy", "scipy": "scipy"}

#: What each extra is for.
EXTRAS = {
    "web": "pages: the viewer, live matches, people who play",
    "export": "PNG and GIF pictures",
    "league": "leagues, comparisons, statistics",
    "grade": "gradings",
    "postgres": "leagues in a PostgreSQL database",
    "cluster": "leagues on many machines",
    "rl": "learning environments",
}


def missing_of_extras() -> dict[str, list[str]]:
    """Return the packages of each extra that are not installed. Empty if the referee runs from its folder and isn't installed itself."""
    from importlib import metadata

    try:
        needs = metadata.requires("referee") or []
    except metadata.PackageNotFoundError:
        return {}
    requirements = {name: [line.split(";")[0] for line in needs if re.search(rf"extra == .{name}\b", line)] for name in EXTRAS}

    def missing(name: str) -> list[str]:
        packages: list[str] = []
        for need in requirements[name]:
            package, _, parts = re.sub(r"\]?[ (<>=!~].*|\]$", "", need).partition("[")
            if package == "referee":
                for extra in parts.split(","):
                    packages += missing(extra)
            elif not any(metadata.distributions(name=package)):
                packages.append(f"{package}[{parts}]" if parts else package)
        return packages

    return {name: missing(name) for name in EXTRAS}


def install_command(*packages: str) -> str:
    """Return the command that installs packages for the Python that runs.

    It names the packages themselves. An extra of the referee can be installed only from the referee's own source.
    """
    return f"{shlex.quote(sys.executable)} -m pip install {' '.join(map(shlex.quote, packages))}"


def missing_packages(packages: Mapping[str, str]) -> list[str]:
    """Return those packages whose modules are not installed."""
    from importlib.util import find_spec

    return [package for package, module in packages.items() if find_spec(module) is None]


def _need(packages: Mapping[str, str], what: str) -> None:
    if missing := missing_packages(packages):
        raise UsageError(f"{what} needs {' and '.join(missing)}; install what is missing: {install_command(*missing)}")


#: Each raises UsageError if a package of an extra isn't installed. The argument names the feature in the message.
need_web, need_export, need_cluster = (partial(_need, packages) for packages in (WEB, _EXPORT, {"distributed": "distributed"}))
need_server = partial(_need, {**WEB, "fastapi": "fastapi", "python-multipart": "python_multipart"})
need_league, need_statistics = partial(_need, _LEAGUE), partial(_need, _STATISTICS)


def watch_command(replay: object) -> str:
    """Return the command that opens a replay in the viewer. If packages for pages are missing, the command that installs them is before it."""
    missing = missing_packages(WEB)
    before = f"{install_command(*missing)} && " if missing else ""
    return f"{before}{program()} watch {shlex.quote(str(replay))}"
