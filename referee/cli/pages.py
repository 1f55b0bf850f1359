"""Pages for the commands: check that their packages are installed, print their addresses, and open them if there is a display."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from referee.cli.app import say
from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Seat
    from referee.web.live import Pages

PAGE_HELP = "ON A PAGE, for spectators and human players"

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="The address on which the page's server listens. 0.0.0.0 admits other machines; then only secret addresses protect the page.",
        rich_help_panel=PAGE_HELP,
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65_535,
        help="Its port; if it is in use, the next free port.  (default: 8300)",
        rich_help_panel=PAGE_HELP,
    ),
]
Name = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        metavar="HOST",
        help="Another host name that requests may use, such as the name of a proxy in front of the server; may be repeated.",
        rich_help_panel=PAGE_HELP,
    ),
]
Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the page in a browser here, if there is a display.", rich_help_panel=PAGE_HELP)
]
#: The packages of the extras, each with the module that it installs.
_WEB = {"starlette": "starlette", "uvicorn": "uvicorn", "websockets": "websockets"}
_EXPORT = {"pillow": "PIL"}
_LEAGUE = {name: name for name in ("networkx", "numpy", "psutil", "scipy", "sqlalchemy")}
_STATISTICS = {"numpy": "numpy", "rich": "rich", "scipy": "scipy"}
PACES = ("1", "2", "4", "8", "15", "30", "wait")


class Show(NamedTuple):
    """The options for a match's pages: whether spectators are served, the server's address, and the pace and clock of people."""

    is_live: bool = False
    pace: float | None = 8
    is_timed: bool = False
    host: str = "127.0.0.1"
    port: int | None = None
    opens: bool = True
    stays: bool = False
    names: tuple[str, ...] = ()
    #: Steps a second of a match between programs; None: no delay between steps.
    bots_pace: float | None = None


def viewer() -> str:
    """Return the best command to show a replay: "watch" if the packages for pages are installed, else "show"."""
    from importlib.util import find_spec

    return "watch" if all(find_spec(name) is not None for name in _WEB) else "show"


def need_web(what: str) -> None:
    """Raise UsageError if a package that the pages need isn't installed. ``what`` names the feature in the message."""
    _need(_WEB, what)


def need_export(what: str) -> None:
    """Raise UsageError if a package that pictures need isn't installed. ``what`` names the feature in the message."""
    _need(_EXPORT, what)


def need_league(what: str) -> None:
    """Raise UsageError if a package that leagues need isn't installed. ``what`` names the feature in the message."""
    _need(_LEAGUE, what)


def need_statistics(what: str) -> None:
    """Raise UsageError if a package that the statistics need isn't installed. ``what`` names the feature in the message."""
    _need(_STATISTICS, what)


def _need(packages: Mapping[str, str], what: str) -> None:
    from importlib.util import find_spec

    missing = [package for package, module in packages.items() if find_spec(module) is None]
    if missing:
        raise UsageError(
            f"{what} needs {' and '.join(missing)}; install what is missing: {shlex.quote(sys.executable)} -m pip install {' '.join(missing)}"
        )


def read_pace(text: str | None, default: float | None) -> float | None:
    """Return the value of --pace: steps a second, or None for wait. Raises UsageError for any other text."""
    if text is None:
        return default
    if text not in PACES:
        raise UsageError(f"--pace is {text!r:.40}, but must be {', '.join(PACES[:-1])} steps a second, or {PACES[-1]}.")
    return None if text == "wait" else float(text)


def tell_port(wanted: int | None, first: int, port: int) -> None:
    """Print a line if the server uses another port than the requested one."""
    asked = first if wanted is None else wanted
    if asked not in (0, port):
        say(f"Port {asked} is in use; the page is on port {port} instead.")


def tell(pages: Pages, people: tuple[Seat, ...], show: Show) -> None:
    """Print the addresses, and open the page of each person, or else the spectators' page, in a browser on this machine."""
    from referee.web.serve import PORT

    tell_port(show.port, PORT, pages.port)
    for seat in people:
        say(f"The {seat} plays at  {pages.addresses[seat]}")
    say(f"Spectators watch at  {pages.addresses[None]}")
    if people:
        say("Each address is secret: anyone who has it can take the seat. The match begins when everybody has pressed Start.")
    opened = [open_page(pages.addresses[seat]) for seat in people or (None,)] if show.opens else [False]
    if show.opens and not any(opened):
        say("There is no display here to open it on: open the address in a browser.")


def open_page(address: str) -> bool:
    """Open an address in the browser. Return False if there is no display: a text browser would take over the terminal."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    import webbrowser

    try:
        return webbrowser.open_new(address)
    except webbrowser.Error:
        return False
