"""Invitations of teams and staff: what is printed, what is stored, and what is refused."""

from __future__ import annotations

import contextlib
import csv
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest
from arenas import begin

from referee.arena.store import ArenaStore
from referee.arena.tokens import Holder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    begin(tmp_path / "arena").close()
    (tmp_path / "roster.csv").write_text("team,members,mail\nAda,Ada L,ada@example.org\nBob,,\n=Cy+1,,\n")
    return tmp_path / "arena"


def read(text: str) -> dict[str, tuple[str, str]]:
    rows = list(csv.DictReader(text.splitlines()))
    assert list(rows[0]) == ["team", "link", "token"]
    return {row["team"]: (row["link"], row["token"]) for row in rows}


def test_each_team_gets_a_link_and_a_token_of_which_only_a_hash_is_stored(arena: Path, referee: Cli) -> None:
    done = referee("arena", "invite", "arena", "roster.csv")
    assert done.returncode == 0, done.stderr
    found = read(done.stdout)
    assert list(found) == ["Ada", "Bob", "'=Cy+1"]
    assert all(link == f"http://127.0.0.1:8300/sign-in#{token}" and token[0].isalpha() for link, token in found.values())
    store = (arena / "arena.sqlite").read_bytes() + b"".join(file.read_bytes() for file in arena.glob("arena.sqlite-wal"))
    assert not any(token.encode() in store for _, token in found.values())
    with ArenaStore.open(arena) as opened:
        assert opened.tokens.holder(found["Ada"][1]) == Holder("Ada")
        assert opened.tokens.holder("'=Cy+1") is None
        assert opened.tokens.holder(found["'=Cy+1"][1]) == Holder("=Cy+1")

    # A second round adds tokens; revoking ends all of a team, and of no other.
    written = referee("arena", "invite", "arena", "roster.csv", "--out", "new.csv", "--url", "https://arena.example.org/")
    assert (written.returncode, written.stdout) == (0, "")
    file = arena.parent / "new.csv"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = read(file.read_text())
    assert again["Ada"][0] == f"https://arena.example.org/sign-in#{again['Ada'][1]}"
    assert referee("arena", "invite", "arena", "roster.csv", "--out", "new.csv").stderr.endswith(
        "exists already; name another file with --out.\n"
    )
    revoked = referee("arena", "invite", "arena", "--revoke", "Ada")
    assert revoked.stdout == "Ada: 2 tokens revoked.\n"
    with ArenaStore.open(arena) as opened:
        assert [opened.tokens.holder(one["Ada"][1]) for one in (found, again)] == [None, None]
        logged = [(entry.action, dict(entry.details)) for entry in opened.audit.last()]
        invited = ("invite", {"teams": ["Ada", "Bob", "=Cy+1"], "by": "command line"})
        assert logged == [("revoke", {"team": "Ada", "tokens": 2, "by": "command line"}), invited, invited]
        assert opened.tokens.holder(found["Bob"][1]) == opened.tokens.holder(again["Bob"][1]) == Holder("Bob")
    refused = referee("arena", "invite", "arena", "--revoke", "Ada")
    assert (refused.returncode, refused.stderr) == (2, "referee: The team Ada has no token. Teams with a token: =Cy+1, Bob.\n")


def test_the_staff_has_one_token(arena: Path, referee: Cli) -> None:
    tokens = [referee("arena", "invite", "arena", "--staff").stdout.split()[-1] for _ in range(2)]
    with ArenaStore.open(arena) as opened:
        assert [opened.tokens.holder(token) for token in tokens] == [None, Holder(None)]
        assert [entry.action for entry in opened.audit.last()] == ["invite staff", "invite staff"]
        assert opened.tokens.teams() == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("student\nAda\n", "has no column 'team' in its first line; its columns are 'student'."),
        ("team\n", "has no teams."),
        ("team,mail\n,a@b\n", "Line 2 of the roster 'roster.csv' has no team."),
        ("team\nAda\nR0\n", "Line 3 of the roster 'roster.csv': the team, 'R0', is a reference of the arena"),
        ("team\nAda\nada\n", "Lines 2 and 3 of the roster 'roster.csv' have teams that can't be distinguished: 'Ada' and 'ada'."),
        *((f"team\n{'x' * count}\n", f"with {count} characters; the limit is 32") for count in (33, 300)),
    ],
)
def test_a_wrong_roster_is_refused_and_nobody_is_invited(text: str, sentence: str, arena: Path, referee: Cli) -> None:
    (arena.parent / "roster.csv").write_text(text)
    done = referee("arena", "invite", "arena", "roster.csv", "--out", "tokens.csv")
    assert done.returncode == 2
    assert not (arena.parent / "tokens.csv").exists()
    assert sentence in done.stderr
    with contextlib.closing(ArenaStore.open(arena)) as opened:
        assert opened.tokens.teams() == []
