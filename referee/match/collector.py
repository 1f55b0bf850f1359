"""Asks the questions of a match and evaluates the answers: the first message of a player, and the moves, times, remarks and faults of a step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.dialects.dialect import DialectError
from referee.games.game import IllegalMove, MalformedMove
from referee.isolation.limits import size_text
from referee.match import sentences
from referee.players.faults import CRASHED, MALFORMED, Fault
from referee.support.escape import escape
from referee.wire import decode, encode
from referee.wire.constants import DRAW_BYTES, MOST_SHAPES, SAY_LENGTH
from referee.wire.decode import answer_key

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from referee.dialects.dialect import Host
    from referee.games.game import Game, Json, Notice, Seat
    from referee.match.clock import Clock
    from referee.match.options import TimeControl
    from referee.players.io import PlayerIO, Questions
    from referee.players.player import Player, Reply
    from referee.wire.decode import Answer


class TurnAnswers(NamedTuple):
    """The results of asking the movers of one step, by seat."""

    moves: dict[Seat, Any]
    seconds: dict[Seat, float]
    others: dict[Seat, float]
    remarks: dict[Seat, dict[str, Json]]
    faults: dict[Seat, Fault]


_new = tuple.__new__
#: Answers up to this many bytes are cached, so that the same answer in another turn needs no decoding.
_SHORT_ANSWER = 512
_MOST_REMEMBERED = 1_000


def ask_together(
    player_io: PlayerIO, questions: Questions, game: Game[Any, Any], state: Any, *, is_start: bool = False
) -> dict[Seat, Reply]:
    """Ask several players at once. If a player's departure ends the match, every person who has not answered passes."""
    replies = player_io.ask_together(questions, is_start=is_start)
    while len(replies) < len(questions):
        is_over = any(game.outcome(game.fault(state, {seat: CRASHED})) is not None for seat in player_io.departed)
        replies |= player_io.resume(is_over=is_over)
    return {seat: replies[seat] for seat in questions}


def read_ready(player: Player, host: Host | None, reply: Reply, time: TimeControl) -> str | Fault:
    """Return the player's own name, "" if it gives none, or the fault if it isn't ready."""
    if reply.failure is not None:
        early = reply.failure.line if reply.failure.reason == "early" and host is None else None
        if early is not None and isinstance(problem := decode.ready(line := early.partition(b"\n")[0]), decode.Problem):
            # Whether such a line comes before or after the question is a matter of luck; the reason is the line itself.
            return sentences.malformed(player.seat, problem, line)
        return sentences.not_ready(player, reply.failure, host, time)
    if reply.line is None:
        # Another player has left, which ends the match before its first step.
        return ""
    if host is not None:
        try:
            return host.take_name(reply.line)
        except DialectError as error:
            return sentences.refused_line(player.seat, error, player.log.shown(reply.line))
    line = player.log.shown(reply.line)
    name = decode.ready(line)
    return name if isinstance(name, str) else sentences.malformed(player.seat, name, line)


class MoveCollector:
    """Asks the players of one match for their moves and judges their answers.

    ``hosts`` communicate with some seats in a dialect. ``people`` are seats that use no processor time. With ``excuses`` a malformed
    answer is a pass with a warning, if the game has a pass. With ``together`` all seats are asked at once, else one after the other.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        clocks: Mapping[Seat, Clock],
        hosts: Mapping[Seat, Host],
        player_io: PlayerIO,
        *,
        people: frozenset[Seat],
        together: bool,
        excuses: bool,
        remarks_bytes: int = 8 << 20,
    ) -> None:
        self._game = game
        self._clocks = clocks
        self._seats = tuple(clocks)
        self._hosts = hosts
        self._player_io = player_io
        self._people = people
        self._together = together
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

    def ask(self, turn: int, state: Any, movers: Sequence[Seat], out: Container[Seat]) -> TurnAnswers:
        """Ask the movers, and the seats whose dialect has a question in every step; the answers of the latter are ignored if they aren't
        movers.

        ``out`` are seats that have failed. A person who leaves without being asked forfeits in this step. If that ends the match, the
        people who are still thinking pass.
        """
        asked: TurnAnswers = _new(TurnAnswers, ({}, {}, {}, {}, {}))
        seats = movers
        if self._attentive:
            seats = self._seats
            if len(self._attentive) < len(seats):
                seats = tuple(seat for seat in seats if seat in movers or seat in self._attentive)
        # If all are people, ask them at once: they don't use each other's processor time.
        if len(seats) > 1 and (self._together or self._people.issuperset(seats)):
            self._ask_together(turn, state, seats, asked)
        else:
            self._ask_in_turn(turn, state, seats, asked)
        for seat in self._attentive.difference(movers):
            asked.moves.pop(seat, None)
        if asked.remarks:
            self._keep_to_budget(asked.remarks)
        for seat in self._people:
            if seat not in out and seat not in asked.faults and (failure := self._player_io.farewell(seat)) is not None:
                asked.faults[seat] = sentences.fault(self._player_io.players[seat], failure)
        return asked

    def _keep_to_budget(self, remarks: dict[Seat, dict[str, Json]]) -> None:
        """Drop remarks beyond a seat's budget: otherwise a replay could grow as fast as a bot can write."""
        for seat in list(remarks):
            spent = self._remarked[seat]
            if spent > self._remarks_bytes:
                del remarks[seat]
                continue
            self._remarked[seat] = spent = spent + len(json.dumps(remarks[seat]))
            if spent > self._remarks_bytes:
                text = (
                    f"say, draw and warnings are no longer kept in the replay: their budget of {size_text(self._remarks_bytes)} is used up"
                )
                remarks[seat] = {"warnings": [text]}
                self._notices[seat].append({"code": "ignored", "text": text})

    def tell(self, notices: Sequence[Notice]) -> None:
        """Store notices for the players' next questions, except for dialects that can't express them."""
        for notice in notices:
            if notice.seat is not None and notice.seat not in self._hosts:
                self._notices[notice.seat].append({"code": notice.code, "text": notice.text})

    def replace_notices(self, seat: Seat, notices: Sequence[Mapping[str, str]]) -> None:
        """Give a seat's next question these notices alone, as where the questions of a replay are asked again."""
        self._notices[seat] = [dict(notice) for notice in notices]

    def _ask_in_turn(self, turn: int, state: Any, movers: Sequence[Seat], asked: TurnAnswers) -> None:
        """Ask the movers one after the other, all about the same state.

        This method has a fast path for answers in the cache; all others go through ``_take``.
        """
        codec, keeps_parsed, player_io = self._game.codec, self._keeps_parsed, self._player_io
        for seat in movers:
            clock = self._clocks[seat]
            if seat in self._special:
                if seat in self._people:
                    self._ask_together(turn, state, (seat,), asked)
                    continue
                question = self._hosts[seat].question(turn, state, clock.bank)
                self._take(seat, turn, state, self._player_io.ask(seat, question, clock.limit, clock.guard), asked)
                continue
            view, notices = codec.view_text(state, seat), self._notices[seat]
            if notices:
                self._notices[seat] = []
            question = encode.turn(turn, view, notices, self._move_limits[seat], clock.bank)
            reply = player_io.ask(seat, question, clock.limit, clock.guard)
            line, seconds, _, rescued, other = reply
            if line is not None and not rescued:
                move = self._known[seat].get(answer_key(line, turn))
                if move is not None:
                    try:
                        asked.moves[seat] = move if keeps_parsed else codec.parse(state, seat, move)
                    except (MalformedMove, IllegalMove):
                        pass
                    else:
                        asked.seconds[seat] = seconds
                        asked.others[seat] = other
                        clock.spend(seconds, other)
                        continue
            self._take(seat, turn, state, reply, asked)

    def _ask_together(self, turn: int, state: Any, movers: Sequence[Seat], asked: TurnAnswers) -> None:
        questions = {}
        for seat in movers:
            clock = self._clocks[seat]
            if seat in self._hosts:
                question = self._hosts[seat].question(turn, state, clock.bank)
            else:
                question = self._question(seat, turn, self._game.codec.view_text(state, seat), clock)
            questions[seat] = (question, clock.limit, clock.guard)
        for seat, reply in ask_together(self._player_io, questions, self._game, state).items():
            self._take(seat, turn, state, reply, asked)

    def _question(self, seat: Seat, turn: int, view: str, clock: Clock) -> bytes:
        notices = self._notices[seat]
        if notices:
            self._notices[seat] = []
        return encode.turn(turn, view, notices, self._move_limits[seat], clock.bank)

    def _take(self, seat: Seat, turn: int, state: Any, reply: Reply, asked: TurnAnswers) -> None:
        """Judge one reply: bill its time, and store its move or its fault."""
        line, seconds, failure, rescued, other = reply
        asked.seconds[seat] = seconds
        asked.others[seat] = other
        if rescued:
            asked.remarks[seat] = {"rescued": True}
        fault, clock = None, self._clocks[seat]
        if line is not None:
            understand = self._understand_dialect if seat in self._hosts else self._understand
            fault = understand(seat, turn, state, self._player_io.players[seat].log.shown(line), asked)
        elif failure is not None:
            fault = sentences.unanswered(self._player_io.players[seat], failure, clock)
        if fault is not None and (fault := self._excused(seat, state, fault, asked)) is not None:
            asked.faults[seat] = fault
        clock.spend(seconds, other)

    def _understand(self, seat: Seat, turn: int, state: Any, line: bytes, asked: TurnAnswers) -> Fault | None:
        """Store the move of an answer, or return its fault."""
        answer = decode.move(line, turn)
        if isinstance(answer, decode.Problem):
            return sentences.malformed(seat, answer, line, turn)
        fault, codec = None, self._game.codec
        unknown = tuple(codec.unknown_keys(state, seat, answer.move))
        try:
            asked.moves[seat] = codec.parse(state, seat, answer.move)
        except (MalformedMove, IllegalMove) as error:
            fault = sentences.refused_move(seat, error, line, turn)
        if answer.say is not None or answer.draw is not None or unknown:
            self._remark(seat, answer, unknown, asked.remarks)
        elif fault is None:
            self._keep(seat, turn, line, asked.moves[seat] if self._keeps_parsed else answer.move)
        return fault

    def _understand_dialect(self, seat: Seat, turn: int, state: Any, line: bytes, asked: TurnAnswers) -> Fault | None:
        """Store the move of a player with a dialect, or return its fault."""
        try:
            heard = self._hosts[seat].answer(turn, state, line)
        except DialectError as error:
            return sentences.refused_line(seat, error, line, turn)
        asked.moves[seat] = heard.move
        if heard.warning:
            asked.remarks.setdefault(seat, {})["warnings"] = [escape(heard.warning, 200)]
        return None

    def _remark(self, seat: Seat, answer: Answer, unknown: tuple[str, ...], remarks: dict[Seat, dict[str, Json]]) -> None:
        """Store the remarks for spectators, and warn the bot about ignored parts of its answer."""
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
        if unknown:
            warnings.append(f"unknown key in the answer, ignored: {', '.join(escape(key, 60) for key in unknown[:5])}")
        self._warn(seat, "ignored", warnings, remark)

    def _warn(self, seat: Seat, code: str, warnings: list[str], remark: dict[str, Json]) -> None:
        if warnings:
            remark["warnings"] = [*remark.get("warnings", ()), *warnings]
            self._notices[seat] += [{"code": code, "text": text} for text in warnings]

    def _excused(self, seat: Seat, state: Any, fault: Fault, asked: TurnAnswers) -> Fault | None:
        """Return the fault. If malformed answers are excused and the game has a pass, return None and store a pass with a warning."""
        if fault.kind != MALFORMED or not self._excuses:
            return fault
        try:
            asked.moves[seat] = self._game.codec.parse(state, seat, {})
        except (MalformedMove, IllegalMove):
            return fault
        self._warn(seat, "malformed", [fault.text + sentences.AS_A_PASS], asked.remarks.setdefault(seat, {}))
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
