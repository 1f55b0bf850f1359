"""Plays recorded games again on the engine and judges recorded positions:  python tests/conformance.py FILE...

It prints the first difference of each record that differs, and how many agree. Exit status 1 if anything differs, 2 if a file can't be
read or holds no recorded games. Files are ``.jsonl`` or ``.jsonl.gz``, with a record on each line, or ``.json``, with a list of records.

Evasion. Under ``classic`` and ``diagonal`` a game has the keys ``rules``, ``width``, ``height``,
``max_walls``, ``cooldown``, ``hunter`` ([x, y, dx, dy]), ``prey`` ([x, y]) and ``steps``; ``capture_radius`` and ``prey_period`` are optional.
A step is ``[build, [places removed], pdx, pdy, hx, hy, hdx, hdy, px, py, timer, captured]``. If the walls changed, the list of all walls
follows, in building order.

- build: 0 none, 1 horizontal, 2 vertical, 3 diagonal, 4 counter-diagonal, or [kind, from, to].
- places removed: indices into the list of walls as it was before the step.
- pdx, pdy: the direction that the prey asks for; null keeps its direction.
- hx, hy, hdx, hdy, px, py: the hunter's cell and heading, and the prey's cell, after the step.
- timer: steps until a wall may be built again. captured: 0 or 1.

Walls are [0, y, x1, x2] (horizontal), [1, x, y1, y2] (vertical), [2, x1, x2, y1, y2, d] (diagonal) and [3, x1, x2, y1, y2, d]
(counter-diagonal). d is 0 if the first step from (x1, y1) is in x, and 1 if it is in y.

A line may also be a position with a verdict. It has ``walls`` as above, ``hunter``, ``prey``, ``step`` (the index of the next step),
``prey_period`` and ``verdict``: "capture" with ``k``, the number of steps after which the best prey is caught, or "evade". A position that
can't be decided within the budget counts as a difference.

Under ``gameserver`` a game also has ``prey_cooldown``, and ``hunter`` is [x, y, heading]. A turn is ``[player, command, hx, hy, heading,
hunter cooldown, px, py, prey cooldown, verdict]``; if the walls changed, all walls follow, each as [id, x1, y1, x2, y2]. The player is "H" or
"P". The command is null if the player isn't asked; ["PASS"]; ["ADD", id, [x1, y1], [x2, y2]]; ["REMOVE", id]; a direction such as ["NE"];
["TO", [x, y]]. Anything else is an invalid command. The verdict is null, "CAUGHT" or "TRAPPED".

Rectangle. A game has ``n``, ``players``, ``robots``, ``stagnation``, ``cap``, ``sharing``, ``placements`` (the
cells of each player), ``setup_board`` (rows joined by "/"), ``setup_gained`` and ``turns``. A turn is ``[orders of each player, board, cells
gained by each]``. At the end of the record are ``over``, ``score`` and ``ranking``.

Worked cases are in a ``.json`` file that holds a list. Each has ``id``, ``pins`` (what the case shows), ``before`` and ``after`` (boards; if
``before`` is null, the case shows the set-up), ``robots`` and ``orders`` by letter, ``score``, ``gained_per_turn``, ``sharing``, ``s`` (the
stagnation limit) and ``over``.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.games.evasion import variants
from referee.games.evasion.analysis.verdict import CAPTURE, EVADE, verdict
from referee.games.evasion.board.wall import KINDS, Wall, wall_between
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.codec.turnwise import ends
from referee.games.evasion.game import GAME as EVASION
from referee.games.evasion.state import COMPASS, HEADINGS, HUNTER, PREY, AddWall, Body, State
from referee.games.evasion.variants import NAMES, RULE_SETS
from referee.games.rectangle.game import GAME as RECTANGLE
from referee.games.rectangle.state import LETTERS, SPENT, UNPAINTED, Orders, Place
from referee.games.rectangle.state import State as Board

if TYPE_CHECKING:
    from collections.abc import Iterator


class Difference(NamedTuple):
    """The first difference between a record and the engine: the step's index, the field, the recorded value and the engine's value."""

    step: int
    field: str
    recorded: Any
    engine: Any


class Played(NamedTuple):
    """The result of one record: the number of equal steps, the first difference or None, and whether it is a single position."""

    steps: int
    difference: Difference | None
    is_position: bool = False


class UnreadableRecordError(ValueError):
    """A file or a record can't be read; the text is a sentence for the user."""


def play(record: dict[str, Any]) -> Played:
    """Play a record, or judge a position. Raises ValueError for a record of the wrong form or with settings that its game refuses."""
    if "placements" in record or "pins" in record:
        try:
            return _play_worked_case(record) if "pins" in record else _play_rectangle(record)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"the record can't be read ({type(error).__name__}: {error})") from None
    rules = record.get("rules")
    if rules not in NAMES or not (isinstance(record.get("steps"), list) or "verdict" in record):
        raise ValueError(f"this is not a recorded game that this version knows (rules {rules!r:.40})")
    return _play_evasion(record) if "steps" in record else _decide(record)


_SETTINGS = ("width", "height", "max_walls", "cooldown", "hunter", "prey", "capture_radius", "prey_period", "prey_cooldown")
#: The values after a recorded step, behind the moves; then the walls, if they have changed.
_STEP_FIELDS = ("hunter.x", "hunter.y", "hunter.dx", "hunter.dy", "prey.x", "prey.y", "wall_timer", "captured")
_TURN_FIELDS = ("hunter.x", "hunter.y", "heading", "hunter.cooldown", "prey.x", "prey.y", "prey.cooldown", "verdict")
_VERDICTS = {"caught": "CAUGHT", "trapped": "TRAPPED"}


def _play_evasion(record: dict[str, Any]) -> Played:
    _require(record, "game", _SETTINGS[:6])
    steps = record["steps"]
    given = {name: record[name] for name in _SETTINGS if name in record}
    is_turnwise = RULE_SETS[record["rules"]].is_turnwise
    if is_turnwise:
        given["hunter"] = _hunter(record["hunter"])
    name, fields, first, moves_of = ("turn", _TURN_FIELDS, 2, _command) if is_turnwise else ("step", _STEP_FIELDS, 4, _moves)
    state = EVASION.start(EVASION.codec.settings(record["rules"], {**given, "max_steps": min(len(steps) + 1, 1_000_000)}))
    items = first + len(fields)
    for index, step in enumerate(steps):
        if not isinstance(step, list) or len(step) not in (items, items + 1):
            raise ValueError(f"{name} {index} must be a list of {items} or {items + 1} items")
        if state.ended:
            return Played(index, Difference(index, fields[-1], "the game goes on", state.ended))
        before, movers = state, EVASION.movers(state)
        if is_turnwise and (step[1] is None) != (_seat(step) not in movers):
            return Played(index, Difference(index, "command", step[1], f"asked: {', '.join(movers) or 'nobody'}"))
        state, _ = EVASION.step(state, moves_of(state, step, index))
        recorded = dict(zip(fields, step[first:items], strict=True))
        recorded["walls"] = step[items] if len(step) > items else _walls(before)
        for (field, expected), value in zip(recorded.items(), (*_values(state), _walls(state)), strict=True):
            if expected != value or isinstance(expected, bool):
                return Played(index, Difference(index, field, expected, value))
    return Played(len(steps), None)


def _require(record: dict[str, Any], what: str, names: tuple[str, ...]) -> None:
    missing = [name for name in names if name not in record]
    if missing:
        raise ValueError(f"the {what} has no {missing[0]}")


def _hunter(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) != 3 or value[2] not in COMPASS:
        raise ValueError("the hunter must be [x, y, heading]")
    return [*value[:2], *COMPASS[value[2]]]


def _moves(state: State, step: list[Any], index: int) -> dict[str, Any]:
    """The moves of a recorded step."""
    build, removed, dx, dy = step[:4]
    try:
        kind, *span = build if isinstance(build, list) else [build]
        walls = state.walls.all
        hunter: dict[str, Any] = {"remove": [walls[place].id for place in removed if 0 <= place < len(walls)]}
        if kind != 0:
            hunter["build"] = {"kind": KINDS[kind - 1], "span": span[:2] or None}
        moves = {HUNTER: hunter, PREY: {} if dx is None else {"go": [dx, dy]}}
        return {seat: EVASION.codec.parse(state, seat, move) for seat, move in moves.items()}
    except (TypeError, IndexError, ValueError):
        raise ValueError(f"step {index} has no readable moves") from None


def _seat(turn: list[Any]) -> str:
    return HUNTER if turn[0] == "H" else PREY


def _command(state: State, turn: list[Any], index: int) -> dict[str, Any]:
    """The command of a recorded turn."""
    if turn[1] is None:
        return {}
    try:
        word, *rest = turn[1]
        command: dict[str, Any] = {"go": word} if word in COMPASS else {"invalid": str(word)}
        if word == "PASS":
            command = {}
        elif word == "ADD":
            command = {"add": dict(zip(AddWall._fields, (rest[0], *rest[1], *rest[2]), strict=True))}
        elif word == "REMOVE":
            command = {"remove": rest[0]}
        elif word == "TO":
            command = {"to": list(rest[0])}
        return {_seat(turn): EVASION.codec.parse(state, _seat(turn), command)}
    except (TypeError, ValueError, IndexError):
        raise ValueError(f"turn {index} has no readable command") from None


def _values(state: State) -> tuple[Any, ...]:
    """The values of a position that a record holds."""
    (x, y, dx, dy), prey = state.hunter, state.prey[:2]
    if RULE_SETS[state.settings.rules].is_turnwise:
        return (x, y, HEADINGS[dx, dy], state.wall_timer, *prey, state.prey_timer, _VERDICTS.get(state.ended))
    return (x, y, dx, dy, *prey, state.wall_timer, int(state.ended == "caught"))


def _walls(state: State) -> list[list[int]]:
    """The walls of a position as a record writes them."""
    is_turnwise = RULE_SETS[state.settings.rules].is_turnwise
    return [[wall.id, *ends(wall)] if is_turnwise else wall.to_numbers() for wall in state.walls]


def _decide(record: dict[str, Any]) -> Played:
    """Compare the verdict on a position with the recorded one; "undecided" is a difference too."""
    if record["verdict"] not in (CAPTURE, EVADE):
        raise ValueError(f"the verdict is {record['verdict']!r:.40}, but must be {CAPTURE} or {EVADE}")
    state = position(record)
    found = verdict(state)
    for field, expected, got in (("verdict", record["verdict"], found.kind), ("k", record.get("k"), found.steps)):
        if expected != got:
            return Played(0, Difference(state.step, field, expected, got), is_position=True)
    return Played(0, None, is_position=True)


def _wall(number: int, numbers: list[int]) -> Wall:
    """Return the wall that ``Wall.to_numbers`` has written, with an id. ValueError or another LookupError for anything else."""
    kind, *ends = numbers
    if kind == 0:
        y, x1, x2 = ends
        return Wall(number, KINDS[kind], x1, y, x2, y)
    if kind == 1:
        x, y1, y2 = ends
        return Wall(number, KINDS[kind], x, y1, x, y2)
    x1, x2, y1, y2, first = ends
    return Wall(number, KINDS[kind], x1, y1, x2, y2, "xy"[first])


def position(record: dict[str, Any]) -> State:
    """The position that a record describes. SettingsError for a position that no game can reach, ValueError for a record of the wrong form."""
    _require(record, "position", ("rules", "width", "height", "walls", "hunter", "prey"))
    is_turnwise = RULE_SETS[record["rules"]].is_turnwise
    given = {name: record[name] for name in _SETTINGS if name in record}
    step, timer = record.get("step", 0), record.get("prey_timer", 0)
    try:
        if is_turnwise:
            given["hunter"] = _hunter(record["hunter"])
            walls = [wall_between(*items) for items in record["walls"]]
        else:
            walls = [_wall(number, items) for number, items in enumerate(record["walls"])]
        if type(step) is not int or type(timer) is not int or step < 0 or timer < 0:
            raise ValueError(step, timer)
    except (TypeError, ValueError, LookupError):
        raise ValueError("the position's hunter, walls, step or prey_timer can't be read") from None
    settings = variants.settings(record["rules"], given, walls)
    standing = Walls(settings.width, settings.height, walls)
    next_id = max((wall.id + 1 for wall in walls), default=0)
    return State(settings, step, Body(*settings.hunter), Body(*settings.prey, 0, 0), standing, 0, next_id, "", timer)


def _play_rectangle(record: dict[str, Any]) -> Played:
    given = {name: record[name] for name in ("n", "players", "robots", "stagnation", "cap", "sharing")}
    state = RECTANGLE.start(RECTANGLE.codec.settings("small", {**given, "cap": given["cap"] or 0}))
    state = _place(state, dict(zip(state.seats, record["placements"], strict=True)))
    turns = [(record["setup_board"], record["setup_gained"]), *((board, gained) for _, board, gained in record["turns"])]
    for index, recorded in enumerate(turns):
        if index:
            if state.ended:
                return Played(index, Difference(index, "over", None, state.ended))
            state = _order(state, dict(zip(state.seats, record["turns"][index - 1][0], strict=True)))
        got = ("/".join(state.row_texts()), list(state.gained))
        for field, expected, value in zip(("board", "gained"), recorded, got, strict=True):
            if expected != value:
                return Played(index, Difference(index, field, expected, value))
    outcome = RECTANGLE.outcome(state)
    ranks = list((outcome.ranks or {}).values()) if outcome is not None else []
    ends = {"over": state.ended or None, "score": list(state.scores), "ranking": ranks}
    return _compared(record, ends, state.turn, state.step)


def _place(state: Board, cells: dict[str, Any]) -> Board:
    return RECTANGLE.step(state, {seat: Place(tuple(map(tuple, places))) for seat, places in cells.items()})[0]


def _order(state: Board, orders: dict[str, Any]) -> Board:
    return RECTANGLE.step(state, {seat: Orders(tuple(words)) for seat, words in orders.items()})[0]


def _compared(record: dict[str, Any], got: dict[str, Any], at: int, steps: int) -> Played:
    """Return the first difference at a step, or the number of equal steps."""
    for field, value in got.items():
        if record[field] != value:
            return Played(at, Difference(at, field, record[field], value))
    return Played(steps, None)


def _play_worked_case(record: dict[str, Any]) -> Played:
    robots = record["robots"]
    n = len(record["after"].split("/"))
    many = max(len(cells) for cells in robots.values())
    given: dict[str, Any] = {"n": n, "players": max(2, len(robots)), "robots": many, "sharing": record["sharing"]}
    if record["s"] is not None:
        given["stagnation"] = record["s"]
    state = RECTANGLE.start(RECTANGLE.codec.settings("small", given))
    count = len(record["score"])
    gained = []
    if record["before"] is None:
        state = _place(state, robots)
        gained.append(list(state.gained[:count]))
    else:
        state = set_up(state, record["before"], [tuple(map(tuple, robots.get(seat, []))) for seat in state.seats])
    for orders in record["orders"]:
        if state.ended:
            return Played(state.turn, Difference(state.turn, "over", None, state.ended))
        state = _order(state, orders)
        gained.append(list(state.gained[:count]))
    board, scores = "/".join(state.row_texts()), list(state.scores[:count])
    got = {"after": board, "score": scores, "gained_per_turn": gained, "over": state.ended or None}
    return _compared(record, got, len(gained), len(gained))


def set_up(state: Board, before: str, robots: list[tuple[tuple[int, int], ...]]) -> Board:
    """A position with this board, after the set-up."""
    n, players = state.settings.n, state.settings.players
    cells = before.replace("/", "").encode()
    rows = [[0] * n for _ in range(players)]
    columns = [[0] * n for _ in range(players)]
    spent = [0] * n
    for place, cell in enumerate(cells):
        row, column = divmod(place, n)
        if cell == SPENT:
            spent[row] |= 1 << column
        elif cell != UNPAINTED:
            player = LETTERS.index(chr(cell))
            rows[player][row] |= 1 << column
            columns[player][column] |= 1 << row
    return state._replace(
        step=1,
        cells=cells,
        rows=tuple(map(tuple, rows)),
        columns=tuple(map(tuple, columns)),
        spent=tuple(spent),
        robots=tuple(robots),
        orders=("",) * players,
    )


def records(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of a file, each with the number of its line or its place in the list, from 1. Raises UnreadableRecordError."""
    try:
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        if ".json" in file.suffixes:
            listed = json.loads(data)
            lines = list(enumerate(listed if isinstance(listed, list) else [listed], 1))
        else:
            lines = [(number, json.loads(line)) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableRecordError(f"{file} can't be read: {getattr(error, 'strerror', None) or error}.") from None
    except (ValueError, RecursionError) as error:
        raise UnreadableRecordError(f"{file} is not a file of recorded games: {error}.") from None
    for number, record in lines:
        if not isinstance(record, dict):
            raise UnreadableRecordError(f"{file}, record {number} is not a recorded game: it must be a JSON object.")
        yield number, record


def main(files: list[str]) -> int:
    """Play the records of all files and print what differs. Return the exit status."""
    if not files:
        print("conformance: name the files of recorded games:  python tests/conformance.py FILE...", file=sys.stderr)
        return 2
    games = steps = positions = differences = unreadable = 0
    for file in files:
        try:
            for number, record in records(Path(file)):
                played = played_record(file, number, record)
                steps += played.steps
                if played.difference is not None:
                    step, field, recorded, engine = played.difference
                    print(f"{file}, record {number}, step {step}, field {field}: recorded {recorded}, engine {engine}")
                    differences += 1
                elif played.is_position:
                    positions += 1
                else:
                    games += 1
        except UnreadableRecordError as error:
            print(f"conformance: {error}", file=sys.stderr)
            unreadable += 1
    if unreadable < len(files):
        print(f"games {games}, steps {steps}, positions {positions}: agree; different: {differences}")
    return 1 if differences else 2 if unreadable else 0


def played_record(file: str, number: int, record: Any) -> Played:
    """Play one record. UnreadableRecordError names its place."""
    try:
        return play(record)
    except ValueError as error:
        raise UnreadableRecordError(f"{file}, record {number}: {str(error).rstrip('.')}.") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
