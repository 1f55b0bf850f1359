"""Our own modules as processes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from referee import __version__
from referee.support.processes import start_module

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_module_of_the_users_never_stands_for_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the folder that the command is called in nor a relative entry of the path leads to another ``referee``."""
    (tmp_path / "referee").mkdir()
    (tmp_path / "referee" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    process = start_module("referee", "--version", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert __version__.encode() in said
