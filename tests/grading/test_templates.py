"""New rubrics: one for each game, with comments, and valid as it is."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from referee import games
from referee.games.game import SettingsError
from referee.games.maze.state import Go
from referee.grading import rubric, templates
from referee.grading.grading import open_grading
from referee.handins.values import HandIn
from referee.tournament.local import LocalPool
from referee.tournament.progress import ProgressListener

TOY = Path(__file__).parents[1] / "games" / "toy"


@pytest.mark.parametrize("game", games.names())
def test_a_new_rubric_is_valid(game: str, tmp_path: Path) -> None:
    path = tmp_path / "my rubric.toml"
    path.write_text(templates.text(game, path.name))
    found = rubric.load(path)
    assert (found.game, found.options.isolation) == (game, "strict")
    assert not found.is_seed_drawn
    assert not rubric.commitment_of(found).is_guessable
    assert f"referee grade check-rubric {path.name}" in found.text
    assert len(found.tests) >= 3
    assert sum(test.hidden for test in found.tests) > 0
    assert rubric.load(path) == found
    assert all(len(line) <= 140 for line in found.text.splitlines())
    assert templates.text(game) != found.text


@pytest.mark.parametrize("game", games.names())
def test_its_comments_explain_the_needs_that_the_game_has(game: str) -> None:
    marking = games.get(game).marking
    assert marking is not None
    told = set(re.findall(r"(?m)^#   need = \{ (\w+) = ", templates.text(game)))
    assert ("catch_within" in told) is bool(marking.catchers)
    assert ("survive" in told) is bool(marking.survivors)
    assert ("score_at_least" in told) is marking.scores_are_points
    assert {"wins", "finishes", "mean_seconds_below", "beats"} <= told


@pytest.mark.parametrize("game", games.names())
def test_step_limits_are_those_of_the_rules(game: str) -> None:
    """Nobody moves well here, so each match lasts until its limit."""
    found, marking = games.get(game), games.get(game).marking
    assert marking is not None
    given = {"evasion": {"max_steps": 30}, "maze": {"max_moves": 15}, "rectangle": {"cap": 10}}[game]
    settings = found.codec.settings(None, given)
    state = found.start(settings, bytes(16))
    steps = 0
    while found.outcome(state) is None:
        moves = {seat: _forth_and_back(state, seat) for seat in found.movers(state)} if game == "maze" else {}
        state, _ = found.step(state, moves)
        steps += 1
    assert steps == marking.step_limit(settings)


def _forth_and_back(state: Any, seat: str) -> Go:
    return Go(next(iter(state.settings.layout.neighbours[getattr(state, seat)])))


def test_a_game_without_tests_of_its_own_gets_general_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    (site / "counting-1.dist-info").mkdir(parents=True)
    (site / "counting-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1\n")
    (site / "counting-1.dist-info" / "entry_points.txt").write_text("[referee.games]\ncounting = counting:GAME\n")
    shutil.copy(TOY / "counting.py", site / "counting.py")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setitem(sys.modules, "counting", sys.modules.get("counting"))
    monkeypatch.delitem(sys.modules, "counting")
    path = tmp_path / "rubric.toml"
    path.write_text(templates.text("counting"))
    with pytest.raises(SettingsError, match="there is no game 'chess'"):
        templates.text("chess")
    (tmp_path / templates.OPPONENT).write_text("")
    found = rubric.load(path)
    assert [test.seat for test in found.tests] == ["first", "first"]
    assert rubric.example_hand_ins(found) == ()


#: Example bots by game and rule set: one that does nothing or anything, a weak one and a good one, each with its program by seat.
STRENGTHS = {
    ("evasion", "classic"): (("straight", "still"), ("boxer", "evader"), ("trapper", "shadow")),
    ("maze", "standard"): (("random", "random"), ("dasher", "easy"), ("expert", "expert")),
    ("rectangle", "small"): (("idle", "idle"), ("blocker", "blocker"), ("team", "team")),
    ("rectangle", "middle"): (("idle", "idle"), ("random", "random"), ("team", "team")),
}


@pytest.mark.slow
@pytest.mark.parametrize(("game", "rules"), STRENGTHS)
def test_its_tests_tell_a_good_bot_from_a_weak_one_and_from_one_that_does_nothing(game: str, rules: str, tmp_path: Path) -> None:
    text = re.sub('(?m)^seed = ".*"$', 'seed = "0123456789abcdef0123456789abcdef"', templates.text(game))
    text = re.sub('(?m)^rules = "[a-z]+"', f'rules = "{rules}"', text.replace('isolation = "strict"', 'isolation = "none"'))
    path = tmp_path / "rubric.toml"
    path.write_text(text)
    found = rubric.load(path)
    assert min(test.starts for test in found.tests if test.points >= 20 and test.seat) >= 8
    seats = rubric.roles(found)[0]
    names = ["nothing", "weak", "good"]
    bots = [dict(zip(seats, players, strict=False)) for players in STRENGTHS[game, rules]]
    with open_grading(tmp_path / "out", found) as opened:
        opened.take([HandIn(name, name, Path.cwd(), players) for name, players in zip(names, bots, strict=True)])
        with contextlib.closing(LocalPool(opened.trials.terms, opened.entries, opened.replays, 2)) as pool:
            opened.run(pool, ProgressListener())
        grades = opened.grades()
    assert grades.is_complete
    assert {student.status for student in grades.students} == {"ok"}
    points = {student.hand_in.student: student.points for student in grades.students}
    # A thief at random can be lucky.
    assert points["nothing"] <= 20
    assert points["nothing"] + 10 < points["weak"]
    assert points["weak"] + 10 < points["good"]
