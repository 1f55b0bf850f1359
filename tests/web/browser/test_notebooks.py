"""Notebooks: run in a real kernel, converted by nbconvert, and opened in a real Chromium."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pages import pixels, wait_for_step

import referee

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pages import Open
    from playwright.sync_api import Browser, Frame, Page

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


def holders(text: str) -> int:
    """The number of frames that hold the viewer."""
    return text.count("id=&quot;viewer&quot;")


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
    # The viewer is in the first output only.
    assert [holders(text) for text in shown] == [1, 0, 0, 0]
    assert all(len(text) < 10**5 for text in shown[1:])
    assert "prey is still free" in shown[0][:200]
    assert texts[BROKEN]["text"] == f"The hunter (Broken) raised ZeroDivisionError: of mine, at Cell In[{len(texts) - 3}]:3 in hunt.\n"
    assert texts[LOOP]["text"] == "True True {} {}\n"
    assert re.fullmatch(r"<p>.*</p><p>The replay matches/replays/\S+ can't be shown: No such file or directory</p>", shown[-1]), shown[-1]
    assert texts[TEXT]["text"].startswith("<Result MyHunter - Runner: ")


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


def test_a_large_output_leaves_out_logs_and_then_the_viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.export import html

    result = referee.play("straight", "runner", max_steps=60, isolation="none", out=tmp_path / "long <name>.replay.jsonl.gz")
    log = result.replay.with_name("long <name>.hunter.stderr.log")
    log.write_bytes(b"".join(b"%d\n" % (number * number * 7919) for number in range(100_000)))
    limits = [2 << 20, 320_000, 205_000, 100_000, 1_000]
    shown = []
    for limit in limits:
        monkeypatch.setattr(html, "MOST_FRAMED_BYTES", limit)
        shown.append(result._repr_html_())
        assert len(shown[-1]) < limit + 1_000
        assert "<name>" not in shown[-1]
    assert [text.count("<iframe") for text in shown] == [1, 1, 1, 0, 0]
    assert "keep the notebook small" not in shown[0]
    assert "only the first 64 KiB of each bot's log" in shown[1]
    assert "logs are not in this page" in shown[2]
    for text, words in zip(shown[3:], ("The page of the replay has 0.2 MiB", "The replay has 0.0 MiB"), strict=True):
        assert words in text
        assert "<code>referee watch &#x27;" in text


def test_the_games_of_a_duel_share_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.export import html

    duel = referee.duel("random", "random", max_steps=60, isolation="none", seed=1, out=tmp_path / "duel")
    assert duel._repr_html_().count("<iframe") == 2
    monkeypatch.setattr(html, "MOST_FRAMED_BYTES", 200_000)
    assert duel._repr_html_().count("is too much for a notebook") == 2


def test_an_output_that_would_take_long_leaves_out_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.export import html

    result = referee.play("straight", "runner", max_steps=60, isolation="none", out=tmp_path / "slow.replay.jsonl.gz")
    assert "judged" not in result._repr_html_().partition("<iframe")[0]
    monkeypatch.setattr(html, "JUDGING_SECONDS", 0.0)
    said, _, frame = result._repr_html_().partition("<iframe")
    assert "Not everything after step 0 was judged: that would take too long on a board like this. To see everything: <code>" in said
    assert frame


class Kernel:
    """A real kernel and the cells of a notebook with their latest outputs, as a notebook's program keeps them."""

    def __init__(self, client: Any, *, has_ids: bool) -> None:
        self.client = client
        self.has_ids = has_ids
        self.shown: dict[str, str] = {}

    def run(self, cell: str, source: str, **metadata: Any) -> None:
        """Run a cell: its new output, which may be empty, replaces the one before."""
        names = {"cellId": cell} if self.has_ids else {}
        session = self.client.session
        request = session.msg("execute_request", {"code": source, "store_history": True}, metadata={**names, **metadata})
        self.client.shell_channel.send(request)
        self.shown[cell] = ""
        while True:
            message = self.client.get_iopub_msg(timeout=300)
            if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
                continue
            content = message["content"]
            assert message["msg_type"] != "error", content
            self.shown[cell] += content.get("data", {}).get("text/html", "")
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                return

    def delete(self, cell: str) -> None:
        del self.shown[cell]

    def holders(self) -> list[str]:
        return [cell for cell, text in self.shown.items() for _ in range(holders(text))]

    def page(self, path: Path) -> str:
        """The address of a page with the outputs."""
        path.write_text(f"<!doctype html><html lang=en><title>notebook</title><body>{''.join(self.shown.values())}</body></html>")
        return f"file://{path}"


@pytest.fixture
def kernel(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    manager_of = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    for name in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(tmp_path / name))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    manager, client = manager_of.start_new_kernel(kernel_name="python3", cwd=str(tmp_path), startup_timeout=300)
    made = Kernel(client, has_ids=getattr(request, "param", True))
    made.run(
        "first", "import referee\nplay = lambda **options: referee.play('straight', 'runner', max_steps=40, isolation='none', **options)"
    )
    yield made
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_ten_results_hold_the_viewer_once(kernel: Kernel, visit: Open, tmp_path: Path) -> None:
    for number in range(10):
        kernel.run(f"cell {number}", f"play(seed={number})")
    assert kernel.holders() == ["cell 0"]
    assert sum(map(len, kernel.shown.values())) < 500_000
    page = visit(kernel.page(tmp_path / "page.html"))
    for number in range(10):
        frame(page, number)


@pytest.mark.parametrize("kernel", [True, False], ids=["with names of cells", "without"], indirect=True)
def test_cells_that_are_run_again_leave_a_viewer_for_all(kernel: Kernel, visit: Open, tmp_path: Path) -> None:
    for cell in "abc":
        kernel.run(cell, f"play(seed={ord(cell)})")
    kernel.run("b", f"play(seed={ord('b')})")
    assert kernel.holders() == ["a"]
    kernel.run("a", f"play(seed={ord('a')})")
    assert kernel.holders() == ["a"]
    page = visit(kernel.page(tmp_path / "page.html"))
    for number in range(3):
        frame(page, number)


def test_a_cell_that_shows_the_viewer_no_longer_hands_it_to_the_next_output(kernel: Kernel, visit: Open, tmp_path: Path) -> None:
    for cell in "abcd":
        kernel.run(cell, f"play(seed={ord(cell)})")
    kernel.run("a", "1 + 1")
    assert kernel.holders() == []
    kernel.run("d", "play(seed=5)")
    assert kernel.holders() == ["d"]
    kernel.delete("d")
    kernel.run("e", "1 + 1", deletedCells=["d"])
    kernel.run("c", "from IPython.display import display\ndisplay(play(seed=6), play(seed=7))")
    assert kernel.holders() == ["c"]
    # The output that holds the viewer is the last one of the page, and the first frame waits for it.
    page = visit(kernel.page(tmp_path / "page.html"))
    for number in range(3):
        frame(page, number)


def test_a_replay_that_is_too_large_does_not_count_as_the_output_with_the_viewer(kernel: Kernel) -> None:
    kernel.run("a", "from referee.export import html\nmost, html.MOST_FRAMED_BYTES = html.MOST_FRAMED_BYTES, 1_000\nplay(seed=1)")
    assert "too much for a notebook" in kernel.shown["a"]
    kernel.run("b", "html.MOST_FRAMED_BYTES = most\nplay(seed=1)")
    assert kernel.holders() == ["b"]


def test_a_frame_without_the_viewer_shows_a_picture_and_gets_it_from_any_frame_that_comes(good: Path, visit: Open, tmp_path: Path) -> None:
    from referee.export.html import framed

    file = tmp_path / "page.html"
    without, whole = framed(good, has_viewer=False), framed(good)
    file.write_text(f"<!doctype html><html lang=en><title>notebook</title><body>{without}<div></div></body></html>")
    page = visit(f"file://{file}")
    inner = page.frame_locator("iframe").first
    picture = inner.locator("img")
    picture.wait_for()
    assert picture.evaluate("(image) => image.naturalWidth") == 480
    assert (picture.get_attribute("alt") or "").startswith("step 297")
    assert f"referee watch {good}" in inner.locator("body").inner_text()
    add = "(text) => { const made = document.createElement('div'); made.innerHTML = text; document.body.append(made); }"
    page.evaluate(add, whole)
    frame(page, 0)
    # The frame that had the viewer goes, and those that got it serve the next one.
    page.evaluate("document.querySelectorAll('iframe')[1].remove()")
    page.evaluate(add, without)
    frame(page, 1)


def test_a_frame_runs_no_script_but_the_viewer_whoever_sends_it(good: Path, chromium: Browser, tmp_path: Path) -> None:
    from referee.export.html import framed

    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><html lang=en><title>notebook</title><body>{framed(good, has_viewer=False)}</body></html>")
    page = chromium.new_page()
    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(f"file://{file}")
    page.evaluate(
        """() => {
            const version = /data-viewer="(\\w+)"/.exec(document.querySelector("iframe").srcdoc)[1];
            const text = "<p id=sent>sent</p><script>document.body.textContent = 'run'</script>";
            document.querySelector("iframe").contentWindow.postMessage({ referee: "viewer", version, text }, "*");
        }"""
    )
    inner = page.frame_locator("iframe")
    inner.locator("#sent").wait_for()
    assert inner.locator("body").inner_text() == "sent"
    assert "Content Security Policy" in refused[0]
    page.close()
