"""Asks the questions of a match and judges the answers: the first message of a player, and the answers of a step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from referee.games.dialect import DialectError
from referee.games.game import IllegalMove, MalformedMove
from referee.match import judgement
from referee.replay.answers import AnswerWarning, JudgedAnswer, Remark, TurnAnswers
from referee.replay.faults import CRASHED, MALFORMED, Fault
from referee.wire import decode, encode
from referee.wire.constants import DRAW_BYTES, MOST_SHAPES, SAY_LENGTH
from referee.wire.decode import answer_key

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from referee.games.dialect import Host
    from referee.games.game import Game, Notice, Seat
    from referee.match.options import TimeControl
    from referee.players.clock import Clock
    from referee.players.exchange import Exchange
    from referee.players.player import Reply, RunningPlayer
    from referee.wire.decode import Answer
#: Answers up to this many bytes are cached, so that the same answer in another turn needs no decoding.
_SHORT_ANSWER = 512
_MOST_REMEMBERED = 1_000
#: The most unknown keys that a warning names.
_MOST_KEYS = 5
#: The remark beside an answer that is a move alone.
_SILENT = Remark()


def ends_match(game: Game[Any, Any], state: Any) -> Callable[[Seat], bool]:
    """Return a function that says whether a player's departure in this position ends the match."""
    return lambda seat: game.outcome(game.fault(state, {seat: CRASHED})) is not None


def read_ready(player: RunningPlayer, host: Host | None, reply: Reply, time: TimeControl) -> str | Fault:
    """Return the player's own name, "" if it gives none, or the fault if it isn't ready."""
    if reply.failure is not None:
        early = reply.failure.line if reply.failure.reason == "early" and host is None else None
        if early is not None and isinstance(problem := decode.ready(line := early.partition(b"\n")[0]), decode.Problem):
            # Whether such a line comes before or after the question is a matter of luck; the reason is the line itself.
            return judgement.malformed(player.seat, problem, line)
        return judgement.not_ready(player, reply.failure, host, time)
    if reply.line is None:
        # Another player has left, which ends the match before its first step.
        return ""
    if host is not None:
        try:
            return host.take_name(reply.line)
        except DialectError as error:
            return judgement.refused_line(player.seat, error, player.log.shown(reply.line))
    line = player.log.shown(reply.line)
    name = decode.ready(line)
    return name if isinstance(name, str) else judgement.malformed(player.seat, name, line)


class MoveCollector:
    """Asks the players of one match for their moves and judges their answers.

    ``hosts`` communicate with some seats in a dialect. ``people`` are seats that use no processor time. With ``excuses`` a malformed
    answer is a pass with a warning, if the game has a pass. Seats are asked one after the other, unless all of them are people.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        clocks: Mapping[Seat, Clock],
        hosts: Mapping[Seat, Host],
        exchange: Exchange,
        *,
        people: frozenset[Seat],
        excuses: bool,
        remarks_bytes: int = 8 << 20,
    ) -> None:
        self._game = game
        self._clocks = clocks
        self._seats = tuple(clocks)
        self._hosts = hosts
        self._exchange = exchange
        self._people = people
        self._excuses = excuses
        self._remarks_bytes = remarks_bytes
        self._remarked = dict.fromkeys(clocks, 0)
        #: The moves of the answers that hold nothing but a move, by seat and by ``decode.answer_key`` of the line. Bots often repeat an
        #: answer that differs only in the turn, and decoding is the most expensive part of a quick step. The moves are parsed if the
        #: game's codec parses them in the same way in all positions, else they are JSON.
        self._known: dict[Seat, dict[bytes, Any]] = {seat: {} for seat in clocks}
        self._keeps_parsed: bool = getattr(game.codec, "parse_ignores_state", False)
        self._notices: dict[Seat, list[dict[str, str]]] = {seat: [] for seat in clocks}
        # Seats whose dialect has a question in every step.
        self._special = people.union(hosts)
        self._attentive = frozenset(seat for seat, host in hosts.items() if host.asks_always)
        self._move_limits = {seat: encode.limit(clock.control.move) for seat, clock in clocks.items()}

    def ask(self, turn: int, state: Any, movers: Sequence[Seat]) -> TurnAnswers:
        """Ask the movers, and the seats whose dialect has a question in every step; the answers of the latter are ignored if they aren't
        movers.

        If the departure of a person ends the match, the people who are still thinking pass.
        """
        seats = movers
        if self._attentive:
            seats = self._seats
            if len(self._attentive) < len(seats):
                seats = tuple(seat for seat in seats if seat in movers or seat in self._attentive)
        # If all are people, ask them at once: they don't use each other's processor time.
        if len(seats) > 1 and self._people.issuperset(seats):
            answers = self._ask_together(turn, state, seats)
        else:
            answers = self._ask_in_turn(turn, state, seats)
        for seat in self._attentive.difference(movers):
            if seat in answers:
                answers[seat] = answers[seat]._replace(move=None)
        return answers

    def departures(self, out: Container[Seat]) -> dict[Seat, Fault]:
        """Return the faults of people who have left without being asked. ``out`` are seats that have failed."""
        failures = {seat: self._exchange.farewell(seat) for seat in self._people if seat not in out}
        return {seat: judgement.fault(self._exchange.players[seat], failure) for seat, failure in failures.items() if failure is not None}

    def _kept(self, seat: Seat, remark: Remark) -> Remark | None:
        """Return what is kept of a remark. Remarks beyond a seat's budget are dropped: otherwise a replay could grow as fast as a bot can write."""
        spent = self._remarked[seat]
        if spent > self._remarks_bytes:
            return None
        self._remarked[seat] = spent = spent + len(json.dumps(remark.to_json()))
        if spent <= self._remarks_bytes:
            return remark
        warnings = (AnswerWarning.of("budget-spent", self._remarks_bytes),)
        self._warn(seat, warnings)
        return Remark(warnings=warnings)

    def tell(self, notices: Sequence[Notice]) -> None:
        """Store notices for the players' next questions, except for dialects that can't express them."""
        for notice in notices:
            if notice.seat is not None and notice.seat not in self._hosts:
                self._notices[notice.seat].append({"code": notice.code, "text": notice.text})

    def replace_notices(self, seat: Seat, notices: Sequence[Mapping[str, str]]) -> None:
        """Give a seat's next question these notices alone, as where the questions of a replay are asked again."""
        self._notices[seat] = [dict(notice) for notice in notices]

    def _ask_in_turn(self, turn: int, state: Any, movers: Sequence[Seat]) -> TurnAnswers:
        """Ask the movers one after the other, all about the same state.

        This method has a fast path for answers in the cache; all others go through ``_judge``.
        """
        codec, keeps_parsed, exchange = self._game.codec, self._keeps_parsed, self._exchange
        answers: TurnAnswers = {}
        for seat in movers:
            clock = self._clocks[seat]
            if seat in self._special:
                if seat in self._people:
                    answers |= self._ask_together(turn, state, (seat,))
                    continue
                question = self._hosts[seat].question(turn, state, clock.bank)
                answers[seat] = self._judge(seat, turn, state, exchange.ask(seat, question, clock))
                continue
            view, notices = codec.view_text(state, seat), self._notices[seat]
            if notices:
                self._notices[seat] = []
            question = encode.turn(turn, view, notices, self._move_limits[seat], clock.bank)
            reply = exchange.ask(seat, question, clock)
            line, seconds, _, is_rescued, other = reply
            if line is not None and not is_rescued:
                move = self._known[seat].get(answer_key(line, turn))
                if move is not None:
                    try:
                        if not keeps_parsed:
                            move = codec.parse(state, seat, move)
                    except (MalformedMove, IllegalMove):
                        pass
                    else:
                        answers[seat] = JudgedAnswer(move, seconds, other, None, None, b"")
                        clock.spend(seconds, other)
                        continue
            answers[seat] = self._judge(seat, turn, state, reply)
        return answers

    def _ask_together(self, turn: int, state: Any, movers: Sequence[Seat]) -> TurnAnswers:
        questions = {}
        for seat in movers:
            clock = self._clocks[seat]
            if seat in self._hosts:
                question = self._hosts[seat].question(turn, state, clock.bank)
            else:
                question = self._question(seat, turn, self._game.codec.view_text(state, seat), clock)
            questions[seat] = (question, clock)
        replies = self._exchange.ask_all(questions, ends_match(self._game, state))
        return {seat: self._judge(seat, turn, state, reply) for seat, reply in replies.items()}

    def _question(self, seat: Seat, turn: int, view: str, clock: Clock) -> bytes:
        notices = self._notices[seat]
        if notices:
            self._notices[seat] = []
        return encode.turn(turn, view, notices, self._move_limits[seat], clock.bank)

    def _judge(self, seat: Seat, turn: int, state: Any, reply: Reply) -> JudgedAnswer:
        """Judge one reply, and bill its time."""
        line, seconds, failure, is_rescued, other = reply
        clock, player = self._clocks[seat], self._exchange.players[seat]
        move, remark, fault = None, _SILENT, None
        if line is not None:
            line = player.log.shown(line)
            understand = self._understand_dialect if seat in self._hosts else self._understand
            move, remark, fault = understand(seat, turn, state, line)
        elif failure is not None:
            fault = judgement.unanswered(player, failure, clock)
        if fault is not None and (passed := self._pass(seat, state, fault)) is not None:
            remark = remark._replace(warnings=(*remark.warnings, AnswerWarning.of("passed", fault.text)))
            move, fault = passed, None
        if remark.warnings:
            self._warn(seat, remark.warnings)
        if is_rescued:
            remark = remark._replace(is_rescued=True)
        kept = None if remark is _SILENT else self._kept(seat, remark)
        clock.spend(seconds, other)
        return JudgedAnswer(move, seconds, other, kept, fault, b"" if fault is None or line is None else line)

    def _understand(self, seat: Seat, turn: int, state: Any, line: bytes) -> tuple[Any, Remark, Fault | None]:
        """Return the move of an answer, the remark beside it, and its fault."""
        answer = decode.move(line, turn)
        if isinstance(answer, decode.Problem):
            return None, _SILENT, judgement.malformed(seat, answer, line, turn)
        move, fault, codec = None, None, self._game.codec
        unknown = tuple(codec.unknown_keys(state, seat, answer.move))
        try:
            move = codec.parse(state, seat, answer.move)
        except (MalformedMove, IllegalMove) as error:
            fault = judgement.refused_move(seat, error, line, turn)
        if answer.say is not None or answer.draw is not None or unknown:
            return move, _remark(answer, unknown), fault
        if fault is None:
            self._keep(seat, turn, line, move if self._keeps_parsed else answer.move)
        return move, _SILENT, fault

    def _understand_dialect(self, seat: Seat, turn: int, state: Any, line: bytes) -> tuple[Any, Remark, Fault | None]:
        """Return the move of a player with a dialect, the remark beside it, and its fault."""
        try:
            heard = self._hosts[seat].answer(turn, state, line)
        except DialectError as error:
            return None, _SILENT, judgement.refused_line(seat, error, line, turn)
        return heard.move, Remark(warnings=(AnswerWarning.of("dialect", heard.warning),)) if heard.warning else _SILENT, None

    def _warn(self, seat: Seat, warnings: Sequence[AnswerWarning]) -> None:
        """Store warnings for the player's next question, except for dialects, which can't express them."""
        if seat not in self._hosts:
            self._notices[seat] += [{"code": warning.notice_code, "text": warning.text} for warning in warnings]

    def _pass(self, seat: Seat, state: Any, fault: Fault) -> Any:
        """Return the pass that replaces a malformed answer; None if such an answer isn't excused or the game has no pass."""
        if fault.kind != MALFORMED or not self._excuses:
            return None
        try:
            return self._game.codec.parse(state, seat, {})
        except (MalformedMove, IllegalMove):
            return None

    def _keep(self, seat: Seat, turn: int, line: bytes, move: Any) -> None:
        """Cache the move of an answer.

        The cache key is the line without the turn's number. This is safe because the digits of one number can't change the meaning of the
        rest. Lines with escapes or with more than one "turn" are never cached.
        """
        key = answer_key(line, turn)
        if key and len(line) <= _SHORT_ANSWER and b"\\" not in line and line.count(b'"turn"') == 1:
            moves = self._known[seat]
            if len(moves) >= _MOST_REMEMBERED:
                moves.clear()
            moves[key] = move


def _remark(answer: Answer, unknown: tuple[str, ...]) -> Remark:
    """Return the remark of an answer for spectators, with a warning about each part that is ignored."""
    say, draw, warnings = answer.say, answer.draw, []
    if say is not None and len(say) > SAY_LENGTH:
        say = say[:SAY_LENGTH]
        warnings.append(AnswerWarning.of("say-cut"))
    if draw is not None and (len(draw) > MOST_SHAPES or len(json.dumps(draw)) > DRAW_BYTES):
        warnings.append(AnswerWarning.of("draw-dropped", len(draw)))
        draw = None
    if unknown:
        warnings.append(AnswerWarning.of("unknown-keys", *unknown[:_MOST_KEYS]))
    return Remark(say, draw, tuple(warnings))
