"""People in the match loop: the same questions, the same replay, and what it means when they leave."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest
from sandboxes import UNHURRIED, match_between

from referee import games
from referee.errors import MatchVoid
from referee.games.evasion.dialects.architect import ArchitectHost
from referee.match.options import TimeControl
from referee.players.names import resolve
from referee.players.player import Connection, Player
from referee.replay.events import Listener, Saves
from referee.replay.reader import verify
from referee.replay.writer import ReplayWriter
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.replay.events import MatchResult

UNTIMED = TimeControl(startup=None, move=None, bank=None)


class Person:
    """Somebody at the other end of the pipes, in a thread. ``answer`` gives a move for a question; None: leaves with ``words``; "silence": says nothing."""

    def __init__(self, answer: Callable[[dict[str, Any]], dict[str, Any] | str | None], words: bytes = b"gave up\n") -> None:
        questions, answers, last = os.pipe(), os.pipe(), os.pipe()
        self.connection = Connection("human", questions[1], answers[0], last[0], about={"program": "human"})
        self._questions = questions[0]
        self._ends = [answers[1], last[1]]
        self._lock = threading.Lock()
        self.asked: list[dict[str, Any]] = []
        self._answer = answer
        self._words = words
        self._thread = threading.Thread(target=self._live)
        self._thread.start()

    def _live(self) -> None:
        with os.fdopen(self._questions, "rb") as lines:
            for line in lines:
                message = json.loads(line)
                self.asked.append(message)
                reply = None if message["type"] == "end" else self._reply(message)
                if reply is None:
                    break
                if reply != "silence" and not self._say(json.dumps(reply).encode() + b"\n"):
                    break
        self.leave()

    def _reply(self, message: dict[str, Any]) -> dict[str, Any] | str | None:
        """Return the line for a message, None to leave instead, "silence" for no line."""
        if message["type"] == "start":
            return {"type": "ready", "protocol": 1, "name": "Ada"}
        move = self._answer(message)
        return move if move is None or move == "silence" else {"type": "move", "turn": message["turn"], "move": move}

    def _say(self, line: bytes) -> bool:
        """Write an answer; False if this person has left, or if the match is over and has closed the pipe."""
        with self._lock:
            try:
                return bool(self._ends) and os.write(self._ends[0], line) > 0
            except BrokenPipeError:
                return False

    def leave(self) -> None:
        """Leave with the last words, from any thread, once. Nobody writes to a closed descriptor: the lock guards both ends."""
        with self._lock:
            if not self._ends:
                return
            answers, last = self._ends
            self._ends = []
            # A match that is over has closed the other end.
            with contextlib.suppress(BrokenPipeError):
                os.write(last, self._words)
            os.close(last)
            os.close(answers)

    def join(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()


class Impatient(Listener):
    """Wants every step to be written at once, as the pages of a person do."""

    saves = Saves(steps=1)


def play(
    players: dict[str, Person | str], path: Path | None = None, /, *, time: TimeControl = UNTIMED, name: str = "evasion", **settings: Any
) -> MatchResult:
    game = games.get(name)
    lineup: dict[str, Player] = {}
    for seat, player in players.items():
        if isinstance(player, Person):
            lineup[seat] = player.connection
        else:
            lineup[seat] = resolve(player, seat, name)
    listeners = [] if path is None else [ReplayWriter(path, [Impatient()])]
    times = {seat: time for seat, player in players.items() if isinstance(player, Person)}
    checked = game.codec.settings(game.info.rule_sets[0], settings)
    match = match_between(game, checked, lineup, UNHURRIED, seed=1, listeners=listeners, times=times)
    try:
        return match.run()
    finally:
        for player in players.values():
            if isinstance(player, Person):
                player.join()


def test_a_person_plays_a_program(tmp_path: Path) -> None:
    person = Person(lambda question: {"go": [1, 0]} if question["turn"] == 1 else {})
    result = play({"hunter": "straight", "prey": person}, tmp_path / "r.gz", max_steps=41)
    assert result.outcome.reason == "evaded"
    assert result.names["prey"] == "Ada"
    assert [message["turn"] for message in person.asked if message["type"] == "turn"] == list(range(1, 41, 2))
    assert person.asked[0]["clock"]["move"] is None
    assert person.asked[-1]["type"] == "end"
    assert result.head["clock"]["move"] == UNHURRIED.time.move
    assert verify(tmp_path / "r.gz").problem is None


def test_two_people_play_each_other_and_are_asked_at_once() -> None:
    # Each answers only when the other has been asked too, so one after the other would never end.
    both = threading.Barrier(2)

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        if question["state"]["prey_moves"]:
            both.wait(60)
        return {}

    hunter, prey = Person(answer), Person(answer)
    result = play({"hunter": hunter, "prey": prey}, max_steps=21)
    assert result.outcome.reason == "evaded"


@pytest.mark.parametrize(("seat", "reason", "winner"), [("hunter", "hunter-fault", "prey"), ("prey", "prey-fault", "hunter")])
def test_who_leaves_forfeits(seat: str, reason: str, winner: str) -> None:
    person = Person(lambda question: {} if question["turn"] < 7 else None)
    players: dict[str, Person | str] = {"hunter": "straight", "prey": "still"}
    result = play({**players, seat: person})
    assert (result.outcome.reason, result.outcome.winner) == (reason, winner)
    assert result.failures[seat].text == f"The {seat} (Ada) gave up."
    assert (result.failures[seat].kind, result.failures[seat].cause) == ("crashed", "left")


def test_who_leaves_at_the_first_question_forfeits() -> None:
    result = play({"hunter": Person(lambda _: None), "prey": Person(lambda _: {})})
    assert (result.steps, result.outcome.winner) == (0, "prey")


def test_a_connection_that_breaks_is_nobodys_fault() -> None:
    person = Person(lambda question: {} if question["turn"] < 4 else None, words=b"")
    with pytest.raises(MatchVoid, match="connection to the prey"):
        play({"hunter": "straight", "prey": person})


def test_a_person_may_have_a_clock() -> None:
    person = Person(lambda question: {} if question["turn"] < 3 else "silence")
    result = play({"hunter": "straight", "prey": person}, time=TimeControl(startup=None, move=0.2, bank=None))
    assert result.outcome.reason == "prey-timeout"


def test_rubbish_of_a_person_is_malformed_like_that_of_a_program() -> None:
    person = Person(lambda question: {"go": "north"} if question["turn"] == 5 else {})
    result = play({"hunter": "straight", "prey": person})
    assert result.failures["prey"].kind == "malformed"


def test_who_gives_up_is_not_waited_for_by_way_of_the_other() -> None:
    # The hunter has moved and leaves while the prey is still thinking, which never ends.
    asked = threading.Event()

    def hunts(question: dict[str, Any]) -> dict[str, Any] | None:
        return {}

    def flees(question: dict[str, Any]) -> str:
        asked.set()
        return "silence"

    hunter, prey = Person(hunts), Person(flees)

    def leave() -> None:
        asked.wait(60)
        hunter.leave()

    leaving = threading.Thread(target=leave)
    leaving.start()
    result = play({"hunter": hunter, "prey": prey})
    leaving.join()
    assert (result.outcome.reason, result.steps) == ("hunter-fault", 1)
    assert result.faults.keys() == {"hunter"}


def test_who_leaves_in_the_turn_of_another_person_ends_that_question() -> None:
    asked = threading.Event()

    def thinks(question: dict[str, Any]) -> str:
        asked.set()
        return "silence"

    thief, policeman = Person(thinks), Person(lambda _: {})

    def leave() -> None:
        asked.wait(60)
        policeman.leave()

    leaving = threading.Thread(target=leave)
    leaving.start()
    result = play({"thief": thief, "policeman": policeman}, name="maze")
    leaving.join()
    assert result.faults.keys() == {"policeman"}
    assert (result.outcome.winner, result.steps) == ("thief", 0)


def test_in_a_game_that_goes_on_nobodys_question_is_taken_away(tmp_path: Path) -> None:
    # The first leaves at once; the others choose their cells, and later their orders, only after that.
    gone = threading.Event()

    def leaves(question: dict[str, Any]) -> None:
        gone.set()

    def stays(column: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def answer(question: dict[str, Any]) -> dict[str, Any]:
            assert gone.wait(60)
            return {"place": [[3, column], [4, column]]} if question["turn"] == 0 else {"orders": "NN"}

        return answer

    players: dict[str, Person | str] = {"a": Person(leaves), "b": Person(stays(2)), "c": Person(stays(7))}
    result = play(players, tmp_path / "r.gz", name="rectangle", players=3, cap=2)
    assert result.faults.keys() == {"a"}
    assert result.failures["a"].text == "Player a (Ada) gave up."
    assert result.steps == 3
    assert [result.state.robots[at] for at in (1, 2)] == [((1, 2), (2, 2)), ((1, 7), (2, 7))]
    assert verify(tmp_path / "r.gz").problem is None


@pytest.mark.parametrize("name", ["evasion", "rectangle"])
def test_who_leaves_before_the_match_begins(name: str) -> None:
    class Guest(Person):
        """Leaves instead of saying that it is ready."""

        def _reply(self, message: dict[str, Any]) -> None:
            return None

    seats = games.get(name).seats(games.get(name).codec.settings(None, {}))
    first, second = Guest(lambda _: None), Person(lambda _: {})
    settings: dict[str, Any] = {"cap": 1} if name == "rectangle" else {}
    result = play({seats[0]: first, seats[1]: second}, name=name, **settings)
    assert result.failures[seats[0]].text == f"{the_seat(seats[0])} (human) gave up."
    assert not result.started


@pytest.mark.parametrize("is_known", [False, True])
def test_a_client_of_the_architect_can_read_its_role_and_the_last_line_alone(is_known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between such lines the referee pauses. Whatever was sent is read in the pauses and at the end, as by a client that reads at once."""
    pairs = {seat: socket.socketpair() for seat in ("hunter", "prey")}
    heard: dict[str, list[bytes]] = {seat: [] for seat in pairs}

    def read(seconds: float = 0.016) -> None:
        assert seconds == 0.016
        for seat, (_, theirs) in pairs.items():
            with contextlib.suppress(BlockingIOError):
                heard[seat].append(theirs.recv(65_536, socket.MSG_DONTWAIT))

    monkeypatch.setattr("referee.match.asking.sleep", read)
    lineup: dict[str, Player] = {}
    for seat, (ours, theirs) in pairs.items():
        # All answers are there before the questions, so nobody waits.
        theirs.sendall(b"" if is_known else b"team\n")
        theirs.sendall(b"".join(b"0 %d 0%s\n" % (tick, b" 0" * (seat == "prey")) for tick in range(2)))
        ours.setblocking(False)
        stdin, stdout = os.dup(ours.fileno()), os.dup(ours.fileno())
        lineup[seat] = Connection(seat, stdin, stdout, host=ArchitectHost(seat, is_known=is_known))
    game = games.get("evasion")
    result = match_between(
        game, game.codec.settings("diagonal", {"max_steps": 2}), lineup, UNHURRIED, seed=1, times=dict.fromkeys(lineup, UNTIMED)
    ).run()
    read()
    assert result.steps == 2
    assert not result.faults
    for seat, (ours, theirs) in pairs.items():
        role, states, *last = heard[seat]
        assert role == (b"" if is_known else b"sendname\n") + seat.encode() + b"\n"
        assert len(states.splitlines()) == 2
        assert last == ([] if is_known else [b"done\n"])
        ours.close()
        theirs.close()
