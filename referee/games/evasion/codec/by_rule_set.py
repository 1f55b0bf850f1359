"""The codec of Evasion. It calls the codec of the state's rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion import variants
from referee.games.evasion.codec import stepwise, turnwise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from referee.games.evasion.state import HunterMove, PreyMove, Settings, State

    Json = Any
    Seat = str
    Move = HunterMove | PreyMove | turnwise.Move

_RULE_SETS = variants.RULE_SETS


class EvasionCodec:
    """Implements ``referee.games.game.Codec``."""

    #: All positions of one match have the same rule set, and that alone decides how an answer is read.
    parse_ignores_state = True

    def __init__(self) -> None:
        # Nothing is hidden, so both seats get the same text in a step. Cache the last one.
        self._last: tuple[State | None, str] = (None, "")

    def settings(self, rules: str | None, given: Mapping[str, Json]) -> Settings:
        """Checked settings; SettingsError names the setting and what is allowed."""
        return variants.settings(rules, given)

    def settings_json(self, settings: Settings) -> dict[str, Json]:
        """The settings as JSON, without the rule set's name."""
        record: dict[str, Json] = {name: getattr(settings, name) for name in _RULE_SETS[settings.rules].names}
        record["hunter"], record["prey"] = list(settings.hunter), list(settings.prey)
        if not settings.adjudicate_after:
            del record["adjudicate_after"]
        return record

    def view(self, state: State, seat: Seat | None) -> Json:
        """The whole state: nothing is hidden."""
        import json

        return json.loads(self.view_text(state))

    def view_text(self, state: State, seat: Seat | None = None) -> str:
        """The whole state as compact JSON."""
        last = self._last
        if last[0] is not state:
            last = self._last = (state, _RULE_SETS[state.settings.rules].codec.view_text(state))
        return last[1]

    def parse(self, state: State, seat: Seat, answer: Json) -> Move:
        """An answer as a move of the rule set."""
        move: Move = _RULE_SETS[state.settings.rules].codec.parse(seat, answer)
        return move

    def unknown_keys(self, state: State, seat: Seat, answer: Json) -> Sequence[str]:
        """Keys of an answer that mean nothing to the seat."""
        keys: Sequence[str] = _RULE_SETS[state.settings.rules].codec.unknown_keys(seat, answer)
        return keys

    def move_json(self, move: Any) -> Json:
        """Return a move in the form of an answer."""
        command = turnwise.move_json(move)
        return stepwise.move_json(move) if command is None else command

    def changes_text(self, before: State, after: State) -> str:
        """Return the changes of one step as compact JSON."""
        return stepwise.changes_text(before, after)
