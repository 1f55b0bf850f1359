"""Pages for the commands: whether they can be had, their addresses for people, and opening them where there is a display."""

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

PAGE_HELP = "ON A PAGE, for who watches and who plays"

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Where the page's server listens; 0.0.0.0: for other machines too, with the secret addresses alone to keep strangers out.",
        rich_help_panel=PAGE_HELP,
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65_535,
        help="Its port; the next free one if it is taken.  (default: 8300)",
        rich_help_panel=PAGE_HELP,
        show_default=False,
    ),
]
Name = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        metavar="HOST",
        help="Another name under which the server may be called, such as that of a proxy before it; may be repeated.",
        rich_help_panel=PAGE_HELP,
        show_default=False,
    ),
]
Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Whether to open the page here, where there is a display.", rich_help_panel=PAGE_HELP)
]
#: The packages of the extras, each with the module that it brings.
_WEB = {"starlette": "starlette", "uvicorn": "uvicorn", "websockets": "websockets"}
_EXPORT = {"pillow": "PIL"}
PACES = ("1", "2", "4", "8", "15", "30", "wait")


class Show(NamedTuple):
    """How a match is shown: whether spectators are served, where, and how people play."""

    is_live: bool = False
    pace: float | None = 8
    is_timed: bool = False
    host: str = "127.0.0.1"
    port: int | None = None
    opens: bool = True
    stays: bool = False
    names: tuple[str, ...] = ()
    #: Steps a second of a match between programs; None: as fast as they are.
    bots_pace: float | None = None


def viewer() -> str:
    """The command that shows a replay best here: a page where there can be one."""
    from importlib.util import find_spec

    return "watch" if all(find_spec(name) is not None for name in _WEB) else "show"


def need_web(what: str) -> None:
    """UsageError where what the pages need isn't installed."""
    _need(_WEB, what)


def need_export(what: str) -> None:
    """UsageError where what pictures need isn't installed."""
    _need(_EXPORT, what)


def _need(packages: Mapping[str, str], what: str) -> None:
    from importlib.util import find_spec

    missing = [package for package, module in packages.items() if find_spec(module) is None]
    if missing:
        raise UsageError(
            f"{what} needs {' and '.join(missing)}; install what is missing: {shlex.quote(sys.executable)} -m pip install {' '.join(missing)}"
        )


def read_pace(text: str | None, default: float | None) -> float | None:
    """What --pace says: steps a second, or None for wait."""
    if text is None:
        return default
    if text not in PACES:
        raise UsageError(f"--pace is {text!r:.40}, but must be {', '.join(PACES[:-1])} steps a second, or {PACES[-1]}.")
    return None if text == "wait" else float(text)


def tell_port(wanted: int | None, first: int, port: int) -> None:
    """Say that another port was taken than the one that was asked for."""
    asked = first if wanted is None else wanted
    if asked not in (0, port):
        say(f"Port {asked} is in use; the page is on port {port} instead.")


def tell(pages: Pages, people: tuple[Seat, ...], show: Show) -> None:
    """Print the addresses, and open what is for here."""
    from referee.web.serve import PORT

    tell_port(show.port, PORT, pages.port)
    for seat in people:
        say(f"The {seat} plays at  {pages.addresses[seat]}")
    say(f"Spectators watch at  {pages.addresses[None]}")
    if people:
        say("Each address is a secret of its own: who has it has the seat. The match begins when everybody has pressed Start.")
    opened = [open_page(pages.addresses[seat]) for seat in people or (None,)] if show.opens else [False]
    if show.opens and not any(opened):
        say("There is no display here to open it on: open the address in a browser.")


def open_page(address: str) -> bool:
    """Open an address in the browser; False where there is no display. A browser for terminals would only be in the way."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    import webbrowser

    try:
        return webbrowser.open_new(address)
    except webbrowser.Error:
        return False
