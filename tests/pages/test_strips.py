"""The viewer's charts, drawn by its own script on a canvas that writes down what is drawn."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from replay_records import run, scripts_in

VIEWER = Path(__file__).parents[2] / "referee" / "pages" / "viewer"
NODE = Path(sys.prefix) / "bin" / "node"
COUNTS = range(15, 61)

#: For each number of steps: where bars were drawn, how high they are, which steps gave the pieces of a band, and where the marks of events
#: are that happen in every step, on a canvas with a column for each.
DRAW = """
globalThis.matchMedia = () => ({ matches: false });
const { drawChart, drawEvents } = await import("./charts.js");

const colors = { orange: "red", blue: "blue", accent: "gold", faint: "grey", warn: "pink", ink: "black" };
const drawn = [];
for (let steps = FIRST; steps <= LAST; steps += 1) {
  const rectangles = [];
  const context = { clearRect() {}, fillRect: (x, y, wide, high) => rectangles.push([x, high]) };
  const chart = (...strips) => drawChart(context, { width: 600, height: 34 }, strips, steps, colors);
  chart({ color: "plain", bars: () => steps, value: (turn) => turn + 1 });
  const bars = rectangles.splice(0);
  const asked = [];
  chart({ color: "plain", bars: () => steps, band: (turn) => (asked.push(turn), "accent") });
  rectangles.length = 0;
  const events = Array.from({ length: steps + 1 }, (_, turn) => ({ turn, kind: "any" }));
  drawEvents(context, { width: steps + 2, height: 20 }, events, steps, () => ({ color: "ink", from: 0, to: 1 }), colors);
  drawn.push({ steps, bars, asked, marks: rectangles.map(([x]) => x) });
}
console.log(JSON.stringify(drawn));
"""


def lost(folder: Path) -> list[int]:
    """The numbers of steps for which a step has no column of its own in the charts of a folder's scripts."""
    script = DRAW.replace("FIRST", str(COUNTS[0])).replace("LAST", str(COUNTS[-1]))
    (folder.parent / "package.json").write_text('{"type":"module"}')
    (folder / "draw.js").write_text(script)
    shown = subprocess.run([NODE, folder / "draw.js"], capture_output=True, text=True, check=True).stdout
    found = []
    for one in json.loads(shown):
        steps = one["steps"]
        places = [x for x, _ in one["bars"]]
        heights = [high for _, high in one["bars"]]
        # Each step is worth one more than the step before it, so a bar that is missing or out of its place shows.
        are_bars_whole = len(set(places)) == steps and heights == sorted(set(heights)) and len(heights) == steps
        if not are_bars_whole or one["asked"] != list(range(steps)) or one["marks"] != list(range(steps + 1)):
            found.append(steps)
    return found


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    if not NODE.exists():
        pytest.skip("there is no Node.js in this environment: install the dev extra")
    return shutil.copytree(VIEWER, tmp_path / "viewer") / "app"


def test_every_step_has_its_own_column(scripts: Path) -> None:
    assert lost(scripts) == []


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("(turn * columns) / count", "(turn / count) * columns"),
        ("(at * count) / columns", "(at / columns) * count"),
        ("(turn * (width - 2)) / Math.max(1, steps)", "(turn / Math.max(1, steps)) * (width - 2)"),
    ],
    ids=["bars", "bands", "marks"],
)
def test_dividing_first_would_lose_columns(good: str, bad: str, scripts: Path) -> None:
    """A quotient that was rounded down falls short of a whole number, and its step lands in the column before."""
    text = (scripts / "charts.js").read_text()
    assert text.count(good) == 1
    (scripts / "charts.js").write_text(text.replace(good, bad))
    assert 49 in lost(scripts)


#: The chart of the times of a replay: what was asked of it, and all rectangles in the colour of faults and limits.
CHART_OF_TIMES = """
globalThis.document = { documentElement: { dataset: {} } };
globalThis.matchMedia = () => ({ matches: false });
const { Recording } = await import("./recording.js");
const { stripsOf } = await import("./strips.js");
const { drawChart } = await import("./charts.js");
const { readFileSync } = await import("node:fs");
const recording = new Recording();
recording.feed(readFileSync("lines"));
const times = stripsOf(recording).filter(({ chart }) => chart === "time");
const marks = [];
const context = { fillStyle: "", clearRect() {}, fillRect(...place) { if (this.fillStyle === "pink") marks.push(place); } };
const top = drawChart(context, { width: 600, height: 40 }, times, recording.steps, { orange: "red", blue: "blue", warn: "pink" });
const last = times[0].bars() - 1;
console.log(JSON.stringify({ steps: recording.steps, last, value: times[0].value(last), beyond: times[1].value(last + 1), top, marks }));
"""


def test_the_answer_that_lost_the_match_is_a_bar_beside_its_limit(tmp_path: Path) -> None:
    replay = VIEWER.parents[2] / "tests/data/replays/evasion-classic-hunter-fault.replay.jsonl.gz"
    records = [json.loads(line) for line in gzip.decompress(replay.read_bytes()).splitlines()]
    records[0]["clock"] = {"kind": "fair", "move": 1.0}
    [fault] = [record for record in records if record.get("type") == "fault"]
    fault["us"]["hunter"] = 1_000_000
    app = scripts_in(tmp_path / "viewer")
    (app / "lines").write_text("".join(json.dumps(record) + "\n" for record in records))
    shown = run(app, CHART_OF_TIMES)
    assert isinstance(shown, dict)
    assert (shown["last"], shown["value"], shown["top"]) == (shown["steps"], 1000, 1000)
    assert shown["beyond"] is None, "there is no later step"
    (left, top, wide, high), *limit = [mark for mark in shown["marks"] if mark[3] > 2] + [mark for mark in shown["marks"] if mark[3] <= 2]
    assert (left + wide >= 598, top <= 3, top + high >= 40) == (True, True, True), "at the right edge, from the limit to the ground"
    assert len(limit) > 50, "the dashes of the limit"
    assert {mark[1] for mark in limit} == {top}
