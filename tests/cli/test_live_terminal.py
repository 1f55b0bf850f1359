"""What the terminal shows of a running match, and the pace of a match that people look on."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from referee.cli import terminal
from referee.cli.terminal import Live
from referee.games.game import Notice
from referee.match.options import TimeControl
from referee.pages import show as steady_pace
from referee.pages.show import SteadyPace
from referee.replay.events import MatchBegun, StepTaken, Waiting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


WAITING = Waiting({"hunter": 11.4}, {"hunter": "slow.py"})


def test_remarks_of_very_many_kinds_are_counted_too(capsys: pytest.CaptureFixture[str]) -> None:

    live = Live()
    for turn in range(1000):
        notice = Notice(f"refused-{turn}", f"number {turn} is refused", "hunter")
        live.stepped(StepTaken(turn, None, None, {}, (notice,), {}, {}))
    live.stopped()
    said = capsys.readouterr().err.splitlines()
    assert len(said) < 120
    assert said[-1] == "897 more of other kinds, the last in step 999, hunter: number 999 is refused"


def test_a_match_that_waits_names_the_bot_without_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:

    now = 100.0
    monkeypatch.setattr(terminal, "monotonic", lambda: now)
    live = Live("game 2, ")
    live.waiting(WAITING)
    assert capsys.readouterr().err == ""
    now += 11.0
    live.waiting(WAITING)
    live.waiting(WAITING)
    assert capsys.readouterr().err == "game 2, waiting for the hunter (slow.py), asked 11 s ago\n"
    now += 11.0
    live.waiting(WAITING._replace(seconds={}))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (160, "step 0  distance 304.8  walls 0  hunter 0.0 of 120 s  waiting for the hunter (slow.py), asked 11 s ago"),
        (70, "0 304.8 0  H 0.0s  waiting for the hunter (slow.py), asked 11 s ago"),
        (40, "0 304.8 0  H 0.0s  waiting for the hunt"),
    ],
)
def test_a_match_that_waits_names_the_bot_in_its_line(
    columns: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from referee import games

    now = 100.0
    monkeypatch.setattr(terminal, "monotonic", lambda: now)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    game = games.get("evasion")
    live = Live()
    state = game.start(game.codec.settings(None, {}), bytes(16))
    head = {"game": "evasion", "rules": "classic", "players": {"hunter": {"name": "slow"}}, "clock": TimeControl().to_json()}
    live.begun(MatchBegun(head, state, game))
    capsys.readouterr()
    now += 1.0
    live.waiting(WAITING)
    assert capsys.readouterr().err == f"\r\x1b[K{line}"
    now += 1.0
    live.stepped(StepTaken(0, state, state, {}, (), {}, {}))
    assert "waiting" not in capsys.readouterr().err


def test_programs_are_paced_where_people_look_on(monkeypatch: pytest.MonkeyPatch) -> None:

    now = 100.0
    waited: list[float] = []

    def wait(_r: object, _w: object, _x: object, seconds: float) -> None:
        nonlocal now
        waited.append(seconds)
        now += seconds

    monkeypatch.setattr(steady_pace, "monotonic", lambda: now)
    monkeypatch.setattr("select.select", wait)
    pace = SteadyPace(4.0)
    event: Any = None
    pace.begun(event)
    for thinking in (0.0, 0.1, 0.0, 3.0, 0.0, 0.0):
        now += thinking
        pace.stepped(event)
    assert waited == pytest.approx([0.25, 0.15, 0.25, 0.25, 0.25])


@pytest.mark.parametrize(("options", "paced"), [(["--pace", "15"], 12), ([], 0)])
def test_every_step_of_a_live_match_of_programs_is_paced_if_asked(options: list[str], paced: int, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom referee.pages.show import SteadyPace\n"
        "SteadyPace.stepped = lambda self, event: open('paced', 'a').write('.') and None\n"
        "sys.argv = ['referee', *sys.argv[1:]]\nfrom referee.__main__ import main\nmain()\n"
    )
    command = [sys.executable, "-c", code, "play", "straight", "still", "--max-steps", "12", "--live", "--no-stay", "--no-browser"]
    command += ["--port", "0", "--json", "--isolation", "none", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = tmp_path / "paced"
    assert (told.read_text() if told.exists() else "") == "." * paced
