"""Reads replays as untrusted input and verifies them by playing them again.

A replay is gzip-compressed JSON lines, ``NAME.replay.jsonl.gz``. The first line is the head and the last line the result. Between
them is a line for each step (``turn``, ``moves``, ``changes``, ``notices``, ``us``: microseconds billed) and one for faults. See
docs/replay.md. The result ends with the SHA-256 of every byte before it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee import games
from referee.errors import ReplayCut, ReplayError
from referee.games.game import IllegalMove, MalformedMove, SettingsError
from referee.replay.paths import DUEL_SUFFIX, why_unreadable
from referee.replay.writer import DIGEST_KEY, FORMAT, SHORT_TEXT, dumps
from referee.support.files import open_whole
from referee.support.words import counted, cut
from referee.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.games.game import Game, Json, Notice, Seat

#: The longest line of a replay, in bytes; the longest honest line holds the drawings of two bots.
_MAX_LINE_BYTES = 4 << 20
_MOST_TEXTS = 1_000
_NO_MOVE: dict[str, Any] = {}
#: How much of a replay is decompressed at once, in bytes. So at most this much text before a damage is lost.
_CHUNK_BYTES = 8192
#: Lines of steps whose digest is computed together.
_BATCH = 100

#: How the writer begins the record of a step; its number follows.
_STEP_START = b'{"turn":'
_NUMBERS = rb'\{(?:"\w+":(?:0|[1-9]\d*)(?:,"\w+":(?:0|[1-9]\d*))*)?\}'
#: What follows the changes and notices of a step, as the writer writes it. It ends a JSON object if its remarks are a JSON object.
_TAIL = re.compile(rb',"us":%b(?:,"(?:cpu|wall)_us":%b)?(?:,"remarks":(\{.*\}))?(?:,"log":%b)?\}\n' % ((_NUMBERS,) * 3))


#: The errors that a replay which no referee wrote can cause while it is played again: an untrusted file can contain anything.
UNWRITTEN = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


class Step(NamedTuple):
    """A step of a replay: its record and the positions before and after it."""

    record: dict[str, Json]
    before: Any
    after: Any
    notices: tuple[Notice, ...]

    def moves(self, game: Game[Any, Any]) -> dict[Seat, Any]:
        """Return the moves by seat, as the engine takes them."""
        given = self.record.get("moves") or {}
        return {seat: game.codec.parse(self.before, seat, given.get(seat, {})) for seat in game.movers(self.before)}


class Failed(NamedTuple):
    """Players failed in a step of a replay: the record of it, and the positions before and after the game has handled the faults."""

    record: dict[str, Json]
    before: Any
    after: Any


class Replay(NamedTuple):
    """A replay that was read and played again. ``problem`` is None if the replay is complete and correct.

    ``turns`` counts the steps that are good; ``final`` is the position after the last of them.
    """

    head: dict[str, Json]
    result: dict[str, Json] | None
    faults: list[dict[str, Json]]
    turns: int
    final: Any
    problem: Problem | None
    path: Path | None = None

    def verdict(self) -> dict[str, Json]:
        """Return whether it is complete and correct, as pages and ``--json`` show it."""
        good = {"status": "good", "text": f"Played again: every one of {counted(self.turns, 'step')} is as the moves give it."}
        return {**(good if self.problem is None else {"status": "bad", **self.problem.to_json()}), "steps": self.turns}


def unwritten(steps: int, error: Exception) -> dict[str, Json]:
    """Return such a verdict on a replay that caused one of ``UNWRITTEN`` after a number of good steps."""
    text = f"After {counted(steps, 'step')} it holds what no referee writes ({type(error).__name__})."
    return {"status": "bad", "kind": "unreadable", "text": text, "steps": steps}


class Problem(NamedTuple):
    """The first error in a replay. ``kind`` is one of: cut, state, moves, notices, outcome, digest, order.

    ``turn`` and ``field`` locate it, where they apply.
    """

    kind: str
    text: str
    turn: int | None = None
    field: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The problem as ``--json`` prints it."""
        return self._asdict()


def read_lines(path: Path, name: Path | None = None, below: Path | None = None) -> Iterator[bytes]:
    """Yield the lines of a replay, each with its end. ReplayCut if the file ends early, ReplayError if it is not a replay.

    ``name`` is the file's name in messages, if that isn't its path; ``below`` is as for ``open_regular``.
    """
    called = str(name or path)
    try:
        raw = open_whole(path, below)
    except (OSError, ValueError) as error:
        raise ReplayError(f"{called} can't be read: {why_unreadable(error, path)}") from None
    with raw, gzip.open(raw, "rb") as file:
        try:
            yield from _split(file, called)
        except EOFError:
            raise ReplayCut(f"{called} breaks off.") from None
        except gzip.BadGzipFile:
            raise ReplayError(f"{called} {_otherwise(path)}") from None
        except zlib.error:
            raise ReplayError(f"{called} is damaged: its compressed data can't be read.") from None
        except OSError as error:
            raise ReplayError(f"{called} can't be read: {error.strerror or error}.") from None


def _otherwise(path: Path) -> str:
    """Return what a file is that isn't compressed as replays are, as the end of a sentence."""
    if path.name.endswith(DUEL_SUFFIX):
        return "is the result of a duel, not a replay; name one of the two replays that it lists, which lie beside it."
    return "is not a replay: not gzip, or damaged."


def _split(file: gzip.GzipFile, called: str) -> Iterator[bytes]:
    """Yield the lines of a file that is decompressed piece by piece. ``called`` is its name in messages."""
    parts: list[bytes] = []
    held = 0
    while chunk := file.read1(_CHUNK_BYTES):
        first, newline, _ = chunk.partition(b"\n")
        held += len(first)
        if held >= _MAX_LINE_BYTES:
            raise ReplayError(f"{called} has a line of more than {_MAX_LINE_BYTES:,} bytes: no referee wrote it.")
        parts.append(chunk)
        if newline:
            *lines, rest = b"".join(parts).split(b"\n")
            for line in lines:
                yield line + b"\n"
            parts, held = [rest], len(rest)
    if held:
        raise ReplayCut(f"{called} breaks off in the middle of a line.")


def _record(line: bytes, what: str) -> dict[str, Json]:
    try:
        record = strict_json.read(line)
    except strict_json.NotJson as error:
        from referee.replay.faults import predicate

        raise ReplayError(f"{what} {predicate(error)}.") from None
    if not isinstance(record, dict):
        raise ReplayError(f"{what} is no JSON object.")
    return record


def read_head(path: Path, lines: Iterator[bytes]) -> tuple[dict[str, Json], bytes]:
    """Return the head of a replay and its line. ReplayError if it is not a head, or of a version that can't be read here."""
    line = next(lines, None)
    if line is None:
        raise ReplayError(f"{path} is empty.")
    head = _record(line, f"{path}: the first line")
    if head.get("type") != "head" or not isinstance(head.get("format"), int):
        raise ReplayError(f"{path} is not a replay: its first line is not a head.")
    if head["format"] != FORMAT:
        raise ReplayError(
            f"{path} has replay format {cut(str(head['format']), 20)}; this version reads format {FORMAT}: use the referee that wrote it."
        )
    return head, line


def open_game(path: Path, head: dict[str, Json]) -> tuple[Game[Any, Any], Any]:
    """Return the game and the checked settings that a head names. ReplayError if they aren't available here."""
    name = f"{path}:"
    try:
        game = games.get(str(head.get("game")))
        if head.get("version") != game.info.version:
            raise ReplayError(
                f"{name[:-1]} was played under version {cut(str(head.get('version')), 20)} of the rules of {game.info.name}; this referee has version {game.info.version}, "
                "which may decide steps otherwise."
            )
        given = head.get("settings")
        players = head.get("players")
        if not isinstance(given, dict) or not isinstance(head.get("rules"), str) or not isinstance(players, dict):
            raise ReplayError(f"{name} its head has no rules, no settings or no players.")
        settings = game.codec.settings(head["rules"], given)
        if set(players) != set(game.seats(settings)) or not all(isinstance(player, dict) for player in players.values()):
            raise ReplayError(f"{name} its head names other players than {' and '.join(game.seats(settings))}.")
        return game, settings
    except SettingsError as error:
        raise ReplayError(f"{name} {error}") from None


def verify(path: Path | str, on_step: Callable[[Step], None] | None = None, on_fault: Callable[[Failed], None] | None = None) -> Replay:
    """Play a replay again from its moves and compare every step with its record.

    Raises ReplayError where there is nothing to compare: no replay, another format, another version of the rules.
    """
    path = Path(path)
    return play_again(path, read_lines(path), on_step, on_fault)


def play_again(
    path: Path,
    lines: Iterator[bytes],
    on_step: Callable[[Step], None] | None = None,
    on_fault: Callable[[Failed], None] | None = None,
) -> Replay:
    """As ``verify``, with lines from another source, such as a running match."""
    head, head_line = read_head(path, lines)
    game, settings = open_game(path, head)
    verification = _Verification(game, settings, head, on_step, on_fault)
    return verification.run(chain([head_line], lines))._replace(path=path)


def start_of(game: Game[Any, Any], settings: Any, head: dict[str, Json]) -> Any:
    """The first position of a replay."""
    secret: Any = head.get("secret")
    is_secret = isinstance(secret, str) and re.fullmatch("(?:[0-9a-f]{2}){0,64}", secret)
    return game.start(settings, bytes.fromhex(secret) if is_secret else b"")


class _Wrong(Exception):
    """A record is wrong; the argument is the problem."""


class _Verification:
    def __init__(
        self,
        game: Game[Any, Any],
        settings: Any,
        head: dict[str, Json],
        on_step: Callable[[Step], None] | None,
        on_fault: Callable[[Failed], None] | None,
    ) -> None:
        self.game = game
        adjudication = game.adjudication
        self.adjudication = adjudication if adjudication is not None and adjudication.is_enabled(settings) else None
        self.head = head
        self.state = start_of(game, settings, head)
        self.on_step = on_step
        self.on_fault = on_fault
        self.turn = 0
        self.faults: list[dict[str, Json]] = []
        self.result: dict[str, Json] | None = None
        self.digest = hashlib.sha256()
        source: Any = head.get("from")
        #: The turn of the first question of a match that began in another replay.
        self.first_turn = source.get("turn") if isinstance(source, dict) else 0
        #: The moves by their text and the movers, for a game that reads the same text in the same way in every position.
        self.known_moves: dict[tuple[bytes | None, tuple[str, ...]], dict[str, Any]] = {}
        self.keeps_moves: bool = getattr(game.codec, "parse_ignores_state", False)

    def run(self, lines: Iterator[bytes]) -> Replay:
        problem = None
        try:
            self.digest.update(next(lines))
            while (line := self.pass_ordinary(lines) if self.on_step is None and self.result is None else next(lines, None)) is not None:
                self.take(line)
            if self.result is None:
                problem = self.cut("it has no result")
        except _Wrong as wrong:
            (problem,) = wrong.args
        except ReplayCut:
            problem = self.cut("it breaks off")
        except ReplayError as error:
            problem = Problem("order", f"after {counted(self.turn, 'step')}: {error}", self.turn)
        return Replay(self.head, self.result, self.faults, self.turn, self.state, problem)

    def cut(self, how: str) -> Problem:
        return Problem("cut", f"cut short: {how} after {counted(self.turn, 'step')}, which are good", self.turn)

    def wrong(self, kind: str, text: str, field: str | None = None) -> _Wrong:
        return _Wrong(Problem(kind, text, self.turn, field))

    def take(self, line: bytes) -> None:
        """Judge one line. Raises _Wrong, ReplayError or ReplayCut."""
        record = _record(line, f"the record of turn {self.turn}")
        kind = record.get("type", "step")
        if self.result is not None:
            raise self.wrong("order", f"continues after its result, which came after {counted(self.turn, 'step')}")
        if kind == "result":
            self.result = record
            self.check_result(record, line)
            return
        self.digest.update(line)
        if type(record.get("turn")) is not int or record["turn"] != self.turn:
            shown = cut(str(record.get("turn")), 20)
            raise self.wrong("order", f"turn {shown} stands where turn {self.turn} belongs: lines were moved or removed", "turn")
        if kind == "fault":
            self.check_faults(record)
        else:
            self.check_step(record)

    def pass_ordinary(self, lines: Iterator[bytes]) -> bytes | None:
        """Check ordinary steps without decoding their lines. Return the first line that is anything else or is wrong; None at the end.

        The step is made from the recorded moves, and its line compared with the text that the writer would write. The line that is returned
        has changed nothing: the full check follows.
        """
        game, state, turn = self.game, self.state, self.turn
        movers_of, step, changes_text = game.movers, game.step, game.codec.changes_text
        needs = self.adjudication.needs_adjudication if self.adjudication is not None else None
        known, tail_of = self.known_moves, _TAIL.fullmatch
        good: list[bytes] = []
        try:
            for line in lines:
                start = b"%b%d," % (_STEP_START, turn)
                at, moved = len(start), None
                if line.startswith(b'"moves":', at):
                    middle = line.find(b',"changes":', at)
                    moved, at = line[at + 8 : middle], middle + 1
                movers = movers_of(state)
                moves = known.get((moved, movers)) or self.read_moves(state, moved, movers)
                if moves is None or not line.startswith(start) or (needs is not None and needs(state)):
                    return line
                if not movers and game.outcome(state) is not None:
                    return line
                after, notices = step(state, moves)
                text = f'"changes":{changes_text(state, after)}'
                if notices and (told := [notice.to_json() for notice in notices if notice.seat is not None]):
                    text += f',"notices":{dumps(told)}'
                expected = text.encode()
                tail = tail_of(line, at + len(expected)) if line.startswith(expected, at) else None
                if tail is None or ((remarks := tail[1]) is not None and not _is_object(remarks)):
                    return line
                good.append(line)
                if len(good) >= _BATCH:
                    self.digest.update(b"".join(good))
                    good.clear()
                state = after
                turn += 1
            return None
        finally:
            self.state, self.turn = state, turn
            self.digest.update(b"".join(good))

    def read_moves(self, state: Any, text: bytes | None, movers: tuple[str, ...]) -> dict[str, Any] | None:
        """Return the moves of an ordinary step, {} if nobody moves; None if the full check has to judge the text."""
        try:
            given = {} if text is None else strict_json.read(text)
            if not isinstance(given, dict) or not given.keys() <= set(movers):
                return None
            moves = {seat: self.game.codec.parse(state, seat, given.get(seat, _NO_MOVE)) for seat in movers}
        except (strict_json.NotJson, MalformedMove, IllegalMove):
            return None
        if self.keeps_moves and (text is None or len(text) <= SHORT_TEXT):
            if len(self.known_moves) > _MOST_TEXTS:
                self.known_moves.clear()
            self.known_moves[text, movers] = moves
        return moves

    def needs_adjudication(self, state: Any) -> bool:
        return self.adjudication is not None and self.adjudication.needs_adjudication(state)

    def adjudicated(self, state: Any) -> Any:
        return state if self.adjudication is None else self.adjudication.adjudicate(state)

    def check_step(self, record: dict[str, Json]) -> None:
        game, before = self.game, self.state
        movers = game.movers(before)
        given = record.get("moves", {})
        if not movers and game.outcome(before) is not None:
            raise self.wrong("order", f"turn {self.turn} stands after the end of the game")
        if self.needs_adjudication(before) and game.outcome(self.adjudicated(before)) is not None:
            raise self.wrong("order", f"turn {self.turn} stands after the game was to be adjudicated")
        try:
            if not isinstance(given, dict) or not given.keys() <= set(movers):
                raise MalformedMove("moves are given for seats that did not move")
            moves = {seat: game.codec.parse(before, seat, given.get(seat, {})) for seat in movers}
        except (MalformedMove, IllegalMove) as error:
            raise self.wrong("moves", f"turn {self.turn}, field moves: {error}", "moves") from None
        after, notices = game.step(before, moves)
        text = game.codec.changes_text(before, after)
        if dumps(record.get("changes")) != text:
            changes = json.loads(text)
            if _sorted(changes) != _sorted(record.get("changes")):
                raise self.difference(record.get("changes"), changes)
        expected = [notice.to_json() for notice in notices if notice.seat is not None]
        said = record.get("notices", [])
        if expected != said:
            text = f"turn {self.turn}, field notices: the replay says {_brief(said)}, the moves give {_brief(expected)}"
            raise self.wrong("notices", text, "notices")
        self.state = after
        self.turn += 1
        if self.on_step is not None:
            self.on_step(Step(record, before, after, notices))

    def difference(self, said: Json, given: Json) -> _Wrong:
        """Return the first field of a step in which the replay differs from the result of its moves."""
        field, here, there = "changes", said, given
        if isinstance(said, dict):
            shared = said.keys() & given.keys()
            field = next(name for name in [*given, *said] if name not in shared or _sorted(said[name]) != _sorted(given[name]))
            here, there = said.get(field), given.get(field)
        text = f"turn {self.turn}, field {field}: the replay says {_brief(here)}, the moves give {_brief(there)}"
        return self.wrong("state", text, field)

    def check_faults(self, record: dict[str, Json]) -> None:
        faults: Any = record.get("faults")
        # Before the first question any seat may fail, later only a seat that was asked. People can also leave, and a seat with a dialect
        # may be asked although it can't move.
        players = self.head["players"]
        seats = set(players if self.turn in (0, self.first_turn) else self.game.movers(self.state))
        seats |= {seat for seat, about in players.items() if about.get("program") == "human" or "dialect" in about}
        if self.game.outcome(self.state) is not None or len(self.faults) >= len(players):
            raise self.wrong("order", f"turn {self.turn}: faults are recorded after the end of the game", "faults")
        is_record = isinstance(faults, dict) and faults and all(isinstance(fault, dict) for fault in faults.values())
        if not is_record or not faults.keys() <= seats:
            raise self.wrong("order", f"turn {self.turn}: a record of faults that names no player who was asked", "faults")
        self.faults.append(record)
        before = self.state
        self.state = self.game.fault(before, {seat: str(fault.get("kind")) for seat, fault in faults.items()})
        if self.on_fault is not None:
            self.on_fault(Failed(record, before, self.state))

    def check_result(self, record: dict[str, Json], line: bytes) -> None:
        outcome = self.game.outcome(self.state)
        if outcome is None and self.needs_adjudication(self.state):
            self.state = self.adjudicated(self.state)
            outcome = self.game.outcome(self.state)
        if outcome is None:
            raise _Wrong(self.cut("its result comes before the end of the game,"))
        for field, value in {**outcome.to_json(), "steps": self.turn}.items():
            if record.get(field) != value:
                text = f"result, field {field}: the replay says {_brief(record.get(field))}, the game gives {_brief(value)}"
                raise self.wrong("outcome", text, field)
        covered, key, digest = line.rpartition(DIGEST_KEY.encode())
        self.digest.update(covered + key)
        if digest != f'{self.digest.hexdigest()}"}}\n'.encode():
            text = "result, field sha256: every step is good, but the text is not the one that was written (names, times, remarks or settings were edited)"
            raise self.wrong("digest", text, "sha256")


def _is_object(text: bytes) -> bool:
    try:
        # Inside the line it is nested one level deeper.
        return isinstance(strict_json.read(b"[%b]" % text)[0], dict)
    except strict_json.NotJson:
        return False


def _sorted(value: Json) -> str:
    """Return a value as text. 1, 1.0 and true differ in it, and the order of keys doesn't matter."""
    return json.dumps(value, sort_keys=True)


def _brief(value: Json) -> str:
    return cut(json.dumps(value, separators=(",", ":")), 120)
