"""Finds the position of a replay at which another match begins, and the programs that played in it."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import PlayerError, ReplayError, UsageError
from referee.match.beginning import Beginning
from referee.match.options import CPU, FAIR, MatchOptions, RunOptions, declared
from referee.players.spec import HUMAN, PORT, resolve
from referee.replay.answers import JudgedAnswer
from referee.replay.events import PlayersFaulted, StepTaken
from referee.replay.faults import KINDS, Fault
from referee.replay.questions import check_sound
from referee.replay.reader import open_game, read_head, read_lines, verify
from referee.replay.recorded import clock_of, known_secret, limits_of, remark_of, seconds_by_seat, seed_of, told
from referee.support.escape import escape
from referee.support.words import counted, the_seat
from referee.wire.seeds import match_id, new_seed, secret_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Game, Json, Seat
    from referee.players.spec import Spec
    from referee.replay.answers import TurnAnswers
    from referee.replay.questions import Questions
    from referee.replay.reader import Failed, Replay, Step

#: The name of a player that means the program in the replay.
SAME = "-"
#: The options of the match loop that a head may name.
_OPTIONS = ("idle", "on_malformed")


class StartPosition(NamedTuple):
    """The position of a replay in which a match begins, and the settings and options of the match. ``seats`` are those that still play."""

    path: Path
    game: Game[Any, Any]
    settings: Any
    beginning: Beginning
    options: MatchOptions
    head: Mapping[str, Json]

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that are still in the match."""
        return tuple(seat for seat in self.game.seats(self.settings) if seat not in self.beginning.faults)


def split(text: str) -> tuple[Path, int]:
    """Return the file and the turn of ``REPLAY@TURN``. UsageError for any other text."""
    name, at, turn = text.rpartition("@")
    if not at or not name or not re.fullmatch(r"[0-9]{1,9}", turn):
        raise UsageError(
            f"A match begins at REPLAY@TURN, as in game.replay.jsonl.gz@412, not at '{text:.120}'; the turn is a whole number from 0 on."
        )
    return Path(name), int(turn)


def begin(path: Path, turn: int) -> StartPosition:
    """Read a replay and return the start of a match at the position before ``turn``.

    ReplayError if the replay can't be read or doesn't verify, UsageError if there is no such turn, or if the match can't continue from it.
    """
    head, _ = read_head(path, read_lines(path))
    game, settings = open_game(path, head)
    found = _Collector(game, head, turn)
    replay = verify(path, found.step, found.fault)
    check_sound(path, replay)
    state = found.state
    if turn == replay.turns and state is None and game.outcome(replay.final) is None:
        # The replay breaks off here.
        state = replay.final
    if state is None:
        raise UsageError(_beyond(path, replay, turn))
    time = clock_of(head)
    if time is None:
        raise ReplayError(f"{path} has no valid clock in its head, so its match can't continue.")
    given_match, seed, secret = head.get("match"), seed_of(head), known_secret(head)
    match = given_match if isinstance(given_match, str) else match_id(secret or b"")
    events = found.events
    notes: tuple[str, ...] = ()
    if secret is None:
        seed = new_seed()
        secret = secret_of(seed)
        match = match_id(secret)
        again = _again(game, settings, secret, events)
        if again is None:
            raise UsageError(
                f"{path} has no secret in its head, and the random numbers of {game.info.name} are drawn from it: the match can't continue from a step of "
                "this replay. Use the replay of the person who ran the match."
            )
        events, state = again
        notes = (
            "The replay has no secret in its head: the players get other seeds than in the recorded match, and lots of the game fall otherwise.",
        )
    source: dict[str, Json] = {"match": given_match if isinstance(given_match, str) else None, "turn": turn, "file": escape(str(path), 400)}
    faults = {seat: fault for seat, (_, fault) in found.faults.items()}
    beginning = Beginning(
        turn,
        state,
        secret,
        match,
        seed,
        source,
        events,
        {seat: tuple(notices) for seat, notices in found.notices.items()},
        faults,
        {seat: step for seat, (step, _) in found.faults.items()},
        {seat: {"program": "", **head["players"][seat]} for seat in faults},
        notes,
    )
    choices = {each.name: each.choices for each in declared() if each.name in _OPTIONS}
    run = RunOptions(**{name: head[name] for name in _OPTIONS if head.get(name) in choices[name]})
    options = MatchOptions(time=time, run=run, limits=limits_of(head))
    return StartPosition(path, game, settings, beginning, options, head)


def _beyond(path: Path, replay: Replay, turn: int) -> str:
    steps = counted(replay.turns, "step")
    if replay.result is not None and turn == replay.turns:
        text = str(replay.result.get("text", "")).rstrip(".")
        return f"{path} has {steps}, and before turn {turn} the match is over: {text}. The last turn is {turn - 1}."
    return f"{path} has no turn {turn}: it has {steps}, and the last turn is {max(0, replay.turns - 1)}."


class _Collector:
    """Collects the events of a replay before a turn, and the position there."""

    def __init__(self, game: Game[Any, Any], head: Mapping[str, Json], turn: int) -> None:
        self.game, self.turn = game, turn
        self.state: Any = None
        self.events: list[StepTaken | PlayersFaulted] = []
        self.faults: dict[Seat, tuple[int, Fault]] = {}
        self.notices: dict[Seat, list[dict[str, str]]] = {seat: [] for seat in head["players"]}
        clock = head.get("clock")
        self.other = "wall_us" if isinstance(clock, dict) and clock.get("kind") in (CPU, FAIR) else "cpu_us"

    def step(self, step: Step) -> None:
        record, before = step.record, step.before
        turn = record["turn"]
        if turn == self.turn and self.state is None:
            self.state = before
        if turn >= self.turn:
            return
        moves = step.moves(self.game)
        self.events.append(StepTaken(turn, before, step.after, moves, step.notices, self._answers(record, moves), {}))
        for seat in moves:
            self.notices[seat] = []
        for notice in told(record):
            if notice["seat"] in self.notices:
                self.notices[notice["seat"]].append({"code": str(notice["code"]), "text": str(notice["text"])})

    def fault(self, failed: Failed) -> None:
        turn = failed.record["turn"]
        if turn == self.turn and self.state is None:
            self.state = failed.before
        if turn >= self.turn:
            return
        faults = {seat: _fault(record) for seat, record in failed.record["faults"].items()}
        self.faults |= {seat: (turn, fault) for seat, fault in faults.items()}
        self.events.append(PlayersFaulted(turn, faults, failed.after, self._answers(failed.record, {}), {}))

    def _answers(self, record: Mapping[str, Json], moves: Mapping[Seat, Any]) -> TurnAnswers:
        """Return the recorded answers of the seats that were billed in a step."""
        others = seconds_by_seat(record, self.other)
        return {
            seat: JudgedAnswer(moves.get(seat), seconds, others.get(seat), remark_of(record, seat))
            for seat, seconds in seconds_by_seat(record, "us").items()
        }


def _fault(record: Mapping[str, Json]) -> Fault:
    kind, line, detail = str(record.get("kind")), record.get("line"), record.get("detail")
    if kind not in KINDS:
        raise ReplayError(f"The replay has a fault of the kind '{kind:.40}', which there isn't.")
    facts = {**(detail if isinstance(detail, dict) else {}), "cause": str(record.get("cause"))}
    return Fault(kind, "recorded", {"text": str(record.get("text"))}, line if isinstance(line, str) else None, facts)


def _again(
    game: Game[Any, Any], settings: Any, secret: bytes, events: list[StepTaken | PlayersFaulted]
) -> tuple[list[StepTaken | PlayersFaulted], Any] | None:
    """Return the same events and the position after them under another secret; None if they are not the same."""
    state = game.start(settings, secret)
    found: list[StepTaken | PlayersFaulted] = []
    for event in events:
        if isinstance(event, PlayersFaulted):
            state = game.fault(state, {seat: fault.kind for seat, fault in event.faults.items()})
            found.append(event._replace(state=state))
            continue
        if game.movers(state) != game.movers(event.before):
            return None
        after, notices = game.step(state, event.moves)
        if game.codec.changes_text(state, after) != game.codec.changes_text(event.before, event.after) or notices != event.notices:
            return None
        found.append(event._replace(before=state, after=after))
        state = after
    return found, state


def recorded_player(start: StartPosition, seat: Seat, hint: str) -> tuple[str, str]:
    """Return the player of a seat in a replay, as its name in ``resolve``, and a note on it: "" if there is nothing to say.

    A replay is an untrusted file, and its author may know the hashes of published programs. So this never returns a command line, nor a
    file outside the current folder. PlayerError if the program isn't found again; ``hint`` ends its sentence and says how to name one.
    """
    about = start.head["players"][seat]
    text, spec = _found(start.game.info.name, start.settings, about, seat, hint)
    return text, f"{_other(text, start.game.info.name, seat)}." if _is_changed(spec, about) else ""


def unchanged_program(asked: Questions, hint: str) -> str:
    """Return the program that answered these questions, as its name in ``resolve``, under the same conditions. PlayerError if it has changed, too."""
    game, about = asked.game.info.name, asked.replay.head["players"][asked.seat]
    text, spec = _found(game, asked.settings, about, asked.seat, hint, asked.replay.path)
    if _is_changed(spec, about):
        raise PlayerError(f"{_other(text, game, asked.seat)}; {hint}.")
    return text


def seat_of(path: Path, bot: str | None, again: str) -> Seat:
    """Return the seat of a replay that ``bot`` played; without ``bot``, that of the only player that is a file found here unchanged.

    UsageError lists the players if there is no such seat, or more than one. ``again`` is the beginning of a command that names one.
    """
    head, _ = read_head(path, read_lines(path))
    game, settings = open_game(path, head)
    players: Mapping[Seat, Mapping[str, Json]] = head["players"]
    named = next(iter(players))
    if bot is not None:
        found = [seat for seat, about in players.items() if str(about.get("program")).strip() == bot.strip()]
        why = f"'{bot:.120}' played {'more than one' if found else 'none'}"
    else:
        programs = {seat: _program(game.info.name, settings, about, seat, path) for seat, about in players.items()}
        count = sum(is_same for _, is_same in programs.values())
        files = {seat: one for seat, one in programs.items() if one[0] and _is_file(one[0])}
        found = [seat for seat, (_, is_same) in files.items() if is_same]
        why = f"{'more than one' if count > 1 else 'one' if count else 'none'} of them is found here with the recorded hash"
        if files and not found:
            named, (text, _) = next(iter(files.items()))
            again = f"{again} {shlex.quote(text)}"
            why = f"'{text:.120}' has changed since the match"
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{seat} '{about.get('program')!s:.120}'" for seat, about in players.items())
    raise UsageError(f"The players of {path} are {names}; {why}: name the seat, as in {again} --seat {named}")


def _program(game: str, settings: Any, about: Mapping[str, Json], seat: Seat, path: Path) -> tuple[str, bool]:
    """Return the player of a seat as ``_found`` does, "" if it isn't found, and whether it is the recorded one."""
    try:
        text, spec = _found(game, settings, about, seat, "", path)
    except PlayerError:
        return "", False
    return text, not _is_changed(spec, about)


def _other(text: str, game: str, seat: Seat) -> str:
    """Return the beginning of a sentence about a program that isn't the recorded one."""
    if _is_example(text, game) and not _is_file(text):
        return f"The example bot '{text:.120}' is not the one that played in the replay: it has another hash"
    return f"{the_seat(seat)} '{text:.120}' is not the file that played in the replay: it has another hash"


def recorded_program(game: Game[Any, Any], settings: Any, head: Mapping[str, Json], seat: Seat) -> str:
    """Return the program of a seat in a replay, as its name in ``resolve``, under the same conditions. PlayerError if it isn't found again."""
    return _found(game.info.name, settings, head["players"][seat], seat, "name one yourself")[0]


def _found(game: str, settings: Any, about: Mapping[str, Json], seat: Seat, hint: str, replay: Path | None = None) -> tuple[str, Spec]:
    """Return the program of a seat in a replay. With the path of the ``replay``, a file of this name beside it is found, too."""
    text = about.get("program")
    shown = f"'{text!s:.120}'"
    if not isinstance(text, str) or not text:
        raise PlayerError(f"The replay doesn't name the program of {the_seat(seat, begins=False)}; {hint}.")
    # Read it as resolve does: the program that is judged here must be the one that is started.
    text = text.strip()
    if text == HUMAN:
        raise PlayerError(f"{the_seat(seat)} in the replay was a person; {hint}.")
    is_file, folder = _is_file(text), Path.cwd()
    if replay is not None and Path(text).name and not (_is_below(text, folder) if is_file else _is_example(text, game)):
        beside = str(replay.parent / Path(text).name)
        if _is_file(beside):
            text, is_file, folder = beside, True, replay.parent
    if not is_file and not _is_example(text, game):
        kind = "is a command line, which a replay must not start" if " " in text or PORT in text else "isn't found here"
        raise PlayerError(f"{the_seat(seat)} in the replay was {shown}, which {kind}; {hint}.")
    if is_file and not _is_below(text, folder):
        raise PlayerError(f"{the_seat(seat)} in the replay was {shown}, a file outside this folder, which a replay must not start; {hint}.")
    spec = resolve(text, seat, game, settings)
    if spec.dialect is not None:
        raise PlayerError(f"{the_seat(seat)} in the replay was {shown}, which is a command line, which a replay must not start; {hint}.")
    return text, spec


def _is_file(text: str) -> bool:
    try:
        return os.path.exists(Path(text).expanduser())  # noqa: PTH110 - False also if its folder can't be entered
    except (RuntimeError, ValueError):
        return False


def _is_below(text: str, folder: Path) -> bool:
    return Path(text).expanduser().resolve().is_relative_to(folder.resolve())


def _is_changed(spec: Spec, about: Mapping[str, Json]) -> bool:
    return not spec.about.get("sha256") or spec.about.get("sha256") != about.get("sha256")


def _is_example(text: str, game: str) -> bool:
    import example_bots

    return "/" not in text and any(bot.game == game and bot.name == text for bot in example_bots.BOTS)


__all__ = ["SAME", "StartPosition", "begin", "recorded_player", "recorded_program", "seat_of", "split", "unchanged_program"]
