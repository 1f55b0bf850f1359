"""Moves that a person wishes for before the rules allow them, without a page and with a clock of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from displays import laid_out, run

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
let now = 0;
performance.now = () => now;
const timers = new Map();
globalThis.window = { setTimeout: (call, ms) => timers.set(timers.size + 1, { call, at: now + ms }).size };
globalThis.clearTimeout = (timer) => timers.delete(timer);
const { Wish } = await import("./web/viewer/app/wish.js");
const sent = [];
let [isAsked, legalFrom, asks] = [false, 0, 0];
const wish = new Wish({
  isAsked: () => isAsked,
  refusal: () => (legalFrom === null ? null : now < legalFrom ? "too early" : ""),
  ask: () => (asks += 1),
  send: (move) => sent.push([move, now]),
  changed: () => {},
});
/** A question comes every 125 ms up to a time; a key goes down at others. */
const play = (until, keys) => {
  for (; now <= until; now += 5) {
    for (const [timer, { call, at }] of [...timers]) if (at <= now && timers.delete(timer)) call();
    if (now % 125 === 120) isAsked = false;
    if (keys[now]) wish.make(keys[now]);
    if (now % 125 === 0) { isAsked = true; wish.asked(); }
  }
};
"""
CASES = {
    "a wish within half a second is played at the first legal step": ("legalFrom = 1000; play(2000, { 505: 'v' });", [["v", 1000]]),
    "an older one is never sent": ("legalFrom = 1000; play(4000, { 495: 'v' });", []),
    "the last wish counts": ("legalFrom = 1000; play(2000, { 700: 'v', 800: 'h' });", [["h", 1000]]),
    "a legal wish is sent at once, and once": ("play(2000, { 510: 'v' });", [["v", 510]]),
    "a wish between two questions waits for the next one": ("play(2000, { 620: 'v' });", [["v", 625]]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wish_waits_for_its_first_legal_step(case: str, tmp_path: Path) -> None:
    moves, wanted = CASES[case]
    assert run(laid_out(tmp_path), f"{SCRIPT}{moves} console.log(JSON.stringify(sent));") == wanted


def test_a_wish_that_stays_illegal_is_shown_for_a_while(tmp_path: Path) -> None:
    moves = "legalFrom = 9000; play(500, { 250: 'v' }); const shown = [wish.move, wish.why]; play(2745, {}); shown.push(wish.move); play(3000, {}); shown.push(wish.move);"
    assert run(laid_out(tmp_path), f"{SCRIPT}{moves} console.log(JSON.stringify([shown, sent]));") == [["v", "too early", "v", None], []]


def test_the_engine_decides_where_the_page_does_not_know(tmp_path: Path) -> None:
    moves = (
        "legalFrom = null; play(130, { 125: 'v' }); const first = [asks, [...sent]]; wish.decide('h', ''); wish.decide('v', 'a wall is in the way');"
        "const refused = [wish.why, [...sent]]; play(255, {}); wish.decide('v', '');"
    )
    found = run(laid_out(tmp_path), f"{SCRIPT}{moves} console.log(JSON.stringify([first, refused, asks, sent]));")
    # Asked again with the next question; only what is said of this wish counts.
    assert found == [[1, []], ["a wall is in the way", []], 2, [["v", 260]]]


def test_a_reason_names_its_buttons_where_others_can_be_pressed(tmp_path: Path) -> None:
    script = """
    const { reasonsInWords } = await import("./web/viewer/app/pad.js");
    const [one, other] = [{ sign: "| wall", reason: "It would cover the prey" }, { sign: "— wall", reason: "Too early" }];
    const both = [{ sign: "— wall", reason: "Too early" }, { sign: "| wall", reason: "Too early" }];
    console.log(JSON.stringify([[[], 2], [[one], 2], [[one, other], 2], [both, 2], [both, 3]].map((given) => reasonsInWords(...given))));
    """
    assert run(laid_out(tmp_path), script) == [
        "",
        "| wall: It would cover the prey",
        "| wall: It would cover the prey · — wall: Too early",
        "Too early",
        "— wall, | wall: Too early",
    ]
