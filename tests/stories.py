"""The story of a replay, as the viewer's own scripts tell it in Node.js: with the metrics and verdicts of the engine."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.pages import page
from referee.replay.reader import read_lines
from referee.replay.replay_index import ReplayIndex

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
NODE = Path(sys.prefix) / "bin" / "node"
_TELL = """
import { readFileSync } from "node:fs";
globalThis.document = { documentElement: { dataset: {} } };
globalThis.matchMedia = () => ({ matches: false });
const { Recording } = await import("./recording.js");
const { momentsOf } = await import("./moments.js");
const stories = JSON.parse(readFileSync(process.argv[2], "utf-8")).map(({ lines, metrics, judged, mistakes }) => {
  const recording = new Recording();
  recording.feed(new TextEncoder().encode(lines));
  for (const [turn, values] of metrics) recording.learn(recording.track?.measure(turn, values) ?? []);
  if (recording.track?.judged) recording.learn(recording.track.judged(judged));
  recording.mistakes = mistakes ?? [];
  recording.finish();
  return { ...momentsOf(recording), problem: recording.problem };
});
console.log(JSON.stringify(stories));
"""


def scripts_in(folder: Path) -> Path:
    """Copy the viewer's scripts and those of the games as they are served; return the folder of the app."""
    shutil.copytree(ROOT / "referee/pages/viewer", folder / "pages/viewer")
    for display in (ROOT / "referee/games").glob("*/display.js"):
        shutil.copytree(display.parent, folder / "games" / display.parent.name, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    displays = page.asset("pages/viewer/app/displays.js")
    assert displays is not None
    app = folder / "pages/viewer/app"
    (app / "displays.js").write_bytes(displays.data)
    (folder / "package.json").write_text('{"type":"module"}')
    (app / "tell.js").write_text(_TELL)
    return app


def given(replay: Path, change: Callable[[str], str] | None = None, *, analyzes: bool = True) -> dict[str, Any]:
    """A replay as the page gets it. ``change`` may edit its text; the engine's findings are those of the file."""
    recorded = ReplayIndex()
    if analyzes:
        recorded.play(replay, read_lines(replay))
        recorded.compute_verdicts()
    text = gzip.decompress(replay.read_bytes()).decode()
    return {"lines": change(text) if change else text, "metrics": recorded.metrics, "judged": recorded.judged}


def stories_of(app: Path, replays: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the viewer tells of replays: ``moments``, and the ``problem`` of each."""
    (app / "given.json").write_text(json.dumps(replays))
    command = [str(NODE), "tell.js", "given.json"]
    shown = subprocess.run(command, cwd=app, capture_output=True, text=True, check=True).stdout
    found: list[dict[str, Any]] = json.loads(shown)
    return found


def run(app: Path, script: str) -> object:
    """What a script beside those of the app prints as JSON."""
    (app / "run.js").write_text(script)
    return json.loads(subprocess.run([str(NODE), "run.js"], cwd=app, capture_output=True, text=True, check=True).stdout)
