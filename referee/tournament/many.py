"""Many games of the same players: ``referee.play_many`` and ``referee play --games``."""

from __future__ import annotations

import contextlib
import inspect
import shutil
from collections import deque
from itertools import count, islice
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple

from referee import api
from referee import games as registry
from referee.errors import PlayerError, UsageError
from referee.handins.hashes import file_hashes
from referee.handins.values import Entry
from referee.isolation.limits import LIMITS, NONE
from referee.players.names import resolve
from referee.players.player import is_human
from referee.replay.paths import SUFFIX, is_replay, make_folder, reserve
from referee.support.outputs import check_output
from referee.tournament.here import HerePool
from referee.tournament.keys import new_task, terms_hash
from referee.tournament.local import LocalPool, checked_slots
from referee.tournament.plan import NoStore, check_played, playing
from referee.tournament.starts import drawn, match_seed
from referee.tournament.worker import Terms, replay_path
from referee.wire.seeds import new_seed, secret_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.isolation.bot import Bot
    from referee.match.request import MatchRequest
    from referee.replay.events import MatchResult
    from referee.tournament.plan import Ended, Pool
    from referee.tournament.values import MatchStart, Record, Task

    Progress = Callable[[int, int], None]

#: The most games of one call.
MOST_GAMES = 1_000_000


class ManyGame(NamedTuple):
    """One of many games. ``number`` counts from 0; ``start`` holds the settings that its start replaces.

    The other fields are as in ``referee.Result``. ``seconds`` is the time used by each seat.
    """

    number: int
    start: Mapping[str, Json]
    seed: int
    winner: Seat | None
    reason: str
    text: str
    scores: Mapping[Seat, float | None]
    steps: int
    faults: Mapping[Seat, str]
    seconds: Mapping[Seat, float]
    replay: Path
    started: bool

    def to_json(self) -> dict[str, Json]:
        """The game as one JSON object."""
        return {**self._asdict(), "replay": str(self.replay)}


def play_many(
    *players: api.Player,
    games: int = 100,
    slots: int | None = None,
    game: str = registry.names()[0],
    rules: str | None = None,
    seed: int | None = None,
    time: api.Time | None = None,
    isolation: str = "auto",
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Iterator[ManyGame]:
    """Play many games of the same players on drawn starts with drawn seeds; the results come in schedule order.

    ``games`` is their number, ``slots`` how many run at once (None: as many as this machine has cores and memory for). ``seed`` decides all
    starts and seeds. ``out`` is a folder for the replays. ``progress`` is called with the number of finished games and of all. Bot
    classes play in this process, one game after another. The other options, and the errors, are those of ``referee.play``; they are
    raised at once, before the first result is asked for.
    """
    request, lineup = api.request(
        players, game=game, rules=rules, seed=seed, time=time, isolation=isolation, out=out, draws_starts=True, **settings
    )
    if any(inspect.isclass(player) for player in players):
        return _in_this_process(request, lineup, _checked_games(games), progress)
    finished = count(1)

    def tell(_: ManyGame) -> None:
        if progress is not None:
            progress(next(finished), games)

    return many(request, {seat: str(player) for seat, player in lineup.items()}, games, slots, tell)


def many(
    request: MatchRequest,
    players: Mapping[Seat, str],
    games: int,
    slots: int | None = None,
    on_game: Callable[[ManyGame], None] = lambda _: None,
) -> Generator[ManyGame, None, None]:
    """Play many games as ``play_many`` does, from a request. ``on_game`` is called with each game at once, in the order in which they end."""
    _checked_games(games)
    home = str(Path.cwd())
    entries: dict[Seat, Entry] = {}
    for seat, player in players.items():
        if is_human(player):
            raise PlayerError("A person plays one game at a time: referee play human runner")
        bot = resolve(player, seat, request.game_object.info.name, request.checked_settings)
        entries[seat] = Entry(seat, {seat: player}, "", home, _files(seat, bot, request.options.isolation))
    at_once = min(checked_slots(slots, request.options.limits), games)
    return _many(request, entries, _drawn_games(request, games), at_once, on_game)


def _files(seat: Seat, bot: Bot, isolation: str) -> dict[Seat, dict[str, str]]:
    """Return the hashes of a player's files, with which its copies for sandboxes are compared."""
    if isolation in (LIMITS, NONE):
        return {}
    try:
        return {seat: file_hashes(bot)}
    except PlayerError:
        # If there is a sandbox, copying them fails with a better message.
        return {}


def _checked_games(games: int) -> int:
    """Return the number of games. UsageError if there are too few or too many."""
    if not 1 <= games <= MOST_GAMES:
        raise UsageError(f"The number of games is {games:,}, but must be from 1 to {MOST_GAMES:,}.")
    return games


def _drawn_games(request: MatchRequest, games: int) -> list[tuple[MatchStart, int]]:
    """Return the starts of all games, with their seeds."""
    seed = new_seed() if request.seed is None else request.seed
    starts = drawn(request.game_object, request.checked_settings, secret_of(seed))
    return [(start, match_seed(start)) for start, _ in zip(starts, range(games), strict=False)]


def new_folder(request: MatchRequest, players: Sequence[str]) -> Path:
    """A new folder for the replays: the one that was asked for, or one below matches/replays/."""
    if request.out is not None:
        folder = Path(request.out)
        if folder.is_file():
            raise UsageError(f"--out is {folder}, a file; many games need a folder.")
        return folder
    reserved = reserve(None, players)
    reserved.unlink()
    return reserved.with_name(reserved.name.partition(".")[0])


class GamesPlan:
    """The games of a schedule, a group each. ``records`` are those that came in turn since they were taken."""

    def __init__(self, tasks: Iterable[Task], ahead: int) -> None:
        self._tasks = iter(tasks)
        self._first = ahead
        self.records: deque[Record] = deque()

    def next(self, records: Sequence[Record]) -> list[list[Task]]:
        """Continue with one game for each that has ended. Games far ahead of a slow one wait for it, so that memory doesn't grow."""
        self.records += records
        return [[task] for task in islice(self._tasks, len(records) or self._first)]

    def wants(self, task: Task) -> bool:
        """All games are played."""
        return True


def played(tasks: Iterable[Task], pool: Pool, ahead: int) -> Iterator[tuple[Sequence[Ended], Sequence[Record]]]:
    """Play a schedule; yield from time to time the tasks that have ended since the last time, and the records that came in turn.

    Raises StartError if a program can't be started, and MatchVoid if a match was void three times.
    """
    plan = GamesPlan(tasks, ahead)
    with contextlib.closing(playing(plan, NoStore(), pool)) as moments:
        for moment in moments:
            ended = [each for each in moment.ended if not each.record.void]
            in_turn = [plan.records.popleft() for _ in range(len(plan.records))]
            yield (
                [each for each in ended if each.record.is_startable],
                [record for record in in_turn if record.has_result],
            )
            for record in (*in_turn, *(each.record for each in ended)):
                check_played(record)


def _many(
    request: MatchRequest,
    entries: Mapping[Seat, Entry],
    schedule: Sequence[tuple[MatchStart, int]],
    slots: int,
    on_game: Callable[[ManyGame], None],
) -> Generator[ManyGame, None, None]:
    game, settings = request.game_object, request.checked_settings
    folder = new_folder(request, [entry.players[seat] for seat, entry in entries.items()])
    for number in range(len(schedule)):
        check_output(_replay_of(folder, number, len(schedule)), is_replay, request.inputs, force=request.force)
    make_folder(folder)
    parts = Path(mkdtemp(prefix=".games-", dir=folder))
    tasks = _tasks(request, entries, schedule)
    numbers = {task.key: number for number, task in enumerate(tasks)}
    games: dict[str, ManyGame] = {}
    try:
        with contextlib.closing(LocalPool(Terms(game.info.name, settings.rules, request.options), entries, parts, slots)) as pool:
            for ended, in_turn in played(tasks, pool, 100 * pool.slots):
                for task, record in ended:
                    number = numbers[task.key]
                    replay = _replay_of(folder, number, len(schedule))
                    replay_path(parts, task.key).replace(replay)
                    games[task.key] = _game_of(number, schedule[number][0], task.seed, record, replay)
                    on_game(games[task.key])
                for record in in_turn:
                    yield games.pop(record.key)
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def _tasks(request: MatchRequest, entries: Mapping[Seat, Entry], schedule: Sequence[tuple[MatchStart, int]]) -> list[Task]:
    """Return the tasks of all games."""
    base = request.game_object.codec.settings_json(request.checked_settings)
    terms = terms_hash(request.game_object, request.checked_settings.rules, request.options)
    return [new_task(terms, entries, {**base, **start.settings}, seed, repeat=number) for number, (start, seed) in enumerate(schedule)]


def _replay_of(folder: Path, number: int, games: int) -> Path:
    return folder / f"{number + 1:0{len(str(games))}}{SUFFIX}"


def _in_this_process(request: MatchRequest, lineup: Mapping[Seat, api.Player], games: int, progress: Progress | None) -> Iterator[ManyGame]:
    schedule = _drawn_games(request, games)
    folder = new_folder(request, [getattr(player, "__name__", str(player)) for player in lineup.values()])
    tasks = _tasks(request, {seat: Entry(seat, {}) for seat in lineup}, schedule)
    numbers = {task.key: number for number, task in enumerate(tasks)}

    def play_one(task: Task) -> MatchResult:
        place = str(folder / f"{numbers[task.key] + 1:0{len(str(games))}}")
        return api.run(request.replace(settings=task.settings, draws_starts=False, seed=task.seed, out=place), lineup)

    pool = HerePool(play_one)
    for ended, _ in played(tasks, pool, 1):
        for task, _ in ended:
            number, result = numbers[task.key], pool.results.pop(task.key)
            if progress is not None:
                progress(number + 1, games)
            yield _game_of(number, schedule[number][0], task.seed, result, result.replay)


def _game_of(number: int, start: MatchStart, seed: int, result: MatchResult | Record, replay: Path) -> ManyGame:
    """Return a game that has ended, with its result and its replay."""
    return ManyGame(
        number,
        start.settings,
        seed,
        result.winner,
        result.reason,
        result.text,
        result.scores,
        result.steps,
        result.faults,
        result.seconds,
        replay,
        result.started,
    )
