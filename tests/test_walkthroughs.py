"""The pages that lead through a task are followed literally."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from walkthroughs import ROOT, Block, blocks, folder, follow, look_for, save

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_add_a_game(tmp_path: Path) -> None:
    """The package is made, installed, played, verified, shown, drawn and held against recorded games."""
    home, env = folder(tmp_path)
    env["PYTHONPATH"] = f"{home}:{tmp_path}"

    def instead(line: str) -> str | None:
        if not line.startswith("pip install"):
            return None
        # What pip makes of the package's own file, without pip: an index of packages need not be within reach.
        project = tomllib.loads((home / "pyproject.toml").read_text())["project"]
        about = tmp_path / f"nim_game-{project['version']}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
        points = "".join(f"{name} = {point}\n" for name, point in project["entry-points"]["referee.games"].items())
        (about / "entry_points.txt").write_text(f"[referee.games]\n{points}")
        return ""

    commands = follow("docs/add-a-game.md", home, env, instead)
    verbs = {line.split()[1] for line in commands if line.startswith("referee ")}
    assert verbs >= {"games", "explain", "play", "verify", "show", "export", "conformance"}
    assert "class NimTrack" in (home / "nim.html").read_text()


def test_a_line_that_is_not_printed_is_found() -> None:
    look_for("a\n...\nc\n", "a\nb\nc\n", "page", bool)
    with pytest.raises(AssertionError, match="shows 'c'"):
        look_for("a\nc\n", "c\na\n", "page", bool)


def test_files_are_written_and_extended(tmp_path: Path) -> None:
    save(Block("python", "a\n", "one/two.py", is_added=False), tmp_path)
    save(Block("python", "b\n", "one/two.py", is_added=True), tmp_path)
    assert (tmp_path / "one/two.py").read_text() == "a\nb\n"
    with pytest.raises((AssertionError, FileNotFoundError)):
        save(Block("python", "b\n", "three.py", is_added=True), tmp_path)


def test_the_pages_are_there() -> None:
    assert len(list(blocks("docs/add-a-game.md"))) > 10
    assert (ROOT / "docs/add-a-game.md").exists()
