"""The rules as functions of frozen values: ``start``, ``movers``, ``step``, ``fault``, ``outcome`` and pairs, in every game."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from contract.contract import (
    CASES,
    KINDS,
    Case,
    SettingsError,
    Setup,
    check_notices,
    check_outcome,
    every_case,
    every_game,
    exact,
    examples,
    games,
    seeds,
)
from contract.samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_every_registered_game_has_samples() -> None:
    assert set(SAMPLES) == set(games.names()), "write the settings and answers of a new game into tests/contract/samples.py"
    assert len({case.name for case in CASES}) == len(CASES) >= len(games.names())


@every_game
def test_a_game_is_found_by_its_name(game: Any) -> None:
    assert games.get(game.info.name) is game
    assert type(game.info.version) is int
    assert game.info.version > 0
    default = game.codec.settings(None, {})
    assert default.rules in game.info.rule_sets
    with pytest.raises(SettingsError, match="chess"):
        games.get("chess")


@every_case
def test_samples_reach_steps_and_notices(case: Case) -> None:
    """The other tests prove little if their random games end at once or if nothing happens in them."""
    codes: Counter[str] = Counter()
    reasons, steps = set(), 0
    for seed in range(40):
        draw = random.Random(seed)
        setup = case.setup(draw)
        taken = list(setup.play(draw, setup.start(draw)))
        steps += len(taken)
        codes.update(notice.code for step in taken for notice in step.notices)
        reasons.add(setup.game.outcome(taken[-1].after).reason)
    assert steps > 200
    assert codes
    assert len(reasons) > 1


@every_case
def test_the_same_secret_gives_the_same_start(case: Case) -> None:
    starts = set()
    for seed in range(10):
        draw = random.Random(seed)
        setup = case.setup(draw)
        secret = draw.randbytes(16)
        start, again = (setup.game.start(setup.settings, secret) for _ in range(2))
        assert start == again
        view = setup.game.codec.view_text(start, None)
        assert view == setup.game.codec.view_text(again, None)
        assert setup.game.outcome(start) is None
        assert setup.seats
        assert len(set(setup.seats)) == len(setup.seats)
        starts.add(view)
    assert len(starts) > 1


@every_case
@given(seeds)
@examples(15)
def test_a_step_changes_nothing_and_is_the_same_again(case: Case, seed: int) -> None:
    draw = random.Random(seed)
    setup = case.setup(draw)
    game = setup.game
    told_settings = copy.deepcopy(game.codec.settings_json(setup.settings))
    for before, moves, after, notices in setup.play(draw, setup.start(draw)):
        kept, kept_moves, shown = setup.copy(before), dict(moves), game.codec.view_text(before, None)
        again, told = game.step(before, moves)
        assert before == kept, "step changed the state that it was given"
        assert game.codec.view_text(before, None) == game.codec.view_text(kept, None) == shown, "step changed the state that it was given"
        assert moves == kept_moves, "step changed the moves that it was given"
        for other, said in ((again, told), game.step(kept, moves)):
            assert other == after, "a step has two results"
            assert game.codec.view_text(other, None) == game.codec.view_text(after, None)
            assert said == notices
        check_notices(setup, notices)
    assert game.codec.settings_json(setup.settings) == told_settings, "step changed the settings"


@every_case
@given(seeds)
@examples(15)
def test_movers_and_outcome(case: Case, seed: int) -> None:
    draw = random.Random(seed)
    setup = case.setup(draw)
    positions = setup.positions(draw)
    for state in positions:
        movers = setup.game.movers(state)
        assert isinstance(movers, tuple)
        assert movers == tuple(seat for seat in setup.seats if seat in movers), "movers stand in seat order"
        assert movers == setup.game.movers(setup.copy(state))
        check_outcome(setup, state)
    over = [setup.game.outcome(state) is not None for state in positions]
    assert over == [False] * (len(positions) - 1) + [True]


@every_case
def test_a_seat_without_a_move_does_nothing(case: Case) -> None:
    """A step is taken without the moves of players who have failed."""
    for seed in range(10):
        draw = random.Random(seed)
        setup = case.setup(draw)
        for state in setup.positions(draw)[:-1]:
            moves = setup.moves(draw, state)
            for seat in moves:
                after, notices = setup.game.step(state, {other: move for other, move in moves.items() if other != seat})
                check_outcome(setup, after)
                check_notices(setup, notices)


def fail(setup: Setup, state: Any, faults: Mapping[str, str], draw: random.Random) -> None:
    """Let players fail in a state, and hold what must be true of any game after that."""
    game = setup.game
    kept, kept_faults = setup.copy(state), dict(faults)
    after = game.fault(state, faults)
    assert state == kept, "fault changed the state that it was given"
    assert game.codec.view_text(state, None) == game.codec.view_text(kept, None)
    assert faults == kept_faults
    assert after == game.fault(kept, faults)
    assert after != state, "a fault leaves no trace"
    assert exact(json.loads(game.codec.view_text(after, None))) == game.codec.view_text(after, None)
    assert not set(game.movers(after)) & faults.keys(), "who has failed is asked again"
    outcome = game.outcome(after)
    if outcome is not None and len(faults) == 1:
        assert outcome.winner not in faults, "who has failed wins by it"
    taken = list(setup.play(draw, after))
    assert all(not set(step.moves) & faults.keys() for step in taken), "who has failed is asked again"
    final = taken[-1].after if taken else after
    assert game.outcome(final) is not None
    check_outcome(setup, final)


@every_case
@pytest.mark.parametrize("kind", KINDS)
def test_faults_in_every_seat_and_all_at_once(case: Case, kind: str) -> None:
    for seed in range(2):
        draw = random.Random(f"{kind}-{seed}")
        setup = case.setup(draw)
        positions = setup.positions(draw)[:-1]
        for state in (positions[0], draw.choice(positions), positions[-1]):
            for seat in setup.seats:
                fail(setup, state, {seat: kind}, draw)
            fail(setup, state, dict.fromkeys(setup.seats, kind), draw)
            fail(setup, state, {seat: draw.choice(KINDS) for seat in setup.seats}, draw)


@every_case
def test_faults_one_after_the_other(case: Case) -> None:
    for seed in range(10):
        draw = random.Random(seed)
        setup = case.setup(draw)
        state = draw.choice(setup.positions(draw)[:-1])
        failed = []
        for seat in draw.sample(setup.seats, len(setup.seats)):
            if setup.game.outcome(state) is not None:
                break
            state = setup.game.fault(state, {seat: draw.choice(KINDS)})
            failed.append(seat)
            assert not set(setup.game.movers(state)) & set(failed)
            check_outcome(setup, state)
        taken = list(setup.play(draw, state))
        check_outcome(setup, taken[-1].after if taken else state)


@pytest.mark.parametrize("case", [case for case in CASES if case.game.pairing is not None], ids=lambda case: case.name)
def test_the_winner_of_a_pair_does_not_depend_on_who_is_named_first(case: Case) -> None:
    finals = []
    for seed in range(20):
        draw = random.Random(seed)
        setup = case.setup(draw)
        positions = setup.positions(draw)
        finals.append((setup.game.outcome(positions[-1]), len(positions) - 1))
    swapped = {"a": "b", "b": "a", None: None}
    verdicts: Counter[str | None] = Counter()
    for one, other in pairwise(finals):
        winner = case.game.pairing.winner(one, other)
        assert case.game.pairing.winner(other, one) == swapped[winner]
        verdicts[winner] += 1
        assert case.game.pairing.winner(one, one) is None
    assert len(verdicts) == 3
    assert case.game.pairing.verb.isalpha()


@every_case
def test_what_people_are_shown_fits(case: Case) -> None:
    for seed in range(5):
        draw = random.Random(seed)
        setup = case.setup(draw)
        for state in setup.positions(draw):
            for columns, rows in ((80, 24), (20, 8)):
                lines = setup.game.text.board_lines(state, columns, rows)
                # The size is that of the board alone; a frame may stand around it.
                assert 0 < len(lines) <= rows + 2
                assert all(len(line) <= columns + 2 for line in lines)
            assert setup.game.text.status_fields(state)
            exact(setup.game.text.status_fields(state))


@every_case
def test_capabilities_take_every_position_and_change_none(case: Case) -> None:
    draw = random.Random(3)
    setup = case.setup(draw)
    positions = list(setup.positions(draw))
    game, last = setup.game, positions[-1]
    copies = [setup.copy(state) for state in positions]
    before = None
    for state in positions:
        if game.metrics is not None:
            exact(dict(game.metrics.measure(before, state)))
        if game.analysis is not None and before is not None:
            assert game.analysis.invalidates_verdict(before, state) in (True, False)
        before = state
    if game.analysis is not None:
        verdict = game.analysis.verdict(positions[0])
        exact(dict(verdict))
        assert game.analysis.verdict_text(verdict)
    if game.appraisal is not None:
        assert all(game.appraisal.measure(seat, setup.settings) for seat in game.seats(setup.settings))
        assert all(game.appraisal.apart(seat, setup.settings) > 0 for seat in game.seats(setup.settings))
    if game.adjudication is not None:
        assert not game.adjudication.is_enabled(setup.settings)
        assert not game.adjudication.needs_adjudication(last)
    assert positions == copies


@every_case
def test_the_table_of_options_covers_every_setting(case: Case) -> None:
    options = {option.name: option for option in case.game.info.options}
    defaults = case.game.codec.settings_json(case.game.codec.settings(case.rules, {}))
    assert defaults.keys() <= options.keys()
    for name, option in options.items():
        assert option.meaning.endswith(".")
        if option.rules and case.rules not in option.rules:
            with pytest.raises(SettingsError, match=f"no setting '{name}'"):
                case.game.codec.settings(case.rules, {name: 1})
            continue
        assert name in defaults or option.default_text or option.default == 0
        if case.rules == case.game.info.rule_sets[0] and option.default is not None and name in defaults:
            assert option.default == (tuple(defaults[name]) if isinstance(defaults[name], list) else defaults[name])
        if option.kind == "integer" and name in defaults:
            assert option.least <= defaults[name] <= option.most
            for wrong in (option.least - 1, option.most + 1, "1", True, 1.0, None):
                with pytest.raises(SettingsError, match=rf"\b{name}\b|players"):
                    case.game.codec.settings(case.rules, {name: wrong})
