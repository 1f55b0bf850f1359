"""Checks of positions: every kind of state. Each position is asked in a process of its own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from referee.author.check.check import Check, all_of
from referee.author.check.check_result import WARNING, Finding, ok, skipped
from referee.games.capabilities import DECISIVE, EDGE, EMPTY, FULL, LAST, LONG, STUCK
from referee.wire import encode

if TYPE_CHECKING:
    from referee.author.check.shared_runs import CheckedBot

GROUP = "positions"
#: The size of the long state, in bytes: as much as a pipe holds.
LONG_BYTES = 65_536
_REMEDIES = {
    EMPTY: "Handle an empty list, and values that are null, before you take an element.",
    FULL: "Handle as many objects as the settings allow, and a move that can't be made.",
    LAST: "Answer the last question like any other: don't count on a position after it.",
    STUCK: "If there is no good move, answer with one that does nothing.",
    DECISIVE: "Answer also if the match seems to be over: the referee decides when it is.",
    EDGE: "Test whether a cell is on the board before you look at it.",
}


def ask_positions(kind: str, bot: CheckedBot) -> Finding:
    """Ask about all positions of a kind."""
    positions = bot.positions.of(kind)
    for position in positions:
        if failure := bot.tried_at(position, f"Asked in this position: {position.about}", _REMEDIES[kind]):
            return failure
    if not positions:
        return skipped("The game offers no such position.")
    return ok(
        f"It answers in this position: {positions[0].about}." if len(positions) == 1 else f"It answers in {len(positions)} such positions."
    )


def long_state(bot: CheckedBot) -> Finding:
    """The longest state of the game, filled up with an unknown field to 64 KiB."""
    positions = bot.positions.of(LONG) or bot.positions.of(EMPTY)
    for position in positions:
        with bot.interview(position.settings) as interview:
            response = bot.greeted(interview)
            if not response.reason:
                view = bot.subject.game.codec.view_text(position.state, bot.subject.seat)
                missing = LONG_BYTES - len(view.encode())
                if missing > 0 and view.endswith("}") and view != "{}":
                    view = f'{view[:-1]},"padding":"{"x" * missing}"}}'
                control = interview.control
                line = encode.turn(position.turn, view, (), encode.limit(control.move), control.bank)
                response = interview.ask(position.turn, position.state, line)
            limit = bot.subject.time.move
            if response.reason == "silent" and limit is not None and response.cpu > limit / 2:
                # It has read the line and thinks: what a bot needs for such a match is a matter of time.
                remedy = "Look at the clock while you think: there may be far more on the board than usual."
                return bot.complaint(response, interview, f"With {position.about} it thinks too long", remedy, WARNING)
            if bot.trouble(response):
                remedy = "Read a line whole, whatever its length: no buffer of a fixed size, and no time that grows with the square of its length."
                return bot.complaint(response, interview, f"With a state of {len(interview.sent):,} bytes ({position.about})", remedy)
    return ok(f"It answers with a state of at least {LONG_BYTES:,} bytes.") if positions else skipped("The seat is never asked.")


CHECKS = (
    Check(
        "positions",
        GROUP,
        "It answers in every kind of position: at the start, on a full board, at the edges, at the end.",
        all_of(*(partial(ask_positions, kind) for kind in _REMEDIES), long_state),
    ),
)
