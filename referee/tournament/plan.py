"""The core of many matches: a plan asks for tasks, a pool plays them, a store keeps the records, and ``play`` joins the three.

Theory of operation. A plan asks for groups of tasks, for instance both games of a duel. They are played in any order, but the plan gets their
records in the order in which it has asked for the groups. If a record is a function of its task, the n-th call of ``next`` therefore has the
same arguments with one worker or eight, after a kill, and in a reader that plays no matches: a plan is a sequential program.

The key of a task is a hash of all that decides its result, and a task with a record isn't played. So to begin, to continue after a kill or
after a change, to verify and to show standings are the same: a new plan asks from the start, and the store returns the records that it has.
"""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from referee.errors import BUSY, MatchVoid, StartError
from referee.isolation.machine import SHORTAGES
from referee.tournament.values import FATAL, Record, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping, Sequence

    Listener = Callable[[Sequence["Ended"], Collection[Task]], None]
    #: Called once for each void attempt, in the order in which they end. True if it is the record of the task.
    GivesUp = Callable[[Task, Record], bool]

#: The number of void attempts after which a task is given up: the last void is its record.
MOST_VOIDS = 3
#: Play stops after this number of matches in a row, each with other bots, in which the machine failed.
_MOST_FAILURES = 3
#: The most seconds between two looks at the pool.
_TICK = 0.5
#: The most groups in one transaction, so that a long history doesn't keep other processes from writing.
_MOST_GROUPS = 1_000
#: The reason of a void record for a task that the plan no longer wants.
NOT_WANTED = "not wanted"


class PlayStopped(MatchVoid):
    """No match can be played at present, for example because the disk is full. All records so far are stored."""


class MachineFailed(PlayStopped):
    """Matches are void because this machine can't give bots what they are promised. The text is a sentence for the staff."""


class Plan(Protocol):
    """Decides what is played. It is a function of the records so far: it reads no clock, and draws random numbers only from its secret.

    A plan that keeps tables of its own in the store writes them in ``next``: each call is a part of the transaction in which the tasks that
    it returns are stored. If play fails with an exception, the plan is used up: another one goes on.
    """

    def next(self, records: Sequence[Record]) -> Sequence[Sequence[Task]]:
        """Take the records of the first open group, empty at the beginning; return the groups that follow now.

        An empty result means "nothing now" while groups are open, else the end. No key is requested twice.
        """

    def wants(self, task: Task) -> bool:
        """False if a task's result would change nothing any more: then the task isn't begun or awaited, and its record is void."""


class Store(Protocol):
    """Keeps tasks and records. All attempts at a task are kept; one of them at most counts."""

    def step(self) -> contextlib.AbstractContextManager[object]:
        """Begin a transaction: all of it is stored or nothing."""

    def put(self, tasks: Sequence[Task]) -> Mapping[str, Record]:
        """Store tasks; return the existing records, by key."""

    def lookup(self, tasks: Sequence[Task]) -> Mapping[str, Record]:
        """Return the existing records, by key, and store nothing."""

    def add_all(self, attempts: Sequence[tuple[Record, bool]]) -> None:
        """Store attempts together, each with whether it counts: as the task's record, unless the task has one already."""


class NoStore:
    """Keeps nothing: for plans that end with their process. Implements ``Store``."""

    def step(self) -> contextlib.AbstractContextManager[object]:
        """There is no transaction."""
        return contextlib.nullcontext()

    def put(self, tasks: Sequence[Task]) -> Mapping[str, Record]:
        """No task has a record yet."""
        return {}

    lookup = put

    def add_all(self, attempts: Sequence[tuple[Record, bool]]) -> None:
        """Only the plan gets the records."""


class Pool(Protocol):
    """Plays tasks. An attempt with a lost worker comes back void, or not at all if another worker repeats its match."""

    @property
    def has_workers(self) -> bool:
        """False while it has no workers: the tasks wait."""

    @property
    def room(self) -> int:
        """How many more tasks it takes now."""

    def submit(self, task: Task) -> None:
        """Take a task; call this only while there is room."""

    def wait(self, seconds: float) -> Sequence[Record]:
        """Wait at most this time until an attempt has ended; return the records of those that have.

        A task may have a second record if its worker seemed lost, or one that no longer matters. PlayStopped if no match can be played at
        present.
        """


class Turns:
    """Gives a plan its records in the order of its requests. ``look`` returns the existing records of tasks, and may store the tasks."""

    def __init__(self, plan: Plan, look: Callable[[Sequence[Task]], Mapping[str, Record]]) -> None:
        self._plan = plan
        self._look = look
        self._is_begun = False
        self._open: set[str] = set()
        #: The records that came before their turn, by key.
        self.records: dict[str, Record] = {}
        #: The open groups, in the order of the requests.
        self.order: deque[Sequence[Task]] = deque()
        #: The tasks without a record that aren't being played.
        self.missing: deque[Task] = deque()

    def deliver(self, most: int = _MOST_GROUPS) -> bool:
        """Begin, then deliver complete groups in turn, up to the first gap and at most ``most``. True if there may be more."""
        if not self._is_begun:
            self._is_begun = True
            self._ask(())
        for _ in range(most):
            if not self.order or not all(map(self._is_over, self.order[0])):
                return False
            group = self.order.popleft()
            self._open.difference_update(task.key for task in group)
            self._ask([self.records.pop(task.key) for task in group])
        return True

    def _is_over(self, task: Task) -> bool:
        if not self._plan.wants(task):
            self.records[task.key] = Record(task.key, void=NOT_WANTED)
        return task.key in self.records

    def _ask(self, records: Sequence[Record]) -> None:
        groups = self._plan.next(records)
        tasks = [task for group in groups for task in group]
        if not tasks:
            return
        before = len(self._open)
        self._open.update(task.key for task in tasks)
        if len(self._open) < before + len(tasks):
            raise RuntimeError("a plan has asked for a task that is open")
        self.order += groups
        self.records.update(self._look(tasks))
        self.missing += (task for task in tasks if task.key not in self.records)


class Ended(NamedTuple):
    """A task and the record of an attempt at it."""

    task: Task
    record: Record


class Step(NamedTuple):
    """A step of play: the attempts that were stored since the last one, and the running tasks."""

    ended: Sequence[Ended]
    running: Collection[Task]


def check_played(record: Record) -> None:
    """Raise MatchVoid for a record that counts for nobody, StartError for one of a program that can't be started."""
    if record.void:
        raise MatchVoid(record.void, record.cause)
    if not record.is_startable:
        raise StartError(record.text)


def after_three() -> GivesUp:
    """Return a function that gives up a task with its third void attempt."""
    voids = Counter[str]()

    def gives_up(task: Task, _: Record) -> bool:
        voids[task.key] += 1
        return voids[task.key] >= MOST_VOIDS

    return gives_up


class _Failures:
    """Decides when play has to stop: no match can be played, or the machine failed in several matches in a row, each with other bots."""

    def __init__(self, most_shortages: int) -> None:
        self._most_shortages = most_shortages
        #: The names hit by failures of the machine since the last match that was played.
        self._hit: set[frozenset[str]] = set()

    def stop(self, record: Record) -> PlayStopped | None:
        """Note an attempt. Return why no further one can follow, None if it can."""
        if record.cause == FATAL:
            return PlayStopped(record.void)
        if record.replay:
            self._hit.clear()
        if record.cause not in (*SHORTAGES, BUSY):
            return None
        self._hit.add(frozenset(record.hit))
        if len(self._hit) < (self._most_shortages if record.cause in SHORTAGES else _MOST_FAILURES):
            return None
        several = f" in {len(self._hit)} matches in a row with different bots" if len(self._hit) > 1 else ""
        return MachineFailed(f"Play is stopped, because this machine failed{several}: {record.void}")


def play(plan: Plan, store: Store, pool: Pool, listener: Listener = lambda *_: None, gives_up: GivesUp | None = None) -> None:
    """Play what a plan asks for until nothing is open. After a kill at any moment, the same call with a new plan goes on.

    ``listener`` is called about twice a second, after the store has the data: with the ended attempts, including void ones, and with
    the running tasks. ``gives_up`` decides which void attempt is the record of its task, by default the third one.
    """
    for step in playing(plan, store, pool, gives_up):
        listener(step.ended, step.running)


def playing(
    plan: Plan, store: Store, pool: Pool, gives_up: GivesUp | None = None, most_shortages: int = _MOST_FAILURES
) -> Generator[Step, None, None]:
    """Play as ``play`` does, and yield each step instead.

    PlayStopped if no match can be played at present, and after ``most_shortages`` matches in a row, each with other bots, for which the
    machine lacked something. What has ended is stored before.
    """
    turns, running, gives_up = Turns(plan, store.put), dict[str, Task](), gives_up or after_three()
    failures = _Failures(most_shortages)
    _deliver(turns, store)
    _give_out(plan, turns, pool, running)
    yield Step((), running.values())
    while turns.order:
        _give_out(plan, turns, pool, running)
        records = pool.wait(_TICK)
        stop = next(filter(None, map(failures.stop, records)), None)
        attempts = [(record, running.pop(record.key, None)) for record in records if record.cause != FATAL]
        # Free slots get work before anything is stored, unless one of the records may be a reason to stop.
        goes_on = stop is None and all(record.started and not record.void for record, _ in attempts)
        if goes_on:
            _give_out(plan, turns, pool, running)
        over = [not record.void or (task is not None and gives_up(task, record)) for record, task in attempts]
        store.add_all([(record, is_over) for (record, _), is_over in zip(attempts, over, strict=True)])
        for (record, task), is_over in zip(attempts, over, strict=True):
            if task is not None and is_over:
                turns.records[task.key] = record
            elif task is not None:
                turns.missing.appendleft(task)
        _deliver(turns, store)
        if goes_on:
            _give_out(plan, turns, pool, running)
        yield Step([Ended(task, record) for record, task in attempts if task is not None], running.values())
        if stop is not None:
            raise stop


def _deliver(turns: Turns, store: Store) -> None:
    is_more = True
    while is_more:
        with store.step():
            is_more = turns.deliver()


def _give_out(plan: Plan, turns: Turns, pool: Pool, running: dict[str, Task]) -> None:
    """Give a task to every free slot, and end tasks that the plan no longer wants."""
    for key in [key for key, task in running.items() if not plan.wants(task)]:
        del running[key]
    while turns.missing and pool.room > 0:
        task = turns.missing.popleft()
        if plan.wants(task):
            running[task.key] = task
            pool.submit(task)


def settle(plan: Plan, store: Store) -> Turns:
    """Give a plan all existing records, for standings, marks and reports; play and store nothing. Return the open tasks."""
    turns = Turns(plan, store.lookup)
    while turns.deliver():
        pass
    return turns
