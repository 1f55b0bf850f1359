"""Pages for the commands: print their addresses, and open them if there is a display."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from referee.cli.app import put, say
from referee.errors import UsageError
from referee.support.packages import install_command
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from referee.api.shown_match import Show
    from referee.games.game import Seat
    from referee.pages.live import Pages

PAGE_HELP = "ON A PAGE, for spectators and human players"

page_option = partial(typer.Option, rich_help_panel=PAGE_HELP)

Host = Annotated[
    str,
    page_option(
        "--host",
        metavar="ADDRESS",
        help="The address of the page's server; 0.0.0.0 admits other machines.",
    ),
]
Port = Annotated[int | None, page_option("--port", min=0, max=65_535, help="Its port, or the next free one.  (default: 8300)")]
Name = Annotated[
    list[str] | None,
    page_option(
        "--name",
        metavar="HOST",
        help="Another host name for requests, such as a proxy's; may be repeated.",
    ),
]
Browser = Annotated[bool, page_option("--browser/--no-browser", help="Open the page in a browser here.")]
_PACES = ("1", "2", "4", "8", "15", "30", "wait")


def read_pace(text: str | None, default: float | None) -> float | None:
    """Return the value of --pace: steps a second, or None for wait. Raises UsageError for any other text."""
    if text is None:
        return default
    if text not in _PACES:
        raise UsageError(f"--pace is {text!r:.40}, but must be {', '.join(_PACES[:-1])} steps a second, or {_PACES[-1]}.")
    return None if text == "wait" else float(text)


class Where(NamedTuple):
    """Where the pages are served, and whether a browser is opened."""

    host: str
    port: int | None
    names: tuple[str, ...]
    opens: bool


class BoundPage(NamedTuple):
    """A listener for pages, and the secret address below which it serves them."""

    where: Where
    listener: socket
    token: str

    @property
    def top(self) -> str:
        """The address of the first page."""
        from referee.pages.serve import shown_host

        return f"http://{shown_host(self.where.host)}:{self.listener.getsockname()[1]}/{self.token}/"

    @property
    def names(self) -> tuple[list[str], bool]:
        """The host names that requests may have, as ``serve.names_of`` returns them."""
        from referee.pages.serve import names_of

        return names_of(self.where.host, self.where.names)

    def announcer(self, page: str, what: str = "page") -> Callable[[], None]:
        """Return a function that prints the address of a page, and opens it. ``what`` Ctrl-C ends."""

        def announce() -> None:
            from referee.pages.serve import PORT

            tell_port(self.where.port, PORT, self.listener.getsockname()[1])
            put(self.top + page)
            # A phone shows the list better than the projector's page.
            tell_code(self.top if page == "projector" else self.top + page, self.where.host)
            sys.stdout.flush()
            if self.where.opens:
                open_pages([self.top + page])
            say(f"Ctrl-C ends the {what}.")

        return announce


def bind_page(where: Where) -> BoundPage:
    """Return a listener for pages. UsageError if there is none at that address and port."""
    from referee.pages.security import new_token
    from referee.pages.serve import bind

    return BoundPage(where, bind(where.host, where.port), new_token())


def tell_port(wanted: int | None, first: int, port: int) -> None:
    """Print a line if the server uses another port than the requested one."""
    if (asked := first if wanted is None else wanted) not in (0, port):
        say(f"Port {asked} is in use; the page is on port {port} instead.")


def tell_code(address: str, host: str) -> None:
    """Print an address as a QR code for phones on stderr, if other machines can reach the server."""
    from referee.pages import qr, serve

    if not serve.is_for_others(host):
        return
    code = qr.for_terminal(address)
    say(*code.splitlines() or [f"note: a QR code of this address needs the package segno; {install_command('segno')}"])


def tell(pages: Pages, people: tuple[Seat, ...], show: Show) -> None:
    """Print the addresses, and open the page of each person, or else the spectators' page, in a browser on this machine."""
    from referee.pages.serve import PORT

    tell_port(show.port, PORT, pages.port)
    for seat in people:
        say(f"{the_seat(seat)} plays at  {pages.addresses[seat]}")
        tell_code(pages.addresses[seat], show.host)
    say(f"Spectators watch at  {pages.addresses[None]}")
    if not people:
        tell_code(pages.addresses[None], show.host)
    if show.is_live:
        say(f"For a projector  {pages.addresses[None]}projector")
    if people:
        say("Each address is secret: anyone who has it can take the seat. The match begins when everybody has pressed Ready.")
    if show.opens:
        open_pages([pages.addresses[seat] for seat in people or (None,)])


def open_pages(addresses: list[str]) -> None:
    """Open addresses in the browser, or say that there is no display: a text browser would take over the terminal."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        addresses = []
    with contextlib.suppress(webbrowser.Error):
        if sum(map(webbrowser.open_new, addresses)):
            return
    say("There is no display here to open it on: open the address in a browser.")
