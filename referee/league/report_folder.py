"""The report of a league in its folder: ``report.html``, beside the viewer of its replays."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from referee.league import report_page
from referee.league.report import RUNNING
from referee.pages.replay_scripts import MOST_BYTES, PAGES, REPORT, VIEWER, remove_others, write_pages
from referee.support.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from referee.league.report import ReportData
    from referee.pages.replay_scripts import Progress
    from referee.support.outputs import Mark


class WrittenReport(NamedTuple):
    """A written report, the number of matches that its viewer shows, and the number of matches that have only a command."""

    path: Path
    viewable: int
    left_out: int


def outputs(place: Path) -> Iterator[tuple[Path, Mark]]:
    """Yield the files of a report in this folder that may exist, each with the mark of those that the command wrote."""
    yield place / REPORT, re.compile(rb'<!doctype html>.*"generator" content="referee league report"', re.DOTALL).match
    yield place / VIEWER, re.compile(rb'<!doctype html>.*"generator" content="referee viewer"', re.DOTALL).match


def write(
    data: ReportData,
    folder: Path,
    most_bytes: int = MOST_BYTES,
    out: Path | None = None,
    progress: Progress | None = None,
) -> WrittenReport:
    """Write the report into the league's folder, or into ``out``. OSError if that fails; an older report then stays complete.

    While the league is running, the scripts have no verdicts: the matches need the processors. Replays with a script are not read again,
    unless they are newer. After the scripts together reach ``most_bytes``, the other matches get the command that shows them. 0: write only
    the report. ``progress`` is called with the numbers of finished and of all scripts: each replay is simulated for its verdicts.
    """
    replays = [match.record.replay for duel in data.duels for match in duel.matches if match.record.replay]
    place = folder if out is None else out
    place.mkdir(parents=True, exist_ok=True)
    viewable = write_pages(replays, folder, most_bytes, place, has_findings=data.progress.state != RUNNING, progress=progress)
    path = place / REPORT
    write_whole(path, report_page.html(data, viewable).encode())
    if most_bytes:
        remove_others(place / PAGES, viewable)
    return WrittenReport(path, len(viewable), len(set(replays)) - len(viewable))


def unreadable(data: ReportData, folder: Path) -> int:
    """Return how many replays of a league's matches are missing or can't be read."""
    replays = {match.record.replay for duel in data.duels for match in duel.matches if match.record.replay}
    return sum(not ((folder / replay).is_file() and os.access(folder / replay, os.R_OK)) for replay in replays)
