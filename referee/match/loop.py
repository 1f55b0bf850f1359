"""The match loop: ask the movers, judge their answers, apply the moves, call the listeners."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import MatchVoid, StartError, UsageError
from referee.isolation.level import Isolation
from referee.match import sentences
from referee.match.adjudicator import Adjudicator
from referee.match.clock import CPU, Clock, PatientClock, TimeControl
from referee.match.collector import MoveCollector, TurnAnswers, ask_together, read_ready
from referee.match.events import MatchBegun, MatchEnded, PlayersFaulted, StepTaken
from referee.match.seeds import match_id, seat_seed, secret_of
from referee.players.building import all_built
from referee.players.connection import ConnectedPlayer
from referee.players.faults import Fault
from referee.players.in_process import LocalPlayer
from referee.players.io import PlayerIO
from referee.players.log import Log
from referee.players.placement import Cores
from referee.players.process import SUPERVISOR_KILLED, BotProcesses
from referee.players.stack import places
from referee.version import __version__
from referee.wire import encode
from referee.wire.constants import NAME_LENGTH
from referee.wire.escape import escape, is_blank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from referee.dialects.dialect import Host
    from referee.games.game import Game, Json, Outcome, Seat
    from referee.isolation.program import Program
    from referee.isolation.supervision import SupervisionReserve
    from referee.match.beginning import Beginning
    from referee.match.events import Listener
    from referee.players.connection import Connection
    from referee.players.player import Player
    from referee.players.process import BotProcess

#: Seconds that a bot has to exit after the last message.
GRACE = 1.0


class Entrant(NamedTuple):
    """The player of a seat: a program, ``converse`` in this process, or the player at the end of a ``connection``.

    ``about`` goes into the replay's head. ``time`` is the player's own time control; None means that of the match. ``host`` communicates
    with the player in a dialect; None means the native protocol. ``is_patient``: nothing limits its time, though its questions show the
    limits of its time control. ``isolation`` is the level of this program alone; None means that of the match.
    """

    label: str
    about: Mapping[str, Json]
    program: Program | None = None
    converse: Callable[[bytes], bytes | None] | None = None
    connection: Connection | None = None
    time: TimeControl | None = None
    host: Host | None = None
    is_patient: bool = False
    isolation: Isolation | None = None


class Options(NamedTuple):
    """How a match is run.

    ``ask`` is "in-turn" or "together"; ``idle`` "stop" or "run": what bots do between their turns; ``cores`` how many cores the
    match claims (0: it is not pinned); ``on_malformed`` "forfeit" or "pass"; ``max_lateness`` the seconds for which the referee may be kept
    off the processor before a missing answer makes the match void; ``isolation`` the level at which bots run, with their limits.
    """

    time: TimeControl = TimeControl()
    ask: str = "in-turn"
    idle: str = "stop"
    cores: int = 1
    on_malformed: str = "forfeit"
    max_lateness: float = 0.5
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
                "time": clock.to_json(),
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
_new = tuple.__new__


class Match:
    """One match; call ``run`` once.

    ``logs`` gives each seat's stderr file; without a file only the last 4 KiB are kept. ``reserve`` keeps the supervisor
    between the matches of one process. With ``beginning`` the match begins at a recorded position, and ``seed`` is not used. Raises StartError
    if a program can't be started and MatchVoid if the referee fails. A bot's failure is part of the result.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        settings: Any,
        entrants: Mapping[Seat, Entrant],
        options: Options | None = None,
        *,
        seed: int | None = None,
        listeners: Sequence[Listener] = (),
        logs: Mapping[Seat, Path] | None = None,
        reserve: SupervisionReserve | None = None,
        beginning: Beginning | None = None,
    ) -> None:
        self.game = game
        self.settings = settings
        self.entrants = entrants
        self.options = options = options or Options()
        self.seed = seed if beginning is None else beginning.seed
        self.secret = secret_of(seed) if beginning is None else beginning.secret
        self.id = match_id(self.secret) if beginning is None else beginning.match
        self.listeners: list[Listener] = list(listeners)
        self.notes: list[str] = [] if beginning is None else list(beginning.notes)
        self.seats = game.seats(settings)
        time = options.time.checked()
        self.clocks = {seat: (PatientClock if entrants[seat].is_patient else Clock)(entrants[seat].time or time) for seat in self.seats}
        self.faults: dict[Seat, Fault] = {} if beginning is None else dict(beginning.faults)
        self._fault_steps: dict[Seat, int] = {} if beginning is None else dict(beginning.fault_steps)
        self._beginning = beginning
        self._logs = {seat: Log((logs or {}).get(seat), options.isolation.limits.stderr_bytes) for seat in self.seats}
        self._names = {seat: escape(entrants[seat].label, NAME_LENGTH) for seat in self.seats}
        self._logged = dict.fromkeys(self.seats, 0)
        self._head: dict[str, Json] = {}
        self._together = options.ask == "together"
        self._hosts = {seat: entrant.host for seat, entrant in entrants.items() if entrant.host is not None}
        self._people = frozenset(seat for seat, entrant in entrants.items() if entrant.connection is not None)
        self._bots = BotProcesses(reserve)
        self._check = reserve.check if reserve is not None else None
        self._players: dict[Seat, Player] = {}

    def launch(self) -> None:
        """Start the programs without waiting for them; ``run`` does it too."""
        programs = {seat: entrant.program for seat, entrant in self.entrants.items() if entrant.program is not None}
        levels = {seat: self.entrants[seat].isolation or self.options.isolation for seat in programs}
        programs = {seat: all_built({seat: program}, levels[seat], self._check)[seat] for seat, program in programs.items()}
        # Like the course's servers, take a line of a dialect that came too early as the answer to the next question.
        self._bots.launch(programs, self._logs, self.options.isolation, self._cpu_seconds(), keeping_early=self._hosts, levels=levels)
        self._players.update(self._bots.players)
        for seat, entrant in self.entrants.items():
            if entrant.connection is not None:
                log, keeps_early = self._logs[seat], seat in self._hosts
                self._players[seat] = ConnectedPlayer(seat, entrant.label, log, entrant.connection, keeps_early=keeps_early)
            elif entrant.converse is not None:
                self._players[seat] = LocalPlayer(seat, entrant.label, self._logs[seat], entrant.converse)

    def _cpu_seconds(self) -> int | None:
        """Return a kernel limit on a bot's processor time, in seconds, above all that the clock allows; None if the clock has no limit."""
        time = self.options.time
        is_patient = any(entrant.is_patient for entrant in self.entrants.values())
        if time.startup is None or time.bank is None or time.increment or is_patient:
            return None
        return int((time.startup + time.bank) * (os.cpu_count() or 1)) + 10

    def log_of(self, seat: Seat) -> Log:
        """Return what a seat's player has written to stderr."""
        return self._logs[seat]

    def process_of(self, seat: Seat) -> BotProcess | None:
        """Return the process of a seat's program; None for a player that is no program, or before the start."""
        return self._players[seat].process if seat in self._players else None

    def close(self) -> None:
        """End every process of the match and close every connection; ``run`` calls this, too."""
        self._bots.close()
        for player in self._players.values():
            if player.pipes is not None:
                player.pipes.close()
            else:
                player.log.close()

    def run(self) -> Result:
        """Play the match from the ``start`` messages to the end. Afterwards all its processes are gone, however it ends."""
        bots = sum(entrant.program is not None for entrant in self.entrants.values())
        cores = Cores(max(self.options.cores, bots * self._needs_cores()) if bots else 0)
        try:
            if bots and self._needs_cores() and len(cores.claimed) < bots:
                raise UsageError(
                    f"Strict isolation without a freezer of control groups needs a core for each of the {bots} bots, since a stopped bot can continue "
                    "itself, and not so many are free. Let the referee make control groups (docs/isolation.md), or let bots run between their "
                    'turns: --idle run, or run.idle = "run" in a rubric.'
                )
            return self._run(cores)
        except OSError as error:
            # If the supervisor was killed, the keeper may be removing the control groups at this moment.
            for listener in self.listeners:
                listener.stopped()
            if self.options.isolation.guards_supervisor and not error.filename and self._bots.has_lost_its_supervisor():
                raise MatchVoid(SUPERVISOR_KILLED) from None
            raise
        except BaseException:
            for listener in self.listeners:
                listener.stopped()
            raise
        finally:
            self.close()
            cores.release()

    def _run(self, cores: Cores) -> Result:
        player_io = self._start(cores)
        beginning = self._beginning
        state, steps = (self.game.start(self.settings, self.secret), 0) if beginning is None else (beginning.state, beginning.turn)
        self._check_placement(cores)
        faults = self._greet(player_io, state)
        self._place(cores)
        self._head = self._make_head()
        for listener in self.listeners:
            listener.begun(MatchBegun(self._head, state))
        if beginning is not None:
            faults |= self._go_to(beginning, player_io, is_ready=not faults)
        if faults:
            state, _ = self._judge_faults(steps, player_io, state, TurnAnswers({}, {}, {}, {}, faults))
        if self.game.outcome(state) is None:
            adjudication = self.game.adjudication
            is_enabled = adjudication is not None and adjudication.is_enabled(self.settings)
            with Adjudicator(self.game, cores.claimed) if is_enabled else nullcontext() as adjudicator:
                state, steps = self._play(player_io, state, adjudicator, steps)
        outcome = self.game.outcome(state)
        assert outcome is not None
        player_io.dismiss(self._farewells(state, outcome, steps), GRACE)
        return self._finish(outcome, steps, state, is_started=not faults)

    def _start(self, cores: Cores) -> PlayerIO:
        """Start the programs and wait until they run."""
        if not self._players:
            self.launch()
        if self._needs_cores():
            # Nothing else would confine them: with this, every process that they start begins on their own core.
            for index, player in enumerate(self._bots.players.values()):
                player.process.sandbox.before_start = lambda pid, index=index: cores.pin(index, (pid,))
        self._bots.wait()
        return PlayerIO(
            self._players,
            self._bots,
            stop_idle=self.options.idle == "stop",
            max_lateness=self.options.max_lateness,
            on_tick=self._tick,
            by_cpu=self.options.time.kind == CPU,
            discards_early=self.options.on_malformed == "pass",
        )

    def _go_to(self, beginning: Beginning, player_io: PlayerIO, *, is_ready: bool) -> dict[Seat, Fault]:
        """Call the listeners with the recorded events, and bring the players to the position. Return the faults, by seat."""
        for event in beginning.events:
            for listener in self.listeners:
                listener.recorded(event)
        return beginning.rehearse(player_io, self.clocks) if beginning.rehearse is not None and is_ready else {}

    def _finish(self, outcome: Outcome, steps: int, state: Any, *, is_started: bool) -> Result:
        """End all processes, call the listeners, and return the result."""
        self._bots.close(is_sound=True)
        self.close()
        for seat, log in self._stderr_logs().items():
            if log.path is not None and log.total > log.kept:
                self.notes.append(f"The {seat} wrote {log.total:,} bytes to stderr; the first {log.kept:,} are kept.")
        result = Result(
            outcome, steps, state, self.faults, self.clocks, self._names, self._head, tuple(self.notes), is_started, self._fault_steps
        )
        totals = {seat: log.total for seat, log in self._stderr_logs().items()}
        for listener in self.listeners:
            listener.ended(MatchEnded(outcome, steps, state, self.faults, self.clocks, totals))
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
        isolation = self.options.isolation
        return isolation.is_strict and not isolation.holds and self.options.idle == "stop"

    def _stderr_logs(self) -> dict[Seat, Log]:
        return {seat: player.log for seat, player in self._players.items() if player.pipes is not None}

    def _tick(self) -> None:
        for listener in self.listeners:
            listener.ticked()

    def _check_placement(self, cores: Cores) -> None:
        """Add a note for each part of the placement that isn't possible. Ask in turn if asking together would be unfair."""
        wanted = self.options.cores
        bots = len(self._bots.players)
        if not bots:
            return
        self.notes += self.options.isolation.notes
        if self.options.isolation.has_walls and not self.options.isolation.holds and self.options.idle == "stop":
            own = "each bot has a core of its own" if self._needs_cores() else "it may work on the other's time"
            self.notes.append(f"There is no freezer: a bot that is stopped between its turns can continue itself; {own}.")
        if self.options.time.kind == CPU and self.options.isolation.accounting != "exact":
            self.notes.append("Processor time is approximate at this level of isolation: that of ended children is known to 10 ms.")
        if wanted and not cores.claimed:
            some = "No core was free" if wanted == 1 else f"Not {wanted} cores were free"
            why = some if cores.can_pin else "This system can't keep processes on a core"
            self.notes.append(f"{why}: the match is not pinned, its times are less even.")
        if self._together and len(cores.claimed) < bots:
            self._together = False
            self.notes.append(
                f"Asking together needs a core for each of the {bots} bots; they are asked in turn. Their answers are secret either way."
            )

    def _place(self, cores: Cores) -> None:
        """Pin the bots, then the referee. Not earlier: programs that start at the same time would compete for one core."""
        if not cores.claimed or self._needs_cores():
            return
        for index, player in enumerate(self._bots.players.values()):
            if player.process.sandbox.holds:
                # A bot that stands still can't start another process in the meantime.
                player.process.stop()
                player.process.sandbox.stand_still()
            cores.pin(index, player.process.sandbox.pids())
        cores.pin_self()

    def _greet(self, player_io: PlayerIO, state: Any) -> dict[Seat, Fault]:
        """Send ``start`` to all players and read their ``ready``, or the equivalent in a dialect. Return the faults, by seat."""
        times = {seat: clock.control for seat, clock in self.clocks.items()}
        times |= {seat: time._replace(startup=None) for seat, time in times.items() if self.entrants[seat].is_patient}
        words = {seat: self._hosts[seat].on_connect if seat in self._hosts else self._start_line(seat) for seat in self.seats}
        asked = [seat for seat in self.seats if seat not in self.faults and (seat not in self._hosts or self._hosts[seat].awaits_name)]
        questions = {seat: (words[seat], times[seat].startup, times[seat].startup_guard()) for seat in asked}
        replies = ask_together(player_io, questions, self.game, state, is_start=True)
        faults = {}
        for seat, reply in replies.items():
            bot = self._bots.players.get(seat)
            refusal = bot.start_refusal() if bot is not None and reply.failure is not None else None
            if refusal is not None:
                inside = "; inside the sandbox there are its own files and the system's alone" if self.options.isolation.has_walls else ""
                raise StartError(f"{refusal}{inside}.", seat)
            name = read_ready(self._players[seat], self._hosts.get(seat), reply, times[seat])
            if isinstance(name, Fault):
                faults[seat] = name
            elif not is_blank(name):
                self._names[seat] = escape(name[:NAME_LENGTH], 4 * NAME_LENGTH)[:NAME_LENGTH]
                player = self._players[seat]
                if isinstance(player, ConnectedPlayer) and not player.pipes.is_remote:
                    # A person is called by name; for a program the label says which file it is.
                    player.label = self._names[seat]
        for seat, host in self._hosts.items():
            if seat not in faults and seat not in self.faults:
                player_io.tell(seat, host.opening(state))
        return faults

    def _start_line(self, seat: Seat) -> bytes:
        settings, seed = self.game.codec.settings_json(self.settings), seat_seed(self.secret, self.id, seat)
        clock = self.clocks[seat].control.to_json()
        return encode.start(self.game.info, self.settings.rules, seat, settings, clock=clock, seed=seed, match=self.id)

    def _make_head(self) -> dict[str, Json]:
        machine = os.uname()
        return {
            "type": "head",
            "format": 1,
            "game": self.game.info.name,
            "version": self.game.info.version,
            "rules": self.settings.rules,
            "settings": self.game.codec.settings_json(self.settings),
            "match": self.id,
            "seed": self.seed,
            "secret": self.secret.hex(),
            **({} if self._beginning is None else {"from": dict(self._beginning.source)}),
            "players": {seat: self._about(seat) for seat in self.seats},
            "clock": self.options.time.to_json(),
            "ask": "together" if self._together else "in-turn",
            "idle": self.options.idle,
            "on_malformed": self.options.on_malformed,
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
        entrant = self.entrants[seat]
        own = {} if entrant.time is None else {"clock": entrant.time.to_json()}
        return {"name": self._names[seat], **own, **entrant.about}

    def _play(self, player_io: PlayerIO, state: Any, adjudicator: Adjudicator | None, turn: int) -> tuple[Any, int]:
        game, listeners = self.game, self.listeners
        excuses = self.options.on_malformed == "pass"
        collector = MoveCollector(
            game,
            self.clocks,
            self._hosts,
            player_io,
            people=self._people,
            together=self._together,
            excuses=excuses,
            remarks_bytes=self.options.isolation.limits.remarks_bytes,
        )
        for seat, told in () if self._beginning is None else self._beginning.notices.items():
            collector.replace_notices(seat, told)
        reads = 0
        watch = player_io.watch
        # A step may have no movers although the match isn't over.
        while (movers := game.movers(state)) or game.outcome(state) is None:
            if adjudicator is not None and adjudicator.is_due(state) and game.outcome(ruled := adjudicator.adjudicate(state)) is not None:
                return ruled, turn
            moves, seconds, others, remarks, faults = asked = collector.ask(turn, state, movers, self.faults)
            logs = _NO_LOGS
            if faults:
                state, logs = self._judge_faults(turn, player_io, state, asked)
                if game.outcome(state) is not None:
                    return state, turn
            elif watch.reads != reads:
                logs, reads = self._moved_logs(), watch.reads
            after, notices = game.step(state, moves)
            if notices:
                collector.tell(notices)
            event = _new(StepTaken, (turn, state, after, moves, notices, seconds, remarks, logs, others))
            for listener in listeners:
                listener.stepped(event)
            state = after
            turn += 1
        return state, turn

    def _judge_faults(self, turn: int, player_io: PlayerIO, state: Any, asked: TurnAnswers) -> tuple[Any, dict[Seat, int]]:
        """Apply the faults of one step to the game, end the failed players' programs, call the listeners.

        Returns the position after that, and the stderr offsets that have changed.
        """
        faults = asked.faults
        for seat, (place, may_wait) in places(faults, self._bots.players, stop_idle=self.options.idle == "stop").items():
            faults[seat] = sentences.located(faults[seat], place, may_wait=may_wait)
        self.faults.update(faults)
        self._fault_steps.update(dict.fromkeys(faults, turn))
        logs = self._moved_logs()
        after = self.game.fault(state, {seat: fault.kind for seat, fault in faults.items()})
        for seat in faults:
            player_io.drop(seat)
        event = PlayersFaulted(turn, faults, after, asked.seconds, logs, asked.others)
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


__all__ = ["Entrant", "Match", "MatchVoid", "Options", "Result", "match_id", "seat_seed", "secret_of"]
