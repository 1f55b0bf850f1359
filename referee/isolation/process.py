"""The interface of the launcher, which runs bots. Command lines, mounts, ports, copies and builds are hidden behind it.

``launcher.open_launcher`` returns one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.errors import MatchVoid
    from referee.isolation.bot import Bot
    from referee.isolation.bot_process import BotProcess
    from referee.isolation.level import Level
    from referee.isolation.log import Log


class Launcher(Protocol):
    """Runs the bots of one match after another. ``close`` ends everything.

    ``level`` is that of the bots for which ``settle`` was called last. ``reports`` is the descriptor on which news of the bots comes, -1
    without bots; it reads as closed when the supervisor is gone. ``is_lost``: it has ended too early.
    """

    level: Level
    reports: int
    is_lost: bool

    @property
    def processes(self) -> Mapping[str, BotProcess]:
        """The processes of the present match, or of the last one, by seat."""

    def settle(self, bots: Sequence[Bot]) -> None:
        """Find the level for the bots of the next match. UsageError if the one that was asked for isn't possible, or if two need one port."""

    def build(self, bots: Mapping[str, Bot]) -> dict[str, Bot]:
        """Return bots by seat, each built if it needs to be.

        StartError with the seat if a build fails, PlayerError for files that can't be copied, MatchVoid if the referee's own part fails.
        """

    def launch(self, bots: Mapping[str, Bot], logs: Mapping[str, Log], cpu_seconds: int | None = None) -> Mapping[str, BotProcess]:
        """Build the bots of a match, begin to start them, and return their processes by seat; ``wait`` raises the errors of the start.

        ``cpu_seconds`` is a kernel limit on the processor time of each bot, None for none. Raises what ``build`` raises.
        """

    def wait(self, before_start: Callable[[int, int], None] | None = None) -> None:
        """Wait until every program runs. StartError names the one that the system refused to start, and why.

        ``before_start`` is called with the number of a sandboxed bot and its first process before the bot runs.
        """

    def take_reports(self) -> bool:
        """Read the news of the bots; False if the supervisor is gone."""

    def await_end(self, process: BotProcess) -> None:
        """Wait a moment for the exit status of a program that has closed its stdout."""

    def has_lost_its_supervisor(self) -> bool:
        """Return whether the supervisor has ended, even a moment ago."""

    def supervisor_killed(self) -> MatchVoid:
        """Return why a match without its supervisor is void."""

    def kill(self, seat: str) -> None:
        """End one bot now, with everything in its sandbox or its process group."""

    def seconds_beside(self, process: BotProcess) -> float:
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
