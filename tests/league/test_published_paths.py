"""What a league publishes names no folder of the machine that played it: replays, logs, pages, CSV and JSON."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandboxes import missing

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

BOT = """
import os, sys
from sdk import Bot, HunterBot, PreyBot
print("I am", __file__, "in", os.getcwd(), "of", sys.prefix, "with", sys.path, os.environ, file=sys.stderr)

class Team(SEAT):
    name = "/".join(sys.path)[-60:]
    def hunt(self, state):
        if self.turn == 4:
            self.say(str(sys.path))
        if self.turn == 6 and "Außerhalb" in os.path.abspath(__file__):
            print(sys.path)
        return None
    def flee(self, state):
        if self.turn > 8:
            raise ValueError("lost at " + os.path.abspath(__file__))
        return None

Team.main()
"""
ROOT = str(Path(__file__).parents[2])
#: What the store needs to play on from any folder. It is no part of a report.
OWN = re.compile(r"league\.sqlite|\.lock$")


@pytest.mark.parametrize("level", ["none", "strict"])
def test_nothing_that_is_published_names_a_folder_of_this_machine(level: str, referee: Cli, tmp_path: Path) -> None:
    if level == "strict" and (why := missing()):
        pytest.skip(why)
    home, elsewhere = tmp_path / "secret-home" / "kurs", tmp_path / "secret-share" / "Außerhalb"
    for folder in (home / "teams" / "Schlüssel", home / "teams" / "Öl", elsewhere):
        folder.mkdir(parents=True)
        for seat, base in (("hunter", "HunterBot"), ("prey", "PreyBot")):
            (folder / f"{seat}.py").write_text(BOT.replace("SEAT", base))
    teams = {"Schlüssel": "teams/Schlüssel", "Öl": str(home / "teams/Öl"), "Außerhalb": str(elsewhere)}
    tables = "".join(f'[[teams]]\nname = "{name}"\nprogram = "{program}"\n' for name, program in teams.items())
    (home / "league.toml").write_text(f'name = "Übung"\nslots = 1\nisolation = "{level}"\n{tables}[settings]\nmax_steps = 20\n')
    done = referee("league", "run", str(home / "league.toml"), "--out", str(home / "out"))
    assert done.returncode == 0, done.stderr
    assert referee("league", "verify", str(home / "out")).returncode == 0
    assert referee("league", "report", str(home / "out")).returncode == 0
    for kind in ("--csv", "--json"):
        (home / "out" / f"export{kind}").write_text(referee("league", "export", str(home / "out"), kind).stdout)
    found = [path for path in (home / "out").rglob("*") if path.is_file() and not OWN.search(path.name)]
    logs = [path for path in found if path.name.endswith(".stderr.log")]
    assert logs
    for path in found:
        text = path.read_bytes()
        text = gzip.decompress(text) if path.name.endswith(".gz") else text
        for secret in (b"secret-home", b"secret-share", ROOT.encode(), sys.prefix.encode()):
            assert secret not in text, (path, text[max(0, text.find(secret) - 100) :][:200])
    told = "".join(path.read_text() for path in logs)
    assert "teams/Öl/prey.py" in told
    assert "/site-packages/sdk/" in told


def test_letters_of_every_language_stay_in_the_names_of_handed_out_files(referee: Cli, tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "Jörg Größe")
    (tmp_path / "class" / name).mkdir(parents=True)
    (tmp_path / "class" / name / "hunter.py").write_text(BOT.replace("SEAT", "HunterBot"))
    (tmp_path / "class" / "zoe.py").write_text(BOT.replace("SEAT", "HunterBot"))
    (tmp_path / "rubric.toml").write_text(
        'name = "Übung"\ngame = "evasion"\nseed = "d189f27d7d18f0062eacceb1f3dca630"\nisolation = "none"\n[settings]\nmax_steps = 5\n'
        '[[tests]]\nname = "prüft Größe"\nseat = "hunter"\nagainst = "still"\nstarts = 1\nhidden = 0\npoints = 1\nneed = { finishes = true }\n'
    )
    done = referee("grade", "run", "class", "--rubric", "rubric.toml", "--out", "out", "--quiet")
    assert done.returncode == 0, done.stderr
    (page,) = (path for path in (tmp_path / "out/students").rglob("report.html") if path.parent.name.startswith("jörg-gr"))
    assert "1-prüft-größe-1.replay.jsonl.gz" in page.read_text()
    assert any(path.name.startswith("jörg-gr") for path in (tmp_path / "out/students").iterdir())


@pytest.mark.parametrize("level", ["none", "strict"])
def test_a_match_played_by_hand_names_no_folder_of_this_machine_either(level: str, referee: Cli, tmp_path: Path) -> None:
    """Its replay kept the path as it was written, and the log kept the folder of the bot."""
    if level == "strict" and (why := missing()):
        pytest.skip(why)
    folder, here = tmp_path / "secret-share" / "Außer halb", tmp_path / "secret-home" / "run"
    for place in (folder, here / "own"):
        place.mkdir(parents=True)
        for seat, base in (("hunter", "HunterBot"), ("prey", "PreyBot")):
            (place / f"{seat}.py").write_text(BOT.replace("SEAT", base))
    (tmp_path / "prey.py").write_text(BOT.replace("SEAT", "PreyBot"))
    command = f"'{sys.executable}' '{folder}/prey.py'"
    ways = [
        ("play", str(folder / "hunter.py"), "../../prey.py"),
        ("play", str(folder), command),
        ("play", str(here / "own" / "hunter.py"), f"{here}/own"),
        ("duel", str(folder), "own"),
        ("play", str(folder), str(folder), "--games", "2"),
    ]
    for number, way in enumerate(ways):
        done = referee(*way, "--max-steps", "20", "--isolation", level, "--out", f"out/{number}/", cwd=here)
        assert done.returncode == 0, (way, done.stderr)
    script = f"import referee\nreferee.play({str(folder / 'hunter.py')!r}, 'still', max_steps=20, out='out/api.replay.jsonl.gz', isolation={level!r})"
    subprocess.run([sys.executable, "-c", script], cwd=here, check=True, timeout=300)
    found = [path for path in (here / "out").rglob("*") if path.name.endswith((".gz", ".log"))]
    assert len([path for path in found if path.name.endswith(".gz")]) == 8
    for path in found:
        text = path.read_bytes()
        text = gzip.decompress(text) if path.name.endswith(".gz") else text
        for secret in (b"secret-home", b"secret-share", str(tmp_path).encode(), ROOT.encode(), sys.prefix.encode()):
            assert secret not in text, (path, text[max(0, text.find(secret) - 200) :][:300])
    (log,) = (here / "out" / "2").glob("*.prey.stderr.log")
    assert "own/prey.py" in log.read_text()
