"""Messages that say whose mistake it is, in which game, and what to do; and names that stay as people wrote them."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Literal

import pytest

from referee.cli import watch
from referee.errors import RefereeError
from referee.handins import roster
from referee.replay.paths import content
from referee.replay.reader import read_lines

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

GREEDY = """
from sdk import HunterBot, PreyBot

class Greedy(HunterBot):
    def hunt(self, state):
        return self.build("vertical")

class Quiet(PreyBot):
    def flee(self, state):
        return None

(Greedy if SEAT == "hunter" else Quiet).main()
"""


def test_a_duel_says_whose_wall_was_refused_and_in_which_game(referee: Cli, tmp_path: Path) -> None:
    for team in ("ada", "bob"):
        (tmp_path / team).mkdir()
        for seat in ("hunter", "prey"):
            (tmp_path / team / f"{seat}.py").write_text(GREEDY.replace("SEAT", repr(seat)))
    done = referee("duel", "ada", "bob", "--max-steps", "5", "--isolation", "none")
    assert done.returncode == 0, done.stderr
    refused = [line for line in done.stderr.splitlines() if "refused" in line]
    assert refused
    names = {"1": "ada", "2": "bob"}
    for line in refused:
        found = re.match(r"game ([12]), (?:step \d+|1 more, the last in step \d+), hunter Greedy of (\w+): vertical wall refused: ", line)
        assert found, line
        assert found[2] == names[found[1]]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("debug",), "Missing argument 'REPLAY'."),
        (("debug", "no.gz"), "no.gz can't be read"),
        (("play", "--nope"), "No such option: --nope"),
        (("nosuch",), "No such command 'nosuch'."),
        (("debug", "no.gz", "--seat", "hunter"), "no.gz can't be read"),
    ],
)
def test_a_wrong_command_line_is_json_for_machines(words: tuple[str, ...], text: str, referee: Cli) -> None:
    done = referee(*words, "--json")
    assert done.returncode == 2
    told = json.loads(done.stdout)
    assert told["exit_code"] == 2
    assert told["error"].startswith(text)
    assert done.stderr.startswith(f"referee: {text}")
    assert done.stderr.count("\n") == 1


def test_the_exit_status_of_a_command_for_machines_stays(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("raise SystemExit(1)")
    assert referee("play", "dies.py", "still", "--isolation", "none", "--json", "--set=max_steps=5").returncode == 3
    assert json.loads(referee("games", "--json").stdout)


def test_one_number_is_the_size_of_a_square_board(referee: Cli) -> None:
    done = referee("play", "boxer", "still", "--size", "100", "--prey", "70,60", "--max-steps", "5", "--json")
    assert done.returncode == 0, done.stderr
    settings = json.loads(referee("show", json.loads(done.stdout)["replay"], "--json").stdout)["head"]["settings"]
    assert (settings["width"], settings["height"]) == (100, 100)
    done = referee("play", "boxer", "still", "--size", "100", "--max-steps", "5", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(referee("show", json.loads(done.stdout)["replay"], "--json").stdout)["head"]["settings"]["prey"] == [76, 66]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_of_every_language_stay_in_the_name_of_a_replay(form: Literal["NFC", "NFD"], referee: Cli, tmp_path: Path) -> None:
    name = unicodedata.normalize(form, "ünï çødé.sh")
    (tmp_path / name).write_text("#!/bin/sh\n")
    (tmp_path / name).chmod(0o755)
    referee("play", f"./{name}", "still", "--isolation", "none", "--quiet")
    [replay] = (tmp_path / "matches/replays").glob("*.replay.jsonl.gz")
    assert replay.name.endswith("-ünï-çødé-still.replay.jsonl.gz")
    many = ["漢字" * 30, *["random"] * 25]
    done = referee("play", "--game", "rectangle", "--rules", "large", *many, "--isolation", "none", "--quiet")
    assert "is neither a file nor an example bot" in done.stderr


STUBBORN = """
from sdk import HunterBot
class Stubborn(HunterBot):
    def hunt(self, state):
        return self.build("horizontal", span=(0, 299 + state.step))
Stubborn.main()
"""


def test_a_wall_refused_in_every_step_is_told_of_three_times(tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    done = referee("play", "stubborn.py", "still", "--max-steps", "200")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if re.match(r"step \d+, hunter Stubborn: ", line)]
    more = [line for line in done.stderr.splitlines() if " more, the last in step " in line]
    # Two reasons: the wait for the next wall, and the wrong span. "1 more step" and "2 more steps" are one reason.
    assert (len(told), len(more)) == (6, 2), done.stderr
    assert len(told) + sum(int(line.split()[0].replace(",", "")) for line in more) >= 190


def test_other_mistyped_files_are_named_too(tmp_path: Path, referee: Cli) -> None:
    for name in ("first.replay.jsonl.gz", "league.toml", "hostile\x1b[31m.replay.jsonl.gz"):
        (tmp_path / name).write_bytes(b"")
    done = referee("verify", "fist.replay.jsonl.gz")
    assert done.returncode == 2
    assert "can't be read: No such file or directory; did you mean 'first.replay.jsonl.gz'?" in done.stderr
    for call in (
        lambda: next(read_lines(tmp_path / "firs.replay.jsonl.gz")),
        lambda: content(tmp_path / "legue.toml", "The league file", 1 << 20),
        lambda: watch.check_folder_argument(tmp_path / "fist.replay.jsonl.gz"),
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
