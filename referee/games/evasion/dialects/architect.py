"""The text protocol of the 2017 architect: in every tick each player receives one line of numbers and answers with one.

Source: the protocol's own document, described in docs/dialects.md, and the sessions recorded from its server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.dialect import Dialect, ParsedAnswer
from referee.games.evasion.board.wall import KINDS
from referee.games.evasion.dialects.text import numbers, words
from referee.games.evasion.state import HUNTER, PREY, Build, HunterMove, PreyMove, State

if TYPE_CHECKING:
    from referee.games.evasion.state import Settings
    from referee.games.game import Outcome

ASK_NAME = b"sendname\n"
DONE = b"done\n"

#: The remaining time, in milliseconds, that is sent to a player without a time limit.
_ENDLESS = 2**31 - 1
_NOTHING = {HUNTER: HunterMove(), PREY: PreyMove((0, 0))}
_STEPS = {(dx, dy): PreyMove((dx, dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
_MOST_NAME = 40


def refusal(settings: Settings) -> str:
    """Return why the dialect can't express some settings, "" if it can."""
    if settings.rules not in ARCHITECT.rules:
        return f"it has no words for the rule set {settings.rules}"
    if settings.prey_period != 2:
        return f"its preys move in every second step, not with a prey_period of {settings.prey_period}"
    return ""


class ArchitectHost:
    """The server's side of a conversation with a client in one game. ``is_known``: the client sent its name in an earlier game."""

    dialect = "architect"
    asks_always = True
    on_connect = ASK_NAME
    #: The original server sleeps for 1000/60 ms after the roles and after each game. Many clients take what one recv() returns for one line.
    pause = 0.016

    def __init__(self, seat: str, *, number: int = 0, is_known: bool = False) -> None:
        self.seat = seat
        self.number = number
        self.awaits_name = not is_known
        self._game = f" {number} "
        self._board = ""

    def take_name(self, line: bytes) -> str:
        """Its team's name."""
        return words(line)[:_MOST_NAME]

    def opening(self, state: State) -> bytes:
        """Its role."""
        settings = state.settings
        self._board = f" {settings.max_walls} {settings.cooldown} {settings.width} {settings.height} "
        return f"{self.seat}\n".encode()

    def question(self, turn: int, state: State, bank: float | None) -> bytes:
        """Return the line with the position and the remaining time."""
        walls = " ".join(map(str, (len(state.walls), *(number for wall in state.walls for number in wall.to_numbers()))))
        _, step, (hx, hy, hdx, hdy), prey, _, timer, _, _, _, _ = state
        left = _ENDLESS if bank is None else int(bank * 1000)
        return f"{left}{self._game}{step}{self._board}{timer} {hx} {hy} {hdx} {hdy} {prey[0]} {prey[1]} {walls}\n".encode()

    def answer(self, turn: int, state: State, line: bytes) -> ParsedAnswer:
        """Parse an answer. A line that doesn't answer this question is ignored, with a warning."""
        values = numbers(words(line))
        if values is None or len(values) < 3 or (self.seat == PREY and len(values) != 4):
            return ParsedAnswer(_NOTHING[self.seat], f"is no answer and not heeded: {words(line)[:80]!r}")
        if values[:2] != [self.number, state.step]:
            return ParsedAnswer(
                _NOTHING[self.seat],
                f"is for game {values[0]}, tick {values[1]} and not heeded: this is game {self.number}, tick {state.step}",
            )
        if self.seat == PREY:
            return ParsedAnswer(_STEPS[_clamped(values[2]), _clamped(values[3])])
        kind, *places = values[2:]
        walls = state.walls.all
        ids = tuple(walls[place].id for place in dict.fromkeys(places) if 0 <= place < len(walls))
        if not 0 <= kind <= len(KINDS):
            return ParsedAnswer(HunterMove(None, ids), f"asks for a wall of the kind {kind}, which there isn't: none is built")
        return ParsedAnswer(HunterMove(Build(KINDS[kind - 1]) if kind else None, ids))

    def closing(self, state: State, outcome: Outcome) -> bytes:
        """Return the line that ends a session of one game; a server of several games sends it after the last one."""
        return DONE if self.awaits_name else b""


def _clamped(number: int) -> int:
    return max(-1, min(1, number))


ARCHITECT = Dialect("architect", ("diagonal", "classic"), refusal, ArchitectHost)
