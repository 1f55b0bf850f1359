"""arena invite and arena serve: the commands of an arena whose teams hand in over the network."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO
from urllib.parse import urlsplit

import typer

from referee.cli.app import command, put, put_csv, say
from referee.cli.options import ListenOptions, WorkerOptions
from referee.cli.pages import put_port
from referee.errors import UsageError
from referee.support.packages import need_league, need_server
from referee.support.processes import freeze_old_objects
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.arena.arena import OpenArena

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The arena's folder.")]


@contextlib.contextmanager
def opened_arena(folder: Path) -> Iterator[OpenArena]:
    """Open an arena for a command."""
    need_league("arena")
    from referee.arena.arena import open_arena

    with contextlib.closing(open_arena(folder)) as opened:
        yield opened


def check_playable(opened: OpenArena) -> None:
    """Raise UsageError if an arena can't be played here now."""
    if not os.access(opened.folder, os.W_OK):
        raise UsageError(f"{opened.folder} is not writable. The arena stores versions, replays and results in it.")
    if opened.store.database.is_claimed():
        raise UsageError(f"Another process plays the arena {opened.folder} already. End it first.")


@command
def invite(
    folder: Folder,
    roster: Annotated[Path | None, typer.Argument(metavar="ROSTER.csv", help="A CSV file with the column team.")] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url", metavar="URL", help="The address with which links begin.  (default: the last one, at first http://127.0.0.1:8300)"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.csv", help="Write to a file that only its owner can read.  (default: stdout)")
    ] = None,
    revoke: Annotated[str | None, typer.Option("--revoke", metavar="TEAM", help="Make all tokens of a team invalid.")] = None,
    staff: Annotated[
        bool, typer.Option("--staff", help="Print a link and a token for the staff; the earlier ones are no longer valid.")
    ] = False,
) -> None:
    """Make a link and a token for each team of a roster, as CSV with the columns team, link and token. The store keeps only hashes.

    Earlier tokens of a team stay valid until --revoke TEAM.
    """
    if (roster is not None) + (revoke is not None) + staff != 1 or (out is not None and roster is None):
        raise UsageError("Name exactly one: DIR ROSTER.csv, DIR --staff or DIR --revoke TEAM. --out needs ROSTER.csv.")
    with opened_arena(folder) as opened:
        from referee.arena import invitations

        if revoke is not None:
            with opened.store.database.write():
                count = invitations.revoke(opened.store, revoke)
                opened.log_command("revoke", team=revoke, tokens=count)
            put(f"{revoke}: {counted(count, 'token')} revoked.")
        elif roster is not None:
            # Open the file first: if it can't be written, no tokens are made that nobody would receive.
            with contextlib.nullcontext() if out is None else _private(out) as file:
                with opened.store.database.write():
                    invited = invitations.invite(opened, roster, url)
                    opened.log_command("invite", teams=[invitation.team for invitation in invited])
                text = invitations.table(invited)
                if file is None:
                    put_csv(text)
                    return
                file.write(text)
            say(f"Written: {out}")
        else:
            with opened.store.database.write():
                made = invitations.invite_staff(opened.store, url)
                opened.log_command("invite staff")
            put(f"Link:  {made.link}", f"Token: {made.token}")


@contextlib.contextmanager
def _private(path: Path) -> Iterator[TextIO]:
    """Open a new file that only its owner can read; remove it if writing fails. UsageError if it exists or can't be written."""
    try:
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w", encoding="utf-8")
    except FileExistsError:
        raise UsageError(f"{path} exists already; name another file with --out.") from None
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror or error}; name another place with --out.") from None
    try:
        with file:
            yield file
    except BaseException:
        path.unlink()
        raise


@command
def serve(
    *,
    folder: Folder,
    page: ListenOptions,
    isolation: Annotated[
        str,
        typer.Option(
            "--isolation",
            metavar="strict|none",
            help="none checks and plays without a sandbox; only for a server that other machines can't reach.",
        ),
    ] = "strict",
    workers: WorkerOptions,
) -> None:
    """Serve an arena until Ctrl-C: teams hand in versions, each is checked, and matches are played all the time.

    Teams use the tokens of referee arena invite. The server speaks HTTP; for TLS put a proxy before it.
    """
    need_league("arena")
    need_server("referee arena serve")
    import logging

    from threadpoolctl import threadpool_limits

    from referee.arena.invitations import address
    from referee.arena.season_work import SeasonWork
    from referee.arena.server import ArenaServer
    from referee.isolation import launcher, machine
    from referee.pages import serve as pages

    place = workers.place()
    if isolation not in ("strict", "none"):
        raise UsageError(f"--isolation is {isolation!r:.40}, but must be strict or none.")
    if isolation == "none" and pages.is_for_others(page.host):
        raise UsageError(
            "Without isolation, everybody who reaches the server can run programs as you: --isolation none needs --host 127.0.0.1."
        )
    # Don't log malformed requests of strangers; they get an answer.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    # Computations for pages use one core, so that the matches have the others.
    with opened_arena(folder) as opened, threadpool_limits(1, user_api="blas"), contextlib.ExitStack() as work:
        launcher.open_launcher(isolation, opened.config.options.limits)
        machine.refuse_disk(folder)
        place.check_machine(opened.config.options.replace(isolation=isolation))
        check_playable(opened)
        opened.isolate(isolation)
        listener = pages.bind(page.host, page.port)
        number = listener.getsockname()[1]
        proxy = urlsplit(address(opened.store)).hostname
        names = pages.names_of(page.host, [*page.name, *([proxy] if proxy else [])])

        def begin() -> None:
            freeze_old_objects()
            work.enter_context(contextlib.closing(SeasonWork(folder, isolation, place)))
            put_port(page.port, number)
            put(f"http://{pages.shown_host(page.host)}:{number}/")
            sys.stdout.flush()
            say("Ctrl-C ends the server.")

        pages.serve_site(lambda: ArenaServer(opened, say), listener, names, begin)
