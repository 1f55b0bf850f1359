"""The codec of Evasion. It calls the codec of the state's rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion import variants
from referee.games.evasion.codec import stepwise, turnwise
from referee.games.evasion.state import HunterMove, PreyMove

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.evasion.codec.turnwise import Move
    from referee.games.evasion.state import Settings, State
    from referee.games.game import Json, Seat


_RULE_SETS = variants.RULE_SETS


class EvasionCodec:
    """Implements ``referee.games.game.Codec``."""

    #: How an answer is read depends only on the rule set, which is the same in all positions of a match.
    parse_ignores_state = True

    def __init__(self) -> None:
        # Nothing is hidden, so both seats get the same text in a step. Cache the last one.
        self._last: tuple[State | None, str] = (None, "")

    def settings(self, rules: str | None, overrides: Mapping[str, Json]) -> Settings:
        """Checked settings; SettingsError names the setting and what is allowed."""
        return variants.settings(rules, overrides)

    def settings_json(self, settings: Settings) -> dict[str, Json]:
        """The settings as JSON, without the rule set's name."""
        record: dict[str, Json] = {name: getattr(settings, name) for name in _RULE_SETS[settings.rules].names}
        record["hunter"], record["prey"] = list(settings.hunter), list(settings.prey)
        if not settings.adjudicate_after:
            del record["adjudicate_after"]
        return record

    def view_text(self, state: State, seat: Seat | None = None) -> str:
        """The whole state as compact JSON: nothing is hidden."""
        last = self._last
        if last[0] is not state:
            last = self._last = (state, _RULE_SETS[state.settings.rules].codec.view_text(state))
        return last[1]

    def parse(self, state: State, seat: Seat, answer: Json) -> Move:
        """An answer as a move of the rule set."""
        return _RULE_SETS[state.settings.rules].codec.parse(seat, answer)

    def unknown_keys(self, state: State, seat: Seat, answer: Json) -> Sequence[str]:
        """Keys of an answer that have no meaning for the seat."""
        return _RULE_SETS[state.settings.rules].codec.unknown_keys(seat, answer)

    def move_json(self, move: Move) -> Json:
        """Return a move in the form of an answer."""
        return stepwise.move_json(move) if isinstance(move, (HunterMove, PreyMove)) else turnwise.move_json(move)

    def changes_text(self, before: State, after: State) -> str:
        """Return the changes of one step as compact JSON."""
        return stepwise.changes_text(before, after)
