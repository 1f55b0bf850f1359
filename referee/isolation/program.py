"""A program to run for a player, and the files that belong to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation import runtime
from referee.isolation.bubblewrap import HOME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.isolation.submission import Piece


class Program(NamedTuple):
    """The program of one player: ``argv[0]`` is an absolute path, ``cwd`` the folder in which it runs.

    In a sandbox ``pieces`` are copied to the bot's folder, and ``inside`` runs there instead of ``argv``. ``through`` is a wrapper in front
    of both: a script of the referee with its arguments. It runs on the referee's own Python and then executes the program. The author's paths
    begin in the folder ``home``, "" for the current one.

    ``build`` is the command that makes the program from its files, as in ``inside``; such a program must be built before it can run.
    ``origin`` is the author's folder of a program that was built from a copy. ``is_build`` marks the build itself: it may change its files.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    label: str
    pieces: tuple[Piece, ...] = ()
    inside: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    home: str = ""
    build: tuple[str, ...] = ()
    origin: str = ""
    is_build: bool = False

    @property
    def before(self) -> tuple[str, ...]:
        """The wrapper's command line, in front of the program's own."""
        return (runtime.OWN_PYTHON, "-I", "-S", *self.through) if self.through else ()

    def own_build(self) -> Program:
        """Return the build of this program as a program of its own, which runs in the same folder. A file of the folder can be the command."""
        argv = tuple(_outside(self.cwd, word) if number == 0 else word for number, word in enumerate(self.build))
        return self._replace(argv=argv, inside=self.build, build=(), through=(BUILDER, "keep"), is_build=True)


def _outside(folder: str, word: str) -> str:
    """Return the path outside a sandbox of a file in the bot's folder; other paths are unchanged."""
    return folder + word.removeprefix(HOME) if word.startswith(f"{HOME}/") else word


#: The script in front of a build's command.
BUILDER = str(Path(__file__).with_name("builder.py"))
