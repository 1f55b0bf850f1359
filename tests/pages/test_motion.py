"""What the drawing code computes itself, against the engine: ways between two positions, the prey's region, distances, cameras."""

from __future__ import annotations

import base64
import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from served_pages import laid_out, run

from referee.games.evasion.board.regions import reachable
from referee.games.evasion.board.wall import DIAGONAL, HORIZONTAL, VERTICAL, Wall
from referee.games.evasion.board.walls import Walls

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid_out(tmp_path_factory.mktemp("scripts"))


#: A track of Evasion from a head and records, without a page.
TRACK = """
globalThis.Path2D = class {};
const { display } = await import("./games/evasion/display.js");
const settings = { width: 20, height: 10, capture_radius: 2, cooldown: 3, max_walls: 5, prey_period: 2, max_steps: 9, hunter: [1, 1, 1, 1], prey: [15, 5], ...MORE };
const track = display.createTrack({ rules: "classic", settings, players: {} });
for (const [turn, changes] of RECORDS.entries()) track.push({ turn, changes });
"""


def track(records: list[dict[str, Any]], body: str, more: str = "{}") -> str:
    return TRACK.replace("RECORDS", json.dumps(records)).replace("MORE", more) + f"console.log(JSON.stringify({body}));"


def test_a_player_is_on_its_way_between_two_positions(scripts: Path) -> None:
    """Straight on; off a wall on one side, whose face it touches half way; back from a corner; and a prey that stays where it is."""
    records = [
        {"hunter": [2, 2, 1, 1]},
        {"hunter": [2, 3, -1, 1]},
        {"hunter": [2, 3, 1, -1]},
        {"hunter": [3, 2, 1, -1], "prey": [16, 5, 1, 0]},
    ]
    body = "[[0, 0.5, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4].map((exact) => track.ways.hunter.at(exact)), [0, 2.5, 3.5].map((exact) => track.ways.prey.at(exact))]"
    hunter, prey = run(scripts, track(records, body))
    assert hunter == [[1, 1], [1.5, 1.5], [2, 2], [2.25, 2.25], [2.5, 2.5], [2.25, 2.75], [2, 3], [1.5, 3.5], [2, 3], [2.5, 2.5], [3, 2]]
    assert prey == [[15, 5], [15, 5], [15.5, 5]]


def test_a_trail_goes_through_every_corner_and_touches_what_it_bounces_off(scripts: Path) -> None:
    records = [{"hunter": [x, x, 1, 1]} for x in range(2, 9)] + [{"hunter": [9, 8, 1, -1]}, {"hunter": [10, 7, 1, -1]}]
    body = "(() => { const found = []; track.ways.hunter.points(0.5, 8.5, (point, isBreak) => found.push([...point, isBreak])); return found; })()"
    assert run(scripts, track(records, body)) == [[1.5, 1.5, True], [8, 8, False], [8.5, 8.5, False], [9, 8, False], [9.5, 7.5, False]]


def test_no_way_leads_over_steps_that_were_not_seen(scripts: Path) -> None:
    view = {"hunter": {"x": 9, "y": 9, "dx": 1, "dy": -1}, "prey": {"x": 3, "y": 3, "dx": 0, "dy": 0}, "walls": [], "wall_timer": 0}
    body = f"(track.jump(5, {json.dumps(view)}), [4, 4.5, 5].map((exact) => track.ways.hunter.at(exact)))"
    assert run(scripts, track([{"hunter": [2, 2, 1, 1]}], body)) == [[2, 2], [2, 2], [9, 9]]


@pytest.mark.parametrize("seed", range(3))
def test_the_preys_region_is_the_engines(scripts: Path, seed: int) -> None:
    dice = random.Random(seed)
    walls = [
        Wall(0, HORIZONTAL, 0, 6, dice.randrange(8, 20), 6),
        Wall(1, VERTICAL, dice.randrange(4, 9), 0, 9, 5),
        Wall(2, DIAGONAL, 12, 7, 14, 9, "x"),
    ]
    walls[1] = walls[1]._replace(x2=walls[1].x1)
    prey = next((x, y) for x, y in ((dice.randrange(20), dice.randrange(10)) for _ in range(99)) if Walls(20, 10, walls).is_free(x, y))
    built = [{"id": w.id, "kind": w.kind, "x1": w.x1, "y1": w.y1, "x2": w.x2, "y2": w.y2, "first": w.first} for w in walls]
    body = (
        "(({ cells, mask }) => [cells, [...mask].flatMap((one, at) => (one ? [[at % 20, Math.floor(at / 20)]] : []))])(track.regionAt(1))"
    )
    cells, found = run(scripts, track([{"built": built}], body, f"{{ prey: {json.dumps(prey)} }}"))
    assert {tuple(cell) for cell in found} == set(reachable(Walls(20, 10, walls), prey))
    assert cells == len(found)


def test_cameras_show_the_end_and_never_leave_the_board(scripts: Path) -> None:
    """The camera that zooms in on the end is at the whole board long before it, and at the capture when it comes; calm, it doesn't move."""
    script = """
const { camerasOf, viewOf } = await import("./pages/viewer/app/camera.js");
const track = { width: 300, height: 300, finale: () => ({ turn: 100, u: 290, v: 10, span: 30 }), focus: (exact) => ({ u: exact, v: exact, span: 60 }) };
const view = (name, exact, isCalm = false) => { const { zoom, center } = viewOf(name, track, exact, isCalm); return [zoom, ...center].map((part) => Math.round(100 * part) / 100); };
console.log(JSON.stringify({
  names: [camerasOf(track), camerasOf({})].map((list) => list.map(([name]) => name)), own: viewOf("whole", track, 5, false),
  early: view("capture", 20), half: view("capture", 70), end: view("capture", 100), calm: [view("capture", 99.5, true), view("capture", 100, true)],
  follow: [view("follow", 2), view("follow", 150)],
}));
"""
    found = run(scripts, script)
    assert isinstance(found, dict)
    assert found["names"] == [["whole", "follow", "capture"], ["whole"]]
    assert found["own"] is None
    assert found["early"] == [1, 150, 150]
    assert 1 < found["half"][0] < 10
    assert found["end"] == [10, 290, 10], "six cells beyond the edge at most"
    assert found["calm"] == [[1, 150, 150], [10, 290, 10]]
    assert found["follow"] == [[5, 18, 18], [5, 150, 150]]


def test_distances_in_a_maze(scripts: Path) -> None:
    script = """
const { distances, exitsOf } = await import("./games/maze/scene.js");
const rows = ["..#E", ".##.", "...."];
console.log(JSON.stringify([exitsOf(rows), [...distances(rows, exitsOf(rows))], [...distances(rows, [[-1, -1]])].every((steps) => steps < 0)]));
"""
    assert run(scripts, script) == [[[0, 3]], [7, 8, -1, 0, 6, -1, -1, 1, 5, 4, 3, 2], True]


def test_words_and_marks_can_be_read_in_both_themes(scripts: Path) -> None:
    """Text needs a contrast of 4.5 to 1, a mark of 3 to 1. Source: WCAG 2.2, 1.4.3 and 1.4.11."""
    script = """
const found = {};
for (const theme of ["light", "dark"]) {
  globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
  globalThis.document = { documentElement: { dataset: { theme } } };
  const { palette } = await import("./pages/viewer/app/palette.js");
  const { shade } = await import("./games/evasion/signs.js");
  const { inkOn } = await import("./pages/viewer/kit/color.js");
  const { colorOf } = await import("./games/rectangle/scene.js");
  const colors = palette();
  found[theme] = { ...colors, walls: [0, 0.5, 1].map((age) => shade(colors, age)), letters: [...Array(10).keys()].map((player) => [colorOf(player), inkOn(colorOf(player))]) };
}
console.log(JSON.stringify(found));
"""
    found = run(scripts, script)
    assert set(found) == {"light", "dark"}
    assert found["light"]["paper"] != found["dark"]["paper"]
    for colors in found.values():
        assert (len(colors["walls"]), len(colors["letters"])) == (3, 10)
        for name in ("ink", "faint", "warn", "orange", "blue"):
            assert min(contrast(colors[name], colors[paper]) for paper in ("paper", "board")) >= 4.5, name
        for wall in colors["walls"]:
            assert contrast(wall, colors["board"]) >= 3
        for color, ink in colors["letters"]:
            assert contrast(color, ink) >= 4.5, color


def test_signs_stand_within_large_cells_and_around_small_ones(scripts: Path) -> None:
    """How far the signs reach from the middle of their cell, in pixels, by the pixels of a cell."""
    script = """
const { drawHunter, drawPrey } = await import("./games/evasion/signs.js");
const colors = { orange: "", blue: "", paper: "" };
const found = [1, 2, 7, 20, 60, 200].map((cell) => {
  let reach = 0;
  const context = new Proxy({}, { set: () => true, get: (_, name) => (x, y, radius) => {
    if (name === "lineTo") reach = Math.max(reach, Math.hypot(x, y));
    if (name === "arc") reach = Math.max(reach, radius);
  } });
  drawHunter(context, 0, 0, 1, 1, 1 / cell, colors);
  drawPrey(context, 0, 0, 0, 0, 1 / cell, colors);
  return [cell, reach * cell];
});
console.log(JSON.stringify(found));
"""
    found = run(scripts, script)
    assert [cell for cell, _ in found] == [1, 2, 7, 20, 60, 200]
    for cell, reach in found:
        assert reach >= 9, "a sign that can be seen"
        assert reach <= max(18, cell / 2), "no cells around are covered"


def contrast(one: str, other: str) -> float:
    lights = sorted(light(color) for color in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def light(color: str) -> float:
    """The relative luminance of ``#rrggbb`` or ``rgb(r g b)``. Source: WCAG 2.2, "relative luminance"."""
    parts = [int(color[at : at + 2], 16) for at in (1, 3, 5)] if color.startswith("#") else [int(part) for part in color[4:-1].split()]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (part / 255 for part in parts)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_only_safe_cells_that_the_prey_can_reach_are_shown_and_the_legend_names_them(scripts: Path) -> None:
    def packed(bits: int) -> str:
        return base64.b64encode(bits.to_bytes(3, "little")).decode()

    found = {"stride": 3, "safe": packed(0b111100), "unknown": packed(0b1), "reach": packed(0b1111), "safe_cells": 4, "trajectory": []}
    body = f"""(() => {{
      const names = () => track.legend({{}}).map(([text]) => text);
      const before = names();
      track.analysis.take(0, {json.dumps(found)});
      for (const name of ["safe", "trajectory"]) track.analysis.shown.add(name);
      return [[...track.analysis.sets.get("safe")], track.analysis.safeCount, names().filter((name) => !before.includes(name)), track.facts(0).at(-1)];
    }})()"""
    safe, count, names, fact = run(scripts, track([], body))
    assert (safe, count) == ([0b1100, 0, 0], 2)
    assert names == ["■ safe cells", "┄ hunter's path if no wall changes"]
    assert fact == ["Safe cells", "2"]
