"""The match loop: ask whoever has to move, judge the answers, apply the moves, tell the listeners."""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import referee
from referee import greeting
from referee.answers import Answers, without_turn
from referee.clock import CPU, Clock, TimeControl
from referee.dialect import DialectError
from referee.errors import MatchVoid, StartError, UsageError
from referee.events import MatchBegun, MatchEnded, PlayersFaulted, StepTaken
from referee.faults import ILLEGAL, LATE, MALFORMED, Fault
from referee.game import IllegalMove, MalformedMove
from referee.isolation.choice import Isolation
from referee.players.connection import join
from referee.players.exchange import Exchange
from referee.players.local import LocalPlayer
from referee.players.log import Log
from referee.players.placement import Cores
from referee.players.process import Crew
from referee.result import Result
from referee.seeds import match_id, seat_seed, secret_of
from referee.umpire import Umpire
from referee.wire.shown import plain, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from referee.answers import Answer
    from referee.dialect import Host
    from referee.events import Listener
    from referee.game import Game, Json, Notice, Outcome, Seat
    from referee.isolation.program import Program
    from referee.players.connection import Connection
    from referee.players.exchange import Reply

#: The protocol's own number, and its caps in characters and shapes; the same as in ``wire.messages``, which costs more to import
#: than everything else here together and so is imported while the bots start.
PROTOCOL = 1
NAME_LENGTH = 40
SAY_LENGTH = 500
MOST_SHAPES = 500
#: The largest drawing that goes into a replay, in bytes of JSON.
DRAW_BYTES = 20_000

#: Seconds that a bot has to leave after the last message.
GRACE = 1.0


class Entrant(NamedTuple):
    """Who plays a seat: a program, ``converse`` in this process, or whoever is at the end of a ``connection``.

    ``about`` goes into the replay's head; ``time`` is a time control of its own, None for that of the match; ``host`` speaks its
    dialect to it, None for the native protocol.
    """

    label: str
    about: Mapping[str, Json]
    program: Program | None = None
    converse: Callable[[bytes], bytes | None] | None = None
    connection: Connection | None = None
    time: TimeControl | None = None
    host: Host | None = None


class Options(NamedTuple):
    """How a match is run.

    ``ask`` is "in-turn" or "together"; ``idle`` "stop" or "run": what bots do between their turns; ``cores`` how many cores the
    match claims for itself (0: it is not pinned); ``on_malformed`` "forfeit" or "pass"; ``max_lateness`` the seconds for which the
    referee may be kept off the processor before a missing answer voids the match; ``isolation`` what bots run in, with their limits.
    """

    time: TimeControl = TimeControl()
    ask: str = "in-turn"
    idle: str = "stop"
    cores: int = 1
    on_malformed: str = "forfeit"
    max_lateness: float = 0.5
    isolation: Isolation = Isolation()


class _Asked(NamedTuple):
    """What came of asking the movers of one step, each by seat."""

    moves: dict[Seat, Any]
    seconds: dict[Seat, float]
    others: dict[Seat, float]
    remarks: dict[Seat, dict[str, Json]]
    faults: dict[Seat, Fault]


_NO_LOGS: dict[str, int] = {}
_new = tuple.__new__


class Match:
    """One match, to be run once.

    ``logs`` gives each seat's stderr file; without one only the end of it is kept. Raises StartError when a program can't be
    started and MatchVoid when the referee fails; a bot's failure is part of the result.
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
    ) -> None:
        self.game = game
        self.settings = settings
        self.entrants = entrants
        self.options = options = options or Options()
        self.seed = seed
        self.secret = secret_of(seed)
        self.id = match_id(self.secret)
        self.listeners: list[Listener] = list(listeners)
        self.notes: list[str] = []
        self.seats = game.seats(settings)
        time = options.time.checked()
        self.clocks = {seat: Clock(entrants[seat].time or time) for seat in self.seats}
        self.faults: dict[Seat, Fault] = {}
        self._logs = {seat: Log((logs or {}).get(seat), options.isolation.limits.stderr_bytes) for seat in self.seats}
        self._names = {seat: plain(entrants[seat].label, NAME_LENGTH) for seat in self.seats}
        self._notices: dict[Seat, list[dict[str, str]]] = {seat: [] for seat in self.seats}
        self._answers = Answers(game, self.seats)
        self._logged = dict.fromkeys(self.seats, 0)
        self._head: dict[str, Json] = {}
        self._together = options.ask == "together"
        self._move_limits = {
            seat: "null" if clock.control.move is None else repr(clock.control.move) for seat, clock in self.clocks.items()
        }
        self._hosts = {seat: entrant.host for seat, entrant in entrants.items() if entrant.host is not None}
        self._attentive = frozenset(seat for seat, host in self._hosts.items() if host.asks_always)
        self._people = frozenset(seat for seat, entrant in entrants.items() if entrant.connection is not None)
        self._crew = Crew()

    def launch(self) -> None:
        """Start the programs without waiting for them; ``run`` does it too."""
        programs = {seat: entrant.program for seat, entrant in self.entrants.items() if entrant.program is not None}
        self._crew.launch(programs, self._logs, self.options.isolation, self._cpu_seconds())
        for seat, entrant in self.entrants.items():
            if entrant.connection is not None:
                self._crew.join(join(seat, entrant.label, self._logs[seat], entrant.connection))
        for seat in self._hosts:
            # The course's servers read on from where they were: what came too early is the answer to the next question.
            player = self._crew.players[seat]
            player.keeps_early = player.lines.keeps_blank = True
            player.hangs_up = "closed its connection"

    def _cpu_seconds(self) -> int | None:
        """A cap on a bot's processor time that the kernel keeps, above anything that the clock allows; None where that has no end."""
        time = self.options.time
        if time.startup is None or time.bank is None or time.increment:
            return None
        return int((time.startup + time.bank) * (os.cpu_count() or 1)) + 10

    def close(self) -> None:
        """End every process of a match that was launched; ``run`` does it too."""
        self._crew.close()

    def run(self) -> Result:
        """Play the match from the greeting to the end; every process of it is gone afterwards, however it ends."""
        bots = sum(entrant.program is not None for entrant in self.entrants.values())
        cores = Cores(max(self.options.cores, bots * self._needs_cores()) if bots else 0)
        try:
            if bots and self._needs_cores() and len(cores.claimed) < bots:
                raise UsageError(
                    f"Strict isolation without a freezer of control groups needs a core for each of the {bots} bots, since a stopped bot can continue "
                    "itself, and not so many are free. Let the referee make control groups (docs/isolation.md), or let bots run between their turns: --idle run."
                )
            return self._run(cores)
        except BaseException:
            for listener in self.listeners:
                listener.stopped()
            raise
        finally:
            self._crew.close()
            cores.release()

    def _run(self, cores: Cores) -> Result:
        if not self._crew.players:
            self.launch()
        if self._needs_cores():
            # Nothing else would hold them: whatever they start is born on their own core.
            for index, player in enumerate(self._crew.players.values()):
                player.cell.before_start = partial(cores.pin_one, index)
        self._crew.wait()
        state = self.game.start(self.settings, self.secret)
        exchange = self._exchange()
        self._check_placement(cores)
        faults = self._greet(exchange, state)
        self._place(cores)
        self._head = self._make_head()
        for listener in self.listeners:
            listener.begun(MatchBegun(self._head, state))
        steps = 0
        if faults:
            state = self._judge_faults(0, exchange, state, _Asked({}, {}, {}, {}, faults))
        if self.game.outcome(state) is None:
            with Umpire(self.game, cores.claimed) if self.game.adjudicates(self.settings) else nullcontext() as umpire:
                state, steps = self._play(exchange, state, umpire)
        outcome = self.game.outcome(state)
        assert outcome is not None
        exchange.dismiss(self._farewells(state, outcome, steps), GRACE)
        self._crew.close()
        for seat, log in self._stderr_logs().items():
            if log.path is not None and log.total > log.kept:
                self.notes.append(f"The {seat} wrote {log.total:,} bytes to stderr; the first {log.kept:,} are kept.")
        result = Result(outcome, steps, state, self.faults, self.clocks, self._names, self._head, tuple(self.notes), not faults)
        totals = {seat: log.total for seat, log in self._stderr_logs().items()}
        for listener in self.listeners:
            listener.ended(MatchEnded(outcome, steps, state, self.faults, self.clocks, totals))
        return result

    def _farewells(self, state: Any, outcome: Outcome, steps: int) -> dict[Seat, bytes]:
        """The last words to everybody who can still hear them."""
        end = {"type": "end", "result": {**outcome.to_json(), "steps": steps}}
        line = json.dumps(end, separators=(",", ":")).encode() + b"\n"
        words = {seat: line for seat in self.seats if seat not in self.faults}
        for seat, host in self._hosts.items():
            if seat not in self.faults or seat in self._people:
                words[seat] = host.closing(state, outcome)
        return words

    def _needs_cores(self) -> bool:
        """Whether each bot must have a core of its own, so that it can't burn the time of others."""
        isolation = self.options.isolation
        return isolation.is_strict and not isolation.holds and self.options.idle == "stop"

    def _exchange(self) -> Exchange:
        self._local = {
            seat: LocalPlayer(seat, entrant.label, entrant.converse)
            for seat, entrant in self.entrants.items()
            if entrant.converse is not None
        }
        exchange = Exchange(
            self._crew,
            self._local,
            stop_idle=self.options.idle == "stop",
            max_lateness=self.options.max_lateness,
            on_tick=self._tick,
            by_cpu=self.options.time.kind == CPU,
        )
        exchange.discards_early = self.options.on_malformed == "pass"
        return exchange

    def _stderr_logs(self) -> dict[Seat, Log]:
        return {seat: player.log for seat, player in self._crew.players.items()}

    def flush_logs(self) -> None:
        """Let who reads along see what the bots have logged so far."""
        for log in self._logs.values():
            log.flush()

    def _tick(self) -> None:
        self.flush_logs()
        for listener in self.listeners:
            listener.ticked()

    def _check_placement(self, cores: Cores) -> None:
        """Say what of the wanted placement can't be had, and ask in turn where together would be unfair."""
        wanted = self.options.cores
        bots = sum(player.is_process for player in self._crew.players.values())
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
        """Pin the bots and then ourselves; only now, since programs that start at once on one core would contend."""
        if not cores.claimed or self._needs_cores():
            return
        for index, player in enumerate(self._crew.players.values()):
            if player.cell.holds:
                # What stands still can't start another process in the meantime.
                player.stop()
                player.cell.stand_still()
            cores.pin(index, player.cell.pids())
        cores.pin_self()

    def _greet(self, exchange: Exchange, state: Any) -> dict[Seat, Fault]:
        """Send everybody ``start`` and read their ``ready``, or what its dialect has for them; the failures, by seat."""
        times = {seat: clock.control for seat, clock in self.clocks.items()}
        words = {seat: self._hosts[seat].greeting if seat in self._hosts else self._start_line(seat) for seat in self.seats}
        asked = [seat for seat in self.seats if seat not in self._hosts or self._hosts[seat].awaits_name]
        replies = exchange.ask_together({seat: (words[seat], times[seat].startup, times[seat].startup_guard()) for seat in asked})
        faults = {}
        for seat, reply in replies.items():
            player = self._crew.players.get(seat)
            refusal = player.start_refusal() if player is not None and reply.fault is not None else None
            if refusal is not None:
                inside = "; inside the sandbox there are its own files and the system's alone" if self.options.isolation.has_walls else ""
                raise StartError(f"{refusal}{inside}.")
            name = greeting.read(seat, self.entrants[seat].label, self._hosts.get(seat), reply, times[seat])
            if isinstance(name, Fault):
                faults[seat] = name
            elif name:
                self._names[seat] = plain(name[:NAME_LENGTH], 4 * NAME_LENGTH)[:NAME_LENGTH]
        for seat, host in self._hosts.items():
            if seat not in faults:
                exchange.tell(seat, host.opening(state))
        return faults

    def _read_name(self, seat: Seat, host: Host, reply: Reply) -> Fault | None:
        """The first words of a player that doesn't speak the native protocol."""
        if reply.fault is not None:
            if reply.fault.kind == LATE:
                limit = f"within the start-up limit of {self.clocks[seat].control.startup:g} s"
                who = f"The {seat} ({plain(self.entrants[seat].label, 80)})"
                return reply.fault._replace(
                    text=f"{who} did not connect to its port and tell its name by the {host.dialect} protocol {limit}."
                )
            return reply.fault
        assert reply.line is not None
        try:
            name = host.take_name(reply.line)
        except DialectError as error:
            return Fault(MALFORMED, f"The {seat}'s first line {error}: {shown(reply.line)}", shown(reply.line, 500))
        if name:
            self._names[seat] = plain(name[:NAME_LENGTH], 4 * NAME_LENGTH)[:NAME_LENGTH]
        return None

    def _start_line(self, seat: Seat) -> bytes:
        message = {
            "type": "start",
            "protocol": PROTOCOL,
            "game": self.game.name,
            "version": self.game.version,
            "rules": self.settings.rules,
            "seat": seat,
            "settings": self.game.settings_json(self.settings),
            "clock": self.clocks[seat].control.to_json(),
            "seed": seat_seed(self.secret, self.id, seat),
            "match": self.id,
        }
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"

    def _make_head(self) -> dict[str, Json]:
        machine = os.uname()
        return {
            "type": "head",
            "format": 1,
            "game": self.game.name,
            "version": self.game.version,
            "rules": self.settings.rules,
            "settings": self.game.settings_json(self.settings),
            "match": self.id,
            "seed": self.seed,
            "secret": self.secret.hex(),
            "players": {seat: {"name": self._names[seat], **self.entrants[seat].about} for seat in self.seats},
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
            "referee": referee.__version__,
        }

    def _play(self, exchange: Exchange, state: Any, umpire: Umpire | None) -> tuple[Any, int]:
        """The loop itself: from the first question to the game's end."""
        game, listeners = self.game, self.listeners
        turn = 0
        # Nobody may be asked in a step of a game that goes on.
        while (movers := game.movers(state)) or game.outcome(state) is None:
            if umpire is not None and game.is_due(state) and game.outcome(ruled := umpire.rule(state)) is not None:
                return ruled, turn
            moves, seconds, others, remarks, faults = asked = _new(_Asked, ({}, {}, {}, {}, {}))
            if self._attentive:
                self._ask_all(exchange, turn, state, movers, asked)
            else:
                self._ask(exchange, turn, state, movers, asked)
            logs = self._moved_logs() if exchange.watch.has_logged else _NO_LOGS
            exchange.watch.has_logged = False
            if self._people:
                self._notice_farewells(exchange, asked)
            if faults:
                state = self._judge_faults(turn, exchange, state, asked, logs)
                if game.outcome(state) is not None:
                    return state, turn
            after, notices = game.step(state, moves)
            if notices:
                self._tell(notices)
            event = _new(StepTaken, (turn, state, after, moves, notices, seconds, remarks, logs, others))
            for listener in listeners:
                listener.stepped(event)
            state = after
            turn += 1
        return state, turn

    def _ask_all(self, exchange: Exchange, turn: int, state: Any, movers: Sequence[Seat], asked: _Asked) -> None:
        """Ask those who owe a move, and those whose dialect has a question in every step: what these say then is not heeded."""
        seats = self.seats
        if len(self._attentive) < len(seats):
            seats = tuple(seat for seat in seats if seat in movers or seat in self._attentive)
        self._ask(exchange, turn, state, seats, asked)
        for seat in self._attentive.difference(movers):
            asked.moves.pop(seat, None)

    def _ask(self, exchange: Exchange, turn: int, state: Any, seats: Sequence[Seat], asked: _Asked) -> None:
        """Ask some seats, at once or one after the other; people alone at once, since none of them computes on another's time."""
        if len(seats) > 1 and (self._together or self._people.issuperset(seats)):
            self._ask_together(exchange, turn, state, seats, asked)
        else:
            self._ask_in_turn(exchange, turn, state, seats, asked)

    def _tell(self, notices: Sequence[Notice]) -> None:
        """Keep what players are told with their next question, where their dialect has words for it."""
        for notice in notices:
            if notice.seat is not None and notice.seat not in self._hosts:
                self._notices[notice.seat].append({"code": notice.code, "text": notice.text})

    def _notice_farewells(self, exchange: Exchange, asked: _Asked) -> None:
        """Who has left though nothing was asked has failed in this step; whoever was still thinking then has done nothing."""
        for seat in self._people - self.faults.keys() - asked.faults.keys():
            fault = exchange.farewell(seat)
            if fault is not None:
                asked.faults[seat] = fault

    def _ask_in_turn(self, exchange: Exchange, turn: int, state: Any, movers: Sequence[Seat], asked: _Asked) -> None:
        """Ask the movers one after the other, all on the same state.

        The way of an answer that was seen before, but for its turn, is kept short here; all others go through ``_take``.
        """
        game = self.game
        view = None
        for seat in movers:
            clock = self.clocks[seat]
            if seat in self._hosts:
                question = self._hosts[seat].question(turn, state, clock.bank)
                self._take(seat, turn, state, exchange.ask(seat, question, clock.limit, clock.guard), asked)
                continue
            if view is None or not game.is_open:
                view = game.view_text(state, seat)
            reply = exchange.ask(seat, self._question(seat, turn, view, clock), clock.limit, clock.guard)
            line, seconds, _, rescued, other = reply
            if line is not None and not rescued:
                cut = line.replace(b'"turn":%d' % turn, b'"turn":', 1)
                answer = self._answers.remembered[seat].get(cut if len(cut) < len(line) else without_turn(line, turn))
                if answer is not None and not answer.has_remarks:
                    try:
                        asked.moves[seat] = game.parse(state, seat, answer.move)
                    except (MalformedMove, IllegalMove):
                        pass
                    else:
                        asked.seconds[seat] = seconds
                        asked.others[seat] = other
                        clock.spend(seconds, other)
                        continue
            self._take(seat, turn, state, reply, asked)

    def _ask_together(self, exchange: Exchange, turn: int, state: Any, movers: Sequence[Seat], asked: _Asked) -> None:
        """Ask all movers at once."""
        questions = {}
        for seat in movers:
            clock = self.clocks[seat]
            if seat in self._hosts:
                question = self._hosts[seat].question(turn, state, clock.bank)
            else:
                question = self._question(seat, turn, self.game.view_text(state, seat), clock)
            questions[seat] = (question, clock.limit, clock.guard)
        for seat, reply in exchange.ask_together(questions).items():
            self._take(seat, turn, state, reply, asked)

    def _question(self, seat: Seat, turn: int, view: str, clock: Clock) -> bytes:
        """The line that asks a seat."""
        notices = "[]"
        if self._notices[seat]:
            notices = json.dumps(self._notices[seat], separators=(",", ":"))
            self._notices[seat] = []
        bank = "null" if clock.bank is None else "%.3f" % clock.bank
        return f'{{"type":"turn","turn":{turn},"state":{view},"notices":{notices},"left":{{"move":{self._move_limits[seat]},"bank":{bank}}}}}\n'.encode()

    def _take(self, seat: Seat, turn: int, state: Any, reply: Reply, asked: _Asked) -> None:
        """Judge one reply: bill it, and file its move or its fault."""
        line, seconds, fault, rescued, other = reply
        asked.seconds[seat] = seconds
        asked.others[seat] = other
        if rescued:
            asked.remarks[seat] = {"rescued": True}
        if line is not None:
            understand = self._understand_dialect if seat in self._hosts else self._understand
            fault = understand(seat, turn, state, line, asked)
        clock = self.clocks[seat]
        if fault is not None:
            if fault.kind == LATE:
                is_guard = bool((fault.detail or {}).get("guard"))
                fault = fault._replace(text=f"{fault.text} within {clock.limit_name(is_guard=is_guard)}.")
            fault = self._excused(seat, state, fault, asked)
            if fault is not None:
                asked.faults[seat] = fault
        clock.spend(seconds, other)

    def _understand(self, seat: Seat, turn: int, state: Any, line: bytes, asked: _Asked) -> Fault | None:
        """File the move of an answer, or say what is wrong with it."""
        answer = self._answers.decode(seat, turn, line, state)
        if isinstance(answer, Fault):
            return answer
        fault = None
        try:
            asked.moves[seat] = self.game.parse(state, seat, answer.move)
        except MalformedMove as error:
            fault = Fault(MALFORMED, f"The {seat}'s answer in turn {turn} has a malformed move: {error}.", shown(line, 500))
        except IllegalMove as error:
            fault = Fault(ILLEGAL, f"The {seat}'s move in turn {turn} is illegal: {error}.", shown(line, 500))
        if answer.has_remarks:
            self._remark(seat, answer, asked.remarks)
        return fault

    def _understand_dialect(self, seat: Seat, turn: int, state: Any, line: bytes, asked: _Asked) -> Fault | None:
        """File the move of a player that doesn't speak the native protocol, or say how it broke its own."""
        try:
            heard = self._hosts[seat].answer(turn, state, line)
        except DialectError as error:
            return Fault(MALFORMED, f"The {seat}'s answer in turn {turn} {error}: {shown(line)}", shown(line, 500))
        asked.moves[seat] = heard.move
        if heard.warning:
            asked.remarks.setdefault(seat, {})["warnings"] = [plain(heard.warning, 200)]
        return None

    def _remark(self, seat: Seat, answer: Answer, remarks: dict[Seat, dict[str, Json]]) -> None:
        """File what came with a move for spectators, and warn its author of what is ignored."""
        remark = remarks.setdefault(seat, {})
        warnings = []
        if answer.say is not None:
            remark["say"] = answer.say[:SAY_LENGTH]
            if len(answer.say) > SAY_LENGTH:
                warnings.append(f"say was cut after {SAY_LENGTH} characters")
        if answer.draw is not None:
            if len(answer.draw) <= MOST_SHAPES and len(json.dumps(answer.draw)) <= DRAW_BYTES:
                remark["draw"] = answer.draw
            else:
                warnings.append(f"draw was dropped: {len(answer.draw)} shapes, at most {MOST_SHAPES} in {DRAW_BYTES:,} bytes are shown")
        if answer.unknown:
            warnings.append(f"unknown key in the answer, ignored: {', '.join(plain(key, 60) for key in answer.unknown[:5])}")
        self._warn(seat, "ignored", warnings, remark)

    def _warn(self, seat: Seat, code: str, warnings: list[str], remark: dict[str, Json]) -> None:
        if warnings:
            remark["warnings"] = [*remark.get("warnings", ()), *warnings]
            self._notices[seat] += [{"code": code, "text": text} for text in warnings]

    def _excused(self, seat: Seat, state: Any, fault: Fault, asked: _Asked) -> Fault | None:
        """The fault, or None with a pass and a warning where malformed answers are excused and the game has a pass."""
        if fault.kind != MALFORMED or self.options.on_malformed != "pass":
            return fault
        try:
            asked.moves[seat] = self.game.parse(state, seat, {})
        except (MalformedMove, IllegalMove):
            return fault
        self._warn(seat, "malformed", [f"{fault.text} It counts as a pass."], asked.remarks.setdefault(seat, {}))
        return None

    def _judge_faults(self, turn: int, exchange: Exchange, state: Any, asked: _Asked, logs: Mapping[Seat, int] | None = None) -> Any:
        """Let the game say what faults in one step mean, end the programs of who failed, tell the listeners."""
        faults = asked.faults
        self.faults.update(faults)
        after = self.game.fault(state, {seat: fault.kind for seat, fault in faults.items()})
        for seat in faults:
            if seat in self._crew.players:
                self._crew.kill(seat)
                exchange.forget(seat)
        event = PlayersFaulted(turn, faults, after, asked.seconds, self._moved_logs() if logs is None else logs, asked.others)
        for listener in self.listeners:
            listener.faulted(event)
        return after

    def _moved_logs(self) -> dict[Seat, int]:
        """The stderr offsets that have moved since the last step."""
        moved = {}
        for seat, player in self._crew.players.items():
            total = player.log.total
            if total != self._logged[seat]:
                self._logged[seat] = moved[seat] = total
        return moved


__all__ = ["Entrant", "Match", "MatchVoid", "Options", "Result", "match_id", "seat_seed", "secret_of"]
