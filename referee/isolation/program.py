"""A program to run for a player, and the files that belong to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.isolation import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.isolation.submission import Piece


class Program(NamedTuple):
    """The program of one player: ``argv[0]`` is an absolute path, ``cwd`` the folder in which it runs.

    In a sandbox ``pieces`` are copied to the bot's folder, and ``inside`` runs there instead of ``argv``. ``through`` is a wrapper in front
    of both: a script of the referee with its arguments. It runs on the referee's own Python and then becomes the program. The author names
    files from the folder ``home`` on, "" for the current one.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    label: str
    pieces: tuple[Piece, ...] = ()
    inside: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    home: str = ""

    @property
    def before(self) -> tuple[str, ...]:
        """The wrapper's command line, in front of the program's own."""
        return (runtime.OWN_PYTHON, "-I", "-S", *self.through) if self.through else ()
