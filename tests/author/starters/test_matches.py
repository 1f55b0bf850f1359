"""Every starter plays against the example bots, in every language that this machine has; the results are pinned.

The starters of all languages decide alike, but for the prey: in Python the SDK tells it the hunter's path. So another difference between two
languages is a mistake of one of them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from broken_bots import NAMES, ROLES, built
from sandboxes import missing, need

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

#: The results of a role: the opponent, the options of the match, the winner, and the steps. ME stands for the starter.
RESULTS: dict[str, list[tuple[str, str, str, int]]] = {
    "hunter": [
        ("ME still", "", "hunter", 520),
        ("ME still", "--rules diagonal --prey 50,60 --seed 1", "hunter", 658),
        ("ME evader", "--rules diagonal", "hunter", 481),
        ("ME still", "--size 40x40 --prey 30,20 --max-walls 0 --cooldown 0 --max-steps 100", "prey", 100),
    ],
    "prey": [
        ("boxer ME", "--max-steps 700", "prey", 700),
        ("surveyor ME", "--rules diagonal", "hunter", 475),
        ("straight ME", "--max-steps 700 --prey-period 1", "prey", 700),
    ],
    "thief": [("ME hard", "--game maze --seed 1", "thief", 55), ("ME easy", "--game maze --seed 2", "thief", 41)],
    "policeman": [("random ME", "--game maze --seed 1", "policeman", 40), ("dasher ME", "--game maze --seed 3", "thief", 125)],
    "painter": [
        ("ME idle", "--game rectangle --cap 200 --seed 1", "a", 80),
        ("ME random", "--game rectangle --cap 60 --seed 1", "a", 61),
        ("idle idle ME", "--game rectangle --rules large --cap 60 --seed 1", "c", 61),
        ("ME idle", "--game rectangle --size 3 --robots 4 --cap 10 --seed 1", "", 11),
    ],
}

#: The steps of a prey in Python where they are others.
STEPS_IN_PYTHON = {"surveyor ME": 469}
CASES = [(name, game, role) for name in NAMES for game, role in ROLES]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "game", "role"),
    [
        pytest.param(*case, marks=[] if case[0] == "python" or case[2] == "hunter" else [pytest.mark.soak], id="-".join(case))
        for case in CASES
    ],
)
def test_it_plays_as_it_did(name: str, game: str, role: str, referee: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = built(name, role)
    cases = RESULTS[role]
    played = [_play(referee, bot, players, options) for players, options, _, _ in cases]
    assert [one["fault"] for one in played] == [{}] * len(played)
    others = STEPS_IN_PYTHON if (name, role) == ("python", "prey") else {}
    expected = [(winner, others.get(players, steps)) for players, _, winner, steps in cases]
    assert [(one["winner"] or "", one["steps"]) for one in played] == expected


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in ("javascript", "cpp") else [pytest.mark.slow]) for name in NAMES])
def test_it_refuses_a_seat_that_it_does_not_play(name: str, referee: Cli) -> None:
    bot = built(name, "hunter")
    words = ["boxer", bot.player, "--max-steps", "30", "--isolation", "none", "--quiet", "--json"]
    done = referee("play", *words, cwd=bot.folder)
    assert done.returncode == 3
    fault = json.loads(done.stdout)["players"]["prey"]["fault"]
    assert fault["kind"] == "crashed"
    assert "plays hunter, but was asked to play prey" in fault["text"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_its_runtime_needs_nothing_that_the_sandbox_hides(name: str, referee: Cli) -> None:
    need(not missing(), missing())
    found = _play(referee, built(name, "hunter"), "ME still", "", isolation="strict")
    assert found == {"winner": "hunter", "steps": 520, "fault": {}}


def _play(referee: Cli, bot: Any, players: str, options: str, isolation: str = "none") -> dict[str, Any]:
    words = [bot.player if word == "ME" else word for word in players.split()]
    seed = [] if "--seed" in options else ["--seed", "1"]
    # Which moves it makes is the question, not how long a loaded machine takes for them.
    patient = ["--startup", "none", "--move-time", "none", "--bank", "none", "--quiet", "--json"]
    done = referee("play", *words, *options.split(), *seed, "--isolation", isolation, *patient, cwd=bot.folder, timeout=1200)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    faults = {seat: one["fault"] for seat, one in result["players"].items() if one["fault"]}
    return {"winner": result["winner"], "steps": result["steps"], "fault": faults}
