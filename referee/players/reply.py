"""What came of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.players.faults import LATE, Fault

if TYPE_CHECKING:
    from referee.players.process import ProcessPlayer


class Reply(NamedTuple):
    """What came of a question: a whole line or a fault, the seconds to bill, and whether lateness of ours was forgiven.

    ``other`` are seconds by the clock that isn't billed. The text of a ``late`` fault lacks its end, which names the limit: the loop
    knows it; the fault's detail has ``guard`` where it was the guard of the wall clock.
    """

    line: bytes | None
    seconds: float
    fault: Fault | None = None
    rescued: bool = False
    other: float = 0.0


def late(player: ProcessPlayer, *, is_guard: bool = False) -> Fault:
    """The fault of a program whose time is up; the guard is that of the wall clock, where processor time is billed."""
    if player.unsent:
        how = "did not even read its question"
    elif player.lines.has_bytes:
        how = "wrote an answer without the newline that ends it"
    else:
        how = "gave no answer"
    return Fault(LATE, f"The {player.seat} ({player.shown_label()}) {how}", None, {"cause": "time", "guard": True} if is_guard else None)
