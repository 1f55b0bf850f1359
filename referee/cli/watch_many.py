"""watch with a folder or two replays: a gallery, two replays side by side, or the projector's page."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.cli.app import program, put, say
from referee.cli.pages import open_pages, tell_code, tell_port
from referee.errors import RefereeError, ReplayError, UsageError
from referee.replay.paths import why_unreadable
from referee.support.packages import need_league, need_web
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.types import ASGIApp

    from referee.gallery.listing import Found
    from referee.gallery.shelf import Shelf


class Where(NamedTuple):
    """Where the pages are served, and whether a browser is opened."""

    host: str
    port: int | None
    names: tuple[str, ...]
    opens: bool


def check(files: Sequence[Path], *, is_projector: bool) -> None:
    """Raise UsageError if these files can't be shown together."""
    if is_projector and (len(files) > 1 or not files[0].is_dir()):
        if len(files) == 1 and not files[0].exists():
            missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            raise UsageError(f"{escape(str(files[0]))} can't be read: {why_unreadable(missing, files[0])}")
        raise UsageError("--projector shows the matches of a folder; name one folder.")
    if len(files) > 2:
        raise UsageError(f"{len(files)} files were named; watch shows one replay, two side by side, or a folder.")
    for file in files if len(files) > 1 else ():
        if file.is_dir():
            raise UsageError(f"{escape(str(file))} is a folder; name two replays to see them side by side.")


def show_folder(folder: Path, where: Where, *, is_projector: bool) -> None:
    """Serve the gallery of a folder until Ctrl-C; print the address of its first page, or of the projector's."""
    need_web("referee watch")
    from referee.gallery.shelf import Shelf

    if not is_projector:
        _check_folder(folder)
    name, standings = _league(folder) or (folder.resolve().name, None)
    _serve(Shelf(folder), name, "projector" if is_projector else "", where, standings)


def show_two(paths: Sequence[Path], files: Sequence[Path], step: int | None, where: Where) -> None:
    """Serve two replays side by side until Ctrl-C. ``files`` are the files that the user knows, if the replays were taken out of them."""
    need_web("referee watch")
    from referee.gallery.shelf import Shelf

    found = [_found(path, file) for path, file in zip(paths, files, strict=True)]
    title = " and ".join(Path(name).name for _, name in found)
    _serve(Shelf(Path(), found), title, "compare#a=0&b=1" + ("" if step is None else f"&t={step}"), where, None)


def _found(path: Path, file: Path) -> tuple[Found, str]:
    from referee.gallery.listing import Found

    try:
        facts = path.stat()
    except OSError as error:
        raise ReplayError(f"{escape(str(file))} can't be read: {why_unreadable(error, path)}") from None
    return Found(path, facts.st_size, facts.st_mtime_ns), str(file)


def _serve(shelf: Shelf, title: str, page: str, where: Where, standings: Callable[[], dict[str, Any]] | None) -> None:
    from referee.gallery.site import Gallery
    from referee.web import serve
    from referee.web.guard import new_token

    listener = serve.bind(where.host, where.port)
    number = listener.getsockname()[1]
    token = new_token()
    top = f"http://{serve.shown_host(where.host)}:{number}/{token}/"
    address = top + page
    own_names, takes_addresses = serve.names_of(where.host, where.names)

    async def start() -> tuple[ASGIApp, Callable[[], None]]:
        site = Gallery(shelf, token, escape(title), standings, top if serve.is_for_others(where.host) else None)
        # The list is read while the browser starts.
        shelf.begin()
        return site.app(own_names, takes_addresses=takes_addresses), site.close

    def begin() -> None:
        tell_port(where.port, serve.PORT, number)
        put(address)
        # A phone shows the list better than the projector's page.
        tell_code(top if page == "projector" else address, where.host)
        if where.opens:
            open_pages([address])
        say("Ctrl-C ends the page.")

    serve.serve_app(start, listener, begin)


def _check_folder(folder: Path) -> None:
    """Raise UsageError for a folder that can't be read or has no file that can be a replay."""
    from referee.gallery.listing import scan

    shown = escape(str(folder))
    try:
        found, notes = scan(folder)
    except OSError as error:
        raise UsageError(f"{shown} can't be read: {why_unreadable(error, folder)}") from None
    if not found:
        why = f" {notes[0]}" if notes else ""
        raise UsageError(
            f"{shown} has no replays (files whose names end in .gz).{why} Play a match into it: "
            f"{program()} play boxer runner --out {shlex.quote(str(folder))}/"
        )


def _league(folder: Path) -> tuple[str, Callable[[], dict[str, Any]]] | None:
    """Return the name of the folder's league and what reads its standings; None if the folder is no league's, or if they can't be shown."""
    if not any((folder / name).exists() for name in ("league.sqlite", "database.url")):
        return None
    try:
        need_league("The standings")
    except UsageError as error:
        say(f"note: {error}")
        return None
    from referee.gallery.standings import of_folder

    try:
        return of_folder(folder)
    except (RefereeError, OSError) as error:
        say(f"note: the standings can't be shown: {error}")
        return None
