"""workshop: build the page on which bots are written and played in the browser, and serve it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.app import INSTRUCTORS, app, command, group, put, say
from referee.cli.pages import put_port
from referee.support.packages import need_web
from referee.support.words import program

_HOST = "127.0.0.1"
workshop = group("workshop", "A page on which bots are written and played in the browser, with nothing to install.")
app.add_typer(workshop, rich_help_panel=INSTRUCTORS)


@workshop.command()
@command
def build(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to write.")],
    pyodide: Annotated[Path | None, typer.Option("--pyodide", metavar="FILE", help="Pyodide's package.  (default: npm fetches it)")] = None,
) -> None:
    """Write the workshop into a folder that any web server can serve."""
    from referee.workshop import build as site

    if pyodide is None:
        say("npm fetches Pyodide, which is 6 MB.")
    site.build(folder, pyodide)
    put(str(folder), f"Next:  {program()} workshop serve {shlex.quote(str(folder))}")


@workshop.command()
@command
def serve(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A built workshop.")] = Path("workshop"),
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=0, max=65_535, help="The port; 0: any free port.")] = 8400,
) -> None:
    """Serve the workshop to the browsers of this machine until Ctrl-C."""
    need_web("referee workshop serve")
    from referee.pages import serve as pages
    from referee.workshop.pages import WorkshopPages

    site, listener = WorkshopPages(folder), pages.bind(_HOST, port)
    number = listener.getsockname()[1]

    def announce() -> None:
        put_port(port, number)
        put(f"http://{_HOST}:{number}/")
        say("Ctrl-C ends the server.")

    pages.serve_site(lambda: site, listener, pages.names_of(_HOST), announce)
