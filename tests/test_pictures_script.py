"""The pictures of the README and of the pages are made again by their script, in the sizes that they have, and none is blank."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sandboxes import missing, need

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/pictures"
#: The most bytes of a moving picture, and of a still.
MOST, MOST_OF_A_STILL = 1_500_000, 200_000


def frames(file: Path) -> list[Any]:
    """The first, the middle and the last frame."""
    image = pytest.importorskip("PIL.Image")
    found = []
    with image.open(file) as picture:
        count = getattr(picture, "n_frames", 1)
        for at in sorted({0, count // 2, count - 1}):
            picture.seek(at)
            found.append(picture.convert("RGB"))
    return found


def check(file: Path, others: Sequence[str] = ()) -> None:
    shown = frames(file)
    for picture in shown:
        colors = picture.getcolors(1 << 22)
        assert len(colors) > 50, f"{file.name} is blank"
        assert max(count for count, _ in colors) < 0.995 * picture.width * picture.height, f"{file.name} is nearly blank"
    assert len({picture.tobytes() for picture in shown}) == len(shown), f"{file.name} doesn't move"
    assert file.stat().st_size <= (MOST if len(shown) > 1 else MOST_OF_A_STILL), file.name


def test_the_pictures_are_there_and_shown() -> None:
    made = sorted(PICTURES.glob("*.webp"))
    readme = (ROOT / "README.md").read_text()
    assert {path.name for path in made} == set(re.findall(r'docs/pictures/([\w-]+\.webp)"', readme))
    assert len(readme.splitlines()) <= 150
    for path in made:
        check(path)


def test_the_first_bot_of_the_readme_has_twelve_lines() -> None:
    (text,) = (text for text in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL) if "MyHunter" in text)
    assert len([line for line in text.splitlines() if line.strip()]) <= 12


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["viewer", *(pytest.param(name, marks=pytest.mark.soak) for name in ("hunt", "league", "grading", "arena", "first-bot", "notebook"))],
)
def test_a_picture_is_made_again(name: str, tmp_path: Path) -> None:
    pytest.importorskip("playwright")
    need(any(map(shutil.which, ("chromium", "chromium-browser"))), "chromium is missing")
    # The server of an arena refuses to start without a sandbox.
    need(name != "arena" or not missing(), missing())
    words = [sys.executable, str(ROOT / "scripts/make-pictures"), str(tmp_path), name]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stderr
    kept = sorted(PICTURES.glob(f"{name}-*.webp"))
    assert [path.name for path in sorted(tmp_path.iterdir())] == [path.name for path in kept]
    for before in kept:
        after = tmp_path / before.name
        check(after)
        assert [one.size for one in frames(before)] == [one.size for one in frames(after)]
