"""One position of a replay: the board, the moves, notices and times, as JSON data and as lines of text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.replay.events import PlayersFaulted, StepTaken
from referee.replay.names import player_name
from referee.replay.questions import Questions
from referee.replay.reader import ReplayReader, verify
from referee.support.words import counted, cut, the_seat, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.capabilities import Appraised
    from referee.games.game import Game, Json, Seat
    from referee.replay.faults import Fault
    from referee.replay.reader import VerifiedReplay

#: The most characters of a board's width and its most rows.
_COLUMNS, _ROWS = 100, 24


class Position(NamedTuple):
    """The position before step ``number`` of a replay, that step, and the faults in it. ``bank`` has the seconds left to each seat."""

    game: Game
    replay: VerifiedReplay
    number: int
    state: object
    step: StepTaken | None
    faults: Mapping[Seat, Fault]
    bank: Mapping[Seat, float]


def find_position(file: Path, number: int) -> Position:
    """Return the position before a step of a replay; -1 is the last position. UsageError if the replay has no such step."""
    reader = ReplayReader(file)
    turn = number if number >= 0 else max(-1, verify(file).turns + 1 + number)
    questions = Questions(reader.game, reader.head)
    events: list[StepTaken | PlayersFaulted] = []
    for event in reader.events():
        questions.add(event)
        if event.turn == turn:
            events.append(event)
    replay = reader.verified()
    if not 0 <= turn <= replay.turns:
        good = "good " if replay.problem is not None else ""
        raise UsageError(
            f"{file} has no step {number:,}: it has {counted(replay.turns, f'{good}step')}. The last position, after all of them, is --step {replay.turns} "
            f"or --step -1; the first is --step 0 or --step -{replay.turns + 1}."
        )
    state = events[0].before if events else replay.final
    step = next((event for event in events if isinstance(event, StepTaken)), None)
    faults = next((event.faults for event in events if isinstance(event, PlayersFaulted)), {})
    banks = {seat: questions.question(turn, seat, state).bank for seat in replay.head["players"]}
    return Position(reader.game, replay, turn, state, step, faults, {seat: bank for seat, bank in banks.items() if bank is not None})


def position_json(file: Path, position: Position) -> dict[str, Json]:
    """Return a position for ``--json``."""
    game, replay, step = position.game, position.replay, position.step
    answers = {} if step is None else step.answers
    outcome = game.outcome(position.state)
    return {
        "file": str(file),
        "step": position.number,
        "steps": replay.turns,
        "position": json.loads(game.codec.view_text(position.state, None)),
        "verdict": _verdict(game, position.state),
        "bank_left_seconds": dict(position.bank),
        "movers": list(game.movers(position.state)) if outcome is None else [],
        "moves": moves_of(game, step) if step is not None else {},
        "seconds": {seat: answer.seconds for seat, answer in answers.items()},
        "better": {
            seat: {"move": game.codec.move_json(better.better), "now": better.now, "instead": better.instead}
            for seat, better in _better(game, step)
        },
        "notices": [notice.to_json() for notice in step.notices] if step is not None else [],
        "remarks": {seat: answer.remark.to_json() for seat, answer in answers.items() if answer.remark is not None},
        "faults": {seat: fault.to_json() for seat, fault in position.faults.items()},
        "outcome": None if outcome is None else outcome.to_json(),
        "problem": replay.problem and replay.problem.to_json(),
    }


def position_lines(position: Position, wide: int) -> list[str]:
    """Return a position for people, in lines of ``wide`` columns. The replay is an untrusted file."""
    game, replay, number = position.game, position.replay, position.number
    head = replay.head
    facts = [("match", f"{head['game']}, rules {cut(str(head['rules']), 40)}, {cut(str(head.get('match')), 40)}")]
    place = f"{number:,} of {replay.turns:,}: the position before it"
    if number == replay.turns:
        place = f"{number:,}: the position in which a player failed" if position.faults else f"{number:,}: the last position"
    facts.append(("step", place))
    facts += status_facts(game, position.state)
    if verdict := _verdict(game, position.state):
        facts.append(("verdict", str(verdict["text"])))
    lines = [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    lines += ["", *board(game, position.state, wide), ""]
    return lines + [line for name, text in _happened(position) for line in wrapped(name, 10, text, wide)]


def _verdict(game: Game, state: object) -> dict[str, Json]:
    if game.analysis is None:
        return {}
    verdict = dict(game.analysis.verdict(state))
    return {**verdict, "text": game.analysis.verdict_text(verdict)} if verdict else {}


def _happened(position: Position) -> list[tuple[str, str]]:
    """Return the step after a position by seat: the move with its time, remarks, notices and faults."""
    game, replay = position.game, position.replay
    outcome = game.outcome(position.state)
    if outcome is not None:
        return [("result", cut(outcome.text, 400))]
    step = position.step
    answers = {} if step is None else step.answers
    moves = moves_of(game, step) if step is not None else {}
    lines = []
    for seat, about in replay.head["players"].items():
        name = player_name(about, seat)
        left = f"; {position.bank[seat]:,.3f} s of its bank were left" if seat in position.bank else ""
        if seat in moves:
            spent = f" in {answers[seat].seconds * 1e3:.3f} ms" if seat in answers else ""
            lines.append((cut(seat, 10), f"{name} moved {move_text(moves[seat])}{spent}{left}"))
        elif seat in position.faults:
            fault = position.faults[seat]
            lines.append((cut(seat, 10), f"{name} failed, {cut(fault.kind, 20)}: {cut(fault.text, 500)}"))
        elif seat in game.movers(position.state):
            lines.append((cut(seat, 10), f"{name} was asked; its answer is not in the replay{left}"))
        lines += [("", text) for text in _remarks(step, seat)]
    if step is not None and game.appraisal is not None:
        kind = "exactly" if game.appraisal.is_exact else "estimate"
        for seat, better in _better(game, step):
            whose, move = the_seat(seat).lower(), move_text(game.codec.move_json(better.better))
            text = f"a better move of {whose} was {move}, {better.about}: {better.instead:,} instead of {better.now:,}"
            settings = game.codec.settings(replay.head["rules"], replay.head["settings"])
            lines.append((kind, f"{text} {game.appraisal.measure(seat, settings)}"))
    if step is not None:
        lines += [("event", cut(notice.text, 400)) for notice in step.notices if notice.seat is None]
    return lines


def _remarks(step: StepTaken | None, seat: Seat) -> list[str]:
    """Return the remark of a seat in a step, and its notices after it."""
    if step is None:
        return []
    remark = step.answers[seat].remark if seat in step.answers else None
    said = [f"it said: {cut(str(remark.say), 400)}"] if remark is not None and remark.say is not None else []
    return [*said, *(f"notice to it: {cut(notice.text, 400)}" for notice in step.next_notices() if notice.seat == seat)]


def moves_of(game: Game, step: StepTaken) -> dict[Seat, Json]:
    """Return the moves of a step as JSON, by seat."""
    return {seat: game.codec.move_json(move) for seat, move in step.moves.items()}


def _better(game: Game, step: StepTaken | None) -> list[tuple[Seat, Appraised]]:
    """Return a better move for each seat that had one in a step, as far as the game can tell."""
    appraisal = game.appraisal
    if step is None or appraisal is None:
        return []
    pairs = ((seat, appraisal.appraiser(seat)(step.before, step.moves, step.after)) for seat in step.moves)
    return [(seat, better) for seat, better in pairs if better is not None]


def move_text(move: Json) -> str:
    """Return a move as compact JSON text, safe for a terminal."""
    return cut(json.dumps(move, separators=(",", ":")), 200)


def status_facts(game: Game, state: object) -> list[tuple[str, str]]:
    """Return the status of a position as a line with its name; nothing if the game has no text view."""
    if game.text is None:
        return []
    return [("status", ", ".join(f"{name} {value:,}" for name, value in game.text.status_fields(state).items()))]


def board(game: Game, state: object, wide: int) -> list[str]:
    """Return the board of a position as lines of at most ``wide`` characters; its JSON form if the game has no text view."""
    if game.text is None:
        return wrapped("position", 10, cut(game.codec.view_text(state, None), 4_000), wide)
    return game.text.board_lines(state, min(wide - 2, _COLUMNS), _ROWS)
