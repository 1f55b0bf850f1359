"""How a player is spoken to that doesn't speak the native protocol.

A ``Host`` is our side of one conversation with one player of one game: it turns states into the lines of a dialect and what the
player sends into moves. A ``Guest`` is the other way round: it lets a bot of ours play on somebody else's server. Neither does input
or output, reads a clock or knows who is at the other end; the match loop is the same for all dialects.
"""

from __future__ import annotations

from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from referee.games.game import Json, Outcome, Seat


class DialectError(ValueError):
    """What the other side sent breaks its dialect; the text is the end of a sentence that begins with who sent it."""


class Heard(NamedTuple):
    """An answer as it was understood: a move of the game, and a word to the screen where it isn't what its author meant."""

    move: Any
    warning: str = ""


class Send(NamedTuple):
    """What a guest wants to have sent."""

    data: bytes


class Begin(NamedTuple):
    """A game begins in which the guest plays a seat; ``settings`` are the game's."""

    seat: Seat
    settings: Any


class Ask(NamedTuple):
    """The guest is asked: the position, the turn, and the seconds it has left, None where the server doesn't tell."""

    turn: int
    state: Any
    bank: float | None


class Over(NamedTuple):
    """A game has ended; ``result`` is what the server said of it. ``is_last``: nothing follows."""

    result: Mapping[str, Json]
    is_last: bool


class Dialect(NamedTuple):
    """One dialect of a game.

    ``rules`` are the rule sets that it can say, the first being its own. ``refusal`` tells why some settings can't be said, "" if
    they can. ``host`` makes our side of a conversation with the player of a seat who has just connected, ``guest`` the other one
    for a bot of that name, by one of the rule sets. ``port`` is where its programs look for a server if they aren't told, 0 if there is no such habit.
    """

    name: str
    rules: tuple[str, ...]
    refusal: Callable[[Any], str]
    host: Callable[[Seat], Host]
    guest: Callable[[str, str], Guest]
    port: int = 0


if TYPE_CHECKING:

    class Host(Protocol):
        """Our side of a conversation with one player in one game; lines are given and taken with and without their ends."""

        dialect: str
        #: Whether the player is asked in every step, also where it can't move; what it says there isn't heeded.
        asks_always: bool
        #: Whether it says its name before the game begins.
        awaits_name: bool
        #: The first words to it.
        greeting: bytes

        def take_name(self, line: bytes) -> str:
            """Its name, from its first line. Raises DialectError."""

        def opening(self, state: Any) -> bytes:
            """What it is told when the board is there."""

        def question(self, turn: int, state: Any, bank: float | None) -> bytes:
            """What asks it; ``bank`` are the seconds that it has left."""

        def answer(self, turn: int, state: Any, line: bytes) -> Heard:
            """What it means. Raises DialectError."""

        def closing(self, state: Any, outcome: Outcome) -> bytes:
            """What it is told when the game is over."""

    class Guest(Protocol):
        """A bot's side of a conversation with a server."""

        #: The first words to the server.
        greeting: bytes

        def hear(self, line: bytes) -> list[Send | Begin | Ask | Over]:
            """What a line of the server means. Raises DialectError."""

        def answer(self, move: Any) -> bytes:
            """A move as the answer to what was asked last."""
