"""What the contract suite must know of each game: how to draw settings of short games, and answers.

A new game needs one entry in ``SAMPLES``. Settings may be refused with a SettingsError, they are drawn again then. Answers must have
the right shape; they may break the rules of the game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    Json = Any


class Sample(NamedTuple):
    """``settings`` draws settings for a rule set; ``answer`` draws an answer for a seat.

    An answer depends on what a bot knows: the settings, with the rule set as ``rules`` among them, the seat and its view.
    """

    settings: Callable[[random.Random, str], dict[str, Json]]
    answer: Callable[[random.Random, dict[str, Json], str, Json], Json]


# Evasion

KINDS = ["horizontal", "vertical", "diagonal", "counter-diagonal"]
COMPASS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]


def evasion_settings(draw: random.Random, rules: str) -> dict[str, Json]:
    width, height = draw.randint(1, 40), draw.randint(1, 40)
    return {
        "width": width,
        "height": height,
        "hunter": [draw.randrange(width), draw.randrange(height), draw.choice([-1, 1]), draw.choice([-1, 1])],
        "prey": [draw.randrange(width), draw.randrange(height)],
        "cooldown": draw.choice([0, 1, 2, 5, 20]),
        "max_walls": draw.choice([0, 1, 3, 10, 40]),
        "capture_radius": draw.choice([0, 1, 4]),
        "prey_cooldown" if rules == "gameserver" else "prey_period": draw.choice([1, 2, 3]),
        "max_steps": draw.choice([1, 10, 60, 200]),
    }


def evasion_answer(draw: random.Random, told: dict[str, Json], seat: str, view: Json) -> Json:
    if draw.random() < 0.2:
        return {}
    if told["rules"] == "gameserver":
        return _command(draw, seat, view)
    if seat == "prey":
        return {"go": [draw.randint(-1, 1), draw.randint(-1, 1)]}
    ids = [wall["id"] for wall in view["walls"]]
    answer: dict[str, Json] = {}
    if draw.random() < 0.6:
        answer["build"] = {"kind": draw.choice(KINDS)}
        if draw.random() < 0.3:
            answer["build"]["span"] = sorted([draw.randrange(-2, 42), draw.randrange(-2, 42)])
    if draw.random() < 0.3:
        answer["remove"] = [draw.choice([*ids, -1, 9]) for _ in range(draw.randint(0, 3))]
    return answer


def _command(draw: random.Random, seat: str, view: Json) -> Json:
    if draw.random() < 0.1:
        return {"invalid": "FLY"}
    if seat == "prey":
        x, y = view["prey"]["x"], view["prey"]["y"]
        return draw.choice([{"go": draw.choice(COMPASS)}, {"to": [x + draw.randint(-2, 2), y + draw.randint(-1, 1)]}])
    if view["walls"] and draw.random() < 0.4:
        return {"remove": draw.choice([wall["id"] for wall in view["walls"]] + [77])}
    x1, y1, far = draw.randrange(-1, 41), draw.randrange(-1, 41), draw.randrange(41)
    x2, y2 = draw.choice([(far, y1), (x1, far), (x1, y1), (far, far)])
    return {"add": {"id": draw.randint(0, 12), "x1": x1, "y1": y1, "x2": x2, "y2": y2}}


# Rectangle

ORDERS = "NSEW-"


def rectangle_settings(draw: random.Random, rules: str) -> dict[str, Json]:
    return {
        "n": draw.randint(3, 9),
        "players": draw.randint(2, 4),
        "robots": draw.randint(1, 4),
        "stagnation": draw.randint(1, 20),
        "cap": draw.choice([0, 0, 1, 5, 40]),
        "sharing": draw.choice(["2002", "2003"]),
    }


def rectangle_answer(draw: random.Random, told: dict[str, Json], seat: str, view: Json) -> Json:
    many = told["robots"] if draw.random() < 0.8 else draw.randint(0, 5)
    if view["turn"] < 0:
        least, most = (-1, 12) if draw.random() < 0.2 else (0, len(view["board"]) - 1)
        return {"place": [[draw.randint(least, most), draw.randint(least, most)] for _ in range(many)]}
    if draw.random() < 0.1:
        return {"orders": [draw.choice(["N", "up", "", "NE"]) for _ in range(many)]}
    # Whole lines in one direction make rings, which single random steps hardly ever do.
    way = ORDERS[(view["turn"] // 2) % 4]
    return {"orders": "".join(way if draw.random() < 0.7 else draw.choice(ORDERS) for _ in range(many))}


# Maze

STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
LAYOUTS = [
    ["...E", "....", "....", "...."],
    ["..#.E", ".....", "#.#..", ".....", "..#.."],
    [".......", ".#####.", ".#...#.", ".#.E...", ".#...#.", ".##.##.", "......."],
]


def maze_settings(draw: random.Random, rules: str) -> dict[str, Json]:
    given: dict[str, Json] = {"parity": draw.choice(["any", "even"]), "apart": draw.randint(0, 4), "max_moves": draw.randint(1, 40)}
    if draw.random() < 0.5:
        given["exit_start"] = draw.random() < 0.5
    if draw.random() < 0.8:
        given["layout"] = draw.choice(LAYOUTS)
    if draw.random() < 0.3:
        given["thief"], given["policeman"] = [draw.randint(1, 4), draw.randint(1, 4)], [draw.randint(1, 4), draw.randint(1, 4)]
    return given


def maze_answer(draw: random.Random, told: dict[str, Json], seat: str, view: Json) -> Json:
    if draw.random() < 0.05:
        return draw.choice([{}, {"go": "up"}, {"go": ""}, {"go": None}, *({"go": order} for order in STEPS)])
    row, column = view[seat]
    layout = told["layout"]
    squares = {order: (row + down, column + along) for order, (down, along) in STEPS.items()}
    inside = {order: at for order, at in squares.items() if 1 <= at[0] <= len(layout) and 1 <= at[1] <= len(layout[0])}
    return {"go": draw.choice([order for order, (down, along) in inside.items() if layout[down - 1][along - 1] != "#"])}


SAMPLES = {
    "evasion": Sample(evasion_settings, evasion_answer),
    "rectangle": Sample(rectangle_settings, rectangle_answer),
    "maze": Sample(maze_settings, maze_answer),
}
