"""The needs of a rubric: the conditions for a match, and the sentence about one that isn't met. All functions are pure."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from referee.games.outcome import Outcome
from referee.grading.values import Need, TrialMark
from referee.support.escape import escape
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.games.capabilities import Marking
    from referee.games.game import AnyGame, Json, Seat, Settings
    from referee.grading.values import Rubric, RubricTest, Trial
    from referee.tournament.values import Record, Task

    Match = tuple[Task, Record]

CATCH_WITHIN, SURVIVE, BEATS, FINISHES, MEAN_SECONDS_BELOW, SCORE_AT_LEAST, WINS = KINDS = (
    "catch_within",
    "survive",
    "beats",
    "finishes",
    "mean_seconds_below",
    "score_at_least",
    "wins",
)
#: The needs that a test can have in addition to a duel.
_BESIDE_A_DUEL = (BEATS, FINISHES, MEAN_SECONDS_BELOW)


class Loss(NamedTuple):
    """Why a need isn't met: a sentence, and the step of the match if there is one."""

    text: str
    step: int | None = None


class _Game(NamedTuple):
    """A match from the view of the hand-in: its own seat, its result, and a word for the player."""

    seat: Seat
    record: Record
    who: str

    @property
    def has_won(self) -> bool:
        return self.record.winner == self.seat


# Checks of a rubric's needs.


def refusal(game: AnyGame, settings: Settings, test: RubricTest) -> str:
    """Return why the needs of a test are wrong, as the rest of a sentence, or ""."""
    if not test.needs:
        return "need is empty. Example: need = { wins = true }"
    kinds = [need.kind for need in test.needs]
    for need in test.needs:
        if need.value is False:
            return f"need.{need.kind} is false, which has no effect; write true, or remove it."
        if BEATS in kinds and need.kind not in _BESIDE_A_DUEL:
            return f"need.{need.kind} and need.beats can't be used together, because both say who wins; remove one of them."
    marking = game.marking
    if marking is None:
        return ""
    return next((why for need in test.needs if (why := _refused(game.info.name, marking, settings, test, need))), "")


def _refused(game: str, marking: Marking, settings: Settings, test: RubricTest, need: Need) -> str:
    if need.kind == SCORE_AT_LEAST and not marking.scores_are_points:
        return (
            f"need.{SCORE_AT_LEAST} is for games in which more points are better; in {game} a score counts steps, so take {CATCH_WITHIN}."
        )
    fitting = {CATCH_WITHIN: marking.catchers, SURVIVE: marking.survivors}.get(need.kind)
    if fitting is None:
        return ""
    if test.seat not in fitting:
        who = f"; it is for {' and '.join(fitting)}" if fitting else ""
        return f"need.{need.kind} can't be used for {test.seat} in {game}{who}."
    limit = marking.step_limit(settings)
    if limit is not None and float(need.value) > limit:
        return f"need.{need.kind} is {need.value:,}, but with these settings a match has at most {counted(limit, 'step')}; take at most {limit:,}."
    return ""


# The mark of a trial.


def judge(game: AnyGame, rubric: Rubric, trial: Trial, matches: Sequence[tuple[Task, Record | None]], note: str = "") -> TrialMark:
    """Return the mark of a trial from all its planned matches, in the order of their game numbers.

    ``passed`` is None while a match is missing, or if an opponent failed and the hand-in didn't. A fault of the hand-in decides at
    once. ``note`` says why no more matches are played; it becomes the text of a trial that isn't decided.
    """
    test = rubric.tests[trial.test]
    played = tuple((task, record) for task, record in matches if record is not None)
    # If all seats are alike, their names mean nothing to a student.
    own_games = [
        _Game(seat, record, "hand-in" if game.info.players_option else seat)
        for task, record in played
        for seat, name in task.names.items()
        if name == trial.student
    ]
    fault = next((each for each in own_games if each.seat in each.record.faults), None)
    if fault is not None:
        text, step = _fault(fault)
        return TrialMark(trial, passed=False, points=0.0, text=text, is_fault=True, step=step, matches=played)
    stranger = next((_fault_of_another(each) for each in own_games if each.record.faults), "")
    if stranger or not played or len(played) < len(matches):
        return TrialMark(trial, passed=None, points=0.0, text=stranger or note, matches=played)
    loss = next((lost for need in test.needs if (lost := _loss(game, rubric, test, need, played, own_games)) is not None), None)
    if loss is None:
        return TrialMark(trial, passed=True, points=test.points / test.starts, matches=played)
    return TrialMark(trial, passed=False, points=0.0, text=loss.text, step=loss.step, matches=played)


def _fault(lost: _Game) -> Loss:
    """Return the sentence about the hand-in's own fault."""
    record = lost.record
    step = record.fault_steps.get(lost.seat, record.steps)
    when = f"failed in step {step:,}" if record.started else "did not start"
    return Loss(f"The hand-in {when}: {_sentence(record.faults[lost.seat])}", step)


def _fault_of_another(played: _Game) -> str:
    seat, text = next(iter(played.record.faults.items()))
    return f"The opponent as {seat} failed, so this doesn't count: {_sentence(text)}"


def _loss(game: AnyGame, rubric: Rubric, test: RubricTest, need: Need, played: Sequence[Match], own_games: Sequence[_Game]) -> Loss | None:
    """Return why a need isn't met, or None if it is. Every match has to meet it, except that a duel is judged as a whole."""
    if need.kind == BEATS:
        return _duel(game, rubric, test, played, own_games)
    return next((lost for each in own_games if (lost := _LOSSES[need.kind](each, need.value)) is not None), None)


def _catch_within(played: _Game, most: Json) -> Loss | None:
    record = played.record
    if not played.has_won:
        return Loss(
            f"The {played.who} did not win: {_sentence(record.text)} The test asks for a win in at most {counted(most, 'step')}.",
            min(int(most), record.steps),
        )
    if record.steps <= most:
        return None
    return Loss(f"The {played.who} needed {counted(record.steps, 'step')}; the test asks for at most {most:,}.", int(most))


def _survive(played: _Game, least: Json) -> Loss | None:
    if played.has_won or played.record.steps >= least:
        return None
    record = played.record
    return Loss(
        f"The {played.who} lasted {counted(record.steps, 'step')}; the test asks for at least {least:,}. {_sentence(record.text)}",
        record.steps,
    )


def _finishes(_played: _Game, _: Json) -> Loss | None:
    """Return None, because faults are judged before."""
    return None


def _mean_seconds_below(played: _Game, most: Json) -> Loss | None:
    answers = played.record.answers.get(played.seat, 0)
    mean = played.record.seconds.get(played.seat, 0.0) / answers if answers else 0.0
    if mean < most:
        return None
    return Loss(
        f"The {played.who} used {_seconds(mean)} s for an answer, on average over {answers:,}; the test asks for less than {most:g} s."
    )


def _score_at_least(played: _Game, least: Json) -> Loss | None:
    score = played.record.scores.get(played.seat)
    if score is not None and score >= least:
        return None
    said = f"scored {_number(score)}" if score is not None else "has no score"
    return Loss(
        f"The {played.who} {said}; the test asks for at least {_number(least)}. {_sentence(played.record.text)}", played.record.steps
    )


def _wins(played: _Game, _: Json) -> Loss | None:
    if played.has_won:
        return None
    return Loss(f"The {played.who} did not win: {_sentence(played.record.text)}", played.record.steps)


_LOSSES: Mapping[str, Callable[[_Game, Json], Loss | None]] = {
    CATCH_WITHIN: _catch_within,
    SURVIVE: _survive,
    FINISHES: _finishes,
    MEAN_SECONDS_BELOW: _mean_seconds_below,
    SCORE_AT_LEAST: _score_at_least,
    WINS: _wins,
}


# Duels.


def _duel(game: AnyGame, rubric: Rubric, test: RubricTest, played: Sequence[Match], own_games: Sequence[_Game]) -> Loss | None:
    """Return why a duel isn't won, or None if it is. A tie is lost, too."""
    opponent = f"'{escape(test.against, 60)}'"
    if game.pairing is None:
        mine, best = _scores(own_games)
        if mine > best:
            return None
        what = "is tied with" if mine == best else "lost to"
        return Loss(
            f"The hand-in {what} {opponent}: its score is {_number(mine)}, its opponent's {_number(best)}.", own_games[0].record.steps
        )
    first, second = ((Outcome(each.reason, each.winner, each.scores, each.text), each.steps) for _, each in played[:2])
    winner = game.pairing.winner(first, second)
    if winner == "a":
        return None
    settings = game.codec.settings(rubric.rules, dict(played[0][0].settings))
    mine, theirs = (game.pairing.steps_needed(*each, settings) for each in (first, second))
    what = "is tied with" if winner is None else "lost the duel against"
    seat = own_games[0].seat
    return Loss(
        f"The hand-in {what} {opponent}. As {seat}, it needed {counted(mine, 'step')} and its opponent {counted(theirs, 'step')}. "
        f"Its own match as {seat}: {_sentence(first[0].text)}",
        own_games[0].record.steps,
    )


def _scores(own_games: Sequence[_Game]) -> tuple[float, float]:
    """Return the sum of the hand-in's scores over all its matches, and that of the best of its opponents."""
    totals: dict[str, list[float]] = {}
    mine: list[float] = []
    for each in own_games:
        for seat, score in each.record.scores.items():
            (mine if seat == each.seat else totals.setdefault(seat, [])).append(score or 0.0)
    return fsum(mine), max((fsum(scores) for scores in totals.values()), default=0.0)


# Formatting.


def _sentence(text: str) -> str:
    text = escape(text, 600).strip()
    return text if text.endswith((".", "!", "?", "...")) else f"{text}."


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _seconds(value: float) -> str:
    return f"{value:.3g}" if value >= 0.001 else f"{value:.6f}"
