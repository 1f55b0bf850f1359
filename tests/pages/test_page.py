"""The page and its one-file form."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from referee import games
from referee.pages import page

VIEWER = Path(page.__file__).with_name("viewer")
GAMES = Path(games.__file__).parent


def test_every_script_is_served_and_every_game_has_its_drawing_code() -> None:
    for file in VIEWER.glob("*/*.js"):
        assert page.asset(f"pages/viewer/{file.parent.name}/{file.name}") is not None
    for name in games.names():
        assert page.asset(f"games/{name}/display.js") is not None
        found = page.asset("pages/viewer/app/displays.js")
        assert found is not None
        assert f'"../../../games/{name}/display.js"' in found.data.decode()


@pytest.mark.parametrize(
    "path",
    [
        "",
        "pages/viewer/app/index.html",
        "pages/viewer/kit/types.d.ts",
        "pages/viewer/../app.py",
        "web/app.py",
        "games/evasion/__init__.py",
        "/etc/passwd",
        "../pyproject.toml",
    ],
)
def test_nothing_else_is_served(path: str) -> None:
    assert page.asset(path) is None


def test_the_configuration_can_not_end_its_element() -> None:
    name = "</script><script>alert(1)</script><!--"
    text = page.page({"mode": "watch", "name": name})
    assert "<script>alert" not in text
    found = re.search(r'<script type="application/json" id="page">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    assert json.loads(found[1])["name"] == name


def test_one_file_holds_its_replay_and_runs_nothing_but_its_own_script(tmp_path: Path) -> None:
    replay = bytes(range(256)) * 40
    text = page.single({"mode": "export", "name": "x"}, replay)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert policy
    assert script
    assert style
    for part, kind in ((script[1], "script-src"), (style[1], "style-src")):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy[1]
    assert "unsafe" not in policy[1]
    assert "default-src 'none'" in policy[1]
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert not re.search(r"^\s*(import|export) ", script[1], re.MULTILINE)
    file = tmp_path / "page.html"
    file.write_text(text)
    assert page.held_replay(file) == replay
    file.write_text("<!doctype html><p>no replay")
    assert page.held_replay(file) is None
    file.write_bytes(b"\x1f\x8b")
    assert page.held_replay(file) is None


def test_no_text_from_outside_becomes_markup() -> None:
    # What a browser enforces (require-trusted-types-for), seen in the source as well.
    for file in [*VIEWER.glob("*/*.js"), *GAMES.glob("*/*.js")]:
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", file.read_text()), file


def test_games_draw_with_the_kit_alone() -> None:
    """The drawing code of a game imports its own modules and the kit; the kit imports nothing of the app."""
    for file in [*GAMES.glob("*/*.js"), *VIEWER.glob("kit/*.js")]:
        for source in re.findall(r'(?:from |import\()"([^"]+)"', file.read_text()):
            assert re.fullmatch(r"\./[\w.]+|\.\./\.\./pages/viewer/kit/[\w.]+", source), (file, source)
