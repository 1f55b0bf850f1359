"""The interface of dialects: protocols for players that don't speak the native protocol.

A ``Host`` is the referee's side of a conversation with one player in one game: it writes states as lines of the dialect and parses the
player's lines into moves. It does no input or output, reads no clock and doesn't know its peer, so the match loop is the same for all dialects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from referee.games.outcome import Outcome, S_contra, Seat


class DialectError(ValueError):
    """The peer's line violates the dialect. The text is a predicate; the sender is the subject of the sentence."""


class ParsedAnswer(NamedTuple):
    """A parsed answer: the move, and a warning for the screen if the move differs from the player's request."""

    move: Any
    warning: str = ""


class Dialect(NamedTuple):
    """One dialect of a game.

    ``rules`` are the rule sets that it can express; the first one is its own. ``refusal`` returns why it can't express some settings, ""
    if it can. ``host`` makes our side of a conversation with the player of a seat that has just connected. ``port`` is the default port of
    its programs, 0 without one.
    """

    name: str
    rules: tuple[str, ...]
    refusal: Callable[[Any], str]
    host: Callable[[Seat], Host]
    port: int = 0


if TYPE_CHECKING:

    class Host(Protocol[S_contra]):
        """Our side of a conversation with one player in one game. Lines that it returns have line ends; lines that it takes have none."""

        dialect: str
        #: Whether the player gets a question in every step, even if it can't move; its answer is then ignored.
        asks_always: bool
        #: Whether the player sends its name before the game begins.
        awaits_name: bool
        #: The bytes to send to the player when it has connected; may be empty.
        on_connect: bytes
        #: Seconds between two lines to the player with no answer between them; 0 for none. The players' clocks don't run meanwhile.
        pause: float

        def take_name(self, line: bytes) -> str:
            """Return the player's name, from its first line. Raises DialectError."""

        def opening(self, state: S_contra) -> bytes:
            """Return the first lines of a game for the player."""

        def question(self, turn: int, state: S_contra, bank: float | None) -> bytes:
            """Return the question to the player; ``bank`` is its remaining time in seconds."""

        def answer(self, turn: int, state: S_contra, line: bytes) -> ParsedAnswer:
            """Parse the player's answer. Raises DialectError."""

        def closing(self, state: S_contra, outcome: Outcome) -> bytes:
            """Return the lines for the player at the end of the game."""
