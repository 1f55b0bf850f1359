"""A wheel with compiled hot modules: it is built, and plays a match as the sources do."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sandboxes import need

ROOT = Path(__file__).parents[1]
#: What differs between two matches of the same moves.
_TIMES = ("us", "cpu_us", "wall_us", "log")


def _steps(replay: Path) -> list[dict[str, Any]]:
    """Return the records of the steps of a replay, without times."""
    records = [json.loads(line) for line in gzip.decompress(replay.read_bytes()).splitlines()[1:-1]]
    return [{key: value for key, value in record.items() if key not in _TIMES} for record in records]


def _run(env: dict[str, str], *words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "referee", *words], env=env, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.long
def test_a_compiled_wheel_plays_as_the_sources_do(tmp_path: Path) -> None:
    compiler = next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    need(compiler is not None, "no C compiler: gcc")
    built = subprocess.run(
        [ROOT / "scripts" / "compiled-wheel", sys.executable, tmp_path / "wheels", "--no-build-isolation"], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "wheels").glob("referee-*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "installed")
    compiled = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    pure = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert _run(compiled, "--version").endswith(" (compiled)\n")
    assert _run(pure, "--version").endswith(" (pure Python)\n")

    both = []
    for name, env in (("compiled", compiled), ("pure", pure)):
        replay = tmp_path / f"{name}.replay.jsonl.gz"
        _run(
            env,
            "play",
            "boxer",
            "runner",
            "--rules",
            "diagonal",
            "--isolation",
            "none",
            "--seed",
            "7",
            "--quiet",
            "--max-steps",
            "1500",
            "--out",
            str(replay),
        )
        both.append(_steps(replay))
    assert len(both[0]) > 100
    assert both[0] == both[1]
    for env in (compiled, pure):
        _run(env, "verify", str(tmp_path / "compiled.replay.jsonl.gz"))

    # A bot uses the sources, which take other numbers than Python's own integers.
    bot = "import sys, sdk; print(sdk.Wall(0, 'vertical', 2, 0, 2, 3).kind, sdk.evasion.Walls(9, 9).is_free(2.0, 3), 'referee.wire' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", bot], env=compiled, cwd="/", capture_output=True, text=True)
    assert done.stdout == "vertical True False\n", done.stderr
