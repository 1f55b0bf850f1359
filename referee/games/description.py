"""Games as data for people and programs: their rule sets, seats and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.games.game import Game, Json, Option


def describe(game: Game) -> dict[str, Json]:
    """Return a game as JSON data: its name, version, rule sets, seats, and its settings with the default of each rule set."""
    info, defaults = game.info, _defaults(game)
    options = []
    for option in info.options:
        values = {rules: defaults[rules].get(option.name, option.default) for rules in info.rule_sets if _has(option, rules)}
        options.append({**option.to_json(), "defaults": {} if option.kind == "lines" else values})
    seats = list(game.seats(game.codec.settings(None, {})))
    return {"name": info.name, "version": info.version, "rule_sets": list(info.rule_sets), "seats": seats, "options": options}


def _defaults(game: Game) -> dict[str, dict[str, Json]]:
    return {rules: game.codec.settings_json(game.codec.settings(rules, {})) for rules in game.info.rule_sets}


def _has(option: Option, rules: str) -> bool:
    return not option.rules or rules in option.rules


def settings_table(game: Game) -> list[tuple[str, str, str, str]]:
    """Return the rows of a game's table of settings: name, allowed values, default by rule set, meaning."""
    rows = []
    info, defaults = game.info, _defaults(game)
    for option in info.options:
        default_texts = {rules: _default(option, defaults[rules]) for rules in info.rule_sets if _has(option, rules)}
        texts = list(dict.fromkeys(default_texts.values()))
        default = texts[0] if len(texts) == 1 else ", ".join(f"{rules} {text}" for rules, text in default_texts.items())
        only = f" Only in {' and '.join(option.rules)}." if option.rules else ""
        unit = f" {option.unit}" if option.unit else ""
        rows.append((option.name, option.allowed + unit, default, option.meaning + only))
    return rows


def _default(option: Option, settings: dict[str, Json]) -> str:
    return option.default_text or option._replace(default=settings.get(option.name, option.default)).shown_default
