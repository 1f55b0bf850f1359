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


class Late(NamedTuple):
    """A record with defaults at its end."""

    a: int
    b: int
    c: int = 3
    d: int = 4


class Odd(NamedTuple):
    """A record with a default before a field without one, which ``typing`` forbids."""

    a: int = 1
    b: int  # type: ignore[misc]  # the point of the test


def test_values_by_name_and_defaults_are_put_in_the_order_of_the_fields() -> None:
    assert Late(1, 2) == (1, 2, 3, 4) == Late(b=2, a=1)
    assert Late(1, 2, 5) == (1, 2, 5, 4) == Late(1, 2, c=5)
    assert Late(1, 2, d=5) == (1, 2, 3, 5)
    assert Late(1, 2, d=5, c=6) == (1, 2, 6, 5) == Late(1, b=2, d=5, c=6) == Late(d=5, c=6, b=2, a=1)
    assert Late(1, 2, 6, d=5) == (1, 2, 6, 5)
    for places, names in (
        ((1,), {}),
        ((1,), {"c": 2}),
        ((1, 2, 3), {"c": 3}),
        ((1, 2), {"e": 3}),
        ((1, 2, 3, 4, 5), {}),
        ((1, 2, 3, 4), {"d": 4}),
    ):
        with pytest.raises(TypeError):
            Late(*places, **names)
    assert Odd(b=2) == (1, 2) == Odd(1, 2)
    with pytest.raises(TypeError, match="field: b"):
        Odd(1)  # type: ignore[call-arg]


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
