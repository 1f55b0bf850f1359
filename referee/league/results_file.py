"""Reads a table of results of other matches: a CSV file with the columns a, b and score."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.league.values import Comparison
from referee.replay.paths import content
from referee.support.escape import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The largest file of results, in bytes.
MOST_BYTES = 100 * 2**20


def read_results(file: Path) -> Iterator[Comparison]:
    """Yield the results of a CSV file. Raises UsageError, naming the line, for a file that isn't one."""
    name = str(file)
    lines = _lines(file, name)
    header = lines.readline()
    lines.seek(0)
    rows = csv.reader(lines, delimiter=max(",;\t", key=header.count), strict=True)
    count = 0
    try:
        columns = [column.strip().lower() for column in next(rows, [])]
        if missing := [column for column in ("a", "b", "score") if columns.count(column) != 1]:
            absent = " and no column ".join(missing)
            raise UsageError(f"{name} has no column {absent}: its first line must name the columns, as in a,b,score.")
        starts: dict[str, int] = {}
        for row in rows:
            if not any(map(str.strip, row)):
                continue
            where = f"{name}, line {rows.line_num}"
            if len(row) < len(columns):
                raise UsageError(f"{where} has {len(row)} of {len(columns)} columns.")
            cells = {column: cell.strip() for column, cell in zip(columns, row, strict=False)}
            if not cells["a"] or not cells["b"]:
                raise UsageError(f"{where} has no name of a team in column {'b' if cells['a'] else 'a'}.")
            if cells["a"] == cells["b"]:
                raise UsageError(f"{where} has {quoted(cells['a'])} play against itself.")
            start = starts.setdefault(cells["start"], len(starts)) if "start" in cells else count
            yield Comparison(cells["a"], cells["b"], _score(cells["score"], where), start)
            count += 1
    except csv.Error as error:
        raise UsageError(f"{name}, line {rows.line_num} is not a line of a CSV file: {error}.") from None
    if not count:
        raise UsageError(f"{name} has no results.")


def _score(text: str, where: str) -> float:
    """Return a score. A comma may stand for the point, as some spreadsheets write it."""
    try:
        score = float(text.replace(",", "."))
    except ValueError:
        score = math.nan
    if score not in (0, 0.5, 1):
        raise UsageError(f"{where}: the score is {quoted(text)}, but must be 1, 0.5 or 0: a win, a tie or a loss of a.")
    return score


def _lines(file: Path, name: str) -> io.StringIO:
    """Return the text of a file. Raises UsageError if there is none."""
    data = content(file, name, MOST_BYTES)
    if not data.strip():
        raise UsageError(f"{name} is empty.")
    try:
        return io.StringIO(data.decode("utf-8-sig"), newline="")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text. Save it as CSV (UTF-8).") from None
