"""Reads from a replay which messages its players got: the seed, the time control, the notices of each step; and their limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from referee.errors import ReplayError
from referee.isolation.limits import Limits
from referee.match.options import TimeControl, checked
from referee.replay.answers import AS_A_PASS, AnswerWarning, Remark
from referee.replay.faults import MALFORMED, Fault
from referee.support.words import the_seat
from referee.wire import encode
from referee.wire.seeds import match_id, seat_seed, secret_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Game, Json, Seat

#: Why a start message can't be made again.
NO_CLOCK = "Its head has no valid clock, so the start message can't be made again."
#: Longer than every limit that a time control can have.
_MOST_MICROSECONDS = 10**13


def time_control(head: Mapping[str, Json], seat: Seat) -> TimeControl | None:
    """Return the time control of a seat, None if the head has no valid one."""
    return _control(head["players"][seat].get("clock") or head.get("clock"))


def clock_of(head: Mapping[str, Json]) -> TimeControl | None:
    """Return the time control of the match, None if the head has no valid one."""
    return _control(head.get("clock"))


def _control(given: Any) -> TimeControl | None:
    try:
        return TimeControl(**given)
    except (TypeError, ValueError):
        return None


def limits_of(head: Mapping[str, Json]) -> Limits:
    """Return the limits on the bots of the match; the ordinary ones where the head names none. UsageError for one out of range."""
    given = head.get("limits")
    known = {name: value for name, value in (given if isinstance(given, dict) else {}).items() if name in Limits.model_fields}
    return checked({"limits": {name: value for name, value in known.items() if type(value) is int}}, str).limits


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


def start_line(game: Game[Any, Any], settings: Any, head: Mapping[str, Json], seat: Seat) -> bytes:
    """Return the ``start`` message that a seat got. ReplayError if the head lacks what it needs."""
    control, secret, match = time_control(head, seat), secret_bytes(head), head.get("match")
    if control is None:
        raise ReplayError(NO_CLOCK)
    if secret is None or not isinstance(match, str):
        raise ReplayError(
            "Its head has no secret, so the seed that the bot got isn't known; use the replay of the person who ran the match."
        )
    seed = seat_seed(secret, match, seat)
    shown = game.codec.settings_json(settings)
    return encode.start(game.info, settings.rules, seat, shown, clock=control.to_json(), seed=seed, match=match)


def microseconds(record: Mapping[str, Json], seat: Seat) -> int | None:
    """Return the time that was billed to a seat in a step; None if it wasn't asked."""
    billed = record.get("us")
    found = billed.get(seat) if isinstance(billed, dict) else None
    return found if type(found) is int and 0 <= found < _MOST_MICROSECONDS else None


def seconds_by_seat(record: Mapping[str, Json], key: str) -> dict[Seat, float]:
    """Return the seconds by seat that a record has in microseconds under a key."""
    given = record.get(key)
    found = given.items() if isinstance(given, dict) else ()
    return {seat: us / 1e6 for seat, us in found if type(us) is int and 0 <= us < _MOST_MICROSECONDS}


def remark_of(record: Mapping[str, Json], seat: Seat) -> Remark | None:
    """Return the remark beside a seat's answer in a step, None if there is none."""
    remarks = record.get("remarks")
    remark = remarks.get(seat) if isinstance(remarks, dict) else None
    if not isinstance(remark, dict):
        return None
    texts = remark.get("warnings")
    warnings = tuple(recovered(seat, str(text)) for text in texts) if isinstance(texts, list) else ()
    return Remark(remark.get("say"), remark.get("draw"), warnings, remark.get("rescued") is True)


def recovered(seat: Seat, text: str) -> AnswerWarning:
    """Return the warning of which a replay holds the sentence. Replays hold no codes of warnings, so the sentence is read: only here.

    A warning about a malformed answer is a whole sentence about the seat. Other warnings begin with the ignored part; a bot can
    choose how these end, but not how they begin.
    """
    if text.startswith((f"The {seat}", the_seat(seat))) and text.endswith(AS_A_PASS):
        return AnswerWarning("passed", (Fault(MALFORMED, "recorded", {"text": text.removesuffix(AS_A_PASS)}),))
    return AnswerWarning("recorded", (text,))


def told(record: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the notices that players got after a step: warnings on their answers, then the game's notices."""
    remarks = record.get("remarks")
    found: list[dict[str, Json]] = []
    for seat in remarks if isinstance(remarks, dict) else ():
        remark = remark_of(record, seat)
        found += [{"seat": seat, "code": warning.code, "text": warning.text} for warning in (remark.warnings if remark is not None else ())]
    notices = record.get("notices")
    given = [notice for notice in (notices if isinstance(notices, list) else ()) if isinstance(notice, dict)]
    return [*found, *(notice for notice in given if {"seat", "code", "text"} <= notice.keys())]
