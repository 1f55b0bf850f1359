"""The site of the documentation is built without a warning. It has every page, command and public name, and no link in it is dead."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
MODULES = ("sdk", "sdk.evasion", "sdk.maze", "sdk.rectangle", "sdk.testing", "sdk.env", "referee", "referee.statistics")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from another folder, as in a narrow terminal: neither may change it."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, str(ROOT / "scripts/make-docs"), str(folder / "pages")]
    done = subprocess.run(words, cwd=folder, env={**os.environ, "COLUMNS": "40"}, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(folder / "pages/index.html")
    assert [path.name for path in folder.iterdir()] == ["pages"]
    return folder / "pages"


def text_of(page: Path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text().partition("<article")[2].partition("</article>")[0]))


def test_every_page_stands_in_one_part(site: Path) -> None:
    first = (site / "index.html").read_text()
    parts = first.partition('<div class="sidebar-tree">')[2].partition("</div>")[0].split('<p class="caption"')[1:]
    assert [re.sub(r"<[^>]+>", "", part.partition(">")[2].partition("</p>")[0]) for part in parts] == [
        "Tutorials",
        "Write and play",
        "Test a bot",
        "Hold a competition",
        "Grade",
        "Reference",
        "Explanation",
    ]
    links = [link for part in parts for link in re.findall(r'class="toctree-l1[^>]*><a class="reference internal" href="([^"]+)"', part)]
    assert len(links) == len(set(links))
    pages = {str(page.relative_to(ROOT / "docs").with_suffix(".html")) for page in ROOT.glob("docs/*.md")} - {"index.html"}
    assert pages <= set(links)
    assert {"commands/index.html", "api/index.html", "rules-evasion.html", "example-bots.html", "changelog.html"} <= set(links)


def test_no_link_is_dead(site: Path) -> None:
    pages = {page: page.read_text() for page in site.rglob("*.html")}
    anchors = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    dead = []
    for page, text in pages.items():
        for link in re.findall(r'\b(?:href|src)="([^"]*)"', text):
            path, _, anchor = html.unescape(link).partition("#")
            if ":" in path or link.startswith("//"):
                continue
            target = (page.parent / unquote(path.partition("?")[0])).resolve() if path else page
            if not target.exists() or (anchor and target in anchors and unquote(anchor) not in anchors[target]):
                dead.append((page.name, link))
    assert dead == []


def test_every_command_has_a_page_with_each_of_its_options(site: Path) -> None:
    import typer

    from referee.cli.main import app

    program = typer.main.get_command(app)
    found = getattr(program, "commands")  # noqa: B009 - a group has it, a command doesn't
    assert "play" in found
    for name, each in found.items():
        page = text_of(site / f"commands/{name}.html")
        assert " ".join(each.help.split("\n\n")[0].split()).split(".")[0] in page, name
        for command in getattr(each, "commands", {"": each}).values():
            options = {option for parameter in command.params if not getattr(parameter, "hidden", False) for option in parameter.opts}
            assert [option for option in options - {"--help", "-h"} if option.startswith("-") and option not in page] == [], name


@pytest.mark.parametrize("name", MODULES)
def test_each_public_name_of_the_python_modules_is_there_and_nothing_private(name: str, site: Path) -> None:
    module = import_module(name)
    text = text_of(site / f"api/{name}.html")
    for public in module.__all__:
        assert re.search(rf"\b{re.escape(name)}\.{public}\b|elsewhere: .*\b{public}\b", text), public
    for left in ("_EvasionBot", "_MazeBot", "_Record", "<class", "Field 0", "Alias for", "``", str(ROOT)):
        assert left not in text, left


def test_methods_of_bots_are_described_and_found(site: Path) -> None:
    hunter, bot = (site / "api/sdk.evasion.html").read_text(), (site / "api/sdk.html").read_text()
    for name in ("hunt", "build"):
        assert f'id="sdk.evasion.HunterBot.{name}"' in hunter
    for name in ("say", "left", "random", "begin", "finish"):
        assert f'id="sdk.Bot.{name}"' in bot
    index = (site / "searchindex.js").read_text()
    assert all(f'"{word}"' in index or f"{word}:" in index for word in ("rubric", "sandbox", "wall"))
