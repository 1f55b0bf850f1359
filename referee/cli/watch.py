"""watch and export: show a replay or a folder of replays in the viewer, and write replays as pages and pictures."""

from __future__ import annotations

import errno
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.app import REPLAYS, JsonFlag, app, command, put, put_json, say
from referee.cli.options import Force, PageOptions, page_option
from referee.cli.pages import bind_page
from referee.errors import RefereeError, UsageError
from referee.pages.export_source import MOST_FRAMES, frames, good_steps, head_of, html_page, kind_of, replay_in, within
from referee.replay.paths import SUFFIX, log_path, why_unreadable
from referee.support.outputs import check_output, write_output
from referee.support.packages import need_export, need_league, need_web
from referee.support.words import program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.pages.folder_listing import ShownStandings


ReplayFile = Annotated[Path, typer.Argument(metavar="REPLAY", help="A replay file, or an exported page.")]

#: The beginning of each kind of file that these commands write.
_MARKS = {
    "html": re.compile(rb'<!doctype html>\s.*<meta name="generator" content="referee export">', re.DOTALL),
    "png": re.compile(rb"\x89PNG\r\n\x1a\n.*tEXtSoftware\0referee", re.DOTALL),
    "gif": re.compile(rb"GIF89a.*referee", re.DOTALL),
}


@app.command(rich_help_panel=REPLAYS)
@command
def watch(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="REPLAY|FOLDER",
            help="A replay file or an exported page; or a folder of replays or of a league.",
        ),
    ],
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE.html", help="Write the page to a file instead of serving it.")
    ] = None,
    page: PageOptions,
    force: Force = False,
    step: Annotated[int | None, typer.Option("--step", metavar="N", min=0, help="The step at which the viewer begins.")] = None,
    is_projector: Annotated[
        bool, page_option("--projector", help="Show the matches of a folder one after another on a full screen, and new ones as they end.")
    ] = False,
) -> None:
    """Open a replay in the viewer, or the list of a folder of replays. A server on this machine serves the page until Ctrl-C."""
    if is_projector or file.is_dir():
        check_folder_argument(file)
        if export is not None:
            raise UsageError("--export is for one replay, not for a folder.")
        if step is not None:
            raise UsageError("--step is for one replay, not for a folder.")
        show_folder(file, page, is_projector=is_projector)
        return
    with replay_in(file) as path:
        head = head_of(path, file)
        if export is not None:
            if step is not None:
                raise UsageError(f"--step can't be used with a written page. Add #t={step} to its address instead.")
            write_output(export, html_page(path, file), _MARKS["html"].match, _inputs(file, head), force=force, option="--export")
            put(str(export))
            return
        need_web("referee watch")
        from referee.pages import serve

        if step is not None:
            within("--step", step, 0, good_steps(path, file, lambda _: None))
        bound = bind_page(page)
        logs = {seat: log_path(file, seat) for seat in head["players"]}
        begin = bound.announcer("" if step is None else f"#t={step}", "viewer")
        serve.serve_replay(path, logs, bound.token, bound.listener, bound.names, begin, is_copy=path != file)


@app.command(rich_help_panel=REPLAYS)
@command
def export(
    file: ReplayFile,
    as_html: Annotated[bool, typer.Option("--html", help="The viewer with the replay in it, in one file for any browser.")] = False,
    as_png: Annotated[bool, typer.Option("--png", help="A picture of one step.")] = False,
    as_gif: Annotated[bool, typer.Option("--gif", help="An animation of the match.")] = False,
    step: Annotated[int | None, typer.Option("--step", metavar="N", min=0, help="The step of the picture.  (default: the last)")] = None,
    first: Annotated[int | None, typer.Option("--from", metavar="A", min=0, help="The first step of the GIF.  (default: 0)")] = None,
    last: Annotated[int | None, typer.Option("--to", metavar="B", min=0, help="The last step of the GIF.  (default: the last)")] = None,
    every: Annotated[
        int | None,
        typer.Option("--every", metavar="K", min=1, help=f"Show every K-th step.  (default: K for at most {MOST_FRAMES} frames)"),
    ] = None,
    size: Annotated[int, typer.Option("--size", metavar="PIXELS", min=64, max=4096, help="The picture's width.")] = 640,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write.  (default: the replay's name, in the current folder)")
    ] = None,
    force: Force = False,
    as_json: JsonFlag = False,
) -> None:
    """Turn a replay into a page, a picture or an animated GIF."""
    kind = kind_of(dict(zip(_MARKS, (as_html, as_png, as_gif), strict=True)), out)
    if kind != "gif" and (first, last, every) != (None, None, None):
        raise UsageError("--from, --to and --every are for --gif.")
    if kind in ("html", "gif") and step is not None:
        raise UsageError(f"--step is for --png. A page contains every step (add #t={step} to its address), and --gif has --from and --to.")
    if kind in ("png", "gif"):
        need_export(f"--{kind}")
    stem = file.name.removesuffix(SUFFIX).removesuffix(".gz").removesuffix(".html")
    place = out or Path(f"{stem}{'' if step is None else f'-{step}'}.{kind}")
    with replay_in(file) as path:
        head = head_of(path, file)
        mark, inputs = _MARKS[kind].match, _inputs(file, head)
        check_output(place, mark, inputs, force=force)
        if kind == "html":
            data = html_page(path, file)
        else:
            from referee.pages import pictures

            count = good_steps(path, file, lambda text: say(f"note: {text}"))
            if kind == "png":
                data = pictures.png(path, within("--step", step, count, count), size)
            else:
                turns = frames(count, first, last, every, size)
                say(f"drawing {len(turns)} pictures")
                data = pictures.gif(path, turns, size)
        write_output(place, data, mark, inputs, force=force)
    if as_json:
        put_json({"file": str(place), "kind": kind})
    else:
        put(str(place))
        if kind == "html":
            say(f"Open it in any browser, or:  {program()} watch {shlex.quote(str(place))}")


def _inputs(file: Path, head: Mapping[str, Any]) -> list[Path]:
    """Return the files that an export reads: the replay and its logs."""
    return [file, *(log_path(file, seat) for seat in head["players"])]


def check_folder_argument(folder: Path) -> None:
    """Raise UsageError if ``--projector`` names no folder."""
    if folder.is_dir():
        return
    if not folder.exists():
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise UsageError(f"{folder} can't be read: {why_unreadable(missing, folder)}")
    raise UsageError("--projector shows the matches of a folder; name a folder.")


def show_folder(folder: Path, page: PageOptions, *, is_projector: bool) -> None:
    """Serve the list of a folder until Ctrl-C; print the address of its first page, or of the projector's."""
    need_web("referee watch")
    from referee.pages import serve
    from referee.pages.folder_index import FolderIndex
    from referee.pages.folder_listing import hint_for
    from referee.pages.folder_site import FolderPages

    if hint := hint_for(folder):
        say(f"note: {hint}")
    index, (title, standings) = FolderIndex(folder), _league(folder) or (folder.resolve().name, None)
    bound = bind_page(page)

    def site() -> FolderPages:
        # Read the list while the browser starts.
        index.begin()
        return FolderPages(index, bound.token, title, standings, bound.top if serve.is_for_others(page.host) else None)

    serve.serve_site(site, bound.listener, bound.names, bound.announcer("projector" if is_projector else ""))


def _league(folder: Path) -> tuple[str, Callable[[], ShownStandings]] | None:
    """Return the name of the folder's league and a function that reads its standings. None if the folder belongs to no league."""
    if not any((folder / name).exists() for name in ("league.sqlite", "database.url")):
        return None
    try:
        need_league("The standings")
    except UsageError as error:
        say(f"note: {error}")
        return None
    from referee.league.league import open_league

    try:
        opened = open_league(folder)
        return opened.league.name, opened.shown
    except (RefereeError, OSError) as error:
        say(f"note: the standings can't be shown: {error}")
        return None
