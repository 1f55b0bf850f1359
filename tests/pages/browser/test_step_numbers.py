"""Every command and page gives a step the number of its turn: one recorded replay, in all of them."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from served_pages import wait_for_step, wait_until_read

from referee.pages.standalone import single_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from served_pages import Open, Serve

    Cli = Callable[..., subprocess.CompletedProcess[str]]

CHASE = Path(__file__).parents[2] / "data/replays/evasion-classic-searcher-evader.replay.jsonl.gz"
#: The walls of the replay that its story tells of: the first, two that cut the prey's area, and the one that makes capture certain.
FIRST, CUTS, DECIDES = 0, (3, 7), 8


@pytest.fixture(scope="module")
def turns() -> dict[int, int]:
    """The turn of the protocol in which each wall was built, from the text of the replay."""
    records = [json.loads(line) for line in gzip.decompress(CHASE.read_bytes()).splitlines()]
    return {wall["id"]: record["turn"] for record in records for wall in record.get("changes", {}).get("built", ())}


def built(events: list[dict[str, Any]]) -> dict[int, int]:
    found = ((re.search(r"wall (\d+) built", event["text"]), event["turn"]) for event in events)
    return {int(match[1]): turn for match, turn in found if match}


def test_commands_number_a_step_by_its_turn(turns: dict[int, int], referee: Cli) -> None:
    assert turns[FIRST] == 40
    assert built(json.loads(referee("show", CHASE, "--json").stdout)["events"]) == turns
    lines = referee("show", CHASE, "--events", "40").stdout.splitlines()
    assert built([{"turn": int(line.split()[0]), "text": line} for line in lines if re.match(r" *\d+ ", line)]) == turns
    decisive = turns[DECIDES]
    assert json.loads(referee("show", CHASE, "--step", str(decisive), "--json").stdout)["moves"]["hunter"]["build"]["kind"] == "vertical"
    [_, point] = json.loads(referee("analyze", CHASE, "--json").stdout)["points"]
    assert (point["step"], point["verdict"]) == (decisive, "capture")
    assert f"step {decisive:>6}  capture is certain" in referee("analyze", CHASE).stdout


def test_the_verdict_of_show_names_no_step_at_which_nothing_changed(referee: Cli) -> None:
    text = " ".join(referee("show", CHASE, "--events", "0").stdout.split())
    assert "verdict at the start the prey can evade forever; before the last step capture is certain" in text


@pytest.mark.parametrize("is_exported", [False, True], ids=["viewer", "exported page"])
def test_pages_number_a_step_by_its_turn(is_exported: bool, turns: dict[int, int], serve: Serve, visit: Open, tmp_path: Path) -> None:
    if is_exported:
        (tmp_path / "chase.html").write_text(single_page(CHASE))
        page = visit((tmp_path / "chase.html").as_uri())
    else:
        page = visit(serve("watch", CHASE).addresses[0])
    wait_until_read(page, 400)
    page.get_by_text("Capture is certain now").wait_for()

    def told(text: str) -> int:
        return int(page.locator(".moment", has_text=text).first.locator(".moment-step").inner_text().split()[-1])

    assert told("The first wall") == turns[FIRST]
    assert [told(f"Vertical wall {wall} cuts") for wall in CUTS] == [turns[wall] for wall in CUTS]
    assert told("Capture is certain now") == turns[DECIDES]
    assert told("is still free after 400 steps") == 399, "the last of 400 steps"
    page.locator(".moment", has_text="Capture is certain now").click()
    wait_for_step(page, turns[DECIDES])
    page.wait_for_function("turn => location.hash.includes('t=' + turn)", arg=turns[DECIDES])
    page.click("#tab-turn")
    page.locator("#panel-turn", has_text=f"Before step {turns[DECIDES]}").wait_for()
    page.click("#tab-events")
    page.locator("#panel-events tr.now", has_text="vertical wall 8 built").get_by_role(
        "button", name=f"Go to step {turns[DECIDES]}"
    ).wait_for()
