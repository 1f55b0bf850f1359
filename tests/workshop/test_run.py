"""What the worker of the workshop runs, in this Python: matches of texts, and what the page shows of them."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import typing_extensions

from referee.errors import UsageError
from referee.workshop import build, pyodide, run

if TYPE_CHECKING:
    from pathlib import Path

DATA = json.loads(build.data_of_page())
FIRST = DATA["first"]
GAMES = {record["name"]: record for record in DATA["games"]}


def played(folder: Path, text: str, **wish: Any) -> tuple[dict[str, Any], str]:
    """The last message about a match of a text against a prey that never moves, and what was printed."""
    messages: list[dict[str, Any]] = []
    job = {"game": "evasion", "rules": "classic", "settings": {"max_steps": 60}, "seed": 1, **wish}
    job.setdefault("bots", [{"name": "my_bot.py", "text": text}, {"name": "still", "text": None}])
    run.run(json.dumps(job), str(folder), lambda message: messages.append(json.loads(message)))
    return messages[-1], "".join(message["text"] for message in messages if message["kind"] == "printed")


def test_a_match_of_a_text_has_a_replay_and_its_findings(tmp_path: Path) -> None:
    message, printed = played(tmp_path, FIRST)
    assert (message["kind"], message["steps"], message["lines"], printed) == ("over", 60, {}, "")
    assert message["text"] == "The prey is still free after 60 steps, the step limit: the hunter has no score."
    assert message["findings"]["check"]["status"] == "good"
    assert base64.b64decode(message["replay"])[:2] == b"\x1f\x8b"


def test_the_first_bot_is_that_of_the_readme(request: pytest.FixtureRequest) -> None:
    assert f"```python\n{FIRST}```" in (request.config.rootpath / "README.md").read_text()


@pytest.mark.parametrize(
    ("line", "words", "marked"),
    [
        ("print('seen'); raise ValueError('no wall')", "raised ValueError: no wall, at hunter/my_bot.py:6 in hunt", 6),
        ("state.can_build(7, 1, 2, 3)", "raised TypeError", 6),
        ("import sys; sys.exit(3)", "raised SystemExit: 3", 6),
    ],
)
def test_an_exception_names_the_line_of_the_text(
    line: str, words: str, marked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    message, _ = played(tmp_path, FIRST.replace("hunter, prey, walls =", f"{line}; hunter, prey, walls ="))
    assert words in message["text"]
    assert message["lines"] == {"hunter": marked}
    assert "sdk/bot.py" not in message["traceback"]
    assert 'File "hunter/my_bot.py", line 6' in message["traceback"]


@pytest.mark.parametrize(
    ("text", "words", "lines"),
    [
        (FIRST.replace("HunterBot", "PreyBot"), "raised SystemExit: MyHunter plays prey, but was asked to play hunter.", {}),
        (FIRST.replace("def hunt", "def begin(self):\n        1 / 0\n\n    def hunt"), "raised ZeroDivisionError", {"hunter": 6}),
        (FIRST.replace("def hunt", "def __init__(self):\n        1 / 0\n\n    def hunt"), "raised ZeroDivisionError", {"hunter": 6}),
    ],
)
def test_a_bot_that_fails_at_the_start_loses_with_a_reason(text: str, words: str, lines: dict[str, int], tmp_path: Path) -> None:
    message, _ = played(tmp_path, text)
    assert (message["kind"], message["steps"], message["lines"]) == ("over", 0, lines)
    assert words in message["text"]


@pytest.mark.parametrize(
    ("text", "words", "lines"),
    [
        ("def x(:\n", "my_bot.py can't be run.", {"hunter": 1}),
        ("\n1 / 0\n", "my_bot.py can't be run.", {"hunter": 2}),
        ("x = 1\n", "my_bot.py ends without a call of main().", {}),
        ("raise SystemExit(2)\n", "my_bot.py can't be run.", {"hunter": 1}),
    ],
)
def test_a_text_that_is_no_bot_says_why(text: str, words: str, lines: dict[str, int], tmp_path: Path) -> None:
    message, _ = played(tmp_path, text)
    assert (message["kind"], message["lines"]) == ("failed", lines)
    assert words in message["text"]


def test_prints_are_capped(tmp_path: Path) -> None:
    _, printed = played(tmp_path, "print('x' * 10_000_000)\n" + FIRST)
    assert len(printed) < run.MOST_PRINTED + 100
    assert printed.endswith("[All further output is dropped.]\n")


def test_wrong_settings_are_a_sentence(tmp_path: Path) -> None:
    message, _ = played(tmp_path, FIRST, settings={"max_steps": -1})
    assert message["kind"] == "failed"
    assert "max_steps" in message["text"]


def bots_of(record: dict[str, Any], seats: list[str], mine: str) -> list[dict[str, str | None]]:
    """The starter in one seat of a game, and an example bot in all others, as the page asks for them."""
    starter = record["starters"].get(mine) or record["starters"]["painter"]
    opponent = next(bot["name"] for bot in record["bots"] if all(seat in bot["seats"] for seat in seats if seat != mine))
    return [{"name": "my_bot.py", "text": starter} if seat == mine else {"name": opponent, "text": None} for seat in seats]


@pytest.mark.parametrize(("game", "rules"), [(name, rules) for name, record in GAMES.items() for rules in record["rules"]])
def test_every_seat_of_every_rule_set_can_be_chosen(game: str, rules: str, tmp_path: Path) -> None:
    seats = GAMES[game]["rules"][rules]
    limits = {"max_steps": 60} if GAMES[game]["limits"] else {}
    for mine in seats[:2]:
        message, _ = played(tmp_path, "", game=game, rules=rules, settings=limits, bots=bots_of(GAMES[game], seats, mine))
        # The starters of Evasion say that they don't play the rules of the course's server.
        assert (message["kind"], bool(message["traceback"])) == ("over", rules == "gameserver"), message["text"]


@pytest.mark.parametrize(("game", "seat"), [("maze", "thief"), ("rectangle", "a"), ("evasion", "prey")])
def test_each_starter_plays_in_what_the_browser_gets(game: str, seat: str, tmp_path: Path) -> None:
    """The archive of the site is enough, without this package and without pydantic."""
    with zipfile.ZipFile(build.packed()) as archive:
        archive.extractall(tmp_path / "python")
    if sys.version_info < (3, 13):
        # The browser's Python has what this one gets from this file.
        shutil.copy(typing_extensions.__file__, tmp_path / "python")
    record = GAMES[game]
    rules, seats = next(iter(record["rules"].items()))
    job = json.dumps({"game": game, "rules": rules, "settings": {}, "seed": 1, "bots": bots_of(record, seats, seat)})
    (tmp_path / "match").mkdir()
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'python')!r}); from referee.workshop.run import run;"
        f"run({job!r}, {str(tmp_path / 'match')!r}, print); assert 'pydantic' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    message = json.loads(done.stdout.splitlines()[-1])
    assert (message["kind"], message["traceback"]) == ("over", ""), message["text"]


def test_a_folder_of_others_isnt_replaced_and_another_archive_isnt_used(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("my only copy")
    with pytest.raises(UsageError, match="did not write it"):
        build.build(tmp_path / "mine")
    (tmp_path / "other.tgz").write_bytes(b"other")
    with pytest.raises(UsageError, match="SHA-512 differs"):
        build.build(tmp_path / "site", tmp_path / "other.tgz")
    with pytest.raises(UsageError, match="can't be read: No such file"):
        pyodide.read(tmp_path / "missing.tgz")
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "other.tgz"}


@pytest.mark.parametrize(
    ("npm", "words"),
    [
        (None, "there is no npm"),
        ("echo 'npm error network request failed' >&2; exit 1", "network request failed"),
        ("exit 0", "exit status 0"),
    ],
)
def test_without_npm_or_network_it_says_so(npm: str | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    if npm is not None:
        (tools / "npm").write_text(f"#!/bin/sh\n{npm}\n")
        (tools / "npm").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tools / "python"))
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(UsageError, match=words) as caught:
        pyodide.fetch(tmp_path)
    assert "--pyodide" in str(caught.value)


def test_it_is_built_from_the_pinned_archive(archive: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build.build(site, archive)
    build.build(site, archive)
    assert build.is_site(site)
    assert {f"{name}.gz" for name in pyodide.FILES} | {"LICENSE.txt"} == {path.name for path in (site / build.PYODIDE).iterdir()}
    assert "sha256-" in (site / "frame.html").read_text()
    assert (site / "editor.LICENSE.txt").read_text().startswith("MIT License")
    licence = (site / build.PYODIDE / "LICENSE.txt").read_text()
    assert "Mozilla Public License Version 2.0\n" in licence
    assert "10.4. Distributing Source Code Form" in licence
    assert len((site / "editor.js").read_text().splitlines()) <= 50
