"""Opens launchers of bots at a level of isolation. ``process.Launcher`` says what a launcher does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.isolation import building, known_good
from referee.isolation.choose import choose, forget, variants_of
from referee.isolation.level import Level
from referee.isolation.plan import bot_plan
from referee.isolation.plan_launcher import PlanLauncher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.isolation.bot import Bot
    from referee.isolation.bot_process import BotProcess
    from referee.isolation.copies import Check
    from referee.isolation.limits import Limits
    from referee.isolation.log import Log
    from referee.isolation.process import Launcher

_NOBODY: Mapping[str, Bot] = {}
_listeners: list[Callable[[Bot], None]] = []


def on_builds(listener: Callable[[Bot], None]) -> None:
    """Call a function with each bot that this process is about to build, so that a person sees why it takes time."""
    _listeners.append(listener)


def _tell(bot: Bot) -> None:
    for listener in _listeners:
        listener(bot)


def open_launcher(isolation: str, limits: Limits, bots: Sequence[Bot] = (), check: Check | None = None) -> Launcher:
    """Return a launcher at the level for a value of --isolation and these bots; the caller closes it. Without bots it has no process yet.

    ``check`` is called with each bot whose files are copied, and the folder of the copy; it raises an error if the copy must not be used.
    Raises UsageError as ``choose``.
    """
    launcher = BotLauncher(partial(choose, isolation, limits), check)
    try:
        if bots:
            # This takes as long as finding the level.
            launcher.start()
        launcher.settle(bots)
    except BaseException:
        launcher.close()
        raise
    return launcher


class BotLauncher(PlanLauncher):
    """Builds and runs bots at the level that ``find_level`` returns for them."""

    def __init__(self, find_level: Callable[[Sequence[Bot]], Level], check: Check | None = None) -> None:
        super().__init__(check)
        self.level = Level()
        self._find_level = find_level
        #: The tested levels, by the variants of the sandbox for which they hold.
        self._levels: dict[frozenset[str], Level] = {}

    def settle(self, bots: Sequence[Bot]) -> None:
        """Find the level for the bots of the next match: tested once, and again after a match that ended its supervisor."""
        if self.idle is not None and not self.idle.is_quiet():
            # Processes of the match before may be left.
            self._levels.clear()
        variants = frozenset(variants_of(bots))
        if variants not in self._levels:
            self._levels[variants] = self._find_level(bots)
        self.level = self._levels[variants]
        ports = [bot.port for bot in bots if bot.port]
        if len(ports) > 1 and not self.level.has_sandbox:
            # Only sandboxes have ports of their own.
            raise UsageError(
                f"Both programs expect a server on port {ports[0]}, and outside a sandbox there is one such port; "
                "write {port} in place of the port in each command line."
            )

    def build(self, bots: Mapping[str, Bot]) -> dict[str, Bot]:
        """Return bots by seat, each built if it needs to be."""
        return building.all_built(bots, self.level, self.check, _tell)

    def launch(self, bots: Mapping[str, Bot], logs: Mapping[str, Log], cpu_seconds: int | None = None) -> Mapping[str, BotProcess]:
        """Build the bots of a match, and begin to start them."""
        # No bot of the match before can be to blame for a failed build.
        self._begin_match()
        plans = {seat: bot_plan(bot) for seat, bot in self.build(bots).items()}
        return self.launch_plans(plans, self.level, logs, cpu_seconds)

    def clear_machine(self, bots: Mapping[str, Bot] = _NOBODY, seats: tuple[str, ...] = (), cpu_seconds: int | None = None) -> None:
        """Raise MatchVoid if known good bots fail in place of a match's bots (None: of two bots). The match has ended."""
        level = self.level
        if bots and not self.processes:
            # The build of a program has failed. Builds have limits of their own.
            bots, level = {seat: bots[seat] for seat in seats}, level._replace(limits=level.limits.for_build())
        known_good.check(bots, level, cpu_seconds, seats)

    def distrust(self) -> None:
        """Forget that the level was tested."""
        self._levels.clear()
        forget(self.level)

    def renew(self, *, is_sound: bool) -> None:
        """End the match. Its supervisor serves the next one if it can be trusted; otherwise the level is tested again."""
        super().renew(is_sound=is_sound)
        if self.idle is None:
            self._levels.clear()
