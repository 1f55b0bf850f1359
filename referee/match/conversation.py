"""The players of a match or of a recording: started, greeted, asked and dismissed, in one place."""

from __future__ import annotations

from contextlib import ExitStack
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import StartError
from referee.isolation.bot import Bot
from referee.isolation.plan import bot_plan
from referee.match.collector import MoveCollector, ask_together, read_ready
from referee.players.building import all_built
from referee.players.clock import WALL
from referee.players.connection import ConnectedPlayer
from referee.players.in_process import LocalPlayer
from referee.players.io import PlayerIO
from referee.players.player import Connection, Function, host_of
from referee.players.processes import BotProcesses
from referee.replay.faults import Fault
from referee.support.escape import escape, is_blank
from referee.wire.constants import NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.games.game import Game, Seat
    from referee.isolation.level import Isolation
    from referee.isolation.supervision import SupervisionReserve
    from referee.match.options import TimeControl
    from referee.players.clock import Clock
    from referee.players.log import Log
    from referee.players.player import Player, RunningPlayer

#: Seconds that a bot has to exit after the last message.
GRACE = 1.0
#: No limit on the remarks of a conversation that isn't recorded, in bytes.
_UNLIMITED = 1 << 62


class Manner(NamedTuple):
    """How players are treated beside their questions.

    With ``stops_idle``, bots are stopped while others are asked. ``max_lateness`` are the seconds for which the referee may be kept off the
    processor. ``clock`` is the kind of time that is billed. With ``excuses``, a malformed answer is a pass with a warning. ``on_tick`` is called
    about four times a second during long waits. ``before_start`` is called with the number of a sandboxed bot and its first process
    before the bot runs.
    """

    stops_idle: bool = False
    max_lateness: float = float("inf")
    clock: str = WALL
    excuses: bool = False
    on_tick: Callable[[], None] = lambda: None
    before_start: Callable[[int, int], None] | None = None


class Conversation:
    """The conversation with the players of some seats. Call ``start``, then ``greet``; in the end ``close``, however it ends.

    ``logs`` take what they write to stderr. ``reserve`` keeps the supervisor between the matches of one process. ``cpu_seconds`` is a
    kernel limit on the processor time of each bot, None for none.
    """

    def __init__(
        self,
        players: Mapping[Seat, Player],
        isolation: Isolation,
        logs: Mapping[Seat, Log],
        manner: Manner,
        *,
        reserve: SupervisionReserve | None = None,
        cpu_seconds: int | None = None,
    ) -> None:
        self.hosts = {seat: host for seat, player in players.items() if (host := host_of(player, seat)) is not None}
        self.people = frozenset(seat for seat, player in players.items() if isinstance(player, Connection))
        self.players: dict[Seat, RunningPlayer] = {}
        self.bots = BotProcesses(reserve)
        self.logs = logs
        self._players = players
        self._opened = ExitStack()
        self._isolation = isolation
        self._manner = manner
        self._check = None if reserve is None else reserve.check
        self._cpu_seconds = cpu_seconds

    def start(self) -> None:
        """Start the programs and wait until they run. Raises StartError, MatchVoid and PlayerError as ``BotProcesses`` does."""
        bots = {seat: player for seat, player in self._players.items() if isinstance(player, Bot)}
        bots = all_built(bots, self._isolation, self._check)
        # Like the course's servers, take a line of a dialect that came too early as the answer to the next question.
        self.bots.launch(
            {seat: bot_plan(bot) for seat, bot in bots.items()},
            self.logs,
            self._isolation,
            self._cpu_seconds,
            keeping_early=self.hosts,
        )
        self.players.update(self.bots.players)
        for seat, player in self._players.items():
            if isinstance(player, Connection):
                self.players[seat] = ConnectedPlayer(seat, player, self.logs[seat])
            elif isinstance(player, Function):
                self.players[seat] = LocalPlayer(seat, player, self.logs[seat])
        manner = self._manner
        self.bots.wait(manner.before_start)
        self.io = PlayerIO(
            self.players,
            self.bots,
            stop_idle=manner.stops_idle,
            max_lateness=manner.max_lateness,
            on_tick=manner.on_tick,
            clock=manner.clock,
            discards_early=manner.excuses,
        )
        self._opened.callback(self.io.billing.close)

    def greet(
        self, game: Game[Any, Any], state: Any, lines: Mapping[Seat, bytes], times: Mapping[Seat, TimeControl]
    ) -> dict[Seat, str | Fault]:
        """Send ``start`` to the players and read their ``ready``, or the equivalent in a dialect.

        ``lines`` are the start messages by seat, ``times`` the time controls. Return the own name of each player, safe to show, "" where it
        gives none, or its fault. Raises StartError if the system refused to start a program.
        """
        lines = {seat: self.hosts[seat].on_connect if seat in self.hosts else line for seat, line in lines.items()}
        asked = [seat for seat in lines if seat not in self.hosts or self.hosts[seat].awaits_name]
        questions = {seat: (lines[seat], times[seat].startup, times[seat].startup_guard()) for seat in asked}
        found: dict[Seat, str | Fault] = dict.fromkeys(lines, "")
        for seat, reply in ask_together(self.io, questions, game, state, is_start=True).items():
            if reply.failure is not None:
                self._raise_refusal(seat)
            player, name = self.players[seat], read_ready(self.players[seat], self.hosts.get(seat), reply, times[seat])
            if isinstance(name, str):
                name = "" if is_blank(name) else escape(name[:NAME_LENGTH], 4 * NAME_LENGTH)[:NAME_LENGTH]
                if name and isinstance(player, ConnectedPlayer):
                    player.introduce(name)
            found[seat] = name
        for seat, name in found.items():
            if seat in self.hosts and not isinstance(name, Fault):
                self.io.tell(seat, self.hosts[seat].opening(state))
        self._pause()
        return found

    def _pause(self) -> None:
        """Let the players of a dialect read the line that they were sent last, if the dialect wants it."""
        sleep(max((host.pause for host in self.hosts.values()), default=0.0))

    def _raise_refusal(self, seat: Seat) -> None:
        bot = self.bots.players.get(seat)
        refusal = None if bot is None else bot.start_refusal()
        if refusal is not None:
            inside = "; inside the sandbox there are its own files and the system's alone" if self._isolation.has_sandbox else ""
            raise StartError(f"{refusal}{inside}.", seat, is_doubtful=True)

    @property
    def awaited(self) -> dict[Seat, float]:
        """The players that are asked at present, in a long wait, and since when, by the performance counter."""
        return self.io.awaited

    def collector(self, game: Game[Any, Any], clocks: Mapping[Seat, Clock], *, remarks_bytes: int = _UNLIMITED) -> MoveCollector:
        """Return what asks the players with these clocks for their moves. ``remarks_bytes`` limits what is kept of a seat's remarks."""
        return MoveCollector(
            game,
            clocks,
            {seat: host for seat, host in self.hosts.items() if seat in clocks},
            self.io,
            people=self.people.intersection(clocks),
            excuses=self._manner.excuses,
            remarks_bytes=remarks_bytes,
        )

    def dismiss(self, ends: Mapping[Seat, bytes], grace: float = GRACE) -> None:
        """Send the last messages, and give the bots ``grace`` seconds to exit."""
        self._pause()
        self.io.dismiss(ends, grace)

    def close(self, *, is_sound: bool = False) -> None:
        """End every process and close every connection. ``is_sound``: nothing has gone wrong, so a reserve may keep the supervisor."""
        self.bots.close(is_sound=is_sound)
        self._opened.close()
        for player in {**self.bots.players, **self.players}.values():
            if player.pipes is not None:
                player.pipes.close()
            else:
                player.log.close()
