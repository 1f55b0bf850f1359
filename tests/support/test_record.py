"""Records behave as named tuples do."""

from __future__ import annotations

import copy
import pickle

import pytest

from referee.support.record import NamedTuple


class Point(NamedTuple):
    """A point."""

    x: int
    y: int = 2

    def sum(self) -> int:
        return self.x + self.y


def test_made_by_place_by_name_and_by_default() -> None:
    assert Point(1) == Point(1, 2) == Point(y=2, x=1) == Point._make([1, 2]) == (1, 2)
    assert Point(1, 3)._replace(x=5) == (5, 3)
    assert Point(1)._asdict() == {"x": 1, "y": 2}
    assert Point._fields == ("x", "y")
    assert repr(Point(1)) == "Point(x=1, y=2)"
    assert (Point(4).x, Point(4).sum(), Point.__doc__) == (4, 6, "A point.")


@pytest.mark.parametrize("wrong", [{}, {"y": 1}, {"x": 1, "z": 3}])
def test_wrong_fields_are_named(wrong: dict[str, int]) -> None:
    with pytest.raises(TypeError, match=r"Point has a wrong, doubled or missing field: [xz]"):
        Point(**wrong)
    with pytest.raises(TypeError, match="takes 2 values"):
        Point(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="x"):
        Point(1, x=2)  # type: ignore[misc]


def test_frozen_hashed_copied_and_pickled() -> None:
    point = Point(1)
    with pytest.raises(AttributeError):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        point.z = 3  # type: ignore[attr-defined]
    assert {point: 1}[Point(1)] == 1
    assert copy.deepcopy(point) == point
    assert type(copy.copy(point)) is Point
    assert pickle.loads(pickle.dumps(point)) == point
