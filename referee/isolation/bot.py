"""A program that plays, as its author knows it. ``plan`` decides how it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.dialect import Dialect
    from referee.games.game import Json
    from referee.isolation.submission import Piece

#: Where a bot finds its own files in a sandbox.
HOME = "/bot"
#: Placeholder for the port in the command line of a program that speaks a dialect.
PORT = "{port}"


class Bot(NamedTuple):
    """A program that plays: ``argv`` runs in ``folder``, and ``argv[0]`` is an absolute path.

    ``files`` are the files and folders that belong to it. ``build`` is the command line that builds it from them, empty for a bot that can run
    as it is. ``dialect`` is the protocol that it speaks over TCP, None for the native one. ``label`` is its name from the command line, and
    ``name`` its name in the match until it gives its own: "" for the label. Paths in messages begin in the folder ``home``, "" for the
    current one. ``about`` goes into the replay's head.

    ``origin`` is the author's folder of a bot that was built in a copy of it. ``is_blamed``: the bot loses a match with a failure for which
    nobody else can be to blame.
    """

    label: str
    argv: tuple[str, ...]
    folder: str
    files: tuple[Piece, ...] = ()
    build: tuple[str, ...] = ()
    dialect: Dialect | None = None
    home: str = ""
    about: Mapping[str, Json] = {}
    name: str = ""
    origin: str = ""
    is_blamed: bool = False

    @property
    def port(self) -> int:
        """The port on which it expects a server; 0 if its command line takes any."""
        return 0 if self.dialect is None or any(PORT in word for word in self.argv) else self.dialect.port
