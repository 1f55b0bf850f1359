"""The match loop: ask the movers, judge their answers, apply the moves, call the listeners."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import BUSY, SUPERVISOR, MatchVoid, StartError, UsageError
from referee.isolation import delays
from referee.isolation.bot import Bot
from referee.isolation.level import Isolation
from referee.match import judgement
from referee.match.adjudicator import Adjudicator
from referee.match.collector import MoveCollector
from referee.match.greeting import greet, pause
from referee.match.options import CPU, RunOptions, TimeControl
from referee.match.start import Start
from referee.players.clock import Clock
from referee.players.cores import Cores
from referee.players.exchange import Exchange
from referee.players.log import Log
from referee.players.player import Connection, Function, host_of
from referee.players.stack import places
from referee.replay.events import MatchBegun, MatchEnded, PlayersFaulted, StepTaken
from referee.replay.faults import Fault
from referee.support.escape import escape
from referee.support.words import the_seat, who
from referee.version import __version__
from referee.wire import encode
from referee.wire.constants import NAME_LENGTH
from referee.wire.seeds import new_seed, seat_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Game, Json, Outcome, Seat
    from referee.isolation.supervision import SupervisionReserve
    from referee.players.player import Player
    from referee.players.process import BotProcess
    from referee.replay.answers import TurnAnswers
    from referee.replay.events import Listener


class Options(NamedTuple):
    """How a match is run. ``isolation`` is the level at which bots run, with their limits."""

    time: TimeControl = TimeControl()
    run: RunOptions = RunOptions()
    isolation: Isolation = Isolation()


class Result(NamedTuple):
    """The result of a match. ``started`` is False if a bot failed before the first step; ``fault_steps`` are the steps of the faults."""

    outcome: Outcome
    steps: int
    state: Any
    faults: dict[Seat, Fault]
    clocks: dict[Seat, Clock]
    names: dict[Seat, str]
    head: dict[str, Json]
    notes: tuple[str, ...]
    started: bool
    fault_steps: Mapping[Seat, int] = {}

    def to_json(self) -> dict[str, Json]:
        """Return the result as ``--json`` prints it, without the path of the replay, which the command adds."""
        players = {
            seat: {
                "name": self.names[seat],
                "program": self.head["players"][seat]["program"],
                "fault": self.faults[seat].to_json() if seat in self.faults else None,
                "time": clock.time().to_json(),
            }
            for seat, clock in self.clocks.items()
        }
        return {
            **{key: self.head[key] for key in ("match", "game", "rules", "seed", "isolation")},
            **self.outcome.to_json(),
            "steps": self.steps,
            "started": self.started,
            "players": players,
            "notes": list(self.notes),
        }


_NO_LOGS: dict[str, int] = {}


class Match:
    """One match; call ``run`` once.

    ``logs`` gives each seat's stderr file; without a file only the last 4 KiB are kept. ``listeners`` are given the events, or a
    function makes them for the match. ``reserve`` keeps the supervisor between the matches of one process. The match begins at ``start``; without it, at the start of the game under a new seed. Raises StartError
    if a program can't be started and MatchVoid if the referee fails. A bot's failure is part of the result.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        settings: Any,
        players: Mapping[Seat, Player],
        options: Options | None = None,
        *,
        start: Start[Any] | None = None,
        listeners: Sequence[Listener] | Callable[[Match], Sequence[Listener]] = (),
        logs: Mapping[Seat, Path] | None = None,
        reserve: SupervisionReserve | None = None,
    ) -> None:
        self.game = game
        self.settings = settings
        given = options or Options()
        is_strict = given.isolation.is_strict
        self.options = options = given._replace(time=given.time.settled(is_strict=is_strict))
        self.start = start = start or Start.of(game, settings, new_seed())
        self.players = players = {seat: player for seat, player in players.items() if seat not in start.out}
        self._abouts = {seat: players[seat].about if seat in players else start.out[seat].about for seat in (*players, *start.out)}
        self.notes = list(start.notes)
        self.seats = game.seats(settings)
        self.clocks = {seat: Clock((self._own_time(seat) or options.time).settled(is_strict=is_strict)) for seat in self.seats}
        self.faults = {seat: out.fault for seat, out in start.out.items()}
        self._fault_steps = {seat: out.step for seat, out in start.out.items()}
        self._logs = {seat: Log((logs or {}).get(seat), options.isolation.limits.stderr_bytes) for seat in self.seats}
        self._hosts = {seat: host for seat, player in players.items() if (host := host_of(player, seat)) is not None}
        self._people = frozenset(seat for seat, player in players.items() if isinstance(player, Connection))
        self._exchange = Exchange(
            players,
            options.isolation,
            self._logs,
            kind=options.time.kind,
            stops_idle=options.run.idle == "stop",
            max_lateness=options.run.max_lateness,
            drops_early=options.run.on_malformed == "pass",
            on_tick=self._tick,
            reserve=reserve,
            cpu_seconds=options.time.cpu_seconds,
        )
        self._cores: Cores | None = None
        self._names = {seat: escape(self._name(seat), NAME_LENGTH) for seat in self.seats}
        self._logged = dict.fromkeys(self.seats, 0)
        self._head: dict[str, Json] = {}
        self._bots = self._exchange.bots
        self.listeners = tuple(listeners(self) if callable(listeners) else listeners)

    def _name(self, seat: Seat) -> str:
        """Return what the match calls a player until it gives its own name."""
        player = self.players.get(seat)
        if player is None:
            return str(self._abouts[seat].get("name"))
        return (isinstance(player, Bot) and player.name) or player.label

    def _own_time(self, seat: Seat) -> TimeControl | None:
        """Return the time control of a player that has another one than the match."""
        player = self.players.get(seat)
        return player.time if isinstance(player, Connection | Function) else None

    def _is_blamed(self, seat: Seat) -> bool:
        player = self.players.get(seat)
        return isinstance(player, Bot) and player.is_blamed

    def awaited(self) -> str:
        """Return who has been asked for some time and hasn't answered, as a sentence; "" if nobody."""
        since = {seat: int(perf_counter() - begun) for seat, begun in self._exchange.awaited.items()}
        words = [f"{who(seat, self._name(seat), begins=False)}, asked {seconds} s ago" for seat, seconds in since.items() if seconds]
        return f"waiting for {' and '.join(words)}" if words else ""

    def process_of(self, seat: Seat) -> BotProcess | None:
        """Return the process of a seat's program; None for a player that is no program, or before the start."""
        player = self._exchange.players.get(seat)
        return None if player is None else player.process

    def close(self) -> None:
        """End every process of the match and close every connection; ``run`` calls this, too."""
        self._exchange.close()

    def run(self) -> Result:
        """Play the match from the ``start`` messages to the end. Afterwards all its processes are gone, however it ends."""
        bots = sum(isinstance(player, Bot) for player in self.players.values())
        cores = Cores(max(self.options.run.cores, bots * self._needs_cores()) if bots else 0)
        try:
            if bots and self._needs_cores() and len(cores.claimed) < bots:
                raise UsageError(
                    f"Strict isolation without a freezer of control groups needs a core for each of the {bots} bots, since a stopped bot can continue "
                    "itself, and not so many are free. Let the referee make control groups (docs/isolation.md), or let bots run between their "
                    'turns: --idle run, or run.idle = "run" in a rubric.'
                )
            return self._run(cores)
        except OSError as error:
            # If the supervisor was killed, the watchdog may be removing the control groups at this moment.
            for listener in self.listeners:
                listener.stopped()
            if not error.filename and self._bots.has_lost_its_supervisor():
                raise self._bots.supervisor_killed() from None
            raise
        except StartError as error:
            for listener in self.listeners:
                listener.stopped()
            if error.is_doubtful and error.seat is not None:
                self.close()
                self._clear_machine((error.seat,))
            raise
        except BaseException:
            for listener in self.listeners:
                listener.stopped()
            raise
        finally:
            self.close()
            cores.release()

    def _run(self, cores: Cores) -> Result:
        exchange, start = self._exchange, self.start
        self._cores = cores
        exchange.open(self._pin if self._needs_cores() else None)
        state, steps = start.state, start.turn
        self._check_placement(cores)
        try:
            faults = self._greet(state)
        except MatchVoid as void:
            faults = self._blame(void)
        self._place(cores)
        self._head = self._make_head()
        for listener in self.listeners:
            listener.begun(MatchBegun(self._head, state))
            for event in start.past:
                listener.recorded(event)
        if faults:
            state, _ = self._judge_faults(steps, state, faults, {})
        if self.game.outcome(state) is None:
            adjudication = self.game.adjudication
            is_enabled = adjudication is not None and adjudication.is_enabled(self.settings)
            with Adjudicator(self.game, cores.claimed) if is_enabled else nullcontext() as adjudicator:
                state, steps = self._play(state, adjudicator, steps)
        outcome = self.game.outcome(state)
        assert outcome is not None
        pause(self._hosts)
        exchange.dismiss(self._farewells(state, outcome, steps))
        return self._finish(outcome, steps, state, is_started=not faults)

    def _pin(self, index: int, pid: int) -> None:
        """Keep a bot that is about to start on a core of its own."""
        assert self._cores is not None
        self._cores.pin(index, (pid,))

    def _finish(self, outcome: Outcome, steps: int, state: Any, *, is_started: bool) -> Result:
        """End all processes, call the listeners, and return the result. MatchVoid if the machine is to blame for the end of a bot."""
        self._exchange.close(is_sound=True)
        doubtful = tuple(seat for seat in self.faults if seat in self._bots.players and self._bots.players[seat].process.is_doubtful)
        if doubtful:
            self._clear_machine(doubtful)
        for seat, log in self._stderr_logs().items():
            if log.path is not None and log.total > log.kept:
                self.notes.append(f"{the_seat(seat)} wrote {log.total:,} bytes to stderr; the first {log.kept:,} are kept.")
        result = Result(
            outcome, steps, state, self.faults, self.clocks, self._names, self._head, tuple(self.notes), is_started, self._fault_steps
        )
        totals = {seat: log.total for seat, log in self._stderr_logs().items()}
        for listener in self.listeners:
            listener.ended(
                MatchEnded(outcome, steps, state, self.faults, {seat: clock.time() for seat, clock in self.clocks.items()}, totals)
            )
        return result

    def _clear_machine(self, seats: tuple[Seat, ...]) -> None:
        """Raise MatchVoid if known good bots fail in place of those of the match. Call this when everything of the match is ended."""
        from referee.players import known_good

        bots = {seat: player for seat, player in self.players.items() if isinstance(player, Bot)}
        levels = dict.fromkeys(bots, self.options.isolation)
        if not self._bots.players:
            # The build of a program has failed, which has limits of its own.
            bots = {seat: bots[seat] for seat in seats}
            levels = {seat: levels[seat]._replace(limits=levels[seat].limits.for_build()) for seat in seats}
        known_good.check(bots, levels, self.options.time.cpu_seconds, seats)

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
        isolation = self.options.isolation
        return isolation.is_strict and not isolation.holds and self.options.run.idle == "stop"

    def _stderr_logs(self) -> dict[Seat, Log]:
        return {seat: player.log for seat, player in self._exchange.players.items() if player.pipes is not None}

    def _tick(self) -> None:
        for listener in self.listeners:
            listener.ticked()

    def _check_placement(self, cores: Cores) -> None:
        """Add a note for each part of the placement that isn't possible."""
        wanted = self.options.run.cores
        if not self._bots.players:
            return
        self.notes += self.options.isolation.notes
        if self.options.isolation.has_sandbox and not self.options.isolation.holds and self.options.run.idle == "stop":
            own = "each bot has a core of its own" if self._needs_cores() else "it may work on the other's time"
            self.notes.append(f"There is no freezer: a bot that is stopped between its turns can continue itself; {own}.")
        if not delays.is_counted():
            self.notes.append(
                f"This kernel doesn't count waits for a processor, so there is no fair clock: the {self.options.time.kind} clock bills."
            )
        if self.options.time.kind == CPU and self.options.isolation.accounting != "exact":
            self.notes.append("Processor time is approximate at this level of isolation: that of ended children is known to 10 ms.")
        if wanted and not cores.claimed:
            some = "No core was free" if wanted == 1 else f"Not {wanted} cores were free"
            why = some if cores.can_pin else "This system can't keep processes on a core"
            self.notes.append(f"{why}: the match is not pinned, its times are less even.")

    def _place(self, cores: Cores) -> None:
        """Pin the bots, then the referee. Not earlier: programs that start at the same time would compete for one core."""
        if not cores.claimed or self._needs_cores():
            return
        self._exchange.pin(cores)

    def _greet(self, state: Any) -> dict[Seat, Fault]:
        """Send ``start`` to all players and read their ``ready``. Return the faults, by seat."""
        lines = {seat: (self._start_line(seat), self.clocks[seat]) for seat in self.seats if seat not in self.faults}
        found = greet(self._exchange, self._hosts, self.game, state, lines)
        self._names |= {seat: name for seat, name in found.items() if name and isinstance(name, str)}
        return {seat: name for seat, name in found.items() if isinstance(name, Fault)}

    def _start_line(self, seat: Seat) -> bytes:
        settings, seed = self.game.codec.settings_json(self.settings), seat_seed(self.start.secret, self.start.match, seat)
        clock = self.clocks[seat].control.to_json()
        return encode.start(self.game.info, self.settings.rules, seat, settings, clock=clock, seed=seed, match=self.start.match)

    def _make_head(self) -> dict[str, Json]:
        machine = os.uname()
        return {
            "type": "head",
            "format": 1,
            "game": self.game.info.name,
            "version": self.game.info.version,
            "rules": self.settings.rules,
            "settings": self.game.codec.settings_json(self.settings),
            "match": self.start.match,
            "seed": self.start.seed,
            "secret": self.start.secret.hex(),
            **self.start.source,
            "players": {seat: self._about(seat) for seat in self.seats},
            "clock": self.options.time.to_json(),
            "ask": "in-turn",
            "idle": self.options.run.idle,
            "on_malformed": self.options.run.on_malformed,
            "isolation": self.options.isolation.level,
            "limits": self.options.isolation.kept_limits(),
            "accounting": self.options.isolation.accounting,
            "machine": {
                "system": f"{machine.sysname} {machine.machine}",
                "cores": os.cpu_count(),
                "python": ".".join(map(str, sys.version_info[:3])),
            },
            "referee": __version__,
        }

    def _about(self, seat: Seat) -> dict[str, Json]:
        """Return a player's part of the head. A player with its own time control has it there, since its questions show it."""
        own = {} if self._own_time(seat) is None else {"clock": self.clocks[seat].control.to_json()}
        return {"name": self._names[seat], **own, **self._abouts[seat]}

    def _play(self, state: Any, adjudicator: Adjudicator | None, turn: int) -> tuple[Any, int]:
        game, listeners = self.game, self.listeners
        remarks_bytes = self.options.isolation.limits.remarks_bytes
        collector = MoveCollector(
            game,
            self.clocks,
            self._hosts,
            self._exchange,
            people=self._people,
            excuses=self.options.run.on_malformed == "pass",
            remarks_bytes=remarks_bytes,
        )
        for seat, first_notices in self.start.notices.items():
            collector.replace_notices(seat, first_notices)
        reads, exchange = 0, self._exchange
        # A step may have no movers although the match isn't over.
        while (movers := game.movers(state)) or game.outcome(state) is None:
            if adjudicator is not None and adjudicator.is_due(state) and game.outcome(ruled := adjudicator.adjudicate(state)) is not None:
                return ruled, turn
            answers, faults = self._asked(collector, turn, state, movers)
            moves = {seat: answer.move for seat, answer in answers.items() if answer.move is not None}
            if self._people:
                faults |= collector.departures({*self.faults, *faults})
            logs = _NO_LOGS
            if faults:
                state, logs = self._judge_faults(turn, state, faults, answers)
                if game.outcome(state) is not None:
                    return state, turn
            elif exchange.stderr_reads != reads:
                logs, reads = self._moved_logs(), exchange.stderr_reads
            after, notices = game.step(state, moves)
            if notices:
                collector.tell(notices)
            event = StepTaken(turn, state, after, moves, notices, answers, logs)
            for listener in listeners:
                listener.stepped(event)
            state = after
            turn += 1
        return state, turn

    def _asked(self, collector: MoveCollector, turn: int, state: Any, movers: Sequence[Seat]) -> tuple[TurnAnswers, dict[Seat, Fault]]:
        """Ask the movers; return their answers and the faults of this turn."""
        try:
            answers = collector.ask(turn, state, movers)
        except MatchVoid as void:
            blamed = self._blame(void)
            for seat in blamed:
                # It was ready for the match, also where this is the first turn.
                self.clocks[seat].spend(0.0)
            return {}, blamed
        return answers, {seat: answer.fault for seat, answer in answers.items() if answer.fault is not None}

    def _blame(self, void: MatchVoid) -> dict[Seat, Fault]:
        """Return the faults of the players who are to blame for what makes the match void.

        Raise it again if nobody is, or if others would have to play on.
        """
        is_alone = void.reason == SUPERVISOR and len(void.seats) == 1
        seats = [seat for seat in void.seats if is_alone or (void.reason in (SUPERVISOR, BUSY) and self._is_blamed(seat))]
        if not seats or len({*self.seats} - {*self.faults, *seats}) > 1:
            raise void
        players = self._exchange.players
        return {seat: judgement.blamed(players[seat], void.reason, is_alone=is_alone) for seat in seats}

    def _judge_faults(self, turn: int, state: Any, found: Mapping[Seat, Fault], answers: TurnAnswers) -> tuple[Any, dict[Seat, int]]:
        """Apply the faults of one step to the game, end the failed players' programs, call the listeners.

        Returns the position after that, and the stderr offsets that have changed.
        """
        located = places(found, self._bots.players, stop_idle=self.options.run.idle == "stop")
        faults = {
            seat: judgement.located(fault, located[seat].place, may_wait=located[seat].may_wait) if seat in located else fault
            for seat, fault in found.items()
        }
        self.faults.update(faults)
        self._fault_steps.update(dict.fromkeys(faults, turn))
        logs = self._moved_logs()
        after = self.game.fault(state, {seat: fault.kind for seat, fault in faults.items()})
        for seat in faults:
            self._exchange.drop(seat)
        event = PlayersFaulted(turn, faults, state, after, answers, logs)
        for listener in self.listeners:
            listener.faulted(event)
        return after, logs

    def _moved_logs(self) -> dict[Seat, int]:
        """Return the stderr offsets that have changed since the last step."""
        moved = {}
        for seat, log in self._stderr_logs().items():
            if log.total != self._logged[seat]:
                self._logged[seat] = moved[seat] = log.total
        return moved


__all__ = ["Match", "Options", "Result"]
