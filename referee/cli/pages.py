"""Pages for the commands: print their addresses, and open them if there is a display."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from referee.cli.app import put, say
from referee.cli.options import PageOptions, page_option
from referee.errors import UsageError
from referee.pages.show import Show
from referee.support.packages import install_command
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from referee.games.game import Game, Seat
    from referee.pages.match_pages import MatchPages


class MatchPageOptions(PageOptions):
    """The pages of a match: for spectators, and for people who play."""

    is_live: Annotated[bool, page_option("--live", help="Show the running match on a page.")] = False
    pace: Annotated[
        str | None,
        page_option(
            "--pace",
            metavar="N|wait",
            help="Steps a second with a person or --live: 1, 2, 4, 8, 15, 30; or wait for each move.  (default: the game's)",
        ),
    ] = None
    human_clock: Annotated[bool, page_option("--human-clock", help="Apply the time limits to people too.")] = False
    stay: Annotated[bool | None, page_option("--stay/--no-stay", help="Serve the page until Ctrl-C.  (default: at a terminal)")] = None

    def show(self, game: Game[Any, Any], *, has_people: bool, as_json: bool) -> Show:
        """Return how the pages of a match are served. UsageError for an unknown pace, or for ``wait`` without a person."""
        if self.pace is not None and not self.is_live and not has_people:
            say("note: --pace has no effect here. It is for a match with a person, or with --live.")
        pace = read_pace(self.pace, game.human_play.pace if game.human_play is not None else None)
        if self.pace == "wait" and self.is_live and not has_people:
            raise UsageError("--pace wait is for a match with a person; programs play at 1, 2, 4, 8, 15 or 30 steps a second.")
        stays = sys.stderr.isatty() and not as_json if self.stay is None else self.stay
        bots_pace = pace if self.is_live and self.pace is not None else None
        return Show(self.is_live, pace, self.human_clock, self.host, self.port, self.browser, stays, tuple(self.name), bots_pace)


_PACES = ("1", "2", "4", "8", "15", "30", "wait")


def read_pace(text: str | None, default: float | None) -> float | None:
    """Return the value of --pace: steps a second, or None for wait. Raises UsageError for any other text."""
    if text is None:
        return default
    if text not in _PACES:
        raise UsageError(f"--pace is {text!r:.40}, but must be {', '.join(_PACES[:-1])} steps a second, or {_PACES[-1]}.")
    return None if text == "wait" else float(text)


class BoundPage(NamedTuple):
    """A listener for pages, and the secret address below which it serves them."""

    options: PageOptions
    listener: socket
    token: str

    @property
    def top(self) -> str:
        """The address of the first page."""
        from referee.pages.serve import shown_host

        return f"http://{shown_host(self.options.host)}:{self.listener.getsockname()[1]}/{self.token}/"

    @property
    def names(self) -> tuple[list[str], bool]:
        """The host names that requests may have, as ``serve.names_of`` returns them."""
        from referee.pages.serve import names_of

        return names_of(self.options.host, self.options.name)

    def announcer(self, page: str, what: str = "page") -> Callable[[], None]:
        """Return a function that prints the address of a page, and opens it. ``what`` names what Ctrl-C ends, such as "page"."""

        def announce() -> None:
            put_port(self.options.port, self.listener.getsockname()[1])
            put(self.top + page)
            # The code leads to the list, because the projector's page suits no phone.
            put_code(self.top if page == "projector" else self.top + page, self.options.host)
            sys.stdout.flush()
            if self.options.browser:
                open_pages([self.top + page])
            say(f"Ctrl-C ends the {what}.")

        return announce


def bind_page(options: PageOptions) -> BoundPage:
    """Return a listener for pages. UsageError if the address or the port is unavailable."""
    from referee.pages.security import new_token
    from referee.pages.serve import bind

    return BoundPage(options, bind(options.host, options.port), new_token())


def put_port(requested: int | None, port: int) -> None:
    """Print a line if the server uses another port than the requested one."""
    from referee.pages.serve import PORT

    if (number := PORT if requested is None else requested) not in (0, port):
        say(f"Port {number} is in use; the page is on port {port} instead.")


def put_code(address: str, host: str) -> None:
    """Print an address as a QR code for phones on stderr, if other machines can reach the server."""
    from referee.pages import qr, serve

    if not serve.is_for_others(host):
        return
    code = qr.for_terminal(address)
    say(*code.splitlines() or [f"note: a QR code of this address needs the package segno; {install_command('segno')}"])


def put_addresses(pages: MatchPages, people: tuple[Seat, ...], show: Show) -> None:
    """Print the addresses, and open the page of each person, or else the spectators' page, in a browser on this machine."""
    put_port(show.port, pages.port)
    for seat in people:
        say(f"{the_seat(seat)} plays at  {pages.addresses[seat]}")
        put_code(pages.addresses[seat], show.host)
    say(f"Spectators watch at  {pages.addresses[None]}")
    if not people:
        put_code(pages.addresses[None], show.host)
    if show.is_live:
        say(f"For a projector  {pages.addresses[None]}projector")
    if people:
        say("Each address is secret: anyone who has it can take the seat. The match begins when everybody has pressed Ready.")
    if show.opens:
        open_pages([pages.addresses[seat] for seat in people or (None,)])


def open_pages(addresses: list[str]) -> None:
    """Open addresses in the browser. Without a display, print a message, because a text browser would take over the terminal."""
    import webbrowser

    from referee.pages.secret_address import way_to

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        addresses = []
    with contextlib.suppress(webbrowser.Error, OSError):
        if sum([webbrowser.open_new(way_to(address).as_uri()) for address in addresses]):
            return
    say("This machine has no display. Open the address in a browser.")
