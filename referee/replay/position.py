"""One position of a replay: the board, the moves, notices and times, as JSON data and as lines of text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.players.clock import Clock
from referee.replay.names import player_name
from referee.replay.reader import open_game, read_head, read_lines, verify
from referee.replay.recorded import first_turn, remark_of, seconds_by_seat, time_control, told
from referee.support.words import counted, cut, the_seat, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.capabilities import Appraised
    from referee.games.game import Game, Json, Seat
    from referee.replay.reader import Failed, Replay, Step

#: The most characters of a board's width and its most rows.
_COLUMNS, _ROWS = 100, 24


class FoundPosition(NamedTuple):
    """The position before step ``number`` of a replay, that step, and the faults in it. ``bank`` is what each seat had left."""

    game: Game[Any, Any]
    replay: Replay
    number: int
    state: Any
    step: Step | None
    faults: Mapping[Seat, Any]
    bank: Mapping[Seat, float]


class _Finder:
    """Finds one position while a replay is played again."""

    def __init__(self, head: Mapping[str, Json], wanted: int) -> None:
        self.wanted, self.first = wanted, first_turn(head)
        controls = {seat: time_control(head, seat) for seat in head["players"]}
        self.clocks = {seat: Clock(control) for seat, control in controls.items() if control is not None}
        self.step: Step | None = None
        self.failed: Failed | None = None

    def take(self, step: Step) -> None:
        turn = step.record["turn"]
        if turn == self.wanted:
            self.step = step
        elif self.first <= turn < self.wanted:
            for seat, seconds in seconds_by_seat(step.record, "us").items():
                if seat in self.clocks:
                    self.clocks[seat].spend(seconds)

    def fault(self, failed: Failed) -> None:
        if failed.record["turn"] == self.wanted and self.failed is None:
            self.failed = failed

    def position(self, game: Game[Any, Any], replay: Replay) -> FoundPosition:
        before = self.failed.before if self.failed is not None else self.step.before if self.step is not None else replay.final
        faults = self.failed.record["faults"] if self.failed is not None else {}
        bank = {seat: clock.bank for seat, clock in self.clocks.items() if clock.bank is not None}
        return FoundPosition(game, replay, self.wanted, before, self.step, faults, bank)


def find_position(file: Path, number: int) -> FoundPosition:
    """Return the position before a step of a replay; -1 is the last position. UsageError if the replay has no such step."""
    head, _ = read_head(file, read_lines(file))
    game, _ = open_game(file, head)
    wanted = number if number >= 0 else max(-1, verify(file).turns + 1 + number)
    finder = _Finder(head, wanted)
    replay = verify(file, finder.take, finder.fault)
    if not 0 <= wanted <= replay.turns:
        good = "good " if replay.problem is not None else ""
        raise UsageError(
            f"{file} has no step {number:,}: it has {counted(replay.turns, f'{good}step')}. The last position, after all of them, is --step {replay.turns} "
            f"or --step -1; the first is --step 0 or --step -{replay.turns + 1}."
        )
    return finder.position(game, replay)


def position_json(file: Path, found: FoundPosition) -> dict[str, Any]:
    """Return a position for ``--json``."""
    game, replay = found.game, found.replay
    record = {} if found.step is None else found.step.record
    outcome = game.outcome(found.state)
    return {
        "file": str(file),
        "step": found.number,
        "steps": replay.turns,
        "position": json.loads(game.codec.view_text(found.state, None)),
        "verdict": _verdict(game, found.state),
        "bank_left_seconds": dict(found.bank),
        "movers": list(game.movers(found.state)) if outcome is None else [],
        "moves": moves_of(game, found.step) if found.step is not None else {},
        "seconds": seconds_by_seat(record, "us"),
        "better": {
            seat: {"move": game.codec.move_json(one.better), "now": one.now, "instead": one.instead}
            for seat, one in _better(game, found.step)
        },
        "notices": [notice.to_json() for notice in found.step.notices] if found.step is not None else [],
        "remarks": record.get("remarks", {}),
        "faults": found.faults,
        "outcome": None if outcome is None else outcome.to_json(),
        "problem": replay.problem and replay.problem.to_json(),
    }


def position_lines(found: FoundPosition, wide: int) -> list[str]:
    """Return a position for people, in lines of ``wide`` columns. The replay is an untrusted file."""
    game, replay, number = found.game, found.replay, found.number
    head = replay.head
    facts = [("match", f"{head['game']}, rules {cut(str(head['rules']), 40)}, {cut(str(head.get('match')), 40)}")]
    place = f"{number:,} of {replay.turns:,}: the position before it"
    if number == replay.turns:
        place = f"{number:,}: the position in which a player failed" if found.faults else f"{number:,}: the last position"
    facts.append(("step", place))
    facts += status_facts(game, found.state)
    if verdict := _verdict(game, found.state):
        facts.append(("verdict", str(verdict["text"])))
    lines = [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    lines += ["", *board(game, found.state, wide), ""]
    return lines + [line for name, text in _happened(found) for line in wrapped(name, 10, text, wide)]


def _verdict(game: Game[Any, Any], state: Any) -> dict[str, Any]:
    if game.analysis is None:
        return {}
    verdict = dict(game.analysis.verdict(state))
    return {**verdict, "text": game.analysis.verdict_text(verdict)} if verdict else {}


def _happened(found: FoundPosition) -> list[tuple[str, str]]:
    """Return the step after a position, seat by seat: the move with its time, remarks, notices and faults."""
    game, replay = found.game, found.replay
    outcome = game.outcome(found.state)
    if outcome is not None:
        return [("result", cut(outcome.text, 400))]
    record = {} if found.step is None else found.step.record
    seconds = seconds_by_seat(record, "us")
    moves = moves_of(game, found.step) if found.step is not None else {}
    lines = []
    for seat, about in replay.head["players"].items():
        name = player_name(about, seat)
        left = f"; {found.bank[seat]:,.3f} s of its bank were left" if seat in found.bank else ""
        if seat in moves:
            spent = f" in {seconds[seat] * 1e3:.3f} ms" if seat in seconds else ""
            lines.append((cut(seat, 10), f"{name} moved {move_text(moves[seat])}{spent}{left}"))
        elif seat in found.faults:
            fault = found.faults[seat]
            lines.append((cut(seat, 10), f"{name} failed, {cut(str(fault.get('kind')), 20)}: {cut(str(fault.get('text')), 500)}"))
        elif seat in game.movers(found.state):
            lines.append((cut(seat, 10), f"{name} was asked; its answer is not in the replay{left}"))
        lines += [("", text) for text in _remarks(record, seat)]
    if found.step is not None and game.appraisal is not None:
        kind = "exactly" if game.appraisal.is_exact else "estimate"
        for seat, one in _better(game, found.step):
            whose = the_seat(seat).lower()
            text = f"a better move of {whose} was {move_text(game.codec.move_json(one.better))}, {one.about}: {one.instead:,} instead of {one.now:,}"
            lines.append(
                (kind, f"{text} {game.appraisal.measure(seat, game.codec.settings(replay.head['rules'], replay.head['settings']))}")
            )
    if found.step is not None:
        lines += [("event", cut(notice.text, 400)) for notice in found.step.notices if notice.seat is None]
    return lines


def _remarks(record: Mapping[str, Json], seat: Seat) -> list[str]:
    """Return the remark of a seat in a step, and its notices after it."""
    remark = remark_of(record, seat)
    said = [f"it said: {cut(str(remark.say), 400)}"] if remark is not None and remark.say is not None else []
    return [*said, *(f"it was told: {cut(str(notice['text']), 400)}" for notice in told(record) if notice["seat"] == seat)]


def moves_of(game: Game[Any, Any], step: Step) -> dict[Seat, Json]:
    """Return the moves of a step as JSON, by seat."""
    return {seat: game.codec.move_json(move) for seat, move in step.moves(game).items()}


def _better(game: Game[Any, Any], step: Step | None) -> list[tuple[Seat, Appraised]]:
    """Return a better move for each seat that had one in a step, as far as the game can tell."""
    appraisal = game.appraisal
    if step is None or appraisal is None:
        return []
    moves = step.moves(game)
    found = ((seat, appraisal.appraiser(seat)(step.before, moves, step.after)) for seat in moves)
    return [(seat, one) for seat, one in found if one is not None]


def move_text(move: Json) -> str:
    """Return a move as compact JSON text, safe for a terminal."""
    return cut(json.dumps(move, separators=(",", ":")), 200)


def status_facts(game: Game[Any, Any], state: Any) -> list[tuple[str, str]]:
    """Return the status of a position as a line with its name; nothing if the game has no text view."""
    if game.text is None:
        return []
    return [("status", ", ".join(f"{name} {value:,}" for name, value in game.text.status_fields(state).items()))]


def board(game: Game[Any, Any], state: Any, wide: int) -> list[str]:
    """Return the board of a position as lines of at most ``wide`` characters; its JSON form if the game has no text view."""
    if game.text is None:
        return wrapped("position", 10, cut(game.codec.view_text(state, None), 4_000), wide)
    return game.text.board_lines(state, min(wide - 2, _COLUMNS), _ROWS)
