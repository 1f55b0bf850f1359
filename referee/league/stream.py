"""Plays a stream of matches, one after another as there is room, and gives back results as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.errors import MatchVoid, StartError
from referee.league.values import MOST_VOIDS
from referee.league.worker import NotStarted, Played

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from referee.league.local import Pool
    from referee.league.values import MatchRecord, MatchTask


def play_stream(
    pool: Pool, tasks: Iterable[MatchTask], may_begin: Callable[[MatchTask], bool] = lambda _: True
) -> Iterator[tuple[MatchTask, MatchRecord]]:
    """Play matches and yield their results in the order of arrival. Void matches are played again.

    A match is begun only when ``may_begin`` is true, so that nobody is far ahead of a slow match. Raises StartError if a program can't be
    started, and MatchVoid if a match was void three times.
    """
    source = iter(tasks)
    again: list[MatchTask] = []
    following = next(source, None)
    voids: dict[str, int] = {}
    running = 0
    while running or again or following is not None:
        while pool.room > 0 and (again or (following is not None and may_begin(following))):
            if again:
                pool.submit(again.pop())
            else:
                assert following is not None
                pool.submit(following)
                following = next(source, None)
            running += 1
        for task, report in pool.wait(1.0):
            running -= 1
            if isinstance(report, Played):
                yield task, report.record
            elif isinstance(report, NotStarted):
                raise StartError(report.text)
            else:
                voids[task.key] = voids.get(task.key, 0) + 1
                if report.is_fatal or voids[task.key] == MOST_VOIDS:
                    raise MatchVoid(report.text)
                again.append(task)
