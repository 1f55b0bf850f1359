"""Plays files of recorded games on the engine, and compares every state."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, Any

from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from referee.games.conformance import Played


def conform(files: Sequence[Path]) -> dict[str, Any]:
    """Play all recorded games and judge all recorded positions, up to the first difference. Return the report of ``verify --conformance --json``.

    It has ``ok`` and the numbers of ``games``, ``steps`` and ``positions``; at a difference also its place, and what was expected there.
    Raises UsageError if a file can't be read or is no file of recorded games.
    """
    games = steps = positions = 0
    report: dict[str, Any] = {"ok": True}
    for file, number, record in ((path, *line) for path in files for line in _records(path)):
        played = _play(file, number, record)
        steps += played.steps
        if played.difference is not None:
            report = {"ok": False, "file": str(file), "line": number, **played.difference._asdict(), "is_position": played.is_position}
            break
        games += not played.is_position
        positions += played.is_position
    return {**report, "games": games, "steps": steps, "positions": positions}


def _records(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    import json

    from referee.support.files import open_regular

    try:
        raw = open_regular(file)
        if file.suffix == ".json":
            # A list of worked cases; the number is the index in the list, from 1.
            with raw:
                cases = json.loads(raw.read())
            if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
                raise UsageError(f"{file} is not a list of recorded games.")
            yield from enumerate(cases, 1)
            return
        with raw, gzip.open(raw, "rb") if file.name.endswith(".gz") else raw as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise UsageError(f"{file}, line {number} is not a recorded game: it must be a JSON object.")
                yield number, record
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not a file of recorded games: {error}.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{file} can't be read: {getattr(error, 'strerror', None) or error}.") from None


def _play(file: Path, number: int, record: dict[str, Any]) -> Played:
    """Play one record with the conformance module of its game. Raises UsageError if no game recognizes it."""
    from referee import games
    from referee.games.game import SettingsError

    for game in games.sound():
        recorded = game.conformance
        if recorded is not None and recorded.is_ours(record):
            try:
                return recorded.play(record)
            except (SettingsError, ValueError) as error:
                raise UsageError(f"{file}, line {number}: {error}") from None
    raise UsageError(f"{file}, line {number} is not a recorded game that this version knows (rules {record.get('rules')!r:.40}).")
