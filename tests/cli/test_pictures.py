"""Exported pictures show what bots say and draw, and refused moves. All of it may be hostile."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee import games
from referee.export import raster, svg
from referee.export.remarks import Remarks

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

REPLAYS = Path(__file__).parents[1] / "data" / "replays"


@pytest.mark.parametrize(
    ("name", "step", "shown", "hidden"),
    [
        # The line leads from the cell (0, 0) to the cell (9, 9), and y points upwards.
        ("evasion-classic-hunter-fault", 2, [">hi<", "legal in 19 more", 'points="0.5,299.5 9.5,290.5"'], []),
        ("evasion-classic-hunter-fault", 3, [">hi<", "legal in 18 more"], ["19 more"]),
        ("evasion-gameserver-trapped", 7, ["refused: it leaves the board", 'fill="red" fill-opacity="0.35"'], []),
        ("evasion-gameserver-trapped", 2, [], ["refused", "fill-opacity"]),
    ],
    ids=["a remark and a line", "the newest refusal alone", "cells", "nothing yet"],
)
def test_a_picture_shows_what_came_before_its_step(
    name: str, step: int, shown: list[str], hidden: list[str], referee: Cli, tmp_path: Path
) -> None:
    assert referee("export", str(replay(name)), "--step", str(step), "--out", str(tmp_path / "a.svg")).returncode == 0
    text = (tmp_path / "a.svg").read_text()
    ET.fromstring(text)
    assert [part for part in shown if part not in text] == []
    assert [part for part in hidden if part in text] == []


def test_pixels_show_the_same(referee: Cli, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    assert referee("export", str(replay("evasion-gameserver-trapped")), "--step", "7", "--out", str(tmp_path / "a.png")).returncode == 0
    with image.open(tmp_path / "a.png") as picture:
        colors = {color for _, color in picture.convert("RGB").getcolors(1 << 20)}
    assert (168, 64, 127) in colors, "the cross of the refused wall"
    assert any(red > 240 and 140 < green < 190 and abs(green - blue) < 5 for red, green, blue in colors), (
        "a red cell through which the board shows"
    )


def replay(name: str) -> Path:
    return REPLAYS / f"{name}.replay.jsonl.gz"


def start_of(name: str, **given: Any) -> tuple[Any, Any]:
    """The view of a game's pictures, and its start."""
    game = games.get(name)
    assert game.picture is not None
    return game.picture, game.start(game.codec.settings(None, given), b"0" * 16)


CHASE = {"prey": [5, 5], "hunter": [0, 0, 1, 1], "width": 30, "height": 20}


HOSTILE: list[Any] = [
    None, 7, "x", [], {"say": 7, "draw": 7}, {"say": "", "draw": [None, 7, [], {}]},
    {"say": "<script>alert(1)</script>\x1b[2J\u202e" + "x" * 10_000},
    {"draw": [{"shape": "line", "start": [0, 0], "end": [1e300, 0]}, {"shape": "line", "start": [0], "end": [1, "1"]}]},
    {"draw": [{"shape": "rect", "start": [True, 0], "end": [0, 0]}, {"shape": "rect", "start": [3, 9], "end": [1, 2], "color": 'red" onload="x'}]},
    {"draw": [{"shape": "text", "at": [5, 5], "text": ["<b>"], "color": "#12345"}, {"shape": "text", "at": [-5, 900], "text": "\x00", "color": "nocolor"}]},
    {"draw": [{"shape": "cells", "cells": [[1, 1], 7, [2], [float("nan"), 1], [float("inf"), 1]], "color": "#f00"}]},
]  # fmt: skip


def test_hostile_remarks_do_no_harm() -> None:
    pytest.importorskip("PIL.Image")
    for name, given in (("evasion", CHASE), ("maze", {}), ("rectangle", {})):
        view, state = start_of(name, **given)
        seats = list(games.get(name).seats(state.settings))
        remarks = Remarks()
        for hostile in HOSTILE:
            remarks.take({"remarks": dict.fromkeys((*seats, "stranger"), hostile), "notices": [hostile]})
            picture = remarks.onto(view.draw([state]), view, state, remarks.count)
            text = svg.render(picture, 200, "hostile")
            ET.fromstring(text)
            assert "<script" not in text
            assert "onload" not in text
            assert "\x1b" not in text
            assert raster.png(picture, 200, "hostile")


@pytest.mark.parametrize(
    "data", [None, 7, {}, {"at": None}, {"at": [1]}, {"at": ["a", 1]}, {"at": [1e999, 0]}, {"at": [10**30, 0]}, {"at": [1, 1], "kind": []}]
)
def test_a_hostile_refusal_does_no_harm(data: object) -> None:
    view, state = start_of("evasion", **CHASE)
    remarks = Remarks()
    remarks.take({"notices": [{"code": "wall-refused", "text": 7, "data": data}]})
    picture = remarks.onto(view.draw([state]), view, state, 1)
    ET.fromstring(svg.render(picture, 200, "hostile"))
    assert io.BytesIO(raster.png(picture, 100, "hostile")).read(4) == b"\x89PNG"


def test_a_remark_stays_for_some_steps() -> None:
    view, state = start_of("evasion", **CHASE)
    remarks = Remarks()
    for turn in range(50):
        remarks.take({"remarks": {"hunter": {"say": f"number {turn}"}}} if turn in (0, 3) else {})
    shown = []
    for position in range(51):
        text = svg.render(remarks.onto(view.draw([state]), view, state, position), 100, "")
        shown.append("0" if "number 0" in text else "3" if "number 3" in text else ".")
    assert "".join(shown) == "." + "000" + "3" * 20 + "." * 27


def test_a_game_that_knows_no_places_has_plain_pictures() -> None:
    view, state = start_of("evasion", **CHASE)
    picture, remarks = view.draw([state]), Remarks()
    remarks.take({"remarks": {"hunter": {"say": "hello"}}})
    assert remarks.onto(picture, object(), state, 1) is picture
