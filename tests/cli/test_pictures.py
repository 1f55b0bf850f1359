"""Exported pictures show what bots say and draw, and refused moves. All of it may be hostile."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee import games
from referee.export import raster, svg
from referee.export.remarks import Remarks, captioned
from referee.export.sheet import Sheet, shared
from referee.games.picture import Label

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

REPLAYS = Path(__file__).parents[1] / "data" / "replays"


def test_pixels_show_what_bots_draw_and_refused_walls(referee: Cli, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("kind", ["horizontal", "vertical", "diagonal", "counter-diagonal"])
def test_a_refused_wall_ends_where_it_would_have_ended(kind: str) -> None:
    view, state = start_of("evasion", **CHASE | {"prey": [15, 15], "hunter": [4, 3, 1, 1]})
    *lines, label = view.refusal(state, {"code": "wall-refused", "text": "refused: why", "data": {"at": [4, 3], "kind": kind}})
    assert label.text == "refused: why"
    points = [point for line in lines for point in line.points]
    assert all(0 <= x <= 30 and 0 <= y <= 20 for x, y in points)
    assert any(x in (0, 30) or y in (0, 20) for x, y in points), "nothing stands in its way"


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


def test_what_stands_at_the_edge_is_seen_whole() -> None:
    image = pytest.importorskip("PIL.Image")
    view, state = start_of("evasion", **CHASE | {"width": 300, "height": 300, "prey": [0, 0], "hunter": [40, 40, 1, 1]})
    picture = view.draw([state])
    sheet = Sheet(picture, 640)
    edge = round(sheet.margin / sheet.pixel)
    drawn = image.open(io.BytesIO(raster.png(picture, 640, ""))).convert("RGB")
    beyond = {drawn.getpixel((x, y)) for x in range(edge - 6, edge - 2) for y in range(drawn.height)}
    assert any(blue > red + 100 for red, _, blue in beyond), "the ring around the prey reaches over the edge of the board"
    thumbnail = svg.render(picture, 320, "", is_captioned=False, bold=2.5)
    assert 'viewBox="-21 -21 342 342"' in thumbnail


def test_names_share_the_room_and_are_told_apart() -> None:
    assert shared(["x" * 60, "Runner", "y" * 30], 36) == ["x" * 14 + "…", "Runner", "y" * 14 + "…"]
    game = games.get("rectangle")
    state = game.start(game.codec.settings(None, {}), b"0" * 16)._replace(ended="cap", scores=(3, 5), step=9)
    assert game.picture is not None
    players = {"a": {"name": "  \u200b "}, "b": {"name": "Z" + "\u0300" * 400}}
    picture = captioned(game.picture.draw([state]), game, state, players)
    assert [name for _, name, _ in picture.names] == ["a", "Z" + "\u0300" * 3]
    assert picture.caption.startswith("turn 8. Z\u0300\u0300\u0300 wins with 5 cells")
    long = [("#0072b2", letter * 30, "(a) 5") for letter in "xyz"]
    words = Sheet(picture._replace(names=(*long,)), 300).words
    assert [word.text for word in words[:3]] == [f"{letter * 30} (a) 5" for letter in "xyz"], "a line for each: nothing is cut"
    assert len({word.y for word in words[:3]}) == 3
    same = captioned(game.picture.draw([state]), game, state, {"a": {"name": "Team"}, "b": {"name": "Team"}})
    assert "Team (b) wins with 5 cells" in same.caption
    assert captioned(game.picture.draw([state]), game, state, {"a": {"name": None}, "b": []}).names[1][1] == "b"


def test_a_remark_covers_no_player() -> None:
    view, state = start_of("evasion", **CHASE | {"prey": [4, 3]})
    picture = view.draw([state])
    sheet = Sheet(picture, 640)
    label = Label(view.anchor(state, "hunter"), "a remark that is rather long", "#000000")
    left, top, wide, high = sheet.label_box(label, 6, 0.6, [])
    assert all(not (left < x < left + wide and top < y < top + high) for x, y in picture.marks)
    taken: list[tuple[float, float, float, float]] = []
    first, second = (sheet.label_box(label, 6, 0.6, taken) for _ in range(2))
    assert (
        first[1] + first[3] <= second[1]
        or second[1] + second[3] <= first[1]
        or first[0] + first[2] <= second[0]
        or second[0] + second[2] <= first[0]
    )


@pytest.mark.parametrize(("name", "start"), [("x.html", b"<!doctype"), ("x.PNG", b"\x89PNG"), ("x.gif", b"GIF8")])
def test_the_form_of_an_export_follows_from_its_name(name: str, start: bytes, tmp_path: Path, referee: Cli) -> None:
    done = referee("export", replay("evasion-diagonal-caught"), "--out", name)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).read_bytes().lower().startswith(start.lower())


def test_a_form_that_no_export_has_is_refused(referee: Cli) -> None:
    name = replay("evasion-classic-boxer-runner")
    done = referee("export", name, "--out", "x.webm")
    assert done.returncode == 2
    assert "--out is 'x.webm', but must end in .html, .png or .gif; or choose the output, as in --png." in done.stderr
    done = referee("export", name, "--png", "--out", "e.gif")
    assert done.returncode == 2
    assert "--out is 'e.gif', but --png writes a .png file." in done.stderr
