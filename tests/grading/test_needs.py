"""Needs: what a match has to meet, and the sentence of what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from gradings import STUDENT, load, match, table, trial

from referee import games
from referee.grading import marks, needs
from referee.grading.rubric import commitment_of
from referee.handins.values import Entry
from referee.players.names import resolve
from referee.tournament.values import Task
from referee.tournament.worker import Terms, Worker

if TYPE_CHECKING:
    from pathlib import Path

    from referee.grading.values import Rubric, TrialMark

#: What a match came to, by the needs: the mark that is expected, the sentence and the step.
CASES: list[tuple[str, str, dict[str, Any], bool, str, int | None]] = [
    ("wins = true", "hunter", {"winner": "hunter"}, True, "", None),
    ("wins = true", "hunter", {"winner": "prey", "text": "It got away."}, False, "The hunter did not win: It got away.", 100),
    ("wins = true", "hunter", {"winner": None, "text": "A draw"}, False, "The hunter did not win: A draw.", 100),
    ("finishes = true", "hunter", {"winner": "prey"}, True, "", None),
    ("catch_within = 900", "hunter", {"winner": "hunter", "steps": 900}, True, "", None),
    (
        "catch_within = 900",
        "hunter",
        {"winner": "hunter", "steps": 1204},
        False,
        "The hunter needed 1,204 steps; the test asks for at most 900.",
        900,
    ),
    (
        "catch_within = 900",
        "hunter",
        {"winner": "prey", "steps": 3000, "text": "The prey is free."},
        False,
        "The hunter did not win: The prey is free. The test asks for a win in at most 900 steps.",
        900,
    ),
    (
        "catch_within = 900",
        "hunter",
        {"winner": "prey", "steps": 12, "text": "The prey is free."},
        False,
        "The hunter did not win: The prey is free. The test asks for a win in at most 900 steps.",
        12,
    ),
    ("survive = 1000", "prey", {"winner": "hunter", "steps": 1000}, True, "", None),
    ("survive = 1000", "prey", {"winner": "prey", "steps": 3}, True, "", None),
    (
        "survive = 1000",
        "prey",
        {"winner": "hunter", "steps": 999, "text": "Caught."},
        False,
        "The prey lasted 999 steps; the test asks for at least 1,000. Caught.",
        999,
    ),
    (
        "survive = 2",
        "prey",
        {"winner": "hunter", "steps": 1, "text": "Caught."},
        False,
        "The prey lasted 1 step; the test asks for at least 2. Caught.",
        1,
    ),
    ("mean_seconds_below = 0.05", "hunter", {"seconds": 0.49, "answers": 10}, True, "", None),
    ("mean_seconds_below = 0.05", "hunter", {"seconds": 0.0, "answers": 0}, True, "", None),
    (
        "mean_seconds_below = 0.05",
        "hunter",
        {"seconds": 81.0, "answers": 1000},
        False,
        "The hunter used 0.081 s for an answer, on average over 1,000; the test asks for less than 0.05 s.",
        None,
    ),
    (
        "mean_seconds_below = 0.00001",
        "hunter",
        {"seconds": 0.012, "answers": 1000},
        False,
        "The hunter used 0.000012 s for an answer, on average over 1,000; the test asks for less than 1e-05 s.",
        None,
    ),
    # All needs must hold; the first lost one is told.
    (
        "wins = true, mean_seconds_below = 0.05",
        "hunter",
        {"winner": "hunter", "seconds": 1.0, "answers": 2},
        False,
        "The hunter used 0.5 s for an answer, on average over 2; the test asks for less than 0.05 s.",
        None,
    ),
    ("wins = true, mean_seconds_below = 0.6", "hunter", {"winner": "hunter", "seconds": 1.0, "answers": 2}, True, "", None),
]


def judged(rubric: Rubric, *matches: Any, note: str = "") -> TrialMark:
    return needs.judge(games.get(rubric.game), rubric, trial(rubric), matches, note)


@pytest.mark.parametrize(("need", "seat", "facts", "passed", "text", "step"), CASES)
def test_a_match(need: str, seat: str, facts: dict[str, Any], passed: bool, text: str, step: int | None, tmp_path: Path) -> None:
    against = {"hunter": "runner", "prey": "boxer"}[seat]
    rubric = load(tmp_path, table(seat=f'"{seat}"', against=f'"{against}"', need=f"{{ {need} }}", starts="4"))
    mark = judged(rubric, match(rubric, seat, **facts))
    assert (mark.passed, mark.text, mark.step, mark.is_fault) == (passed, text, step, False)
    assert mark.points == (2.5 if passed else 0)
    assert len(mark.matches) == 1


@pytest.mark.parametrize("need", ["wins = true", "finishes = true", "catch_within = 900", "mean_seconds_below = 0.5"])
def test_a_fault_of_the_hand_in_fails_every_need(need: str, tmp_path: Path) -> None:
    rubric = load(tmp_path, table(seat='"hunter"', against='"runner"', need=f"{{ {need} }}"))
    faults = {"hunter": "It crashed with exit status 1", "prey": "It was late."}
    mark = judged(rubric, match(rubric, "hunter", winner="hunter", faults=faults, fault_step=31))
    assert (mark.passed, mark.is_fault, mark.points, mark.step) == (False, True, 0, 31)
    assert mark.text == "The hand-in failed in step 31: It crashed with exit status 1."
    # An old record doesn't know the step.
    assert judged(rubric, match(rubric, "hunter", faults=faults, steps=44)).step == 44
    never = judged(rubric, match(rubric, "hunter", faults=faults, is_started=False, steps=0, fault_step=0))
    assert (never.text, never.step) == ("The hand-in did not start: It crashed with exit status 1.", 0)


def test_a_failed_opponent_decides_nothing(tmp_path: Path) -> None:
    rubric = load(tmp_path, table(seat='"hunter"', against='"runner"', need="{ finishes = true }"))
    mark = judged(rubric, match(rubric, "hunter", winner="hunter", faults={"prey": "It was late"}))
    assert (mark.passed, mark.points, mark.is_fault) == (None, 0, False)
    assert mark.text == "The opponent as prey failed, so this doesn't count: It was late."


def test_a_missing_match_decides_nothing(tmp_path: Path) -> None:
    rubric = load(tmp_path, table(seat='"hunter"', against='"runner"', need="{ wins = true }"))
    task, _ = match(rubric, "hunter")
    assert judged(rubric).passed is None
    mark = judged(rubric, (task, None), note="3 matches were void.")
    assert (mark.passed, mark.text, mark.matches) == (None, "3 matches were void.", ())


def test_text_of_a_bot_can_do_no_harm(tmp_path: Path) -> None:
    rubric = load(tmp_path, table(seat='"hunter"', against='"runner"', need="{ wins = true }"))
    text = judged(rubric, match(rubric, "hunter", faults={"hunter": "\x1b[2J\n=1+1 " + "x" * 5000})).text
    assert text.isprintable()
    assert len(text) < 1300


def duel(rubric: Rubric, ours: dict[str, Any], theirs: dict[str, Any]) -> TrialMark:
    seats = {"evasion": ("hunter", "prey"), "maze": ("thief", "policeman")}[rubric.game]
    return judged(rubric, match(rubric, seats[0], **ours), match(rubric, seats[1], game_number=1, **theirs))


def caught(steps: int) -> dict[str, Any]:
    return {"winner": "hunter", "reason": "caught", "steps": steps, "scores": {"hunter": steps}, "text": f"Caught after {steps}."}


EVADED: dict[str, Any] = {"winner": "prey", "reason": "evaded", "steps": 3000, "scores": {"hunter": None}, "text": "Still free."}


@pytest.mark.parametrize(
    ("ours", "theirs", "text"),
    [
        (caught(900), caught(901), ""),
        (caught(900), EVADED, ""),
        (
            caught(1204),
            caught(900),
            (
                "The hand-in lost the duel against 'boxer'. As hunter, it needed 1,204 steps and its opponent 900 steps. "
                "Its own match as hunter: Caught after 1204."
            ),
        ),
        (
            EVADED,
            EVADED,
            (
                "The hand-in is tied with 'boxer'. As hunter, it needed 3,000 steps and its opponent 3,000 steps. "
                "Its own match as hunter: Still free."
            ),
        ),
    ],
)
def test_a_duel(ours: dict[str, Any], theirs: dict[str, Any], text: str, tmp_path: Path) -> None:
    rubric = load(tmp_path, "[settings]\nmax_steps = 3000\n" + table(need='{ beats = "boxer" }'))
    mark = duel(rubric, ours, theirs)
    assert (mark.passed, mark.text, mark.points) == (not text, text, 0 if text else 10)
    assert mark.step == (ours["steps"] if text else None)


def test_a_duel_of_maze_is_decided_by_its_own_rule(tmp_path: Path) -> None:
    rubric = load(tmp_path, table(need='{ beats = "random" }'), "maze")
    escaped = {"winner": "thief", "reason": "escaped", "steps": 41, "scores": {"thief": 1.0, "policeman": 0.0}, "text": "Away."}
    held = {"winner": None, "reason": "move-limit", "steps": 400, "scores": {"thief": 0.5, "policeman": 0.5}, "text": "A draw."}
    assert duel(rubric, escaped, held).passed
    lost = duel(rubric, held, escaped)
    assert lost.passed is False
    assert lost.text.startswith("The hand-in lost the duel against 'random'. As thief, it needed 400 steps and its opponent 41 steps.")
    assert duel(rubric, escaped, escaped).text.startswith("The hand-in is tied with 'random'.")


def test_a_duel_waits_for_both_matches_unless_the_hand_in_failed(tmp_path: Path) -> None:
    rubric = load(tmp_path, table(need='{ beats = "boxer", mean_seconds_below = 0.1 }'))
    first, second = match(rubric, "hunter", **caught(5)), match(rubric, "prey", game_number=1, **EVADED, seconds=9.0, answers=3)
    assert judged(rubric, first, (second[0], None)).passed is None
    failed = match(rubric, "hunter", faults={"hunter": "It was late."}, fault_step=3)
    assert judged(rubric, failed, (second[0], None)).passed is False
    assert judged(rubric, first, second).text.startswith("The prey used 3 s for an answer")


@pytest.mark.parametrize(
    ("mine", "other", "text"),
    [
        (41, 40, ""),
        (40, 40, "The hand-in is tied with 'looper': its score is 40, its opponent's 40."),
        (1000, 1234.5, "The hand-in lost to 'looper': its score is 1,000, its opponent's 1,234.5."),
    ],
)
def test_a_duel_without_roles_is_won_by_the_higher_score(mine: float, other: float, text: str, tmp_path: Path) -> None:
    rubric = load(tmp_path, table(need='{ beats = "looper" }'), "rectangle")
    assert judged(rubric, match(rubric, "a", scores={"a": mine, "b": other})).text == text


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (40.0, ""),
        (31, "The hand-in scored 31; the test asks for at least 40. It is over."),
        (None, "The hand-in has no score; the test asks for at least 40. It is over."),
    ],
)
def test_a_score(score: float | None, text: str, tmp_path: Path) -> None:
    rubric = load(tmp_path, table(against='"idle"', need="{ score_at_least = 40 }"), "rectangle")
    assert judged(rubric, match(rubric, "a", scores={"a": score, "b": 99})).text == text


REAL: list[tuple[str, str, dict[str, str], bool, str]] = [
    ("evasion", "hunter", {"hunter": "straight", "prey": "still"}, False, "The hunter did not win: The prey is still free after 40 steps"),
    ("evasion", "prey", {"hunter": "straight", "prey": "still"}, True, ""),
    ("maze", "thief", {"thief": "random", "policeman": "expert"}, False, "The thief did not win: "),
    ("rectangle", "a", {"a": "idle", "b": "looper"}, False, "The hand-in did not win: b wins with "),
]
SHORT = {"evasion": "max_steps = 40", "maze": "", "rectangle": "cap = 40"}


@pytest.mark.parametrize(("game", "seat", "players", "passed", "text"), REAL)
def test_the_needs_of_real_matches_are_judged(
    game: str, seat: str, players: dict[str, str], passed: bool, text: str, tmp_path: Path
) -> None:
    (against,) = (player for each, player in players.items() if each != seat)
    tests = table(seat=f'"{seat}"', against=f'"{against}"', need="{ wins = true, finishes = true }", settings=f"{{ {SHORT[game]} }}")
    rubric = load(tmp_path, tests, game)
    mark = judged(rubric, played(rubric, seat, players, tmp_path))
    assert mark.passed is passed
    assert mark.text.startswith(text), mark.text


def test_the_step_of_a_real_fault(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'start':\n"
        "        print(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)\n"
        "    elif message['type'] == 'turn':\n"
        "        if message['turn'] == 9:\n"
        "            sys.exit(3)\n"
        "        order = {'orders': ['-', '-']} if message['turn'] else {}\n"
        "        print(json.dumps({'type': 'move', 'turn': message['turn'], 'move': order}), flush=True)\n"
    )
    text = table(against='"looper"', need="{ finishes = true }", settings="{ cap = 20 }")
    rubric = load(tmp_path, text, "rectangle")
    task, record = played(rubric, "a", {"a": str(bot), "b": "looper"}, tmp_path)
    assert (record.fault_steps, record.answers["a"]) == ({"a": 9}, 10)
    assert record.steps > 9
    mark = judged(rubric, (task, record))
    assert (mark.step, mark.is_fault) == (9, True)
    assert mark.text.startswith("The hand-in failed in step 9: ")


def played(rubric: Rubric, seat: str, players: dict[str, str], folder: Path) -> Any:
    """A match of the first test on its first start, without a sandbox."""
    (test,) = rubric.tests
    commitment = commitment_of(rubric)
    start = commitment.starts(0)[0]
    settings = commitment.match_settings(0, start)
    names = {each: STUDENT if each == seat else marks.opponent_name(test.against) for each in players}
    for each, player in players.items():
        resolve(player, each, rubric.game)
    teams = {name: Entry(name, {each: players[each]}) for each, name in names.items()}
    worker = Worker(Terms(rubric.game, rubric.rules, rubric.options.replace(isolation="none")), teams, folder / "replays")
    try:
        task = Task("0" * 32, {seat: teams[name] for seat, name in names.items()}, settings, start.seed)
        report = worker.play(task)
    finally:
        worker.close()
    assert report.replay, report
    return task, report
