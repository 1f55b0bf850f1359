"""Notebooks: run in a real kernel, converted by nbconvert, and opened in a real Chromium."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from served_pages import pixels, wait_for_step

import referee
from referee.replay.replay_index import ReplayIndex

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page
    from served_pages import Open

#: Long, and part of every whole run.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "notebooks.md"

#: Cells beyond those of the page: a class that raises, matches while an event loop runs, a replay that is gone, and plain text.
BROKEN = """
class Broken(HunterBot):
    def hunt(self, state):
        raise ZeroDivisionError("of mine")

broken = referee.play(Broken, "still", max_steps=60, seed=5, isolation="none")
print(broken.faults["hunter"])
""".strip()
LOOP = """
loop = asyncio.get_running_loop()

async def plays():
    return referee.play(MyHunter, "runner", max_steps=60, seed=1, isolation="none")

first, second = await asyncio.gather(plays(), plays())
print(loop.is_running(), first.state == second.state, first.faults, second.faults)
""".strip()
GONE = "broken.replay.unlink()\nbroken"
TEXT = "print(repr(result))"


def notebook(path: Path, cells: list[str]) -> Path:
    made: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"cell-{at}", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for at, text in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    path.write_text(json.dumps({"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def convert(folder: Path, *arguments: str) -> None:
    """Run nbconvert with settings of its own, so that the user's don't matter."""
    command = [sys.executable, "-m", "nbconvert", *arguments]
    places = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **places, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_PREFER_ENV_PATH": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notebook of the documentation, executed in a kernel."""
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    cells = [text.strip() for text in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)]
    notebook(folder / "match.ipynb", [*cells, BROKEN, LOOP, GONE, TEXT])
    convert(folder, "--to", "notebook", "--execute", "--inplace", "match.ipynb")
    return folder / "match.ipynb"


@pytest.fixture(scope="module")
def converted(executed: Path) -> Path:
    """Its page, without the scripts from elsewhere that the template adds for formulas and widgets."""
    nothing = "data:text/javascript,"
    convert(
        executed.parent, "--to", "html", f"--HTMLExporter.mathjax_url={nothing}", f"--HTMLExporter.require_js_url={nothing}", executed.name
    )
    return executed.with_suffix(".html")


def outputs(path: Path) -> dict[str, dict[str, str]]:
    """The outputs of each cell by media type, and its printed text as ``text``; by the source of the cell."""
    found: dict[str, dict[str, str]] = {}
    for cell in json.loads(path.read_text())["cells"]:
        kept = found.setdefault("".join(cell["source"]), {})
        for output in cell["outputs"]:
            assert output["output_type"] != "error", output
            kept |= {kind: "".join(text) for kind, text in output.get("data", {}).items()}
            kept["text"] = kept.get("text", "") + "".join(output.get("text", ""))
    return found


def test_every_cell_runs_in_a_kernel(executed: Path) -> None:
    texts = outputs(executed)
    shown = [output["text/html"] for output in texts.values() if "text/html" in output]
    assert [text.count("<iframe") for text in shown] == [1, 2, 1, 0]
    assert all(len(text) < 700_000 * max(1, text.count("<iframe")) for text in shown)
    # The sentences of the results come before the frames, for those who can't run scripts.
    assert "prey is still free" in shown[0].partition("<iframe")[0]
    assert shown[2].partition("<iframe")[0] == shown[0].partition("<iframe")[0]
    assert texts[BROKEN]["text"] == f"The hunter (Broken) raised ZeroDivisionError: of mine, at Cell In[{len(texts) - 3}]:3 in hunt.\n"
    assert texts[LOOP]["text"] == "True True {} {}\n"
    assert re.fullmatch(
        r"<p>.*</p><p>matches/replays/\S+ can&#x27;t be read: No such file or directory; did you mean &#x27;\S+&#x27;\?</p>", shown[-1]
    ), shown[-1]
    assert texts[TEXT]["text"].startswith("<Result MyHunter - Evader: ")


def frame(page: Page, number: int) -> Frame:
    found = page.locator("iframe").nth(number).element_handle()
    assert found is not None
    inner = found.content_frame()
    assert inner is not None
    inner.get_by_text("✓ verified").wait_for()
    return inner


def test_the_viewer_of_a_converted_notebook_draws_and_steps(converted: Path, visit: Open) -> None:
    page = visit(f"file://{converted}")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    inner: Any = frame(page, 0)
    assert "MyHunter" in inner.locator("#players").inner_text()
    before = pixels(inner)
    assert is_drawn(inner)
    inner.click("#on")
    wait_for_step(inner, 1)
    assert pixels(inner) != before
    inner.locator("#board").focus()
    page.keyboard.press("End")
    wait_for_step(inner, 120)
    box = page.locator("iframe").nth(0).bounding_box()
    assert box is not None
    assert (box["height"], box["width"] > 1000) == (860, True)
    assert requests == []


def test_the_second_game_of_a_duel_unfolds(converted: Path, visit: Open) -> None:
    page = visit(f"file://{converted}")
    games = page.locator("details summary")
    assert [text.split(":")[0] for text in games.all_inner_texts()] == ["MyTeam hunts", "random hunts"]
    assert not page.locator("iframe").nth(2).is_visible()
    games.nth(1).press("Enter")
    inner: Any = frame(page, 2)
    inner.click("#on")
    wait_for_step(inner, 1)
    assert is_drawn(inner)


def is_drawn(inner: Any) -> bool:
    """True if the board has several colours."""
    count: int = inner.evaluate(
        """() => {
            const board = document.getElementById("board");
            const data = new Uint32Array(board.getContext("2d").getImageData(0, 0, board.width, board.height).data.buffer);
            return new Set(data).size;
        }"""
    )
    return count > 3


def test_an_output_that_is_too_large_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.pages import standalone as html

    result = referee.play("straight", "runner", max_steps=60, isolation="none", out=tmp_path / "long <name>.replay.jsonl.gz")
    shown = []
    for limit in (2 << 20, 100_000, 1_000):
        monkeypatch.setattr(html, "MOST_FRAMED_BYTES", limit)
        shown.append(result._repr_html_())
        assert len(shown[-1]) < limit + 1_000
        assert "<name>" not in shown[-1]
    assert [text.count("<iframe") for text in shown] == [1, 0, 0]
    for text in shown[1:]:
        assert text.startswith(f"<p>{result.text}</p><p>The page of the replay is too large for a notebook.")
        assert "<code>referee watch &#x27;" in text


def test_the_games_of_a_duel_share_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.pages import standalone as html

    duel = referee.duel("random", "random", max_steps=60, isolation="none", seed=1, out=tmp_path / "duel")
    assert duel._repr_html_().count("<iframe") == 2
    monkeypatch.setattr(html, "MOST_FRAMED_BYTES", 1_000_000)
    assert duel._repr_html_().count("is too large for a notebook") == 2


def test_the_verdicts_of_an_output_take_a_limited_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.pages import standalone as html

    result = referee.play("straight", "runner", max_steps=60, isolation="none", out=tmp_path / "slow.replay.jsonl.gz")
    judged = len(ReplayIndex.of(result.replay).judged)
    monkeypatch.setattr(html, "_FRAMED_JUDGING_SECONDS", 0.0)
    config = re.search(r'id="page">(.*?)<', unescape(result._repr_html_()))
    assert config is not None
    assert len(json.loads(config[1])["judged"]) < judged
