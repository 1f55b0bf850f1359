"""The tests on docs/testing.md, in a run of pytest of their own, as authors of bots run them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def test_every_test_on_the_page_passes_beside_the_bot_of_the_readme(tmp_path: Path) -> None:
    (tmp_path / "my_hunter.py").write_text(next(text for text in blocks("README.md") if "class MyHunter" in text))
    tests = blocks("docs/testing.md")
    assert len(tests) >= 4
    for number, text in enumerate(tests):
        (tmp_path / f"test_block_{number}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert re.search(rf"^{len(tests)} passed", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert not (tmp_path / "matches").exists()
