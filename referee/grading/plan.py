"""What a grading plays: every test of the rubric on each of its starts, for every student. Implements ``league.engine.MatchPlan``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee import games
from referee.grading.marks import opponent_name
from referee.grading.rubric import commitment_of, own_seats
from referee.grading.values import AFTER_DUE, Trial
from referee.tournament.keys import match_key
from referee.tournament.starts import match_seed, placed
from referee.tournament.values import MatchTask, PlannedDuel
from referee.tournament.worker import Terms

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from referee.games.game import AnyGame, Json, Seat, Settings
    from referee.grading.values import Rubric, RubricTest
    from referee.tournament.values import DuelResult, MatchStart, Record, Team


class PlannedStart(NamedTuple):
    """One start of a test, the same for all students: its settings as JSON and checked, its start, and whether it is hidden."""

    test: RubricTest
    start: MatchStart
    settings: dict[str, Json]
    checked: Settings
    is_hidden: bool


class GradingPlan:
    """The trials of some students. A student's trials keep their numbers when others join at the end."""

    #: Whether a failed start costs other matches would depend on which match came first, so every match is played.
    has_forfeits = False

    def __init__(self, rubric: Rubric, students: Sequence[str], teams: Mapping[str, Team]) -> None:
        self.rubric = rubric
        self.game: AnyGame = games.get(rubric.game)
        #: How all matches are played.
        self.terms = Terms(rubric.game, rubric.rules, rubric.options)
        self.students = tuple(students)
        self._numbers = {student: number for number, student in enumerate(students)}
        self.teams = teams
        commitment = commitment_of(rubric)
        self.places = tuple(self._place(test, start) for test in rubric.tests for start in commitment.starts(test.number))

    def _place(self, test: RubricTest, start: MatchStart) -> PlannedStart:
        settings = self.game.codec.settings(self.rubric.rules, dict(test.settings))
        checked = placed(self.game, settings, start.settings)
        return PlannedStart(test, start, self.game.codec.settings_json(checked), checked, test.is_hidden(start.number))

    def duels(self, results: Sequence[DuelResult]) -> list[PlannedDuel]:
        """All trials that can be played. A duel's ``variant`` is the number of its test."""
        return [duel for student in self.students for duel in self.duels_of(student)]

    def duels_of(self, student: str) -> list[PlannedDuel]:
        """The trials of one student for which there is a program."""
        index = self._numbers[student]
        played = self.teams[student].players.keys()
        return [
            self._duel(index, number)
            for number, place in enumerate(self.places)
            if played >= set(own_seats(self.game, place.test, self.game.seats(place.checked)))
        ]

    def _duel(self, index: int, number: int) -> PlannedDuel:
        place = self.places[number]
        teams = (self.students[index], opponent_name(place.test.against))
        return PlannedDuel(index * len(self.places) + number, 0, teams, place.start.number, place.test.number)

    def place(self, duel: PlannedDuel) -> PlannedStart:
        """The test and the start of a trial."""
        return self.places[duel.number % len(self.places)]

    def trial(self, duel: PlannedDuel) -> Trial:
        """The trial of a duel in the store."""
        place = self.place(duel)
        return Trial(duel.teams[0], place.test.number, place.start.number, place.is_hidden)

    def tasks(self, duel: PlannedDuel) -> list[MatchTask]:
        """The match of a trial, or both matches of a test in which the roles are swapped."""
        place = self.place(duel)
        student, opponent = duel.teams
        seats = self.game.seats(place.checked)
        student_seats = own_seats(self.game, place.test, seats)
        return [
            self._task(duel, number, {seat: student if seat == mine else opponent for seat in seats})
            for number, mine in enumerate(student_seats)
        ]

    def _task(self, duel: PlannedDuel, number: int, seats: Mapping[Seat, str]) -> MatchTask:
        place = self.place(duel)
        seed = match_seed(place.start)
        lineup = {seat: self.teams[name] for seat, name in seats.items()}
        key = match_key(self.game, self.rubric.rules, lineup, place.settings, seed)
        return MatchTask(key, duel.number, number, seats, place.settings, seed)

    def result(
        self,
        duel: PlannedDuel,
        matches: Sequence[tuple[MatchTask, Record | None]],
        forfeits: Container[str],
        *,
        is_stopped: bool,
    ) -> DuelResult | None:
        """None: marks come from the matches themselves."""

    def owner(self, team: str) -> str | None:
        """The student; None for an opponent."""
        return team if team in self._numbers else None

    def stage(self, duel: PlannedDuel) -> int:
        """Return 0 for a start whose match is handed out at once, 1 for one that is handed out after the due date, 2 for a hidden one.

        A bot that knows a start could signal it by the load of the machine. When the matches of a stage begin, every match that is handed out
        earlier has ended, so nothing that is handed out can contain such a signal.
        """
        place = self.place(duel)
        return 2 if place.is_hidden else int(place.test.when == AFTER_DUE)

    def order(self, duel: PlannedDuel) -> tuple[int, ...]:
        """The order of the schedule."""
        return (duel.number,)
