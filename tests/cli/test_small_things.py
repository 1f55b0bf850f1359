"""Small things that people stumbled over."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from conftest import PATIENT, play_match

from referee.cli import terminal, watch
from referee.cli.terminal import Live, Pace
from referee.errors import RefereeError
from referee.games.game import Notice
from referee.grading import roster
from referee.match.clock import Clock
from referee.match.events import StepTaken
from referee.match.options import TimeControl
from referee.replay.paths import content
from referee.replay.reader import read_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


def lines_of(replay: Path) -> list[dict[str, Any]]:
    with gzip.open(replay) as file:
        return [json.loads(line) for line in file]


def test_a_match_without_a_seed_can_be_played_again(tmp_path: Path, referee: Cli) -> None:
    done = referee("play", "random", "random", "--max-steps", "40", "--out", "first.replay.jsonl.gz")
    assert done.returncode == 0, done.stderr
    found = re.search(r"^  seed     (\d+)$", done.stdout, re.MULTILINE)
    assert found
    head, *steps, _ = lines_of(tmp_path / "first.replay.jsonl.gz")
    assert head["seed"] == int(found[1]) < 2**53
    again = referee("play", "random", "random", "--max-steps", "40", "--seed", found[1], "--out", "again.replay.jsonl.gz")
    assert again.returncode == 0, again.stderr
    other_head, *other_steps, _ = lines_of(tmp_path / "again.replay.jsonl.gz")
    assert other_head["secret"] == head["secret"]
    assert [step.get("moves") for step in other_steps] == [step.get("moves") for step in steps]
    third = referee("play", "random", "random", "--max-steps", "40", "--out", "third.replay.jsonl.gz")
    assert third.returncode == 0
    assert lines_of(tmp_path / "third.replay.jsonl.gz")[0]["seed"] != head["seed"]


REFUSED = """
from sdk import HunterBot
class Stubborn(HunterBot):
    def hunt(self, state):
        self.build("horizontal", span=(0, 299 + state.step))
Stubborn.main()
"""


def test_a_wall_refused_in_every_step_is_told_of_three_times(tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "stubborn.py").write_text(REFUSED.replace("self.build(", "return self.build("))
    done = referee("play", "stubborn.py", "still", "--max-steps", "200")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if re.match(r"step \d+, hunter Stubborn: ", line)]
    more = [line for line in done.stderr.splitlines() if " more, the last in step " in line]
    # Two reasons: the wait for the next wall, and the wrong span. "1 more step" and "2 more steps" are one reason.
    assert (len(told), len(more)) == (6, 2), done.stderr
    assert len(told) + sum(int(line.split()[0].replace(",", "")) for line in more) >= 190


def test_remarks_of_very_many_kinds_are_counted_too(capsys: pytest.CaptureFixture[str]) -> None:
    from referee import games

    live = Live(games.get("evasion"), {"hunter": Clock(TimeControl())})
    for turn in range(1000):
        notice = Notice(f"refused-{turn}", f"number {turn} is refused", "hunter")
        live.stepped(StepTaken(turn, None, None, {}, (notice,), {}, {}, {}, {}))
    live.stopped()
    said = capsys.readouterr().err.splitlines()
    assert len(said) < 120
    assert said[-1] == "897 more of other kinds, the last in step 999, hunter: number 999 is refused"


NEVER_FLUSHES = """
import io, sys
out = io.BufferedWriter(io.FileIO(1, "w"), 1 << 20)
for line in sys.stdin:
    out.write(b'{"type":"ready","protocol":1}\\n')
"""


def test_a_bot_that_never_flushes_is_told_of_that(tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "keeps.py").write_text(NEVER_FLUSHES)
    # On a busy machine the referee may be late, too; that voids a match unless it is allowed.
    (tmp_path / "match.toml").write_text("[time]\nstartup = 0.5\n[run]\nmax_lateness = 3600\n")
    done = referee("play", "keeps.py", "still", "--match", "match.toml")
    assert done.returncode == 3
    assert "within the start-up limit of 0.5 s. Did it flush its output?" in done.stdout


@pytest.mark.parametrize("flushed", [0, 1])
def test_only_a_bot_that_never_sent_a_move_is_asked_whether_it_flushes(flushed: int, tmp_path: Path) -> None:
    (tmp_path / "keeps.py").write_text(
        "import io, json, sys\nout = io.BufferedWriter(io.FileIO(1, 'w'), 1 << 20)\n"
        "for line in sys.stdin:\n    message = json.loads(line)\n"
        "    is_start, turn = message['type'] == 'start', message.get('turn', -1)\n"
        "    answer = {'type': 'ready', 'protocol': 1} if is_start else {'type': 'move', 'turn': turn, 'move': {}}\n"
        f"    out.write(json.dumps(answer).encode() + b'\\n')\n    if turn < {flushed}:\n        out.flush()\n"
    )
    # One limit for both turns: on a busy machine, too, the first answer must come within it.
    times = {"hunter": PATIENT.replace(move=2.0)}
    text = play_match(str(tmp_path / "keeps.py"), "still", max_steps=5, times=times).faults["hunter"].text
    assert "gave no answer within the move limit of 2 s." in text
    assert (" Did it flush its output?" in text) == (flushed == 0)


def test_an_init_of_the_author_s_own_needs_no_super(tmp_path: Path) -> None:
    bot = tmp_path / "own.py"
    bot.write_text(
        "from sdk import HunterBot\n"
        "class Own(HunterBot):\n"
        "    def __init__(self):\n        self.count = 0\n"
        "    def hunt(self, state):\n        self.count += 1\n        self.say(f'step {self.count}')\n"
        "        self.draw.text((1, 1), 'here')\n        self.random.random()\n"
        "Own.main()\n"
    )
    result = play_match(str(bot), "still", max_steps=5)
    assert not result.faults
    assert result.steps == 5


def test_version_has_a_short_form(referee: Cli) -> None:
    assert referee("-V").stdout == referee("--version").stdout != ""


def test_a_mistyped_file_is_named(tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "my_hunter.py").write_text("")
    done = referee("play", "my_huntr.py", "still")
    assert done.returncode == 2
    assert "The hunter 'my_huntr.py' does not exist; did you mean 'my_hunter.py'?" in done.stderr
    assert "there is no such file" in referee("play", "quite/else.py", "still").stderr
    assert "did you mean 'my_hunter.py'?" in referee("play", "my_huntr", "still").stderr
    assert "did you mean the example bot 'boxer'?" in referee("play", "boxer.py", "still").stderr


def test_other_mistyped_files_are_named_too(tmp_path: Path, referee: Cli) -> None:
    for name in ("first.replay.jsonl.gz", "league.toml", "hostile\x1b[31m.replay.jsonl.gz"):
        (tmp_path / name).write_bytes(b"")
    done = referee("verify", "fist.replay.jsonl.gz")
    assert done.returncode == 2
    assert "can't be read: No such file or directory; did you mean 'first.replay.jsonl.gz'?" in done.stderr
    for call in (
        lambda: next(read_lines(tmp_path / "firs.replay.jsonl.gz")),
        lambda: content(tmp_path / "legue.toml", "The league file", 1 << 20),
        lambda: watch.check_files([tmp_path / "fist.replay.jsonl.gz"], is_projector=True),
        lambda: roster.load(tmp_path / "leage.toml"),
    ):
        with pytest.raises(RefereeError, match=r"No such file or directory; did you mean '.*(first\.replay|league\.toml)"):
            call()
    with pytest.raises(RefereeError, match=r"did you mean '.*hostile\\x1b\[31m\.replay") as told:
        next(read_lines(tmp_path / "hostile.replay.jsonl.gz"))
    assert "\x1b" not in str(told.value)
    (tmp_path / "x.html").write_bytes(b"")
    for name in ("nowhere/first.replay.jsonl.gz", "no.toml"):
        with pytest.raises(RefereeError, match=r"can't be read: No such file or directory\.$"):
            next(read_lines(tmp_path / name))


@pytest.mark.parametrize(("name", "start"), [("x.html", b"<!doctype"), ("x.svg", b"<"), ("x.PNG", b"\x89PNG"), ("x.gif", b"GIF8")])
def test_the_form_of_an_export_follows_from_its_name(name: str, start: bytes, tmp_path: Path, referee: Cli) -> None:
    replay = tmp_path / "match.replay.jsonl.gz"
    play_match("straight", "still", replay=replay, max_steps=5)
    done = referee("export", replay, "--out", name)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).read_bytes().lower().startswith(start.lower())
    done = referee("export", replay, "--out", "x.webm")
    assert done.returncode == 2
    assert "--out is 'x.webm', but must end in .html, .svg, .png or .gif; or choose the output, as in --png." in done.stderr
    done = referee("export", replay, "--png", "--out", "e.svg")
    assert done.returncode == 2
    assert "--out is 'e.svg', but --png writes a .png file." in done.stderr


def test_programs_are_paced_where_people_look_on(monkeypatch: pytest.MonkeyPatch) -> None:

    now = 100.0
    waited: list[float] = []

    def wait(_r: object, _w: object, _x: object, seconds: float) -> None:
        nonlocal now
        waited.append(seconds)
        now += seconds

    monkeypatch.setattr(terminal, "monotonic", lambda: now)
    monkeypatch.setattr("select.select", wait)
    pace = Pace(4.0)
    event: Any = None
    pace.begun(event)
    for thinking in (0.0, 0.1, 0.0, 3.0, 0.0, 0.0):
        now += thinking
        pace.stepped(event)
    assert waited == pytest.approx([0.25, 0.15, 0.25, 0.25, 0.25])


@pytest.mark.parametrize(("options", "paced"), [(["--pace", "15"], 12), ([], 0)])
def test_every_step_of_a_live_match_of_programs_is_paced_if_asked(options: list[str], paced: int, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom referee.cli import terminal\n"
        "terminal.Pace.stepped = lambda self, event: open('paced', 'a').write('.') and None\n"
        "sys.argv = ['referee', *sys.argv[1:]]\nfrom referee.__main__ import main\nmain()\n"
    )
    command = [sys.executable, "-c", code, "play", "straight", "still", "--max-steps", "12", "--live", "--no-stay", "--no-browser"]
    command += ["--port", "0", "--json", "--isolation", "none", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = tmp_path / "paced"
    assert (told.read_text() if told.exists() else "") == "." * paced


def test_a_pace_that_no_page_shows_gets_a_note(referee: Cli) -> None:
    done = referee("play", "straight", "still", "--max-steps", "3", "--pace", "8", "--isolation", "none")
    assert done.returncode == 0
    assert "note: --pace does nothing here" in done.stderr


def test_the_bots_of_a_game_end_with_a_match_of_that_game(referee: Cli) -> None:
    assert "play --game maze expert expert" in referee("bots", "--game", "maze").stdout


def test_bots_are_listed_by_game_in_any_width(referee: Cli) -> None:
    for columns in ("40", "120"):
        done = referee("bots", env={"COLUMNS": columns})
        assert done.returncode == 0
        assert max(map(len, done.stdout.splitlines()[:-1])) <= int(columns)
        assert [line for line in done.stdout.splitlines() if line.endswith(":") and not line.startswith(" ")] == [
            "evasion:",
            "rectangle:",
            "maze:",
        ]
    games = [bot["game"] for bot in json.loads(referee("bots", "--json").stdout)]
    assert games == sorted(games, key=["evasion", "rectangle", "maze"].index)
    only = json.loads(referee("bots", "--game", "maze", "--json").stdout)
    assert {bot["game"] for bot in only} == {"maze"}
    assert referee("bots", "--game", "mase").returncode == 2


def test_what_is_missing_is_named_as_it_can_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from referee.errors import UsageError
    from referee.support.packages import need_export, need_web

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError) as raised:
        need_web("--live")
    assert str(raised.value).endswith("-m pip install starlette uvicorn websockets")
    with pytest.raises(UsageError, match=r"-m pip install pillow\.?$"):
        need_export("--png")
