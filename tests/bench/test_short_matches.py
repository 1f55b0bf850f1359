"""The benchmark of short matches refuses steps for which fastchess has no game; its figures are tested with those of the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "short_matches.py"


def test_steps_without_a_game_of_as_many_questions_are_refused() -> None:
    words = [sys.executable, str(SCRIPT), "--fastchess", sys.executable, "--steps", "7"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "fastchess has no game for --steps 7; give 80 or 200." in done.stderr
