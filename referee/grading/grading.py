"""A grading and its folder: the hand-ins, the rubric, the matches that are played, and the marks.

The matches are kept in the store of a league. So if this process ends early, a later one continues with the matches that have no result yet.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from referee import games
from referee.errors import UsageError
from referee.grading import marks, rerun
from referee.grading.marks import opponent_name
from referee.grading.plan import GradingPlan
from referee.grading.pools import fairly
from referee.grading.rubric import commitment_of, opponent_seats, roles
from referee.grading.values import Grades, Need, Rubric, RubricTest
from referee.handins import copies
from referee.handins.entry import read as read_entry
from referee.handins.hashes import changed
from referee.handins.values import MISSING, OK, REFUSED, HandIn
from referee.isolation.file_names import for_author
from referee.league import disputes
from referee.league.database import FILE
from referee.league.engine import UNPLAYED, Engine
from referee.league.store import Store
from referee.match.options import MatchOptions
from referee.support.files import write_whole
from referee.tournament import commitment
from referee.tournament.commitment import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from referee.games.game import Json, Seat
    from referee.grading.values import StudentMarks, Trial
    from referee.tournament.local import Pool
    from referee.tournament.progress import ProgressListener
    from referee.tournament.values import MatchTask, Record, Team

#: In the private folder, which only the grader may see, beside the store and the commitment to the starts.
REPLAYS, HAND_INS, RUBRIC = "replays", "submissions", "rubric.toml"


class OpenGrading:
    """A grading's folder with its store. ``hand_ins`` are in the order of the marks.

    Only the grader may see the folder ``private``, with all ``replays``. A hand-in has to play ``seats``, and none plays ``other_roles``.
    """

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        self.store = store
        facts = store.fact("grading")
        if facts is None:
            raise UsageError(f"{folder} holds a grading that was never begun; begin it again, with SUBMISSIONS and --rubric.")
        self.rubric = _rubric(facts)
        self.private = folder / PRIVATE
        self.replays = self.private / REPLAYS
        self.seats, self.other_roles = roles(self.rubric)
        self._read()

    def _read(self) -> None:
        """Read the graded hand-ins from the store."""
        old, new = self.store.fact("place"), _place(self.folder)
        self.hand_ins = tuple(_moved_hand_in(_hand_in(data), old, new) for data in self.store.fact("submissions"))
        self.runs = tuple(self.store.fact("runs"))
        teams = {team.name: team._replace(home=_moved(team.home, old, new)) for team in self.store.teams()}
        opponents = {opponent_name(test.against) for test in self.rubric.tests}
        self.teams = teams
        self.plan = GradingPlan(self.rubric, [name for name in teams if name not in opponents], teams)

    def take(self, hand_ins: Sequence[HandIn], *, missing_is_zero: bool = False, is_only: bool = False) -> list[str]:
        """Take the hand-ins of a run. Return a sentence for each student whose files have changed since they were marked.

        Matches of changed hand-ins are planned anew, those of new ones are added. Students who aren't among these, or who submitted
        nothing, keep what they have, unless ``missing_is_zero``. ``is_only``: they are marked anew even if they are the same.
        Matches that were given up after void attempts are planned again.
        """
        stored = {name: self.teams[name] for name in self.plan.students}
        old = {hand_in.student: hand_in for hand_in in self.hand_ins}
        run = len(self.runs) + 1
        rows: dict[str, HandIn] = {}
        teams: dict[str, Team] = {}
        for hand_in in hand_ins:
            checked, team = self._checked(hand_in)
            rows[hand_in.student] = _row(checked, old.get(hand_in.student), run, missing_is_zero=missing_is_zero)
            if team is not None:
                teams[hand_in.student] = team
        for name, before in old.items():
            rows.setdefault(name, _missing(before) if missing_is_zero else before)
        if is_only or not any(hand_in.place is not None for hand_in in hand_ins):
            places = {name: old[name].place if name in old else row.place for name, row in rows.items()}
        else:
            places = {hand_in.student: hand_in.place for hand_in in hand_ins}
        renewed = {name: team for name, team in teams.items() if name in stored and (is_only or team.hash != stored[name].hash)}
        for name, team in teams.items():
            if name in renewed or name not in stored or name not in old or old[name].status != OK:
                rows[name] = rows[name]._replace(run=run)
            elif team != stored[name]:
                self._refile(team)
        self._renew(renewed)
        facts = {
            "submissions": [
                _hand_in_json(row) for row in sorted((row._replace(place=places.get(row.student)) for row in rows.values()), key=_order)
            ],
            "place": _place(self.folder),
            "runs": [*self.runs, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())],
        }
        self.store.add_teams([team for name, team in teams.items() if name not in stored], facts)
        self._read()
        self._put(teams)
        self._stop_others({name for name, row in rows.items() if row.status == OK})
        self.retry()
        return [
            f"The hand-in of {name} has changed since it was marked ({changed(team, stored[name])[0]}); it is marked anew."
            for name, team in renewed.items()
            if team.hash != stored[name].hash
        ]

    def incoming(self) -> AbstractContextManager[Path]:
        """Make a folder for copies of what was handed in. ``take`` moves them to their places; the others are removed at the end."""
        return copies.incoming(self.private / HAND_INS)

    def _refile(self, team: Team) -> None:
        """Store where the same files lie now. A team that can't start still can't."""
        forfeit = self.store.forfeits().get(team.name)
        self.store.set_files(team)
        if forfeit is not None:
            self.store.forfeit(team.name, forfeit)

    def _stop_others(self, current: Container[str]) -> None:
        """Play no match of students whose hand-in isn't graded any more. Those that were played stay: the hand-in may come back."""
        gone = {duel.number for name in self.plan.students if name not in current for duel in self.plan.duels_of(name)}
        numbers = gone & {task.duel for task in self.store.pending()}
        if numbers:
            self.store.stop(sorted(numbers), "The hand-in is no longer there.")

    def _checked(self, hand_in: HandIn) -> tuple[HandIn, Team | None]:
        """A hand-in with its team, or refused with the reason."""
        if hand_in.status != OK:
            return hand_in, None
        game = games.get(self.rubric.game)
        settings = game.codec.settings(self.rubric.rules, dict(self.rubric.tests[0].settings))
        try:
            team = read_entry(hand_in.student, hand_in.players, game, settings, hand_in.folder, tuple(hand_in.players))
            settled = self._settled(hand_in, team)
            if settled.folder != hand_in.folder:
                team = team._replace(
                    players={seat: _moved(path, str(hand_in.folder), str(settled.folder)) for seat, path in team.players.items()}
                )
            return settled, _with_short_paths(team, settled.folder)
        except UsageError as error:
            reason = str(error).removeprefix(f"The team '{hand_in.student}' can't play: ")
            return hand_in._replace(status=REFUSED, reason=for_author(reason, hand_in.folder or self.private, hand_in.name)), None

    def _settled(self, hand_in: HandIn, team: Team) -> HandIn:
        """Move an incoming copy to the folder of its hash. Nothing is removed there: an appeal needs the files of before."""
        folder = hand_in.folder
        if folder is None or not copies.is_incoming(folder.parent):
            return hand_in
        target = folder.parent.parent / team.hash / folder.name
        copies.keep(folder, target)
        players = {seat: _moved(player, str(folder), str(target)) for seat, player in hand_in.players.items()}
        return hand_in._replace(folder=target, players=players)

    def _put(self, students: Iterable[str]) -> None:
        """Plan the matches of students who have none yet."""
        planned = {duel.teams[0] for duel in self.store.duels()}
        duels = [duel for name in students if name not in planned for duel in self.plan.duels_of(name)]
        self.store.put(duels, [task for duel in duels for task in self.plan.tasks(duel)])

    def _renew(self, teams: Mapping[str, Team], facts: Mapping[str, Json] | None = None) -> None:
        """Plan all matches of some students anew, with these files. The replays of before stay, beside those of the same matches."""
        if not teams:
            return
        plan = GradingPlan(self.rubric, self.plan.students, {**self.teams, **teams})
        stored = [match for match in self.store.matches() if any(name in teams for name in match.task.seats.values())]
        old = [match.task for match in stored]
        for match in stored:
            if match.record is not None and match.record.replay:
                rerun.copy_replay(self.private / match.record.replay, tuple(match.task.seats))
        duels = [duel for name in teams for duel in plan.duels_of(name)]
        self.store.put(duels, [])
        disputes.forget(self.store, teams)
        numbers = sorted({task.duel for task in old} | {duel.number for duel in duels})
        self.store.replan(
            [task.key for task in old], numbers, [task for duel in duels for task in plan.tasks(duel)], list(teams.values()), facts=facts
        )

    def retry(self) -> None:
        """Plan the matches again that were given up, unless the student's program could not start or the student is gone."""
        for opponent in self.store.forfeits().keys() - set(self.plan.students):
            self.store.set_files(self.teams[opponent])
        forfeits = self.store.forfeits()
        current = {hand_in.student for hand_in in self.hand_ins if hand_in.status == OK}
        notes = self.store.duel_notes()
        given_up = {
            duel.number
            for duel in self.plan.duels(())
            if duel.number in notes and duel.teams[0] in current and duel.teams[0] not in forfeits
        }
        old = [stored.task for stored in self.store.matches() if stored.task.duel in given_up]
        numbers = {task.duel for task in old}
        if old:
            tasks = [task for duel in self.plan.duels(()) if duel.number in numbers for task in self.plan.tasks(duel)]
            self.store.replan([task.key for task in old], sorted(numbers), tasks)

    def rerun(self, text: str) -> None:
        """Plan all matches of a student anew, and note what they came to before. UsageError if it isn't certain whose graded hand-in is meant."""
        student = rerun.student_of(text, [hand_in for hand_in in self.hand_ins if hand_in.status == OK])
        reruns = dict(self.store.fact("reruns") or {})
        # What an interrupted one of before has noted stays.
        reruns.setdefault(student, rerun.summary(self._marks(student), self.private))
        self._renew({student: self.teams[student]}, {"reruns": reruns})

    def compared(self) -> list[str]:
        """Return whether each test of the students who were played again has the same result as before, as lines. They are said once."""
        reruns = self.store.fact("reruns") or {}
        done = {student: now for student in reruns if (now := self._marks(student)).is_complete}
        if done:
            self.store.set_fact("reruns", {student: before for student, before in reruns.items() if student not in done})
        sections = [
            [f"Played again: the matches of {name}", *rerun.difference_lines(reruns[name], now, self.private)] for name, now in done.items()
        ]
        return [line for lines in sections for line in lines]

    def _marks(self, student: str) -> StudentMarks:
        return next(candidate for candidate in self.grades().students if candidate.hand_in.student == student)

    def check_files(self) -> None:
        """Raise UsageError if the files of an opponent, or the copy of a hand-in, have changed since the first match."""
        for name, team in self.teams.items():
            test = next((test for test in self.rubric.tests if opponent_name(test.against) == name), None)
            if test is None:
                continue
            game = games.get(self.rubric.game)
            settings = game.codec.settings(self.rubric.rules, dict(test.settings))
            now = read_entry(name, team.players, game, settings, Path(team.home), tuple(team.players))
            if now.hash != team.hash:
                raise UsageError(
                    f"The opponent {test.against} has changed since the grading began ({changed(now, team)[0]}). "
                    "Restore it, or grade into another folder with --out."
                )

    def note_level(self, level: str) -> None:
        """Keep the level of isolation at which matches are played, beside those of earlier runs."""
        levels = self.store.fact("isolation")
        self.store.set_fact("isolation", ", ".join(sorted({*(levels.split(", ") if levels else ()), level})))

    def run(self, pool: Pool, watch: ProgressListener) -> None:
        """Play all matches that have no result yet. LeagueStopped if none can be played at present."""
        students = frozenset(self.plan.students)
        Engine(self.store, pool, self.plan, watch, judged=lambda finished: fairly(finished, students)).run()

    def grades(self) -> Grades:
        """The marks as they stand."""
        plan = self.plan
        trials = {duel.number: plan.trial(duel) for duel in plan.duels(())}
        matches: defaultdict[Trial, list[tuple[MatchTask, Record | None]]] = defaultdict(list)
        for stored in self.store.matches():
            matches[trials[stored.task.duel]].append((stored.task, stored.record))
        notes = {trials[number]: note for number, note in self.store.duel_notes().items()}
        unplayed = self.store.fact(UNPLAYED) or {}
        notes |= {trial: unplayed[task.key] for trial, played in matches.items() for task, _ in played if task.key in unplayed}
        results = marks.Results(matches, self.store.forfeits(), notes)
        students = tuple(marks.student_marks(plan.game, self.rubric, hand_in, results) for hand_in in self.hand_ins)
        hashes = {name: team.hash for name, team in self.teams.items()}
        return Grades(self.rubric, students, self.folder, self.replays.parent, hashes, self.store.fact("isolation") or "", self.runs)


@contextlib.contextmanager
def open_grading(folder: Path, rubric: Rubric | None = None) -> Iterator[OpenGrading]:
    """Open the grading of a folder for this process alone; with a rubric, begin it if there is none.

    UsageError if there is none, if it has another rubric, if its copy of the rubric was edited, or if another process works on it.
    """
    private = folder / PRIVATE
    if rubric is not None:
        try:
            for place in (folder, private, private / REPLAYS):
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
                place.chmod(0o700)
        except OSError as error:
            raise UsageError(f"The folder {folder} can't be made: {error.strerror}. Name another one with --out.") from None
    elif not (private / FILE).is_file():
        raise UsageError(f"{folder} is not the folder of a grading. Begin one: referee grade run SUBMISSIONS --rubric FILE --out DIR")
    with Store.open(private, create=rubric is not None) as store, store.claim():
        _check_copy(store, private / RUBRIC, folder)
        if rubric is not None:
            _begin(store, rubric, folder)
        grading = OpenGrading(folder, store)
        commitment.write(commitment_of(grading.rubric), folder)
        write_whole(private / RUBRIC, grading.rubric.text.encode())
        yield grading


def _check_copy(store: Store, copy: Path, folder: Path) -> None:
    """Raise UsageError if the copy of the rubric in the private folder isn't the rubric of the grading."""
    stored = store.fact("grading")
    if stored is not None and copy.exists() and copy.read_bytes() != stored["text"].encode():
        raise UsageError(
            f"{copy} was changed, but {folder} is graded by the rubric with which it was begun. Move the file away: the rubric that is used is "
            "written again. To grade by the changed one, name it with --rubric and another folder with --out."
        )


def _begin(store: Store, rubric: Rubric, folder: Path) -> None:
    stored = store.fact("grading")
    if stored is not None:
        if stored["text"] != rubric.text:
            raise UsageError(
                f"{folder} was graded by another rubric. Grade into another folder with --out, or restore the rubric: "
                f"{folder / PRIVATE / RUBRIC} is the one that was used."
            )
        if stored["isolation"] != rubric.options.isolation:
            raise UsageError(
                f"{folder} was begun with isolation {stored['isolation']}, not {rubric.options.isolation}. Grade into another folder with "
                f"--out, or continue with --isolation {stored['isolation']}."
            )
        return
    game = games.get(rubric.game)
    seats: dict[str, dict[Seat, None]] = {}
    for test in rubric.tests:
        seats.setdefault(test.against, {}).update(dict.fromkeys(opponent_seats(rubric, test)))
    opponents = []
    for against, played in seats.items():
        settings = game.codec.settings(rubric.rules, dict(next(test.settings for test in rubric.tests if test.against == against)))
        opponents.append(read_entry(opponent_name(against), against, game, settings, Path(rubric.home or "."), tuple(played)))
    commitment.check_place(commitment_of(rubric), folder)
    store.begin({"grading": _rubric_json(rubric), "submissions": [], "runs": [], "place": _place(folder)}, opponents)


def is_begun(folder: Path) -> bool:
    """True if there is a grading in a folder."""
    return (folder / PRIVATE / FILE).exists()


def forget(folder: Path) -> None:
    """Remove a grading that has just begun and has no hand-in; other files in its folder stay."""
    shutil.rmtree(folder / PRIVATE, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _row(hand_in: HandIn, before: HandIn | None, run: int, *, missing_is_zero: bool) -> HandIn:
    """Return what is graded of a student: what was found, or what there was before if nothing was found."""
    if before is None:
        return hand_in if hand_in.status == MISSING else hand_in._replace(run=run)
    roster_name = hand_in.roster_name or before.roster_name
    full_name = roster_name or hand_in.full_name or before.full_name
    hand_in = hand_in._replace(full_name=full_name, roster_name=roster_name, person=hand_in.person or before.person)
    if hand_in.person == before.person:
        # A run without the roster knows less about a student.
        hand_in = hand_in._replace(identities=tuple(dict.fromkeys((*hand_in.identities, *before.identities))))
    if hand_in.status == MISSING:
        if missing_is_zero or before.status == MISSING:
            return hand_in
        return before._replace(
            full_name=hand_in.full_name,
            identities=hand_in.identities,
            place=hand_in.place,
            roster_name=hand_in.roster_name,
            late=hand_in.late or before.late,
        )
    is_same = (hand_in.status, hand_in.name, hand_in.reason) == (before.status, before.name, before.reason)
    return hand_in._replace(run=before.run if is_same or hand_in.status == before.status == OK else run)


def _missing(before: HandIn) -> HandIn:
    return before._replace(name="", folder=None, players={}, status=MISSING, reason="Nothing was submitted.", run=0)


def _order(hand_in: HandIn) -> tuple[bool, int, str, str]:
    """Return the place of a student in the marks: that on the roster, else by name."""
    place = hand_in.place
    return place is None, place or 0, hand_in.student.casefold(), hand_in.student


def _with_short_paths(team: Team, folder: Path | None) -> Team:
    """A team whose programs are named from the folder of all copies on: sentences and replays then name no folder of the grader's."""
    if folder is None:
        return team
    home = str(folder.parent)
    players = {seat: f".{path.removeprefix(home)}" if path.startswith(f"{home}/") else path for seat, path in team.players.items()}
    return team._replace(players=players, home=home)


def _place(folder: Path) -> str:
    """The folder in which a grading keeps its copies of what was submitted."""
    return f"{folder.absolute() / PRIVATE / HAND_INS}/"


def _moved(path: str, old: str, new: str) -> str:
    """A path as it is after the grading's folder was moved from one place to another."""
    return path if not path.startswith(old) else new + path.removeprefix(old)


def _moved_hand_in(hand_in: HandIn, old: str, new: str) -> HandIn:
    if hand_in.folder is None:
        return hand_in
    players = {seat: _moved(player, old, new) for seat, player in hand_in.players.items()}
    return hand_in._replace(folder=Path(_moved(str(hand_in.folder), old, new)), players=players)


def _rubric_json(rubric: Rubric) -> dict[str, Json]:
    tests: list[Json] = [{**test._asdict(), "needs": [list(need) for need in test.needs]} for test in rubric.tests]
    plain = rubric._asdict()
    del plain["options"]
    return {**plain, "tests": tests, **rubric.options.to_json()}


def _rubric(data: Mapping[str, Json]) -> Rubric:
    tests = tuple(RubricTest(**{**test, "needs": tuple(Need(*need) for need in test["needs"])}) for test in data["tests"])
    options = {name: data[name] for name in MatchOptions.model_fields}
    others = {name: value for name, value in data.items() if name not in options}
    # A grading in a container has a level that is no value of --isolation.
    level = options.pop("isolation")
    return Rubric(**{**others, "tests": tests, "options": MatchOptions.model_validate(options).replace(isolation=level)})


def _hand_in_json(hand_in: HandIn) -> dict[str, Json]:
    folder = None if hand_in.folder is None else str(hand_in.folder)
    return {**hand_in._asdict(), "folder": folder, "players": dict(hand_in.players)}


def _hand_in(data: Mapping[str, Json]) -> HandIn:
    folder = None if data["folder"] is None else Path(data["folder"])
    return HandIn(**{**data, "folder": folder, "identities": tuple(data["identities"]), "replaced": tuple(data["replaced"])})
