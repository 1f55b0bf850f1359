"""The matches of people that follow each other: who plays which seat, and where the replays go."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from referee import games
from referee.api.rematches import SeriesMatch
from referee.api.runner import MatchRequest
from referee.web.live import PageAddress
from referee.web.rematch import SAME, SWAPPED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def table(name: str, lineup: Mapping[str, str], out: str | None = None, seed: int | None = None, **settings: Any) -> SeriesMatch:
    game = games.get(name)
    match = MatchRequest(game, game.codec.settings(None, settings), out=out, seed=seed)
    return SeriesMatch(match, lineup, lineup)


@pytest.fixture
def listener() -> Any:
    with socket.socket() as made:
        yield made


@pytest.mark.parametrize(
    ("game", "lineup", "swapped"),
    [
        ("evasion", {"hunter": "human", "prey": "human"}, {"hunter": "human", "prey": "human"}),
        ("evasion", {"hunter": "human", "prey": "random"}, {"hunter": "random", "prey": "human"}),
        # Those who play one seat alone are replaced by the ones that are about as strong: the weakest, and the strongest.
        ("evasion", {"hunter": "human", "prey": "shadow"}, {"hunter": "trapper", "prey": "human"}),
        ("evasion", {"hunter": "straight", "prey": "human"}, {"hunter": "human", "prey": "random"}),
        ("maze", {"thief": "human", "policeman": "expert"}, {"thief": "expert", "policeman": "human"}),
        ("rectangle", {"a": "human", "b": "looper"}, {"a": "looper", "b": "human"}),
    ],
)
def test_after_a_match_the_same_roles_and_the_swapped_ones_are_offered(game: str, lineup: dict[str, str], swapped: dict[str, str]) -> None:
    settings: dict[str, Any] = {"players": 2} if game == "rectangle" else {}
    offers = table(game, lineup, **settings).offers()
    assert offers.offers == {SAME: lineup, SWAPPED: swapped}
    assert offers.why_not == ""


def test_swapping_twice_leads_back_and_tokens_go_with_the_people(listener: socket.socket) -> None:
    first = table("evasion", {"hunter": "human", "prey": "runner"}, seed=7)
    second = first.again(SWAPPED, PageAddress(listener, {None: "all", "hunter": "mine"}))
    assert second.lineup["prey"] == "human"
    assert second.place is not None
    assert second.place.tokens == {None: "all", "prey": "mine"}
    assert second.match.seed == 8
    third = second.again(SAME, second.place)
    assert (third.lineup, third.place) == (second.lineup, second.place)
    fourth = third.again(SWAPPED, second.place)
    assert fourth.lineup == first.lineup
    assert fourth.place is not None
    assert fourth.place.tokens == {None: "all", "hunter": "mine"}
    assert fourth.number == 4


def test_three_take_the_next_seat(listener: socket.socket) -> None:
    first = table("rectangle", {"a": "human", "b": "human", "c": "looper"}, players=3)
    second = first.again(SWAPPED, PageAddress(listener, {None: "all", "a": "one", "b": "two"}))
    assert second.lineup == {"a": "looper", "b": "human", "c": "human"}
    assert second.place is not None
    assert second.place.tokens == {None: "all", "b": "one", "c": "two"}


def test_a_program_that_is_gone_can_not_swap(tmp_path: Path) -> None:
    offers = table("evasion", {"hunter": "human", "prey": str(tmp_path / "gone.py")}).offers()
    assert offers.offers[SWAPPED] is None
    assert "does not exist" in offers.why_not


def test_each_replay_has_a_file_of_its_own(tmp_path: Path, listener: socket.socket) -> None:
    place = PageAddress(listener, {None: "all", "hunter": "mine"})
    lineup = {"hunter": "human", "prey": "runner"}
    folder = table("evasion", lineup, out=f"{tmp_path}/").again(SAME, place)
    assert folder.match.out == f"{tmp_path}/"
    assert table("evasion", lineup).again(SAME, place).match.out is None
    (tmp_path / "game-2.gz").write_text("older", encoding="utf-8")
    second = table("evasion", lineup, out=str(tmp_path / "game.gz")).again(SAME, place)
    assert second.match.out == str(tmp_path / "game-3.gz")
    plain = table("evasion", lineup, out=str(tmp_path / "evening")).again(SAME, place)
    assert plain.match.out == str(tmp_path / "evening-2.replay.jsonl.gz")
    assert plain.again(SAME, place).match.out == str(tmp_path / "evening-3.replay.jsonl.gz")
