"""A program to run for a player, and the files that belong to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.isolation import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.isolation.submission import Piece


class Program(NamedTuple):
    """What to run for one player: ``argv[0]`` is an absolute path; ``cwd`` the folder that it runs in.

    In a sandbox ``pieces`` are copied to the bot's own folder, and ``inside`` is run there instead of ``argv``. ``through`` is a
    command line of ours in front of either: a script and its arguments, run by the referee's own Python, that becomes the program.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    label: str
    pieces: tuple[Piece, ...] = ()
    inside: tuple[str, ...] = ()
    through: tuple[str, ...] = ()

    @property
    def before(self) -> tuple[str, ...]:
        """What stands before the program's own command line."""
        return (runtime.OWN_PYTHON, "-I", "-S", *self.through) if self.through else ()
