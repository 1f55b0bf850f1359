"""Asks the players of a match or of a recording: the ``start`` messages, then one question after another."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING, Any

from referee.errors import StartError
from referee.match.judge import Judge, fault
from referee.players.player import GRACE
from referee.replay.faults import CRASHED, Fault
from referee.support.escape import escape, is_blank
from referee.wire import encode
from referee.wire.constants import NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from referee.games.dialect import Host
    from referee.games.game import Game, Notice, Seat
    from referee.players.clock import Clock
    from referee.players.exchange import Exchange
    from referee.replay.answers import AnswerWarning, TurnAnswers


class Asker:
    """Asks players and has their answers judged: decides who is asked, in which order and with which notices.

    ``clocks`` are those of the players. ``hosts`` communicate with some of them in a dialect. ``people`` are seats that use no processor time.
    Seats are asked one after the other, unless all of them are people. ``excuses`` and ``remarks_bytes`` are as for the ``Judge``.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        clocks: Mapping[Seat, Clock],
        hosts: Mapping[Seat, Host],
        exchange: Exchange,
        *,
        people: frozenset[Seat] = frozenset(),
        excuses: bool,
        remarks_bytes: int,
    ) -> None:
        self._game = game
        self._clocks = clocks
        self._hosts = hosts
        self._exchange = exchange
        self._people = people
        self._judge = Judge(game, clocks, hosts, self._warn, excuses=excuses, remarks_bytes=remarks_bytes)
        self._notices: dict[Seat, list[dict[str, str]]] = {seat: [] for seat in clocks}
        # Seats whose dialect has a question in every step.
        self._special = people.union(hosts)
        self._attentive = frozenset(seat for seat, host in hosts.items() if host.asks_always)
        self._move_limits = {seat: encode.limit(clock.control.move) for seat, clock in clocks.items()}

    def greet(
        self, state: Any, questions: Mapping[Seat, tuple[bytes, Clock]], notices: Mapping[Seat, Sequence[Mapping[str, str]]]
    ) -> dict[Seat, str | Fault]:
        """Bring the players to the position in which they begin: send ``start`` and read ``ready``, or the equivalent in a dialect.

        ``questions`` are the start messages by seat, with clocks whose start-up limits count; ``notices`` go with the first questions. Return
        the name that each player gives itself, safe to show, "" without one, or its fault. Raises StartError if the system refused to start a
        program.
        """
        hosts, exchange = self._hosts, self._exchange
        for seat, texts in notices.items():
            self.replace_notices(seat, texts)
        lines = {seat: (hosts[seat].on_connect if seat in hosts else line, clock) for seat, (line, clock) in questions.items()}
        waiting = {seat: line for seat, line in lines.items() if seat not in hosts or hosts[seat].awaits_name}
        greetings: dict[Seat, str | Fault] = dict.fromkeys(lines, "")
        for seat, reply in exchange.ask_all(waiting, lambda seat: self._ends_match(seat, state), is_start=True).items():
            if reply.failure is not None:
                self._raise_refusal(seat)
            player = exchange.players[seat]
            greeting = self._judge.ready(player, reply, lines[seat][1].control)
            if isinstance(greeting, str):
                greeting = "" if is_blank(greeting) else escape(greeting[:NAME_LENGTH], 4 * NAME_LENGTH)[:NAME_LENGTH]
                if greeting:
                    player.introduce(greeting)
            greetings[seat] = greeting
        for seat, greeting in greetings.items():
            if seat in hosts and not isinstance(greeting, Fault):
                exchange.tell(seat, hosts[seat].opening(state))
        self._pause()
        return greetings

    def ask(self, turn: int, state: Any, movers: Sequence[Seat]) -> TurnAnswers:
        """Ask the movers about the same state, and the seats whose dialect has a question in every step; the answers of the latter are
        ignored if they aren't movers.

        If the departure of a person ends the match, the people who are still thinking pass.
        """
        if self._special:
            return self._ask_special(turn, state, movers)
        answers: TurnAnswers = {}
        exchange, judge, view_text = self._exchange, self._judge, self._game.codec.view_text
        for seat in movers:
            clock, notices = self._clocks[seat], self._notices[seat]
            if notices:
                self._notices[seat] = []
            question = encode.turn(turn, view_text(state, seat), notices, self._move_limits[seat], clock.bank)
            answers[seat] = judge.answer(exchange.players[seat], turn, state, exchange.ask(seat, question, clock))
        return answers

    def _ask_special(self, turn: int, state: Any, movers: Sequence[Seat]) -> TurnAnswers:
        """Ask players of which some are people or use a dialect."""
        seats = movers
        if self._attentive:
            seats = tuple(seat for seat in self._clocks if seat in movers or seat in self._attentive)
        # If all are people, ask them at once: they don't use each other's processor time.
        if len(seats) > 1 and self._people.issuperset(seats):
            answers = self._ask_together(turn, state, seats)
        else:
            answers = {}
            for seat in seats:
                if seat in self._people:
                    answers |= self._ask_together(turn, state, (seat,))
                else:
                    reply = self._exchange.ask(seat, self._question(seat, turn, state), self._clocks[seat])
                    answers[seat] = self._judge.answer(self._exchange.players[seat], turn, state, reply)
        for seat in self._attentive.difference(movers):
            answers[seat] = answers[seat]._replace(move=None)
        return answers

    def _ask_together(self, turn: int, state: Any, movers: Sequence[Seat]) -> TurnAnswers:
        questions = {seat: (self._question(seat, turn, state), self._clocks[seat]) for seat in movers}
        replies = self._exchange.ask_all(questions, lambda seat: self._ends_match(seat, state))
        return {seat: self._judge.answer(self._exchange.players[seat], turn, state, reply) for seat, reply in replies.items()}

    def _question(self, seat: Seat, turn: int, state: Any) -> bytes:
        clock, notices = self._clocks[seat], self._notices[seat]
        if seat in self._hosts:
            return self._hosts[seat].question(turn, state, clock.bank)
        if notices:
            self._notices[seat] = []
        return encode.turn(turn, self._game.codec.view_text(state, seat), notices, self._move_limits[seat], clock.bank)

    def _ends_match(self, seat: Seat, state: Any) -> bool:
        """Return whether a player's departure in this position ends the match."""
        return self._game.outcome(self._game.fault(state, {seat: CRASHED})) is not None

    def departures(self, out: Container[Seat]) -> dict[Seat, Fault]:
        """Return the faults of people who have left without being asked. ``out`` are seats that have failed."""
        failures = {seat: self._exchange.farewell(seat) for seat in self._people if seat not in out}
        return {seat: fault(self._exchange.players[seat], failure) for seat, failure in failures.items() if failure is not None}

    def tell(self, notices: Sequence[Notice]) -> None:
        """Store notices for the players' next questions, except for dialects that can't express them."""
        for notice in notices:
            if notice.seat is not None and notice.seat not in self._hosts:
                self._notices[notice.seat].append({"code": notice.code, "text": notice.text})

    def _warn(self, seat: Seat, warnings: Sequence[AnswerWarning]) -> None:
        """Store warnings for the player's next question, except for dialects, which can't express them."""
        if seat not in self._hosts:
            self._notices[seat] += [{"code": warning.notice_code, "text": warning.text} for warning in warnings]

    def replace_notices(self, seat: Seat, notices: Sequence[Mapping[str, str]]) -> None:
        """Give a seat's next question only these notices: repeated questions have those of the replay."""
        self._notices[seat] = [dict(notice) for notice in notices]

    def dismiss(self, lines: Mapping[Seat, bytes], grace: float = GRACE) -> None:
        """Send players their last messages, and give programs ``grace`` seconds to exit."""
        self._pause()
        self._exchange.dismiss(lines, grace)

    def _pause(self) -> None:
        """Give players time to read the last line, if their dialect needs it."""
        sleep(max((host.pause for host in self._hosts.values()), default=0.0))

    def _raise_refusal(self, seat: Seat) -> None:
        """Raise StartError if the system refused to start the program of a seat."""
        process = self._exchange.processes.get(seat)
        refusal = None if process is None else process.start_refusal()
        if process is not None and refusal is not None:
            inside = "; in the sandbox a program sees only its own files and those of the system" if process.is_sandbox else ""
            raise StartError(f"{refusal}{inside}.", seat, is_doubtful=True)
