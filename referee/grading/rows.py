"""The rows that a grading stores in addition to its matches: the rubric, the hand-ins, the opponents, the runs and the reruns."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from referee.grading.values import GradedHandIn
from referee.handins.values import Entry, HandIn


class RubricRow(BaseModel, frozen=True):
    """The rubric with the seed that was drawn for it, and the folder in which the paths of its opponents begin.

    ``isolation`` is the requested level, ``levels`` are the actual levels of all runs.
    """

    number: int = 0
    text: str
    seed: str
    isolation: str
    home: str
    levels: tuple[str, ...] = ()


class EntryRow(BaseModel, frozen=True):
    """The programs of an opponent or of a hand-in. ``home`` is as in ``HandInRow.folder``."""

    name: str
    players: dict[str, str]
    hash: str
    home: str
    files: dict[str, dict[str, str]]

    @classmethod
    def of(cls, entry: Entry, copies: Path) -> EntryRow:
        """Return the row of an entry."""
        files = {seat: dict(hashes) for seat, hashes in entry.files.items()}
        return cls(name=entry.name, players=dict(entry.players), hash=entry.hash, home=_inside(entry.home, copies), files=files)

    def entry(self, copies: Path) -> Entry:
        """Return the entry."""
        return Entry(self.name, self.players, self.hash, str(copies / self.home) if self.home else "", self.files)


class HandInRow(BaseModel, frozen=True):
    """The graded hand-in of a student. The fields are those of ``HandIn``. ``entry`` has its players, and is None if nothing is played.

    ``folder`` is relative to the folder of all copies if it lies there, so that a grading can be moved.
    """

    student: str
    name: str
    status: str
    reason: str
    full_name: str
    identities: tuple[str, ...]
    run: int
    place: int | None
    person: str
    roster_name: str
    late: str
    replaced: tuple[str, ...]
    folder: str | None
    entry: EntryRow | None

    @classmethod
    def of(cls, hand_in: HandIn, entry: Entry | None, copies: Path) -> HandInRow:
        """Return the row of a hand-in."""
        facts = hand_in._asdict()
        del facts["players"]
        folder = None if hand_in.folder is None else _inside(str(hand_in.folder), copies)
        return cls(**{**facts, "folder": folder, "entry": None if entry is None else EntryRow.of(entry, copies)})

    def graded(self, copies: Path) -> GradedHandIn:
        """Return the hand-in with its entry."""
        entry = None if self.entry is None else self.entry.entry(copies)
        folder = None if self.folder is None else copies / self.folder
        facts = {name: getattr(self, name) for name in HandIn._fields if name not in ("folder", "players")}
        return GradedHandIn(HandIn(**facts, folder=folder, players={} if entry is None else entry.players), entry)


class RunRow(BaseModel, frozen=True):
    """A run that read hand-ins, and its time in UTC."""

    number: int
    time: str


class MatchEnd(BaseModel, frozen=True):
    """How a match ended."""

    winner: str | None
    reason: str
    steps: int
    scores: dict[str, float | None]


class TrialFacts(BaseModel, frozen=True):
    """A trial before it is played again, for a comparison. ``replays`` are relative to the folder of the store."""

    points: float
    text: str
    ends: list[MatchEnd]
    replays: list[str]


class RerunRow(BaseModel, frozen=True):
    """A student whose matches are played again, with the earlier trials by the name of the test."""

    student: str
    tests: dict[str, list[TrialFacts]]


def _inside(path: str, copies: Path) -> str:
    return str(Path(path).relative_to(copies)) if path and Path(path).is_relative_to(copies) else path
