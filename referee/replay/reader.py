"""Reads replays as untrusted input and verifies them by simulation.

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
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee import games
from referee.errors import ReplayCut, ReplayError
from referee.games.game import IllegalMove, MalformedMove, SettingsError
from referee.replay.events import PlayersFaulted, StepTaken
from referee.replay.faults import predicate
from referee.replay.names import recorded_sentence, what_failed
from referee.replay.paths import DUEL_SUFFIX, why_unreadable
from referee.replay.records import answers_of, fault_of, first_turn, logs_of
from referee.replay.writer import DIGEST_KEY, FORMAT, SHORT_TEXT, dumps
from referee.support.files import open_whole
from referee.support.words import counted, cut
from referee.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.game import Game, Json

#: The longest line of a replay, in bytes; the longest honest line holds the drawings of two bots.
_MAX_LINE_BYTES = 4 << 20
_MOST_TEXTS = 1_000
_NO_MOVE: dict[str, Json] = {}
#: How much of a replay is decompressed at once, in bytes. Damage destroys at most this much text before it.
_CHUNK_BYTES = 8192
#: The number of lines whose digest is computed together.
_BATCH = 100

#: How the writer begins the record of a step; its number follows.
_STEP_START = b'{"turn":'
_NUMBERS = rb'\{(?:"\w+":(?:0|[1-9]\d*)(?:,"\w+":(?:0|[1-9]\d*))*)?\}'
#: The part of a step's record after its changes and notices, as the writer writes it.
_TAIL = re.compile(rb',"us":%b(?:,"(?:cpu|wall)_us":%b)?(?:,"remarks":(\{.*\}))?(?:,"log":%b)?\}\n' % ((_NUMBERS,) * 3))


#: The errors that a forged replay can cause during simulation: an untrusted file can contain anything.
UNWRITTEN = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


class VerifiedReplay(NamedTuple):
    """A replay that was read and played again. ``problem`` is None if the replay is complete and correct.

    ``turns`` counts the steps that are good; ``final`` is the position after the last of them.
    """

    head: dict[str, Json]
    result: dict[str, Json] | None
    faults: list[dict[str, Json]]
    turns: int
    final: Any
    problem: ReplayProblem | None
    path: Path | None = None

    def sentence(self) -> str:
        """Return how the match ended, with the players' names; "" without a result."""
        if not self.result:
            return ""
        faults = {seat: (fault_of(fault), record["turn"]) for record in self.faults for seat, fault in record["faults"].items()}
        failed = {seat: what_failed(fault) for seat, (fault, _) in faults.items()}
        return recorded_sentence(self.result, self.head["players"], failed, {seat: turn for seat, (_, turn) in faults.items()})

    def verdict(self) -> dict[str, Json]:
        """Return whether it is complete and correct, as pages and ``--json`` show it."""
        good = {"status": "good", "text": f"Played again: every one of {counted(self.turns, 'step')} is as the moves give it."}
        return {**(good if self.problem is None else {"status": "bad", **self.problem.to_json()}), "steps": self.turns}


def unwritten(steps: int, error: Exception) -> dict[str, Json]:
    """Return the verdict on a replay that caused one of ``UNWRITTEN`` after a number of good steps."""
    text = f"After {counted(steps, 'step')} it holds what no referee writes ({type(error).__name__})."
    return {"status": "bad", "kind": "unreadable", "text": text, "steps": steps}


class ReplayProblem(NamedTuple):
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
    """Return what kind of file isn't compressed like a replay, as the end of a sentence."""
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
        raise ReplayError(f"{what} {predicate(error)}.") from None
    if not isinstance(record, dict):
        raise ReplayError(f"{what} is not a JSON object.")
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


class RecordedMatch(NamedTuple):
    """The match of a replay, from its head: its game, its settings, and the whole head."""

    path: Path
    game: Game[Any, Any]
    settings: Any
    head: Mapping[str, Json]

    @classmethod
    def read(cls, path: Path) -> RecordedMatch:
        """Read the head of a replay. ReplayError if it isn't one that can be read here."""
        return cls.of(path, read_head(path, read_lines(path))[0])

    @classmethod
    def of(cls, path: Path, head: Mapping[str, Json]) -> RecordedMatch:
        """Return the match of a head. ReplayError if the game and the settings that it names aren't available here."""
        name = f"{path}:"
        try:
            game = games.get(str(head.get("game")))
            if head.get("version") != game.info.version:
                raise ReplayError(
                    f"{name[:-1]} was played under version {cut(str(head.get('version')), 20)} of the rules of {game.info.name}; this referee has version {game.info.version}, "
                    "which may give other steps."
                )
            settings_json = head.get("settings")
            players = head.get("players")
            if not isinstance(settings_json, dict) or not isinstance(head.get("rules"), str) or not isinstance(players, dict):
                raise ReplayError(f"{name} its head has no rules, no settings or no players.")
            settings = game.codec.settings(head["rules"], settings_json)
            if set(players) != set(game.seats(settings)) or not all(isinstance(player, dict) for player in players.values()):
                raise ReplayError(f"{name} its head names other players than {' and '.join(game.seats(settings))}.")
            return cls(path, game, settings, head)
        except SettingsError as error:
            raise ReplayError(f"{name} {error}") from None


def verify(path: Path | str) -> VerifiedReplay:
    """Simulate a replay from its moves and compare every step with its record.

    Raises ReplayError where there is nothing to compare: no replay, another format, another version of the rules.
    """
    return ReplayReader(Path(path)).verified()


def start_of(game: Game, settings: object, head: dict[str, Json]) -> object:
    """The first position of a replay."""
    secret: Json = head.get("secret")
    is_secret = isinstance(secret, str) and re.fullmatch("(?:[0-9a-f]{2}){0,64}", secret)
    return game.start(settings, bytes.fromhex(secret) if is_secret else b"")


class _Wrong(Exception):
    """A record is wrong; the argument is the problem."""


class ReplayReader:
    """Simulates one replay. ``events`` yields its events, ``verified`` returns whether it is complete and correct.

    ``lines`` are those of another source than the file at ``path``, such as a running match. Raises ReplayError as ``verify`` does.
    ``start`` is the first position, ``first_turn`` the turn of the first question of the match.
    """

    def __init__(self, path: Path, lines: Iterator[bytes] | None = None) -> None:
        self.path = path
        self._lines = read_lines(path) if lines is None else lines
        self.head, line = read_head(path, self._lines)
        _, self.game, self.settings, _ = RecordedMatch.of(path, self.head)
        self.start = self._state = start_of(self.game, self.settings, self.head)
        self.first_turn = first_turn(self.head)
        adjudication = self.game.adjudication
        self._adjudication = adjudication if adjudication is not None and adjudication.is_enabled(self.settings) else None
        self._turn = 0
        self._faults: list[dict[str, Json]] = []
        self._result: dict[str, Json] | None = None
        self._problem: ReplayProblem | None = None
        self._digest = hashlib.sha256(line)
        #: The moves by their text and the movers, for a game that parses a text in the same way in every position.
        self._moves: dict[tuple[bytes | None, tuple[str, ...]], dict[str, object]] = {}
        self._keeps_moves: bool = getattr(self.game.codec, "parse_ignores_state", False)

    def events(self) -> Iterator[StepTaken | PlayersFaulted]:
        """Yield the events in order, up to the first wrong record."""
        return self._read(lambda: next(self._lines, None))

    def verified(self) -> VerifiedReplay:
        """Read the rest, and return the result of the verification."""
        for _ in self._read(self._pass_ordinary):
            pass
        return VerifiedReplay(self.head, self._result, self._faults, self._turn, self._state, self._problem, self.path)

    def _read(self, next_line: Callable[[], bytes | None]) -> Iterator[StepTaken | PlayersFaulted]:
        if self._problem is not None:
            return
        try:
            while (line := next_line()) is not None:
                event = self._take(line)
                if event is not None:
                    yield event
            if self._result is None:
                self._problem = self._cut("it has no result")
        except _Wrong as wrong:
            (self._problem,) = wrong.args
        except ReplayCut:
            self._problem = self._cut("it breaks off")
        except ReplayError as error:
            self._problem = ReplayProblem("order", f"after {counted(self._turn, 'step')}: {error}", self._turn)

    def _cut(self, how: str) -> ReplayProblem:
        return ReplayProblem("cut", f"cut short: {how} after {counted(self._turn, 'step')}, which are good", self._turn)

    def _wrong(self, kind: str, text: str, field: str | None = None) -> _Wrong:
        return _Wrong(ReplayProblem(kind, text, self._turn, field))

    def _take(self, line: bytes) -> StepTaken | PlayersFaulted | None:
        """Check one line and return its event, None for the result. Raises _Wrong, ReplayError or ReplayCut."""
        record = _record(line, f"the record of turn {self._turn}")
        kind = record.get("type", "step")
        if self._result is not None:
            raise self._wrong("order", f"continues after its result, which came after {counted(self._turn, 'step')}")
        if kind == "result":
            self._result = record
            self._check_result(record, line)
            return None
        self._digest.update(line)
        if type(record.get("turn")) is not int or record["turn"] != self._turn:
            turn = cut(str(record.get("turn")), 20)
            raise self._wrong("order", f"turn {turn} stands where turn {self._turn} belongs: lines were moved or removed", "turn")
        return self._faulted(record) if kind == "fault" else self._stepped(record)

    def _pass_ordinary(self) -> bytes | None:
        """Check ordinary steps without decoding their lines. Return the first line that is anything else or is wrong; None at the end.

        The step is made from the recorded moves, and its line compared with the text that the writer would write. The line that is returned
        has changed nothing: the full check follows.
        """
        if self._result is not None:
            return next(self._lines, None)
        game, state, turn = self.game, self._state, self._turn
        movers_of, step, changes_text = game.movers, game.step, game.codec.changes_text
        needs = self._adjudication.needs_adjudication if self._adjudication is not None else None
        moves_by_text, tail_of = self._moves, _TAIL.fullmatch
        good: list[bytes] = []
        try:
            for line in self._lines:
                start = b"%b%d," % (_STEP_START, turn)
                at, moved = len(start), None
                if line.startswith(b'"moves":', at):
                    middle = line.find(b',"changes":', at)
                    moved, at = line[at + 8 : middle], middle + 1
                movers = movers_of(state)
                moves = moves_by_text.get((moved, movers)) or self._read_moves(state, moved, movers)
                if moves is None or not line.startswith(start) or (needs is not None and needs(state)):
                    return line
                if not movers and game.outcome(state) is not None:
                    return line
                after, notices = step(state, moves)
                text = f'"changes":{changes_text(state, after)}'
                if notices and (records := [notice.to_json() for notice in notices if notice.seat is not None]):
                    text += f',"notices":{dumps(records)}'
                expected = text.encode()
                tail = tail_of(line, at + len(expected)) if line.startswith(expected, at) else None
                if tail is None or ((remarks := tail[1]) is not None and not _is_object(remarks)):
                    return line
                good.append(line)
                if len(good) >= _BATCH:
                    self._digest.update(b"".join(good))
                    good.clear()
                state = after
                turn += 1
            return None
        finally:
            self._state, self._turn = state, turn
            self._digest.update(b"".join(good))

    def _read_moves(self, state: object, text: bytes | None, movers: tuple[str, ...]) -> dict[str, object] | None:
        """Return the moves of an ordinary step, {} if nobody moves; None if the full check has to judge the text."""
        try:
            records = {} if text is None else strict_json.read(text)
            if not isinstance(records, dict) or not records.keys() <= set(movers):
                return None
            moves = {seat: self.game.codec.parse(state, seat, records.get(seat, _NO_MOVE)) for seat in movers}
        except (strict_json.NotJson, MalformedMove, IllegalMove):
            return None
        if self._keeps_moves and (text is None or len(text) <= SHORT_TEXT):
            if len(self._moves) > _MOST_TEXTS:
                self._moves.clear()
            self._moves[text, movers] = moves
        return moves

    def _needs_adjudication(self, state: object) -> bool:
        return self._adjudication is not None and self._adjudication.needs_adjudication(state)

    def _adjudicated(self, state: object) -> object:
        return state if self._adjudication is None else self._adjudication.adjudicate(state)

    def _stepped(self, record: dict[str, Json]) -> StepTaken:
        game, before = self.game, self._state
        movers = game.movers(before)
        records = record.get("moves", {})
        if not movers and game.outcome(before) is not None:
            raise self._wrong("order", f"turn {self._turn} stands after the end of the game")
        if self._needs_adjudication(before) and game.outcome(self._adjudicated(before)) is not None:
            raise self._wrong("order", f"turn {self._turn} stands after the game was to be adjudicated")
        try:
            if not isinstance(records, dict) or not records.keys() <= set(movers):
                raise MalformedMove("moves are given for seats that did not move")
            moves = {seat: game.codec.parse(before, seat, records.get(seat, {})) for seat in movers}
        except (MalformedMove, IllegalMove) as error:
            raise self._wrong("moves", f"turn {self._turn}, field moves: {error}", "moves") from None
        after, notices = game.step(before, moves)
        text = game.codec.changes_text(before, after)
        if dumps(record.get("changes")) != text:
            changes = json.loads(text)
            if _sorted(changes) != _sorted(record.get("changes")):
                raise self._difference(record.get("changes"), changes)
        expected = [notice.to_json() for notice in notices if notice.seat is not None]
        recorded = record.get("notices", [])
        if expected != recorded:
            text = f"turn {self._turn}, field notices: the replay says {_brief(recorded)}, the moves give {_brief(expected)}"
            raise self._wrong("notices", text, "notices")
        self._state = after
        self._turn += 1
        return StepTaken(self._turn - 1, before, after, moves, notices, answers_of(record, moves, {}), logs_of(record))

    def _difference(self, recorded: Json, changes: Json) -> _Wrong:
        """Return the first field of a step in which the replay differs from the result of its moves."""
        field, here, there = "changes", recorded, changes
        if isinstance(recorded, dict):
            shared = recorded.keys() & changes.keys()
            names = (name for name in [*changes, *recorded] if name not in shared or _sorted(recorded[name]) != _sorted(changes[name]))
            field = next(names)
            here, there = recorded.get(field), changes.get(field)
        text = f"turn {self._turn}, field {field}: the replay says {_brief(here)}, the moves give {_brief(there)}"
        return self._wrong("state", text, field)

    def _faulted(self, record: dict[str, Json]) -> PlayersFaulted:
        faults: Json = record.get("faults")
        # Before the first question any seat may fail, later only a seat that was asked. People can also leave, and a seat with a dialect
        # may be asked although it can't move.
        players = self.head["players"]
        seats = set(players if self._turn in (0, self.first_turn) else self.game.movers(self._state))
        seats |= {seat for seat, about in players.items() if about.get("program") == "human" or "dialect" in about}
        if self.game.outcome(self._state) is not None or len(self._faults) >= len(players):
            raise self._wrong("order", f"turn {self._turn}: faults are recorded after the end of the game", "faults")
        is_record = isinstance(faults, dict) and faults and all(isinstance(fault, dict) for fault in faults.values())
        if not is_record or not faults.keys() <= seats:
            raise self._wrong("order", f"turn {self._turn}: a record of faults that names no player who was asked", "faults")
        self._faults.append(record)
        before = self._state
        failures = {seat: fault_of(fault) for seat, fault in faults.items()}
        self._state = self.game.fault(before, {seat: fault.kind for seat, fault in failures.items()})
        return PlayersFaulted(self._turn, failures, before, self._state, answers_of(record, {}, failures), logs_of(record))

    def _check_result(self, record: dict[str, Json], line: bytes) -> None:
        outcome = self.game.outcome(self._state)
        if outcome is None and self._needs_adjudication(self._state):
            self._state = self._adjudicated(self._state)
            outcome = self.game.outcome(self._state)
        if outcome is None:
            raise _Wrong(self._cut("its result comes before the end of the game,"))
        for field, value in {**outcome.to_json(), "steps": self._turn}.items():
            if record.get(field) != value:
                text = f"result, field {field}: the replay says {_brief(record.get(field))}, the game gives {_brief(value)}"
                raise self._wrong("outcome", text, field)
        covered, key, digest = line.rpartition(DIGEST_KEY.encode())
        self._digest.update(covered + key)
        if digest != f'{self._digest.hexdigest()}"}}\n'.encode():
            text = "result, field sha256: every step is good, but the text is not the one that was written (names, times, remarks or settings were edited)"
            raise self._wrong("digest", text, "sha256")


def _is_object(text: bytes) -> bool:
    try:
        # In the line it is nested one level deeper.
        return isinstance(strict_json.read(b"[%b]" % text)[0], dict)
    except strict_json.NotJson:
        return False


def _sorted(value: Json) -> str:
    """Return a value as text. 1, 1.0 and true differ in it, and the order of keys doesn't matter."""
    return json.dumps(value, sort_keys=True)


def _brief(value: Json) -> str:
    return cut(json.dumps(value, separators=(",", ":")), 120)
