"""The interface between players and running bots: the process of a bot, and the launcher that starts it.

Command lines, mounts, ports, copies and builds are hidden behind these two; ``launcher.open_launcher`` returns a launcher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.errors import MatchVoid
    from referee.games.game import Json
    from referee.isolation.bot import Bot
    from referee.isolation.endings import Excess
    from referee.isolation.file_names import FileNames
    from referee.isolation.level import Level
    from referee.isolation.limits import Limits
    from referee.isolation.log import Log


class Process(Protocol):
    """A running bot, or one whose match has ended.

    ``pid`` is its process number once it runs, ``status`` its exit status once it has ended, negative for a signal. ``is_sandbox``: it is
    separated from the machine. ``holds``: nothing inside can undo a stop. ``is_exact``: ``seconds`` counts all processes exactly.
    ``is_doubtful``: the machine may be to blame for its end.
    """

    seat: str
    label: str
    log: Log
    limits: Limits
    pid: int
    status: int | None
    is_stopped: bool
    is_doubtful: bool
    is_sandbox: bool
    holds: bool
    is_exact: bool

    def take_pipes(self) -> tuple[int, int, int]:
        """Return the referee's ends of stdin, stdout and stderr. From now on the caller reads and closes them, and finishes the log."""

    def stop(self) -> None:
        """Stop it between its turns. Unless it ``holds``, the bot can undo this."""

    def go_on(self) -> None:
        """Continue it."""

    def is_moving(self) -> bool:
        """Return whether a freeze hasn't yet reached all its processes."""

    def stand_still(self) -> None:
        """Wait until a freeze has reached all its processes."""

    def pids(self) -> list[int]:
        """Return its known processes."""

    def first_pid(self) -> int:
        """Return the number of the program's own process."""

    def below(self) -> list[int]:
        """Return all processes below the program's own, parents first."""

    def has_children(self) -> bool:
        """Return whether there are processes below the one that was started."""

    def quick_seconds(self) -> float:
        """Return its processor time in seconds by one reading: of all processes if the kernel counts that, else of the first one."""

    def clock(self) -> Callable[[], float]:
        """Return a fast function for ``quick_seconds``. It may raise OSError after the program's end."""

    def seconds(self) -> float:
        """Return the processor time of all its processes, in seconds: exact if the kernel counts it, else with ended children in ticks."""

    def evidence_seconds(self) -> float:
        """Return the processor time that is evidence for starving the referee, in seconds; cheap enough while clocks run."""

    def is_over_memory(self) -> bool:
        """Return whether the kernel has killed something inside for going over the memory cap."""

    def file_names(self) -> FileNames:
        """Return the names of its files as it sees them and as its author knows them."""

    def ending(self) -> dict[str, Json]:
        """Return the facts about its end. MatchVoid if its sandbox failed, or if the machine ran out of memory."""

    def start_refusal(self) -> str | None:
        """Return why its program could not be started in its sandbox; None if it was started."""

    def excess(self, cause: str) -> Excess | None:
        """Return the limit that caused its end; None for a program that ended by itself."""


class Launcher(Protocol):
    """Runs the bots of one match after another. ``close`` ends everything.

    ``level`` is that of the bots for which ``settle`` was called last. ``reports`` is the descriptor on which news of the bots comes, -1
    without bots; it reads as closed when the supervisor is gone. ``is_lost``: it has ended too early.
    """

    level: Level
    reports: int
    is_lost: bool

    @property
    def processes(self) -> Mapping[str, Process]:
        """The processes of the present match, or of the last one, by seat."""

    def settle(self, bots: Sequence[Bot]) -> None:
        """Find the level for the bots of the next match. UsageError if the one that was asked for isn't possible, or if two need one port."""

    def build(self, bots: Mapping[str, Bot]) -> dict[str, Bot]:
        """Return bots by seat, each built if it needs to be.

        StartError with the seat if a build fails, PlayerError for files that can't be copied, MatchVoid if the referee's own part fails.
        """

    def launch(self, bots: Mapping[str, Bot], logs: Mapping[str, Log], cpu_seconds: int | None = None) -> Mapping[str, Process]:
        """Build the bots of a match, begin to start them, and return their processes by seat; ``wait`` raises the errors of the start.

        ``cpu_seconds`` is a kernel limit on the processor time of each bot, None for none. Raises what ``build`` raises.
        """

    def wait(self, before_start: Callable[[int, int], None] | None = None) -> None:
        """Wait until every program runs. StartError names the one that the system refused to start, and why.

        ``before_start`` is called with the number of a sandboxed bot and its first process before the bot runs.
        """

    def take_reports(self) -> bool:
        """Read the news of the bots; False if the supervisor is gone."""

    def await_end(self, process: Process) -> None:
        """Wait a moment for the exit status of a program that has closed its stdout."""

    def has_lost_its_supervisor(self) -> bool:
        """Return whether the supervisor has ended, even a moment ago."""

    def supervisor_killed(self) -> MatchVoid:
        """Return why a match without its supervisor is void."""

    def kill(self, seat: str) -> None:
        """End one bot now, with everything in its sandbox or its process group."""

    def seconds_beside(self, process: Process) -> float:
        """Return the processor time of all other programs of the match so far, in seconds, including processes that they left behind."""

    def priority(self) -> tuple[int, int] | None:
        """Return the scheduling policy and the nice value that its bots get."""

    def clear_machine(self, bots: Mapping[str, Bot] = ..., seats: tuple[str, ...] = ..., cpu_seconds: int | None = None) -> None:
        """Raise MatchVoid if known good bots fail in place of those of a match that has ended, or without bots in a match of two.

        The bots of ``seats`` have failed.
        """

    def distrust(self) -> None:
        """Forget that the level was proved: a match was void."""

    def renew(self, *, is_sound: bool) -> None:
        """End every process of the match and everything that they left, and give up all descriptors but those of the supervisor.

        ``is_sound``: the match has ended properly, so that its supervisor may serve the next one. A second Ctrl-C has no effect until
        this is done.
        """

    def close(self) -> None:
        """Do the same, and end the supervisor."""
