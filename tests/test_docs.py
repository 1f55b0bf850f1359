"""Every example in the documentation runs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from sandboxes import missing, need

import referee as package

if TYPE_CHECKING:
    from collections.abc import Callable

    from serving import Server

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "example_bots" / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("referee/games/*/README.md")])


def blocks(language: str) -> list[tuple[str, str]]:
    """Every fenced block of a language, with a name."""
    found = []
    for page in PAGES:
        for number, text in enumerate(re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)):
            found.append((f"{page.relative_to(ROOT)}-{number}", text))
    return found


PYTHON = blocks("python")


@pytest.mark.parametrize(("name", "text"), PYTHON, ids=[name for name, _ in PYTHON])
def test_python_examples_play_or_pass(name: str, text: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(text)
    if "sdk.testing" in text:
        exec(compile(text, name, "exec"), {"__name__": "example"})
        return
    if "RectangleBot" in text or "ThiefBot" in text:
        others = ("rectangle", "bot.py", "idle", "--cap", "50") if "RectangleBot" in text else ("maze", "bot.py", "hard")
        done = referee("play", "--game", *others, "--json", "--quiet")
        assert done.returncode == 0, done.stderr
        assert '"fault": null' in done.stdout
        assert '"kind"' not in done.stdout, done.stdout
        return
    players = ["boxer", "bot.py"] if "PreyBot" in text else ["bot.py", "runner"]
    done = referee("play", *players, "--max-steps", "200", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert '"fault": null' in done.stdout
    assert '"kind"' not in done.stdout, done.stdout


def test_there_are_examples() -> None:
    assert len(PYTHON) >= 4
    assert len(SESSIONS) >= 3


COMMANDS = [line.split("#")[0].strip() for _, text in blocks("sh") for line in text.splitlines() if line.startswith("referee ")]


@pytest.mark.parametrize("line", sorted(set(COMMANDS)))
def test_commands_run_as_printed(line: str, referee: Cli, tmp_path: Path) -> None:
    if "strict" in line or "doctor" in line:
        need(not missing(), missing())
    if "player.py" in line or "client.py" in line:
        shutil.copy(ROOT / "tests/clients/architect_client.py", tmp_path / "player.py")
        shutil.copy(ROOT / "tests/clients/gameserver_client.py", tmp_path / "client.py")
    example = next(text for name, text in PYTHON if "class MyHunter" in text)
    (tmp_path / "my_hunter.py").write_text(example)
    if "game.replay.jsonl.gz" in line:
        play_match("straight", "still", replay=tmp_path / "game.replay.jsonl.gz", max_steps=20)
    shutil.copytree(ROOT / "matches", tmp_path / "matches", ignore=shutil.ignore_patterns("replays"))
    done = referee(*shlex.split(line)[1:])
    assert done.returncode == 0, done.stderr


SESSIONS = [(name, text) for name, text in blocks("console") if text.startswith(("referee gameserver", "referee architect"))]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), SESSIONS, ids=[name for name, _ in SESSIONS])
def test_sessions_of_several_terminals_run_as_printed(name: str, text: str, serve: Callable[..., Server], referee: Cli) -> None:
    """The first line is a server, the others come to it; on ports that are free here."""
    first, *others = [shlex.split(line)[1:] for line in text.splitlines()]
    ports = re.findall(r"\b(?:9000|9001|23000)\b", " ".join(first))
    server = serve(*("0" if word in ports else word for word in first))
    free = dict(zip(ports, map(str, server.ports), strict=True))
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda words: referee(*(free.get(word, word) for word in words)), others))
    assert [one.returncode for one in done] == [0] * len(others), (name, done)
    assert server.finish()


def test_the_match_file_of_the_page_plays(referee: Cli, tmp_path: Path) -> None:
    ((_, text),) = blocks("toml")
    (tmp_path / "m.toml").write_text(text)
    assert referee("play", "--match", "m.toml").returncode == 0


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_the_version_is_the_same_everywhere() -> None:
    assert f"Version {package.__version__}." in (ROOT / "README.md").read_text()
    assert f"## [{package.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_readme_names_every_command(referee: Cli) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = referee("--help").stdout
    for name in re.findall(r"^. ([a-z]+)  +[A-Z]", shown, re.MULTILINE):
        assert f"`referee {name}" in readme, name
