"""The rubric file: the definition of a grading, checked before the first match."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from pydantic import Field

import example_bots
from referee import games
from referee.errors import PlayerError, UsageError
from referee.games.game import SettingsError
from referee.games.values import is_whole
from referee.grading import needs
from referee.grading.values import Need, Rubric, RubricTest
from referee.handins.entry import absolute, partnered
from referee.handins.names import check_name, file_name
from referee.isolation.limits import IsolationValue, Limits
from referee.match import settings_file
from referee.match.options import AUTO, BilledTime, MatchOptions, RunOptions, TimeControl, TimeLimits, shown
from referee.players.names import resolve
from referee.players.player import is_human
from referee.replay.paths import content
from referee.support.near_names import nearest_or_all
from referee.support.plain_text import plain
from referee.support.sections import Section
from referee.support.words import program
from referee.tournament.commitment import GRADING, Commitment, StartFamily, new_secret

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import AnyGame, Json, Seat, Settings

#: The longest name of a rubric or a test, in characters.
LONGEST_NAME = 80
_LONGEST_SEED = 1_000
_MOST_TESTS = 500
_MOST_BYTES = 4 << 20


class NeedTable(Section):
    """The needs of a test: conditions that a match has to meet."""

    catch_within: int | None = Field(default=None, ge=1, le=10_000_000)
    survive: int | None = Field(default=None, ge=1, le=10_000_000)
    beats: str | None = None
    finishes: bool | None = None
    mean_seconds_below: float | None = Field(default=None, gt=0, le=3600, allow_inf_nan=False)
    score_at_least: float | None = Field(default=None, ge=-1e9, le=1e9, allow_inf_nan=False)
    wins: bool | None = None


class RubricTestTable(Section):
    """A test of a rubric. The game checks ``settings``."""

    name: str
    seat: str | None = None
    against: str | None = None
    starts: int = Field(default=1, ge=1, le=10_000)
    hidden: int = Field(default=0, ge=0, le=10_000)
    points: float = Field(gt=0, le=1_000_000, allow_inf_nan=False)
    need: NeedTable
    when: Literal["always", "after_due"] = "always"
    settings: dict[str, object] = Field(default_factory=dict)


class RubricFile(Section):
    """A rubric file. The game checks ``settings``; the tests are checked one by one."""

    name: str
    game: str
    rules: str | None = None
    seed: object = None
    isolation: IsolationValue = "strict"
    clock: BilledTime = AUTO
    settings: dict[str, object] = Field(default_factory=dict)
    time: TimeLimits = TimeLimits()
    run: RunOptions = RunOptions()
    limits: Limits = Limits()
    tests: list[dict[str, object]] = Field(default_factory=list)


def load(path: Path) -> Rubric:
    """Return the rubric of a file. Paths of opponents are relative to its folder.

    Everything is checked, and all starts are drawn once. The UsageError names the file, the test, the key and what to do.
    """
    check_there(path)
    return _read(content(path, f"The rubric {path}", _MOST_BYTES), path, path.parent.resolve())


def check_there(path: Path) -> None:
    """Raise UsageError if a rubric doesn't exist. It lists the other rubrics of the folder, or says how to write one."""
    if not os.path.lexists(path):
        others = sorted(path.parent.glob("rubric-*.toml"))
        remedy = f"name one of {', '.join(map(str, others))}." if others else f"{program()} grade init writes one for each game."
        raise UsageError(f"There is no rubric {path}; {remedy}")


def of_text(text: str, copy: Path, home: Path, seed: str, isolation: str) -> Rubric:
    """Return the rubric of a grading that has begun, from what is stored of it. ``copy`` is its file, for messages."""
    rubric = _read(text.encode(), copy, home, seed)
    return rubric._replace(options=rubric.options.replace(isolation=isolation))


def _read(text: bytes, path: Path, home: Path, seed: str | None = None) -> Rubric:
    file = settings_file.parse(text, RubricFile, f"The rubric {path}")
    try:
        return _RubricReader(file, home, seed).rubric()._replace(text=plain(text).decode())
    except (UsageError, SettingsError) as error:
        raise UsageError(f"In the rubric {path}: {error}") from None


def commitment_of(rubric: Rubric) -> Commitment:
    """Return everything that determines the starts of a rubric."""
    families = tuple(StartFamily(test.settings, 0 if test.has_set_start else test.starts, test.hidden) for test in rubric.tests)
    return Commitment(GRADING, rubric.game, games.get(rubric.game).info.version, rubric.rules, rubric.seed, families)


def roles(rubric: Rubric) -> tuple[tuple[Seat, ...], tuple[Seat, ...]]:
    """Return the seats that a hand-in has to play, in the game's order, and the others. No others if all seats of the game are alike."""
    game = games.get(rubric.game)
    played: set[Seat] = set()
    order: dict[Seat, None] = {}
    for test in rubric.tests:
        seats = game.seats(game.codec.settings(rubric.rules, dict(test.settings)))
        order.update(dict.fromkeys(seats))
        played.update(own_seats(game, test, seats))
    others = () if game.info.players_option else tuple(seat for seat in order if seat not in played)
    return tuple(seat for seat in order if seat in played), others


def opponent_seats(rubric: Rubric, test: RubricTest) -> tuple[Seat, ...]:
    """Return the seats that the opponent plays in a test."""
    game = games.get(rubric.game)
    return _opponents(game, test, game.seats(game.codec.settings(rubric.rules, dict(test.settings))))


def own_seats(game: AnyGame, test: RubricTest, seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """Return the seats that the hand-in plays in a test, one match each. Without roles to swap, a duel is one match."""
    if test.seat is not None:
        return (test.seat,)
    return seats[:1] if game.pairing is None else seats


def _opponents(game: AnyGame, test: RubricTest, seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    mine = own_seats(game, test, seats)
    return seats if len(mine) > 1 else tuple(seat for seat in seats if seat not in mine)


def example_hand_ins(rubric: Rubric) -> tuple[tuple[str, dict[Seat, str]], ...]:
    """Return the example bots that can play the rubric as hand-ins: a name, and the program of each seat.

    A bot that plays some of the seats gets a bot of middling strength for the others; the name contains both.
    """
    seats, _ = roles(rubric)
    bots = [bot for bot in example_bots.BOTS if bot.game == rubric.game and (not bot.rules or rubric.rules in bot.rules)]
    hand_ins = []
    for bot in bots:
        players, partners = {}, []
        for seat in seats:
            fitting = [other for other in bots if other.plays(seat)]
            if bot.plays(seat):
                players[seat] = str(bot.path)
            elif fitting:
                partner = fitting[len(fitting) // 2]
                players[seat] = str(partner.path)
                partners.append(partner.name)
        if len(players) == len(seats) and any(bot.plays(seat) for seat in seats):
            hand_ins.append((" and ".join([bot.name, *partners]), players))
    return tuple(hand_ins)


class _RubricReader:
    """Turns a rubric file into a rubric. Its errors name the test and the key; the caller adds the file.

    ``seed`` was drawn before; None to take the file's seed or draw a new one.
    """

    def __init__(self, file: RubricFile, home: Path, seed: str | None = None) -> None:
        self.file = file
        self.home = home
        self.game: AnyGame = games.get(file.game)
        self.is_seed_drawn = file.seed is None
        self.seed = seed or (new_secret() if file.seed is None else _seed(file.seed))
        self.start_keys = _start_keys(self.game, file.rules)

    def rubric(self) -> Rubric:
        """Return the rubric. Raises UsageError or SettingsError."""
        file = self.file
        check_name(file.name, "The rubric's name", LONGEST_NAME)
        if not file.tests:
            raise UsageError("there are no tests; add a table [[tests]] for each, with name, points and need.")
        if len(file.tests) > _MOST_TESTS:
            raise UsageError(f"there are {len(file.tests):,} tests; the limit is {_MOST_TESTS:,}.")
        # Settings that are wrong for all tests are reported without the name of one.
        rules = self._settings(file.settings, "")[0].rules
        tests: list[RubricTest] = []
        rubric = Rubric(
            file.name,
            file.game,
            rules,
            self.seed,
            (),
            options=MatchOptions(
                time=TimeControl(**file.time.given, kind=file.clock), run=file.run, isolation=file.isolation, limits=file.limits
            ).settled(),
            home=str(self.home),
            is_seed_drawn=self.is_seed_drawn,
        )
        for number, row in enumerate(file.tests):
            test = self._test(number, row)
            self._check_different(test, tests)
            tests.append(test)
        rubric = rubric._replace(tests=tuple(tests))
        _draw(rubric)
        return rubric

    def _settings(self, settings: Mapping[str, Json], where: str) -> tuple[Settings, bool]:
        """Return checked settings, and whether they name the start. ``where`` is the beginning of error messages."""
        source = self.game.starts
        has_set_start = bool(self.start_keys & settings.keys())
        try:
            if source is not None and not has_set_start:
                return source.settings(self.file.rules, settings), False
            return self.game.codec.settings(self.file.rules, settings), has_set_start
        except SettingsError as error:
            raise SettingsError(f"{where}{error}") from None

    def _test(self, number: int, row: Mapping[str, Json]) -> RubricTest:
        where = f"tests, table {number + 1}"
        table = settings_file.checked(row, RubricTestTable, where)
        check_name(table.name, f"The name of tests, table {number + 1}", LONGEST_NAME)
        settings, has_set_start = self._settings({**self.file.settings, **table.settings}, f"{where}: ")
        test_needs = tuple(Need(kind, value) for kind, value in table.need.model_dump(exclude_none=True).items())
        duel = table.need.beats
        seats = self.game.seats(settings)
        seat = self._seat(table, seats, where)
        test = RubricTest(
            number=number,
            name=table.name,
            seat=seat,
            against=self._against(table, where),
            needs=test_needs,
            points=float(table.points),
            starts=table.starts,
            hidden=table.hidden,
            when=table.when,
            settings=self.game.codec.settings_json(settings),
            has_set_start=has_set_start,
        )
        why = needs.refusal(self.game, settings, test)
        if why:
            raise UsageError(f"{where}: {why}")
        self._check_starts(test, table, where)
        for each in _opponents(self.game, test, seats):
            # In a duel, an example bot of one role plays together with one of the other role.
            player = test.against if duel is None else partnered(test.against, each, self.game, settings, self.home)
            self._check_opponent(player, each, settings, f"{where}: {'against' if duel is None else 'need.beats'}")
        return test

    def _seat(self, table: RubricTestTable, seats: tuple[Seat, ...], where: str) -> Seat | None:
        """Return the hand-in's seat; None in a duel."""
        if table.need.beats is not None:
            if table.seat is not None:
                raise UsageError(f"{where}: a test with need.beats is a duel, in which the hand-in plays every seat; remove seat.")
            return None
        if table.seat is None:
            if self.game.info.players_option:
                # All seats are alike.
                return seats[0]
            raise UsageError(f"{where}: the key 'seat' is missing; there are {', '.join(seats)}.")
        if table.seat not in seats:
            raise UsageError(f"{where}: seat is '{table.seat}'; {nearest_or_all(table.seat, seats)}")
        return table.seat

    def _against(self, table: RubricTestTable, where: str) -> str:
        if table.need.beats is not None:
            if table.against is not None:
                raise UsageError(f"{where}: a test with need.beats is a duel against the player that it names; remove against.")
            player, key = table.need.beats, "need.beats"
        elif table.against is None:
            raise UsageError(f"{where}: the key 'against' is missing; name the player that the hand-in plays against.")
        else:
            player, key = table.against, "against"
        if not player.isprintable():
            raise UsageError(f"{where}: {key} is '{player}', which has a control character or an invisible one; remove it.")
        return player.strip()

    def _check_opponent(self, text: str, seat: Seat, settings: Settings, where: str) -> None:
        try:
            if is_human(text):
                raise PlayerError(f"the {seat} is a person; only programs play in a grading.")
            resolve(absolute(text, self.game.info.name, self.home), seat, self.game.info.name, settings)
        except PlayerError as error:
            raise UsageError(f"{where}: {error}") from None

    def _check_starts(self, test: RubricTest, table: RubricTestTable, where: str) -> None:
        if test.hidden > test.starts:
            raise UsageError(f"{where}: hidden is {test.hidden:,}, but starts is {test.starts:,}; hidden starts are among the starts.")
        if test.has_set_start and test.starts > 1:
            named = sorted(self.start_keys & {*self.file.settings, *table.settings})
            raise UsageError(
                f"{where}: starts is {test.starts:,}, but settings.{named[0]} names the start; remove it to draw the starts, or take starts = 1."
            )

    def _check_different(self, test: RubricTest, others: list[RubricTest]) -> None:
        for other in others:
            if file_name(other.name) == file_name(test.name):
                raise UsageError(
                    f"tests, table {test.number + 1}: table {other.number + 1} has the name '{other.name}', too; "
                    "give one of them another name."
                )


def _draw(rubric: Rubric) -> None:
    """Draw all starts of all tests once. Raises SettingsError."""
    commitment, test = commitment_of(rubric), rubric.tests[0]
    try:
        for test in rubric.tests:
            commitment.starts(test.number)
    except SettingsError as error:
        raise SettingsError(f"tests, table {test.number + 1}: starts is {test.starts:,}, but {error}") from None


def _start_keys(game: AnyGame, rules: str | None) -> frozenset[str]:
    """Return the names of the settings that define a start, which a drawn start replaces."""
    source = game.starts
    return frozenset() if source is None else frozenset(source.draw(source.settings(rules, {}), bytes(16)))


def _seed(value: Json) -> str:
    """Return the seed of a file as text."""
    if is_whole(value):
        return str(value)
    if not isinstance(value, str):
        raise UsageError(f"seed is {shown(value)}, but must be a text or a whole number.")
    if not value.strip() or not value.isprintable() or len(value) > _LONGEST_SEED:
        raise UsageError(
            f"seed is '{value}', but must be a text of 1 to {_LONGEST_SEED:,} visible characters; remove it to have one drawn."
        )
    return value
