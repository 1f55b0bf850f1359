"""Replays for tests: their records."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.replay.events import StepTaken
from referee.replay.reader import ReplayReader
from referee.replay.writer import DIGEST_KEY, dumps

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.replay.reader import VerifiedReplay


def records(path: Path) -> list[dict[str, Any]]:
    """Return all records of a replay, the head first."""
    return [json.loads(line) for line in gzip.open(path).read().splitlines()]


def sealed(lines: list[dict[str, Any]]) -> bytes:
    """Return the file of a replay with these records, whose result has the digest of its text."""
    *others, result = lines
    records = [*others, {key: value for key, value in result.items() if key != "sha256"}]
    text = "".join(f"{dumps(record)}\n" for record in records)[:-2] + DIGEST_KEY
    return gzip.compress(f'{text}{hashlib.sha256(text.encode()).hexdigest()}"}}\n'.encode())


def steps_of(path: Path) -> list[StepTaken]:
    """Return the steps of a replay, up to the first that is wrong."""
    return [event for event in ReplayReader(path).events() if isinstance(event, StepTaken)]


def read_closely(path: Path) -> VerifiedReplay:
    """Check a replay as ``verify`` does, with every line decoded."""
    reader = ReplayReader(path)
    for _ in reader.events():
        pass
    return reader.verified()


def edited(path: Path, change: Callable[[dict[str, Any]], object], out: Path) -> Path:
    """The replay with another head, cut before its result so that no digest speaks."""
    head, *lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    found = json.loads(head)
    change(found)
    out.write_bytes(gzip.compress(json.dumps(found, separators=(",", ":")).encode() + b"\n" + b"".join(lines[:-1])))
    return out
