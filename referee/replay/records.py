"""Reads the records of a replay: the clock, the seeds and the first turn of its head, and the answers and faults of a step."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple, cast

from referee.errors import ReplayError
from referee.replay.answers import AS_A_PASS, WARNING_CODES, AnswerWarning, JudgedAnswer, Remark
from referee.replay.faults import FAULT_CODES, Fault
from referee.support.words import the_seat
from referee.wire import encode
from referee.wire.seeds import match_id, seat_seed, secret_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Game, Json, Seat
    from referee.replay.answers import TurnAnswers, WarningCode
    from referee.replay.faults import FaultCode

#: Why a start message can't be made again.
NO_CLOCK = "Its head has no valid clock, so the start message can't be made again."
#: Longer than every limit of a time control.
_MOST_MICROSECONDS = 10**13
_MOST_SECONDS = 1_000_000
_CLOCKS = ("wall", "cpu", "fair")


class RecordedClock(NamedTuple):
    """The time control of a player, in seconds; None means no limit. ``kind`` is the time that was billed: "wall", "cpu" or "fair"."""

    kind: str
    startup: float | None
    move: float | None
    bank: float | None
    increment: float

    def bank_after(self, bank: float | None, seconds: float) -> float | None:
        """Return what is left of the bank after an answer."""
        return None if bank is None else max(0.0, bank - seconds) + self.increment

    def to_json(self) -> dict[str, Json]:
        """The time control as the ``start`` message shows it."""
        return self._asdict()


def clock_of(head: Mapping[str, Json], seat: Seat | None = None) -> RecordedClock | None:
    """Return the time control of a seat, by default that of the match; None if the head has no valid one."""
    record = (head["players"][seat].get("clock") if seat is not None else None) or head.get("clock")
    if not isinstance(record, dict) or record.keys() != set(RecordedClock._fields) or record["kind"] not in _CLOCKS:
        return None
    limits = (record[name] for name in ("startup", "move", "bank"))
    is_valid = all(limit is None or (_is_seconds(limit) and limit > 0) for limit in limits) and _is_seconds(record["increment"])
    return RecordedClock(**record) if is_valid else None


def _is_seconds(value: Json) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= _MOST_SECONDS


def first_turn(head: Mapping[str, Json]) -> int:
    """Return the turn of the first question that the players of a match got. It is above 0 if the match began in another replay."""
    source = head.get("from")
    turn = source.get("turn") if isinstance(source, dict) else None
    return turn if type(turn) is int and turn > 0 else 0


def seed_of(head: Mapping[str, Json]) -> int | None:
    """Return the number from which the secret of the match was derived; None if the head has none."""
    seed = head.get("seed")
    return seed if type(seed) is int and -(2**63) <= seed < 2**63 else None


def secret_bytes(head: Mapping[str, Json]) -> bytes | None:
    """Return the secret of the match; None if the head has none."""
    secret = head.get("secret")
    if not isinstance(secret, str) or not re.fullmatch("(?:[0-9a-f]{2}){1,64}", secret):
        return None
    return bytes.fromhex(secret)


def known_secret(head: Mapping[str, Json]) -> bytes | None:
    """Return the secret of the match; None if the head has neither the secret nor the seed that it was derived from."""
    secret, seed = secret_bytes(head), seed_of(head)
    if secret is not None or seed is None:
        return secret
    derived = secret_of(seed)
    return derived if match_id(derived) == head.get("match") else None


def start_line(game: Game, settings: Json, head: Mapping[str, Json], seat: Seat) -> bytes:
    """Return the ``start`` message that a seat got. ReplayError if the head lacks what it needs."""
    clock, secret, match = clock_of(head, seat), secret_bytes(head), head.get("match")
    if clock is None:
        raise ReplayError(NO_CLOCK)
    if secret is None or not isinstance(match, str):
        raise ReplayError(
            "Its head has no secret, so the seed that the bot got isn't known; use the replay of the person who ran the match."
        )
    seed = seat_seed(secret, match, seat)
    settings_json = game.codec.settings_json(settings)
    return encode.start(game.info, settings.rules, seat, settings_json, clock=clock.to_json(), seed=seed, match=match)


def seconds_by_seat(record: Mapping[str, Json], key: str) -> dict[Seat, float]:
    """Return the seconds by seat that a record has in microseconds under a key."""
    times = record.get(key)
    if not isinstance(times, dict):
        return {}
    return {seat: us / 1e6 for seat, us in times.items() if type(us) is int and 0 <= us < _MOST_MICROSECONDS}


def answers_of(record: Mapping[str, Json], moves: Mapping[Seat, object], faults: Mapping[Seat, Fault]) -> TurnAnswers:
    """Return the answers of the seats that were billed in a step."""
    others = seconds_by_seat(record, "wall_us" if "wall_us" in record else "cpu_us")
    return {
        seat: JudgedAnswer(moves.get(seat), seconds, others.get(seat), _remark(record, seat), faults.get(seat))
        for seat, seconds in seconds_by_seat(record, "us").items()
    }


def logs_of(record: Mapping[str, Json]) -> dict[Seat, int]:
    """Return the stderr offsets of a step, in bytes by seat."""
    logs = record.get("log")
    return {seat: offset for seat, offset in logs.items() if type(offset) is int} if isinstance(logs, dict) else {}


def _remark(record: Mapping[str, Json], seat: Seat) -> Remark | None:
    remarks = record.get("remarks")
    remark = remarks.get(seat) if isinstance(remarks, dict) else None
    if not isinstance(remark, dict):
        return None
    texts, codes = remark.get("warnings"), remark.get("codes")
    texts = list(map(str, texts)) if isinstance(texts, list) else []
    if not isinstance(codes, list) or len(codes) != len(texts) or not WARNING_CODES.issuperset(map(str, codes)):
        codes = [_code_of(seat, text) for text in texts]
    return Remark(remark.get("say"), remark.get("draw"), tuple(map(AnswerWarning, codes, texts)), remark.get("rescued") is True)


def _code_of(seat: Seat, text: str) -> WarningCode | str:
    """Return the code of a warning in a replay of an older version, which has only the sentence: that of a pass, else "".

    A warning about a malformed answer is a whole sentence about the seat. Other warnings begin with the ignored part; a bot can
    choose how these end, but not how they begin.
    """
    return "passed" if text.startswith((f"The {seat}", the_seat(seat))) and text.endswith(AS_A_PASS) else ""


def fault_of(record: Mapping[str, Json]) -> Fault:
    """Return a fault of a replay, with the sentence as it stands there. A replay of an older version has neither its code nor values."""
    code, values, line, detail = (record.get(key) for key in ("code", "values", "line", "detail"))
    if not isinstance(values, dict) or not isinstance(code, str) or code not in FAULT_CODES:
        code, values = "", {}
    facts = {**(detail if isinstance(detail, dict) else {}), **({"cause": cause} if isinstance(cause := record.get("cause"), str) else {})}
    return Fault(
        str(record.get("kind")),
        cast("FaultCode", code),
        values,
        str(record.get("text")),
        line if isinstance(line, str) else None,
        facts,
    )
