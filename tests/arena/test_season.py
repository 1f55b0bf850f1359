"""A season in miniature: real commands, the real client, a real browser, and a sandbox where the machine has one."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest
from arenas import write_arena
from hostile_archives import HOSTILE, zipped
from leagues import IDLE
from sandboxes import missing
from served_pages import PHONE, launched, visiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Commands

    Cli = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE_BOTS = Path(__file__).parents[1] / "hostile_bots"
TEAMS = ("Ada", "Bob", "Cleo", "Dan", "Eve")


def asked(address: str, token: str) -> Any:
    """What the API answers."""
    with urlopen(Request(address, headers={"authorization": f"Bearer {token}"}), timeout=60) as answer:
        return json.load(answer)


def bots(folder: Path) -> None:
    """Write what the teams hand in."""
    (folder / "file.py").write_text(IDLE)
    (folder / "folder").mkdir()
    (folder / "folder" / "main.py").write_text(f"# a folder\n{IDLE}")
    (folder / "form.py").write_text(f"# a form\n{IDLE}")
    (folder / "broken.py").write_text("syntax error(\n")
    HOSTILE["up.zip"][1](folder / "up.zip")
    files = {"main.py": (HOSTILE_BOTS / "escapes_and_markup.py").read_text(), "_wire.py": (HOSTILE_BOTS / "_wire.py").read_text()}
    zipped(folder / "escapes.zip", files)


@pytest.mark.slow
def test_a_season_in_miniature(commands: Commands, referee: Cli, tmp_path: Path) -> None:
    bots(tmp_path)
    write_arena(tmp_path / "arena", 1, 'versions = "active"')
    assert referee("arena", "new", "arena").returncode == 0
    (tmp_path / "roster.csv").write_text("team,mail\n" + "".join(f"{team},{team}@example.org\n" for team in TEAMS))
    assert referee("arena", "invite", "arena", "roster.csv", "--out", "tokens.csv").returncode == 0
    rows = {row["team"]: row for row in csv.DictReader((tmp_path / "tokens.csv").read_text().splitlines())}
    staff = referee("arena", "invite", "arena", "--staff").stdout.split()[-1]
    level = "none" if missing() else "strict"
    server = commands.start("arena", "serve", "arena", "--isolation", level, "--port", "0", "--slots", "2", cwd=tmp_path)
    try:
        top = server.stdout.readline().strip()
        assert top, server.communicate(60)

        def submit(team: str, bot: str) -> tuple[int, str]:
            words = ("submit", top, bot, "--note", f"{bot} of {team}", "--wait")
            done = referee(*words, env={"REFEREE_TOKEN": rows[team]["token"]}, timeout=600)
            return done.returncode, done.stdout + done.stderr * (done.returncode == 2)

        # Hand-ins that are broken or hostile spoil nothing but their own.
        status, told = submit("Cleo", "up.zip")
        assert (status, HOSTILE["up.zip"][0] in told) == (1, True), told
        status, told = submit("Eve", "escapes.zip")
        assert (status, "\x1b" in told) == (1, False), told
        status, told = submit("Ada", "broken.py")
        assert (status, "SyntaxError" in told) == (1, True), told
        with launched() as browser, visiting(browser) as opened:
            page = opened(rows["Dan"]["link"].replace("http://127.0.0.1:8300/", top), PHONE)
            page.get_by_role("button", name="Sign in as Dan").click()
            page.locator("#file").set_input_files(tmp_path / "form.py")
            page.get_by_label("What is new").fill("by a form")
            page.get_by_role("button", name="Hand in").click()
            # Meanwhile others hand in by the client.
            assert submit("Ada", "file.py") == (0, "Ada: version 2 is accepted, and active.\n")
            assert submit("Bob", "folder") == (0, "Bob: version 1 is accepted, and active.\n")
            page.get_by_text("The version is accepted, and active").wait_for()
            accepted = {"Ada": 2, "Bob": 1, "Dan": 1}
            while True:
                entries = asked(f"{top}api/standings", staff)["entries"]
                playing = {one["team"]: one["version"] for one in entries if one["duels"] and not one["is_reference"]}
                if playing == accepted:
                    break
                assert server.poll() is None, server.communicate(60)
                assert playing.items() <= accepted.items()
            page.goto(top)
            assert {team for team in TEAMS if page.get_by_role("link", name=team, exact=True).count()} == set(accepted)

            # The staff freezes beside the server: nothing more is taken, by the client and by the form.
            assert referee("arena", "freeze", "arena").returncode == 0
            status, told = submit("Eve", "file.py")
            assert (status, told) == (2, "referee: Submissions are closed.\n")
            page.goto(f"{top}submit")
            page.get_by_text("Submissions are closed").first.wait_for()
        assert asked(f"{top}api/staff/audit", staff)["actions"][0]["action"] == "freeze"
        begun = referee("arena", "final", "arena", "final", "--starts", "1", "--json")
        assert (begun.returncode, sorted(json.loads(begun.stdout)["teams"])) == (0, sorted(accepted)), begun.stderr
        exported = list(csv.DictReader(referee("arena", "export", "arena", "--csv").stdout.splitlines()))
        notes = {row[seat]: row[f"{seat}_note"] for row in exported for seat in ("hunter", "prey")}
        assert notes == {"R0 v1": "", "Ada v2": "file.py of Ada", "Bob v1": "folder of Bob", "Dan v1": "by a form"}
    finally:
        server.send_signal(signal.SIGINT)
        _, told = server.communicate(120)
    assert (server.returncode, "Traceback" in told) == (0, False), told
    assert referee("league", "standings", "final", "--json").returncode == 0
