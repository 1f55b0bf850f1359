"""Plays a stream of matches, one after another as there is room, and gives back results as they come."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from referee.errors import MatchVoid, StartError
from referee.tournament.values import MOST_VOIDS
from referee.tournament.worker import Completed, NotStarted, Void

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from referee.tournament.local import Finished, Pool
    from referee.tournament.values import MatchTask, Record


def play_stream(
    pool: Pool, tasks: Iterable[MatchTask], may_begin: Callable[[MatchTask], bool] = lambda _: True
) -> Iterator[tuple[MatchTask, Record]]:
    """Play matches and yield their results in the order of arrival. Void matches are played again.

    A match is begun only when ``may_begin`` is true, so that nobody is far ahead of a slow match. Raises StartError if a program can't be
    started, and MatchVoid if a match was void three times.
    """
    source = iter(tasks)
    again: list[MatchTask] = []
    following = next(source, None)
    voids: dict[str, int] = {}
    running = 0
    ended: deque[Finished] = deque()
    while running or again or ended or following is not None:
        # A free slot plays again before a result is handed on, unless the result is an error.
        is_going_on = all(isinstance(report, Completed) for _, report in ended)
        while is_going_on and pool.room > 0 and (again or (following is not None and may_begin(following))):
            if again:
                pool.submit(again.pop())
            else:
                assert following is not None
                pool.submit(following)
                following = next(source, None)
            running += 1
        if ended:
            task, report = ended.popleft()
            if isinstance(report, NotStarted):
                raise StartError(report.text)
            if isinstance(report, Void):
                raise MatchVoid(report.text)
            yield task, report.record
            continue
        for finished in pool.wait(1.0):
            running -= 1
            task, report = finished
            if isinstance(report, Void):
                voids[task.key] = voids.get(task.key, 0) + 1
            if isinstance(report, Void) and not report.is_fatal and voids[task.key] < MOST_VOIDS:
                again.append(task)
            else:
                ended.append(finished)
