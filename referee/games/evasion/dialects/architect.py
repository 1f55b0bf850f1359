"""The text protocol of the 2017 architect: in every tick each player receives one line of numbers and answers with one.

Source: the protocol's own document, described in docs/dialects.md, and the sessions recorded from its server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.dialects.dialect import Ask, Begin, Dialect, DialectError, Heard, Over, Send
from referee.games.evasion.board.walls import KINDS, Wall, Walls, wall_of_numbers
from referee.games.evasion.dialects import text
from referee.games.evasion.dialects.text import numbers, words
from referee.games.evasion.state import HUNTER, PREY, Body, Build, HunterMove, PreyMove, State

if TYPE_CHECKING:
    from referee.games.evasion.state import Settings
    from referee.games.game import Outcome

ASK_NAME = b"sendname\n"
DONE = b"done\n"

#: The remaining time, in milliseconds, that is sent to a player without a time limit.
_ENDLESS = 2**31 - 1
_NOTHING = {HUNTER: HunterMove(), PREY: PreyMove((0, 0))}
_STEPS = {(dx, dy): PreyMove((dx, dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
#: Places of a state line, up to the number of walls.
_FIELDS = 15
_WALL_FIELDS = (4, 4, 6, 6)
_MOST_NAME = 40
_SHORT = 40
_MOST_REMEMBERED = 200


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
        #: Parsed answers that don't depend on the walls, by their text after the numbers of game and tick.
        self._remembered: dict[bytes, Heard] = {}
        self._walls: Walls | None = None
        self._walls_text = ""
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
        walls = state.walls
        if walls is not self._walls:
            self._walls = walls
            self._walls_text = " ".join(map(str, (len(walls), *(number for wall in walls for number in wall.to_numbers()))))
        _, step, (hx, hy, hdx, hdy), prey, _, timer, _, _, _, _ = state
        left = _ENDLESS if bank is None else int(bank * 1000)
        return f"{left}{self._game}{step}{self._board}{timer} {hx} {hy} {hdx} {hdy} {prey[0]} {prey[1]} {self._walls_text}\n".encode()

    def answer(self, turn: int, state: State, line: bytes) -> Heard:
        """Parse an answer. A line that doesn't answer this question is ignored, with a warning."""
        prefix = b"%d %d " % (self.number, state.step)
        rest = line[len(prefix) :] if line.startswith(prefix) else b""
        heard = self._remembered.get(rest)
        if heard is not None:
            return heard
        given = numbers(words(line))
        if given is None or len(given) < 3 or (self.seat == PREY and len(given) != 4):
            return Heard(_NOTHING[self.seat], f"is no answer and not heeded: {words(line)[:80]!r}")
        if given[:2] != [self.number, state.step]:
            return Heard(
                _NOTHING[self.seat],
                f"is for game {given[0]}, tick {given[1]} and not heeded: this is game {self.number}, tick {state.step}",
            )
        if self.seat == PREY:
            return self._remember(rest, Heard(_STEPS[_clamped(given[2]), _clamped(given[3])]))
        kind, *places = given[2:]
        walls = state.walls.all
        ids = tuple(walls[place].id for place in dict.fromkeys(places) if 0 <= place < len(walls))
        if not 0 <= kind <= len(KINDS):
            return Heard(HunterMove(None, ids), f"asks for a wall of the kind {kind}, which there isn't: none is built")
        heard = Heard(HunterMove(Build(KINDS[kind - 1]) if kind else None, ids))
        return heard if places else self._remember(rest, heard)

    def _remember(self, rest: bytes, heard: Heard) -> Heard:
        if rest and len(rest) <= _SHORT and len(self._remembered) < _MOST_REMEMBERED:
            self._remembered[rest] = heard
        return heard

    def closing(self, state: State, outcome: Outcome) -> bytes:
        """Return the line that ends a session of one game; a server of several games sends it after the last one."""
        return DONE if self.awaits_name else b""


def _clamped(number: int) -> int:
    return max(-1, min(1, number))


class ArchitectGuest:
    """The client's side: it plays game after game in alternating roles, until the server ends the session."""

    on_connect = b""

    def __init__(self, name: str, rules: str = "diagonal") -> None:
        self._name = name
        self._rules = rules
        self._seat = ""
        self._settings: Settings | None = None
        self._walls: tuple[Wall, ...] = ()
        self._next_id = 0
        self._last: State | None = None
        self._prefix = ""

    def hear(self, line: bytes) -> list[Send | Begin | Ask | Over]:
        """Parse a line of the server. Raises DialectError."""
        said = words(line)
        if said == "sendname":
            return [Send(f"{' '.join(self._name.split())[:_MOST_NAME] or 'bot'}\n".encode())]
        if said in (HUNTER, PREY, "done"):
            is_done, last = said == "done", self._last
            self._seat, self._settings, self._walls, self._next_id, self._last = said, None, (), 0, None
            if last is not None:
                told = {"reason": "ended", "text": f"The game ended in tick {last.step}; the server doesn't tell how."}
            elif is_done:
                told = {"reason": "done", "text": "The server has no more games."}
            else:
                return []
            return [Over({"winner": None, "scores": {}, **told}, is_last=is_done)]
        return self._asked(said)

    def _asked(self, line: str) -> list[Send | Begin | Ask | Over]:
        fields = numbers(line)
        if self._seat not in (HUNTER, PREY):
            raise DialectError("comes before the server has told the role")
        if fields is None or len(fields) < _FIELDS:
            raise DialectError("is no line of the architect's protocol")
        left, game, step, most, delay, width, height, timer, hx, hy, hdx, hdy, px, py, count = fields[:_FIELDS]
        begun: list[Send | Begin | Ask | Over] = []
        if self._settings is None:
            given = {"width": width, "height": height, "max_walls": most, "cooldown": delay}
            self._settings = text.settings(self._rules, {**given, "hunter": (hx, hy, hdx, hdy), "prey": (px, py)})
            begun = [Begin(self._seat, self._settings)]
        text.check_cells(self._settings, "has a player off the board", (hx, hy), (px, py))
        walls = Walls(width, height, self._known(_walls(fields[_FIELDS:], count, self._settings)))
        # The server doesn't send the prey's direction; its last displacement is the best guess.
        was = self._last.prey if self._last is not None else Body(px, py, 0, 0)
        direction = (px - was.x, py - was.y) if (px, py) != was[:2] else (was.dx, was.dy)
        state = State(self._settings, step, Body(hx, hy, hdx, hdy), Body(px, py, *direction), walls, timer, self._next_id)
        self._last = state
        self._prefix = f"{game} {step} "
        if self._seat == PREY and not state.prey_moves:
            # It can't move now, but the server wants an answer.
            return [*begun, Send(f"{self._prefix}0 0\n".encode())]
        return [*begun, Ask(step, state, left / 1000)]

    def _known(self, walls: list[Wall]) -> list[Wall]:
        """Return the walls with lasting ids. The server numbers walls by their index, which changes when a wall is removed."""
        waiting = list(self._walls)
        found = []
        for wall in walls:
            while waiting and waiting[0]._replace(id=0) != wall:
                waiting.pop(0)
            if waiting:
                found.append(waiting.pop(0))
            else:
                found.append(wall._replace(id=self._next_id))
                self._next_id += 1
        self._walls = tuple(found)
        return found

    def answer(self, move: Any) -> bytes:
        """A move in numbers."""
        if isinstance(move, PreyMove):
            assert self._last is not None
            dx, dy = (self._last.prey.dx, self._last.prey.dy) if move.go is None else move.go
            return f"{self._prefix}{dx} {dy}\n".encode()
        kind = 0 if move.build is None else 1 + KINDS.index(move.build.kind)
        places = [str(place) for place, wall in enumerate(self._walls) if wall.id in move.remove]
        return f"{' '.join([self._prefix + str(kind), *places])}\n".encode()


def _walls(given: list[int], count: int, settings: Settings) -> list[Wall]:
    """The walls of a state line, without their ids."""
    found = []
    while given:
        kind = given[0]
        if not 0 <= kind < len(KINDS) or len(given) < _WALL_FIELDS[kind]:
            raise DialectError("has walls that can't be read")
        part, given = given[1 : _WALL_FIELDS[kind]], given[_WALL_FIELDS[kind] :]
        if kind > 1:
            part[-1] = bool(part[-1])
        found.append(wall_of_numbers(0, [kind, *part]))
    if len(found) != count:
        raise DialectError(f"tells of {count} walls, but has {len(found)}")
    cells = (cell for wall in found for cell in ((wall.x1, wall.y1), (wall.x2, wall.y2)))
    text.check_cells(settings, "has a wall that leaves the board", *cells)
    return found


ARCHITECT = Dialect("architect", ("diagonal", "classic"), refusal, ArchitectHost, ArchitectGuest)
