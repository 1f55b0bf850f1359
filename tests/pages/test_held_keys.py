"""Keys that a person holds while a match ends, without a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from served_pages import laid_out, run

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
const heard = {};
globalThis.document = globalThis;
globalThis.addEventListener = (kind, listener) => (heard[kind] = listener);
let now = 0;
performance.now = () => now;
const { HeldKeys } = await import("./pages/viewer/app/held-keys.js");
const keys = new HeldKeys(new AbortController().signal);
const down = (code, repeat = false) => {
  heard.keydown({ code });
  return keys.isMeantForMatch({ code, repeat });
};
for (const code of ["KeyS", "KeyD"]) heard.keydown({ code });
heard.keyup({ code: "KeyD" });
now = 10_000;
keys.end();
const found = { held: down("KeyS", true), tapped: down("KeyD"), tappedHeld: down("KeyD", true), other: down("ArrowLeft") };
heard.keyup({ code: "KeyS" });
found.again = [down("KeyS"), down("KeyS", true)];
now = 11_999;
found.early = down("KeyD");
now = 12_000;
found.later = [down("KeyD"), down("KeyD", true), down("ArrowLeft", true), down("ArrowLeft")];
console.log(JSON.stringify(found));
"""


def test_keys_are_no_hotkeys_for_two_seconds_or_until_a_held_one_is_pressed_again(tmp_path: Path) -> None:
    found = run(laid_out(tmp_path), SCRIPT)
    assert found == {
        "held": True,
        "tapped": True,
        "tappedHeld": True,
        "other": True,
        "again": [False, False],
        "early": True,
        # A key that was held all the time still waits for its release.
        "later": [False, False, True, False],
    }
