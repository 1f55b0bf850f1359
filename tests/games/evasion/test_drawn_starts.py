"""Drawn starts of Evasion: each pair of cells that is far enough apart is drawn, and no other."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest

from referee.games.evasion import starts
from referee.games.evasion.game import GAME
from referee.games.game import SettingsError


def settings(width: int, height: int, radius: int) -> Any:
    """Settings of a board of any size, also of one without a legal standard start."""
    return GAME.codec.settings(None, {})._replace(width=width, height=height, capture_radius=radius)


class _Digest:
    def __init__(self, number: int) -> None:
        self._number = number

    def digest(self) -> bytes:
        return self._number.to_bytes(64, "big")


@pytest.mark.parametrize(("width", "height", "radius"), [(3, 4, 0), (5, 2, 0), (6, 6, 1), (1, 3, 0), (4, 1, 0), (2, 1, 0), (9, 7, 2)])
def test_every_fair_start_is_drawn_once(width: int, height: int, radius: int, monkeypatch: pytest.MonkeyPatch) -> None:
    diagonal = (width - 1) ** 2 + (height - 1) ** 2
    cells = list(product(range(width), range(height)))
    distances = {(a, b): (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 for a in cells for b in cells}
    fair = {pair for pair, squared in distances.items() if 9 * squared >= diagonal and squared > 9 * radius * radius}
    drawn: Counter[Any] = Counter()
    for number in range(4 * len(fair)):
        monkeypatch.setattr(starts, "sha512", lambda _, number=number: _Digest(number))
        start: Any = starts.draw(settings(width, height, radius), b"")
        x, y, dx, dy = start["hunter"]
        drawn[(x, y), tuple(start["prey"]), dx, dy] += 1
    assert {(hunter, prey) for hunter, prey, _, _ in drawn} == fair
    assert set(drawn.values()) == {1}


@pytest.mark.parametrize("rules", GAME.info.rule_sets)
@pytest.mark.parametrize(("width", "height"), [(300, 300), (20, 20), (14, 1), (1, 14), (10_000, 10_000), (10_000, 1)])
def test_a_drawn_start_is_a_legal_one(rules: str, width: int, height: int) -> None:
    base = GAME.starts.settings(rules, {"width": width, "height": height})
    found = [dict(GAME.starts.draw(base, b"%d" % number)) for number in range(20)]
    assert found == [dict(GAME.starts.draw(base, b"%d" % number)) for number in range(20)]
    for start in found:
        checked = GAME.codec.settings(rules, {"width": width, "height": height, **start})
        assert GAME.outcome(GAME.start(checked, b"")) is None


@pytest.mark.parametrize(("width", "height", "radius"), [(1, 1, 0), (9, 9, 4), (10_000, 10_000, 10_000)])
def test_a_board_without_a_fair_start_is_refused(width: int, height: int, radius: int) -> None:
    with pytest.raises(SettingsError, match=f"no fair start can be drawn on the {width} x {height} board.*take a larger board"):
        starts.draw(settings(width, height, radius), b"")


def test_a_board_without_the_standard_start_is_allowed_where_the_start_is_drawn() -> None:
    # The usual start is too near to the hunter.
    assert GAME.starts.settings(None, {"width": 4, "height": 4}).prey == (3, 3)
    assert GAME.starts.settings(None, {"width": 60, "height": 40}).prey == (46, 26)
    assert GAME.starts.settings(None, {}) == GAME.codec.settings(None, {})
    for wrong in ({"width": 60, "height": 40, "prey": [70, 1]}, {"width": "wide"}, {"widht": 60}, {"width": 1, "height": 1}):
        with pytest.raises(SettingsError):
            GAME.starts.settings(None, wrong)
    with pytest.raises(SettingsError, match="no rule set 'chess'"):
        GAME.starts.settings("chess", {})
