"""Replays for tests: their records, and the stories that the viewer tells of them."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.pages import page
from referee.replay.events import StepTaken
from referee.replay.reader import ReplayReader, read_lines
from referee.replay.replay_index import ReplayIndex
from referee.replay.writer import DIGEST_KEY, dumps

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.replay.reader import VerifiedReplay


def records(path: Path) -> list[dict[str, Any]]:
    """Return all records of a replay, the head first."""
    return [json.loads(line) for line in gzip.open(path).read().splitlines()]


def sealed(lines: list[dict[str, Any]]) -> bytes:
    """Return the file of a replay with these records, whose result has the digest of its text."""
    *others, result = lines
    records = [*others, {key: value for key, value in result.items() if key != "sha256"}]
    text = "".join(f"{dumps(record)}\n" for record in records)[:-2] + DIGEST_KEY
    return gzip.compress(f'{text}{hashlib.sha256(text.encode()).hexdigest()}"}}\n'.encode())


def steps_of(path: Path) -> list[StepTaken]:
    """Return the steps of a replay, up to the first that is wrong."""
    return [event for event in ReplayReader(path).events() if isinstance(event, StepTaken)]


def read_closely(path: Path) -> VerifiedReplay:
    """Check a replay as ``verify`` does, with every line decoded."""
    reader = ReplayReader(path)
    for _ in reader.events():
        pass
    return reader.verified()


def edited(path: Path, change: Callable[[dict[str, Any]], object], out: Path) -> Path:
    """The replay with another head, cut before its result so that no digest speaks."""
    head, *lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    found = json.loads(head)
    change(found)
    out.write_bytes(gzip.compress(json.dumps(found, separators=(",", ":")).encode() + b"\n" + b"".join(lines[:-1])))
    return out


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
