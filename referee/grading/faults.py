"""The faults of a hand-in: each one once, with the starts in which it happened and, if it is known, the line of code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from referee.grading.values import RubricTest, Trial, TrialMark
    from referee.handins.values import HandIn

    Marked = tuple[RubricTest, TrialMark]

#: The beginning of the sentence about a fault before the first step. The step of other faults is shown at each start, not in the shared sentence.
NO_START = "The hand-in did not start: "
_STEP = re.compile(r"^The hand-in failed in step [\d,]+: ")
#: The end of a sentence that names a line of the bot's own files; if there are several, the last one.
_PLACE = re.compile(r"(?s)^(?P<before>.*)(?:, at| It was at) (?P<place>[^\n:]+:\d{1,7}(?: in [\w.<>]*[\w>])?)\W*$")
#: A number, or a word with one, such as the id of a match.
_NUMBER = r"\w*\d\w*"
#: The number of lines before and after the line of a fault, the most bytes of a file that is read, and of a line that is shown.
_AROUND = 2
_MOST_BYTES, _MOST_LINE = 1 << 20, 200


class CodeLine(NamedTuple):
    """A line of a hand-in. ``is_fault``: the fault happened in it."""

    number: int
    text: str
    is_fault: bool


class OwnFault(NamedTuple):
    """A fault of the hand-in. ``kind`` is "" if no match was played for it. ``place`` is the line of its own files, "" if it is unknown.

    ``marked`` are the starts in which it happened.
    """

    kind: str
    text: str
    place: str
    marked: tuple[Marked, ...]


def own_faults(marked: Iterable[Marked]) -> list[OwnFault]:
    """Return the faults of a hand-in in these starts, the most frequent one first. Faults that differ only in numbers or seats count as the same."""
    groups: dict[tuple[str, str], list[Marked]] = {}
    for test, trial in marked:
        if trial.is_fault:
            groups.setdefault(_key(trial), []).append((test, trial))
    unplayed = [key for key in groups if not key[0]]
    cause = next((key for key in groups if key[0]), None)
    if cause is not None:
        # These starts were not played, because the hand-in could not start in another one.
        groups[cause] += [each for key in unplayed for each in groups.pop(key)]
    faults = [OwnFault(_kind(trials[0][1]), *_split_place(trials[0][1].text), tuple(trials)) for trials in groups.values()]
    return sorted(faults, key=lambda fault: -len(fault.marked))


def _seats(trial: TrialMark) -> dict[str, str]:
    """Return the kinds of the hand-in's own faults by its seats."""
    student = trial.trial.student
    return {
        seat: kind
        for task, record in trial.matches
        for seat, kind in record.fault_kinds.items()
        if seat in task.names and task.names[seat] == student
    }


def _kind(trial: TrialMark) -> str:
    return next(iter(_seats(trial).values()), "")


def _key(trial: TrialMark) -> tuple[str, str]:
    """Return the key of a trial's fault, which is equal for the same fault in two starts."""
    text, place = _split_place(trial.text)
    seats = "|".join(map(re.escape, _seats(trial)))
    return _kind(trial), place or re.sub(rf"{_NUMBER}|\b(?:{seats})\b" if seats else _NUMBER, "#", text)


def _split_place(text: str) -> tuple[str, str]:
    """Return the sentence of a fault without the step and without the place, and the place."""
    text = _STEP.sub("", text)
    match = _PLACE.match(text)
    if match is None:
        return text, ""
    before = match["before"]
    return (before if before.endswith(".") else f"{before}."), match["place"].removeprefix("./")


def code(fault: OwnFault, hand_in: HandIn) -> list[CodeLine]:
    """Return the lines around the place of a fault, from the grading's copy of the hand-in; an empty list if they don't exist.

    A hand-in can write any path into its messages, so only its own files are read.
    """
    path, line = _file(fault.place)
    folder = hand_in.folder
    if folder is None or len(path) < 2 or path[0] != folder.name or ".." in path:
        return []
    lines = _lines(folder.joinpath(*path[1:]), folder)
    if not 1 <= line <= len(lines):
        return []
    first, last = max(1, line - _AROUND), min(len(lines), line + _AROUND)
    return [CodeLine(number, lines[number - 1].expandtabs(4)[:_MOST_LINE], number == line) for number in range(first, last + 1)]


def _file(place: str) -> tuple[Sequence[str], int]:
    match = re.match(r"([^\n:]+):(\d+)", place)
    return (match[1].split("/"), int(match[2])) if match else ((), 0)


def _lines(path: Path, folder: Path) -> list[str]:
    try:
        with open_regular(path, folder) as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):
        return []


class FaultCard(NamedTuple):
    """A fault for a page: the number of ``starts`` in which it happened, and the lines of code around it."""

    fault: OwnFault
    starts: int
    code: list[CodeLine]


def cards(hand_in: HandIn, marked: Sequence[Marked]) -> list[FaultCard]:
    """Return the faults of a hand-in in these starts for a page. Empty if nothing was played, which the status explains."""
    faults = own_faults(marked)
    return [FaultCard(fault, len(marked), code(fault, hand_in)) for fault in faults] if any(fault.kind for fault in faults) else []


def numbers(fault_cards: Iterable[FaultCard]) -> dict[Trial, int]:
    """Return the number, from 1, of the fault of each start with a fault."""
    return {trial.trial: number for number, card in enumerate(fault_cards, 1) for _, trial in card.fault.marked}
