"""Settings, views, moves and changes as JSON, in every game; and what answers of strangers may do: nothing but be refused."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given

from contract.contract import (
    LONGEST_TEXT,
    REFUSALS,
    Case,
    SettingsError,
    Setup,
    check_notices,
    check_survives,
    every_case,
    exact,
    examples,
    json_values,
    seeds,
    spoiled,
)


def check_settings(case: Case, settings: Any) -> None:
    """Fail unless settings are the same after a way through JSON."""
    record = case.game.codec.settings_json(settings)
    check_survives(record)
    again = case.game.codec.settings(case.rules, json.loads(exact(record)))
    assert again == settings
    assert type(again) is type(settings)
    assert exact(case.game.codec.settings_json(again)) == exact(record)
    assert again.rules == case.rules
    assert "rules" not in record


@every_case
@given(seeds)
@examples(12)
def test_settings_survive_a_round_trip(case: Case, seed: int) -> None:
    check_settings(case, case.game.codec.settings(case.rules, {}))
    check_settings(case, case.setup(random.Random(seed)).settings)


@every_case
@given(seeds, json_values)
@examples(25)
def test_wrong_settings_are_refused_with_a_sentence(case: Case, seed: int, junk: Any) -> None:
    draw = random.Random(seed)
    record = case.game.codec.settings_json(case.setup(draw).settings)
    given_ = {**record, (name := draw.choice(list(record))): spoiled(draw, record[name], junk)}
    try:
        settings = case.game.codec.settings(case.rules, given_)
    except SettingsError as error:
        text = str(error)
        assert 0 < len(text) <= LONGEST_TEXT
        assert text.isprintable()
    else:
        check_settings(case, settings)


@every_case
def test_unknown_names_are_refused_by_name(case: Case) -> None:
    with pytest.raises(SettingsError, match="no_such_setting"):
        case.game.codec.settings(case.rules, {"no_such_setting": 1})
    with pytest.raises(SettingsError, match="no-such-rules"):
        case.game.codec.settings("no-such-rules", {})


@every_case
@given(seeds)
@examples(12)
def test_views_are_compact_json(case: Case, seed: int) -> None:
    draw = random.Random(seed)
    setup = case.setup(draw)
    for state in setup.positions(draw):
        for seat in (*setup.seats, None):
            text = setup.game.codec.view_text(state, seat)
            view = json.loads(text)
            assert isinstance(view, dict), "the state of a question is an object"
            check_survives(view)
            assert text == exact(view)


def check_move(setup: Setup, state: Any, seat: str, move: Any) -> None:
    """Fail unless a move is the same after a way through JSON."""
    record = setup.game.codec.move_json(move)
    assert isinstance(record, dict), "the move of an answer is an object"
    check_survives(record)
    again = setup.game.codec.parse(state, seat, json.loads(exact(record)))
    assert again == move
    assert type(again) is type(move)
    assert hash(again) == hash(move), "replays keep the texts of moves by move"
    assert list(setup.game.codec.unknown_keys(state, seat, record)) == []


@every_case
@given(seeds)
@examples(12)
def test_moves_survive_a_round_trip(case: Case, seed: int) -> None:
    draw = random.Random(seed)
    setup = case.setup(draw)
    texts: dict[Any, str] = {}
    for before, moves, after, _ in setup.play(draw, setup.start(draw)):
        for seat, move in moves.items():
            check_move(setup, before, seat, move)
            # Equal moves have equal texts, since replays look them up by move.
            assert texts.setdefault(move, exact(setup.game.codec.move_json(move))) == exact(setup.game.codec.move_json(move))
        changes = json.loads(setup.game.codec.changes_text(before, after))
        assert isinstance(changes, dict)
        assert exact(changes) == setup.game.codec.changes_text(before, after), "changes are compact"


@every_case
@given(seeds, json_values)
@examples(40)
def test_hostile_answers_are_refused_or_harmless(case: Case, seed: int, junk: Any) -> None:
    draw = random.Random(seed)
    setup = case.setup(draw)
    start = setup.start(draw)
    # The first step of a game may take other moves than those after it.
    states = [start, *(step.after for step, _ in zip(setup.play(draw, start), range(3), strict=False))]
    for state in states:
        moves = setup.moves(draw, state)
        for seat in moves:
            answer = spoiled(draw, setup.answer(draw, state, seat), junk)
            if isinstance(answer, dict):
                assert all(isinstance(key, str) for key in setup.game.codec.unknown_keys(state, seat, answer))
            try:
                move = setup.game.codec.parse(state, seat, answer)
            except REFUSALS as error:
                assert 0 < len(str(error)) <= LONGEST_TEXT
                continue
            check_move(setup, state, seat, move)
            after, notices = setup.game.step(state, {**moves, seat: move})
            check_notices(setup, notices)
            json.loads(setup.game.codec.view_text(after, None))
            json.loads(setup.game.codec.changes_text(state, after))


@every_case
def test_no_answer_is_so_large_or_deep_that_parse_fails(case: Case) -> None:
    deep: Any = []
    for _ in range(2_000):
        deep = [deep]
    draw = random.Random(1)
    setup = case.setup(draw)
    start = setup.start(draw)
    for state in [start, *(step.after for step, _ in zip(setup.play(draw, start), range(2), strict=False))]:
        for seat in setup.game.movers(state):
            for _ in range(8):
                for junk in (deep, 10**5_000, [10**5_000], {"a": deep}):
                    try:
                        setup.game.codec.parse(state, seat, spoiled(draw, setup.answer(draw, state, seat), junk))
                    except REFUSALS as error:
                        assert 0 < len(str(error)) <= LONGEST_TEXT
