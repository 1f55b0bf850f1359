"""The text protocol of the 2010 game server: lines over TCP, one player's turn after the other's.

Source: rules of Evasion, section "S2", and the protocol's own document, described in docs/dialects.md. The referee sends exact text.
In lines that it reads it ignores extra spaces and the case of letters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from referee.games.dialect import Dialect, DialectError, ParsedAnswer
from referee.games.evasion.codec.turnwise import PASS, ends
from referee.games.evasion.dialects.text import words
from referee.games.evasion.state import HEADINGS, HUNTER, STEPS, AddWall, Invalid, RemoveWall, State, To

if TYPE_CHECKING:
    from referee.games.evasion.state import Settings
    from referee.games.game import Outcome

#: The longest name, in characters.
MOST_NAME = 39
#: The default port of the protocol.
PORT = 23_000

_INT = r"([+-]?\s*[0-9]{1,9})"
_POINT = rf"\(\s*{_INT}\s*,\s*{_INT}\s*\)"
_ADD = re.compile(rf"ADD\s*(\d{{1,4}})\s*{_POINT}\s*,\s*{_POINT}", re.ASCII)
_REMOVE = re.compile(r"REMOVE\s*(\d{1,4})", re.ASCII)
_TO = re.compile(rf"{_INT}\s*,\s*{_INT}", re.ASCII)

_REASONS = {"caught": "CAUGHT", "trapped": "TRAPPED", "evaded": "EVADED"}
_KEYWORDS = {"join": "JOIN", "spectate": "SPECTATE"}


def refusal(settings: Settings) -> str:
    """Return why the dialect can't express some settings, "" if it can."""
    return "" if settings.rules == GAMESERVER.rules[0] else f"it has no words for the rule set {settings.rules}"


def read_join(line: bytes) -> tuple[str, str]:
    """The first line of a client: ``("JOIN", name)`` or ``("SPECTATE", "")``, or with the number of a game. Raises DialectError."""
    said = words(line).split()
    word = _KEYWORDS.get(said[0].lower()) if said else None
    if word == "SPECTATE" and (len(said) == 1 or (len(said) == 2 and re.fullmatch(r"\d{1,9}", said[1], re.ASCII))):
        return word, said[1] if len(said) == 2 else ""
    if word != "JOIN":
        raise DialectError("begins with neither JOIN nor SPECTATE")
    if len(said) != 2:
        raise DialectError("joins without a name" if len(said) == 1 else "joins by a name with white space in it")
    if len(said[1]) > MOST_NAME:
        raise DialectError(f"joins by a name of {len(said[1]):,} characters, but must have less than {MOST_NAME + 1}")
    if not said[1].isprintable():
        raise DialectError("joins by a name that can't be shown")
    return word, said[1]


def accepted(seat: str) -> bytes:
    """Return the server's line to a client that has joined."""
    return b"ACCEPTED %s\n" % seat.upper().encode()


def settings_line(settings: Settings) -> bytes:
    """Return the line with the board and the limits, sent to both players when the second one has joined."""
    return (f"({settings.width}, {settings.height}) {settings.max_walls}, {settings.cooldown}, {settings.prey_cooldown}\n").encode()


def state_line(state: State) -> bytes:
    """Return the line with a position, sent to the player that has the turn."""
    hunter, prey = state.hunter, state.prey
    walls = ", ".join(f"({wall.id}, %d, %d, %d, %d)" % ends(wall) for wall in state.walls)
    return (
        f"YOURTURN {state.step // 2} H({hunter.x}, {hunter.y}, {state.wall_timer}, {HEADINGS[hunter.dx, hunter.dy]}), "
        f"P({prey.x}, {prey.y}, {state.prey_timer}), W[{walls}]\n"
    ).encode()


def end_line(state: State, seat: str, winner: str | None) -> bytes:
    """Return the line about the end of the game. Its round is the one in which the game ended."""
    last = state.step - (state.ended in ("caught", "trapped"))
    how = "WINNER" if seat == winner else "LOSER"
    return f"GAMEOVER {max(0, last) // 2} {how} {seat.upper()} {_REASONS.get(state.ended, 'TIMEOUT')}\n".encode()


def read_command(seat: str, line: bytes) -> ParsedAnswer:
    """Parse a player's answer. Text that is not a command becomes an invalid command. Raises DialectError."""
    text = words(line)
    said = " ".join(text.upper().split())
    if said == "PASS":
        return ParsedAnswer(PASS[seat])
    if seat == HUNTER:
        if match := _ADD.fullmatch(said):
            number, *rest = map(_int, match.groups())
            return ParsedAnswer(AddWall(number, *rest))
        if match := _REMOVE.fullmatch(said):
            return ParsedAnswer(RemoveWall(int(match[1])))
    else:
        if said in STEPS:
            return ParsedAnswer(STEPS[said])
        if match := _TO.fullmatch(said):
            return ParsedAnswer(To(_int(match[1]), _int(match[2])))
    return ParsedAnswer(Invalid(text[:200]))


def _int(text: str) -> int:
    return int(text.replace(" ", ""))


class GameserverHost:
    """The server's side of a conversation with a client. ``has_joined`` is true if the client sent its JOIN before the game."""

    dialect = "gameserver"
    asks_always = False
    on_connect = b""
    pause = 0.0

    def __init__(self, seat: str, *, has_joined: bool = False) -> None:
        self.seat = seat
        self.awaits_name = not has_joined

    def take_name(self, line: bytes) -> str:
        """Return the name in its JOIN line. Raises DialectError."""
        word, name = read_join(line)
        if word != "JOIN":
            raise DialectError("wants to look on, but must JOIN")
        return name

    def opening(self, state: State) -> bytes:
        """Return the client's role, unless it was sent before the game, and the settings."""
        line = settings_line(state.settings)
        return accepted(self.seat) + line if self.awaits_name else line

    def question(self, turn: int, state: State, bank: float | None) -> bytes:
        """The position."""
        return state_line(state)

    def answer(self, turn: int, state: State, line: bytes) -> ParsedAnswer:
        """A command."""
        return read_command(self.seat, line)

    def closing(self, state: State, outcome: Outcome) -> bytes:
        """Return the line with the winner and the reason."""
        return end_line(state, self.seat, outcome.winner)


GAMESERVER = Dialect("gameserver", ("gameserver",), refusal, GameserverHost, PORT)
