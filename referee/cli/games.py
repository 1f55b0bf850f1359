"""games: list the games and their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee import games as registry
from referee.cli import completion
from referee.cli.app import JsonFlag, app, columns, command, note, program, put, put_json, wrapped
from referee.cli.front import AUTHORS
from referee.cli.request import example

if TYPE_CHECKING:
    from referee.games.game import Game, Option


@app.command(rich_help_panel=AUTHORS)
@command
def games(
    name: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="A game, to see its settings.", autocompletion=completion.game)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the games, or the settings of one."""
    if name is not None:
        game = registry.get(name)
        if as_json:
            put_json(described(game))
        else:
            put("\n".join(_lines(game, columns(100))))
    elif as_json:
        put_json([described(game) for game in registry.sound(note)])
    else:
        for game in registry.sound(note):
            put(f"{game.info.name:<12} {', '.join(game.info.rule_sets)}")
        put(f"\nTry:  {program()} games {registry.names()[0]}")


def described(game: Game[Any, Any]) -> dict[str, Any]:
    """Return a game as JSON data: its name, version, rule sets, seats, and its settings with the default of each rule set."""
    info, defaults = game.info, _defaults(game)
    options = []
    for option in info.options:
        own = {rules: defaults[rules].get(option.name, option.default) for rules in info.rule_sets if _has(option, rules)}
        options.append({**option.to_json(), "defaults": {} if option.kind == "lines" else own})
    seats = list(game.seats(game.codec.settings(None, {})))
    return {"name": info.name, "version": info.version, "rule_sets": list(info.rule_sets), "seats": seats, "options": options}


def _defaults(game: Game[Any, Any]) -> dict[str, dict[str, Any]]:
    return {rules: game.codec.settings_json(game.codec.settings(rules, {})) for rules in game.info.rule_sets}


def _has(option: Option, rules: str) -> bool:
    return not option.rules or rules in option.rules


def table(game: Game[Any, Any]) -> list[tuple[str, str, str, str]]:
    """Return the rows of a game's table of settings: name, allowed values, default by rule set, meaning."""
    rows = []
    info, defaults = game.info, _defaults(game)
    for option in info.options:
        shown = {rules: _default(option, defaults[rules]) for rules in info.rule_sets if _has(option, rules)}
        texts = list(dict.fromkeys(shown.values()))
        default = texts[0] if len(texts) == 1 else ", ".join(f"{rules} {text}" for rules, text in shown.items())
        only = f" Only in {' and '.join(option.rules)}." if option.rules else ""
        unit = f" {option.unit}" if option.unit else ""
        rows.append((option.name, option.allowed + unit, default, option.meaning + only))
    return rows


def _default(option: Option, settings: dict[str, Any]) -> str:
    return option.default_text or option._replace(default=settings.get(option.name, option.default)).shown_default


def _lines(game: Game[Any, Any], wide: int) -> list[str]:
    from example_bots import BOTS

    info = game.info
    lines = [f"{info.name}: {', '.join(info.rule_sets)}", f"seats: {', '.join(game.seats(game.codec.settings(None, {})))}", ""]
    for name, allowed, default, meaning in table(game):
        lines += wrapped(f"  {name}", 18, f"{meaning}  [{allowed}; default: {default}]", wide)
    has_bots = any(bot.game == info.name for bot in BOTS)
    tried = f"bots --game {info.name}" if has_bots else example(game, game.codec.settings(None, {}))
    return [*lines, "", f"Try:  {program()} {tried}"]
