"""One match from its start to its result: prepares players and listeners, then drives ``course.py``."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from referee.errors import BUSY, SUPERVISOR, MatchVoid, StartError, UsageError
from referee.isolation.bot import Bot
from referee.isolation.launcher import open_launcher
from referee.isolation.log import Log
from referee.match.asking import Asker
from referee.match.course import Turn, TurnReplies, course
from referee.match.judge import blamed, with_place
from referee.match.options import CPU
from referee.players.clock import Clock
from referee.players.cores import Cores
from referee.players.exchange import Exchange
from referee.players.player import Connection, host_of
from referee.players.stack import places
from referee.replay.events import MatchBegun, MatchResult, StepTaken, Waiting
from referee.replay.faults import Fault
from referee.replay.paths import log_path
from referee.replay.writer import ReplayWriter, new_head
from referee.support import delays
from referee.support.escape import escape
from referee.support.words import the_seat
from referee.wire import encode
from referee.wire.constants import NAME_LENGTH
from referee.wire.seeds import seat_seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json, Outcome, Seat
    from referee.isolation.bot_process import BotProcess
    from referee.isolation.process import Launcher
    from referee.match.course import Course
    from referee.match.spec import MatchSpec
    from referee.players.player import Player
    from referee.replay.answers import TurnAnswers
    from referee.replay.events import Listener


S = TypeVar("S", default=Any)
M = TypeVar("M", default=Any)
_NO_LOGS: dict[str, int] = {}


class Match(Generic[S, M]):
    """One match; call ``run`` once.

    ``listeners`` get the events. ``launcher`` serves several matches of one process; without one, the match opens its own.
    """

    def __init__(
        self,
        spec: MatchSpec[S, M],
        listeners: Sequence[Listener] = (),
        launcher: Launcher | None = None,
    ) -> None:
        game, players, start, replay = spec.game, spec.players, spec.start, spec.replay
        self.spec = spec
        self.listeners = tuple(listeners) if replay is None else (ReplayWriter(replay, listeners), *listeners)
        self._bots = {seat: player for seat, player in players.items() if isinstance(player, Bot)}
        self._owns_launcher = launcher is None
        try:
            if launcher is None:
                launcher = open_launcher(spec.options.isolation, spec.options.limits, [*self._bots.values()])
            else:
                launcher.settle([*self._bots.values()])
            self._launcher, self.level = launcher, launcher.level
            self._time = spec.options.time.settled(is_strict=self.level.is_strict)
        except BaseException:
            if self._owns_launcher and launcher is not None:
                launcher.close()
            self._discard()
            raise
        self._options = spec.options.run
        self.seats = game.seats(spec.settings)
        self._labels = {seat: _name(players[seat]) if seat in players else str(start.out[seat].about.get("name")) for seat in self.seats}
        self._names = {seat: escape(label, NAME_LENGTH) for seat, label in self._labels.items()}
        controls = {seat: spec.times.get(seat, self._time).settled(is_strict=self.level.is_strict) for seat in self.seats}
        self.clocks = {seat: Clock(control, wait=spec.wait) for seat, control in controls.items()}
        self.notes = list(start.notes)
        self.faults = {seat: out.fault for seat, out in start.out.items()}
        self._fault_steps = {seat: out.step for seat, out in start.out.items()}
        files = {seat: log_path(replay, seat) for seat, player in players.items() if replay and not isinstance(player, Connection)}
        for file in files.values():
            file.unlink(missing_ok=True)
        self._logs = {seat: Log(files.get(seat), self.level.limits.stderr_bytes) for seat in self.seats}
        self._hosts = {seat: host for seat, player in players.items() if (host := host_of(player, seat)) is not None}
        self._people = frozenset(seat for seat, player in players.items() if isinstance(player, Connection))
        self._exchange = Exchange(
            players,
            self._logs,
            launcher,
            kind=self._time.kind,
            stops_idle=self._options.idle == "stop",
            max_lateness=self._options.max_lateness,
            drops_early=self._options.on_malformed == "pass",
            on_tick=self._tick,
            cpu_seconds=self._time.cpu_seconds,
        )
        self._asker = Asker(
            game,
            self.clocks,
            self._hosts,
            self._exchange,
            people=self._people,
            excuses=self._options.on_malformed == "pass",
            remarks_bytes=self.level.limits.remarks_bytes,
        )
        self._logged = dict.fromkeys(self.seats, 0)
        self._reads = 0

    def process_of(self, seat: Seat) -> BotProcess | None:
        """Return the process of a seat's program; None before the start, or for a player that isn't a program."""
        player = self._exchange.players.get(seat)
        return None if player is None else player.process

    def close(self) -> None:
        """End every process of the match and close every connection; ``run`` calls this, too."""
        self._exchange.close()
        if self._owns_launcher:
            self._launcher.close()

    def run(self) -> MatchResult[S]:
        """Play the match from the ``start`` messages to the end. Afterwards all its processes are gone, however it ends."""
        try:
            cores = Cores(max(self._options.cores, len(self._bots) * self._needs_cores()) if self._bots else 0)
            try:
                return self._run(cores)
            except BaseException as error:
                self._stop(error)
                raise
            finally:
                self.close()
                cores.release()
        except BaseException as error:
            if isinstance(error, MatchVoid):
                # The next match tests the level of isolation again.
                self._launcher.distrust()
            self._discard()
            raise

    def _stop(self, error: BaseException) -> None:
        """Call the listeners of a match that has failed. Raise MatchVoid if the machine is to blame for the error."""
        for listener in self.listeners:
            listener.stopped()
        if isinstance(error, OSError) and not error.filename and self._launcher.has_lost_its_supervisor():
            # If the supervisor was killed, its watchdog may be removing the control groups at this moment.
            raise self._launcher.supervisor_killed() from None
        if isinstance(error, StartError) and error.is_doubtful and error.seat is not None:
            self.close()
            self._launcher.clear_machine(self._bots, (error.seat,), self._time.cpu_seconds)

    def _discard(self) -> None:
        """Remove a replay to which nothing was written, and its logs: without the replay, the next match would not replace them."""
        replay = self.spec.replay
        if replay is None:
            return
        if replay.exists() and replay.stat().st_size == 0:
            replay.unlink()
        if not replay.exists():
            for seat in self.spec.players:
                log_path(replay, seat).unlink(missing_ok=True)

    def _run(self, cores: Cores) -> MatchResult[S]:
        start, game, bots = self.spec.start, self.spec.game, len(self._bots)
        if self._needs_cores() and len(cores.claimed) < bots:
            raise UsageError(
                f"Strict isolation without a freezer of control groups needs a core for each of the {bots} bots, because a stopped bot can continue "
                "itself, but too few cores are free. Let the referee make control groups (docs/isolation.md), or let bots run between their "
                'turns: --idle run, or run.idle = "run" in a rubric.'
            )
        self._exchange.open((lambda bot, pid: cores.pin(bot, (pid,))) if self._needs_cores() else None)
        self._check_placement(cores)
        head, greeting = self._begin(cores)
        state, steps = self._play(course(game, self.spec.settings, start.state, start.turn, greeting))
        outcome = game.outcome(state)
        assert outcome is not None
        self._asker.dismiss(self._farewells(state, outcome, steps))
        return self._finish(outcome, steps, state, head, is_started=not greeting.faults)

    def _finish(self, outcome: Outcome, steps: int, state: S, head: dict[str, Json], *, is_started: bool) -> MatchResult[S]:
        """End all processes, call the listeners, and return the result. MatchVoid if the machine is to blame for the end of a bot."""
        self._exchange.close(is_sound=not self._owns_launcher)
        processes = self._exchange.processes
        doubtful = tuple(seat for seat in self.faults if seat in processes and processes[seat].is_doubtful)
        if doubtful:
            self._launcher.clear_machine(self._bots, doubtful, self._time.cpu_seconds)
        logs = self._stderr_logs()
        for seat, log in logs.items():
            if log.path is not None and log.total > log.kept:
                self.notes.append(f"{the_seat(seat)} wrote {log.total:,} bytes to stderr; the first {log.kept:,} are kept.")
        result = MatchResult(
            outcome,
            steps,
            state,
            is_started,
            self.faults,
            self._fault_steps,
            {seat: clock.time() for seat, clock in self.clocks.items()},
            self._names,
            head,
            tuple(self.notes),
            {seat: log.total for seat, log in logs.items()},
            self.spec.replay,
            {seat: log.path for seat, log in self._logs.items() if log.path is not None and log.path.exists()},
        )
        for listener in self.listeners:
            listener.ended(result)
        return result

    def _farewells(self, state: Any, outcome: Outcome, steps: int) -> dict[Seat, bytes]:
        """Return the last message for each player that can still receive one."""
        line = encode.end({**outcome.to_json(), "steps": steps})
        words = {seat: line for seat in self.seats if seat not in self.faults}
        for seat, host in self._hosts.items():
            if seat not in self.faults or seat in self._people:
                words[seat] = host.closing(state, outcome)
        return words

    def _needs_cores(self) -> bool:
        """True if each bot needs a core of its own, so that it can't use the processor time of others."""
        return self.level.is_strict and not self.level.holds and self._options.idle == "stop"

    def _stderr_logs(self) -> dict[Seat, Log]:
        return {seat: player.log for seat, player in self._exchange.players.items() if player.link is not None}

    def _tick(self) -> None:
        now = perf_counter()
        event = Waiting({seat: now - since for seat, since in self._exchange.awaited.items()}, self._labels)
        for listener in self.listeners:
            listener.waiting(event)

    def _check_placement(self, cores: Cores) -> None:
        """Add a note for each part of the placement that isn't possible."""
        wanted = self._options.cores
        if not self._launcher.processes:
            return
        self.notes += self.level.notes
        if self.level.has_sandbox and not self.level.holds and self._options.idle == "stop":
            own = "each bot has a core of its own" if self._needs_cores() else "it may use the processor time of the other"
            self.notes.append(f"There is no freezer: a bot that is stopped between its turns can continue itself; {own}.")
        if not delays.is_counted():
            self.notes.append(
                f"This kernel doesn't count waits for a processor, so there is no fair clock: the {self._time.kind} clock bills."
            )
        if self._time.kind == CPU and self.level.accounting != "exact":
            self.notes.append("Processor time is approximate at this level of isolation: that of ended children is known to 10 ms.")
        if wanted and not cores.claimed:
            some = "No core was free" if wanted == 1 else f"Not {wanted} cores were free"
            why = some if cores.can_pin else "This system can't keep processes on a core"
            self.notes.append(f"{why}: the match is not pinned, so its times vary more.")

    def _begin(self, cores: Cores) -> tuple[dict[str, Json], TurnReplies]:
        """Bring the players and the listeners to the start of the match. Return the head of the replay, and the faults of players that aren't ready."""
        start, faults = self.spec.start, {}
        lines = {seat: (self._start_line(seat), self.clocks[seat]) for seat in self.seats if seat not in self.faults}
        try:
            for seat, greeting in self._asker.greet(start.state, lines, start.notices).items():
                if isinstance(greeting, Fault):
                    faults[seat] = greeting
                elif greeting:
                    self._names[seat] = greeting
        except MatchVoid as void:
            faults = self._blame(void)
        if cores.claimed and not self._needs_cores():
            # Not earlier: programs that start at the same time would compete for one core.
            self._exchange.pin(cores)
        head = self._make_head()
        for listener in self.listeners:
            listener.begun(MatchBegun(head, start.state, self.spec.game))
            for event in start.past:
                listener.recorded(event)
        return head, self._replies(start.turn, {}, faults) if faults else TurnReplies({}, {}, _NO_LOGS)

    def _start_line(self, seat: Seat) -> bytes:
        game, settings, start = self.spec.game, self.spec.settings, self.spec.start
        clock, seed = self.clocks[seat].control.to_json(), seat_seed(start.secret, start.match, seat)
        return encode.start(game.info, settings.rules, seat, game.codec.settings_json(settings), clock=clock, seed=seed, match=start.match)

    def _make_head(self) -> dict[str, Json]:
        start = self.spec.start
        about: dict[str, Json] = {
            "match": start.match,
            "seed": start.seed,
            "secret": start.secret.hex(),
            **start.source,
            "players": {seat: self._about(seat) for seat in self.seats},
            "clock": self._time.to_json(),
            "ask": "in-turn",
            "idle": self._options.idle,
            "on_malformed": self._options.on_malformed,
            "isolation": self.level.name,
            "limits": self.level.kept_limits(),
            "accounting": self.level.accounting,
        }
        return new_head(self.spec.game, self.spec.settings, about)

    def _about(self, seat: Seat) -> dict[str, Json]:
        """Return a player's part of the head. It has the player's own time control, if there is one, because the questions show it."""
        clock = {"clock": self.clocks[seat].control.to_json()} if seat in self.spec.times else {}
        about = self.spec.players[seat].about if seat in self.spec.players else self.spec.start.out[seat].about
        return {"name": self._names[seat], **clock, **about}

    def _play(self, steps: Course[S]) -> tuple[S, int]:
        """Drive the course of the match: ask the movers of its turns, and pass its events to the listeners."""
        listeners, replies = self.listeners, None
        while True:
            try:
                event = steps.send(replies)
            except StopIteration as end:
                last: tuple[S, int] = end.value
                return last
            replies = None
            if isinstance(event, Turn):
                replies = self._ask(event)
            elif isinstance(event, StepTaken):
                if event.notices:
                    self._asker.tell(event.notices)
                for listener in listeners:
                    listener.stepped(event)
            else:
                for seat in event.faults:
                    self._exchange.drop(seat)
                for listener in listeners:
                    listener.faulted(event)

    def _ask(self, question: Turn) -> TurnReplies:
        """Ask the movers, and notice players who have left."""
        turn, state, movers = question
        try:
            answers = self._asker.ask(turn, state, movers)
            faults = {seat: answer.fault for seat, answer in answers.items() if answer.fault is not None}
        except MatchVoid as void:
            answers, faults = {}, self._blame(void)
            for seat in faults:
                # It was ready for the match, also where this is the first turn.
                self.clocks[seat].spend(0.0)
        if self._people:
            faults |= self._asker.departures({*self.faults, *faults})
        if not faults and self._exchange.stderr_reads == self._reads:
            # The usual case.
            return TurnReplies(answers, faults, _NO_LOGS)
        return self._replies(turn, answers, faults)

    def _replies(self, turn: int, answers: TurnAnswers, faults: Mapping[Seat, Fault]) -> TurnReplies:
        """Note the faults of a turn, with the lines that late bots were running, and look at the logs."""
        if faults:
            lines = places(faults, self._exchange.players, stop_idle=self._options.idle == "stop")
            faults = {
                seat: with_place(fault, lines[seat].place, may_wait=lines[seat].may_wait) if seat in lines else fault
                for seat, fault in faults.items()
            }
            self.faults.update(faults)
            self._fault_steps.update(dict.fromkeys(faults, turn))
        self._reads = self._exchange.stderr_reads
        return TurnReplies(answers, faults, self._moved_logs())

    def _blame(self, void: MatchVoid) -> dict[Seat, Fault]:
        """Return the faults of the players to blame for a failure that voids the match.

        Raise the failure again if nobody is to blame, or if others would have to play on.
        """
        is_alone = void.reason == SUPERVISOR and len(void.seats) == 1
        seats = [
            seat
            for seat in void.seats
            if is_alone or (void.reason in (SUPERVISOR, BUSY) and seat in self._bots and self._bots[seat].is_blamed)
        ]
        if not seats or len({*self.seats} - {*self.faults, *seats}) > 1:
            raise void
        players = self._exchange.players
        return {seat: blamed(players[seat], void.reason, is_alone=is_alone) for seat in seats}

    def _moved_logs(self) -> dict[Seat, int]:
        """Return the stderr offsets that have changed since the last step."""
        moved = {}
        for seat, log in self._stderr_logs().items():
            if log.total != self._logged[seat]:
                self._logged[seat] = moved[seat] = log.total
        return moved


def _name(player: Player) -> str:
    """Return the name of a player until it gives its own."""
    return (isinstance(player, Bot) and player.name) or player.label
