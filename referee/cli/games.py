"""games: list the games and their settings."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee import games as registry
from referee.cli.app import AUTHORS, JsonFlag, app, command, program, put, put_json

if TYPE_CHECKING:
    from referee.games.game import Game, GameInfo, Option


@app.command(rich_help_panel=AUTHORS)
@command
def games(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="A game, to see its settings.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the games, or the settings of one."""
    if name is not None:
        game = registry.get(name)
        if as_json:
            put_json(described(game))
            return
        for line in _lines(game, _columns()):
            put(line)
        return
    if as_json:
        put_json([described(registry.get(each)) for each in registry.all_names()])
        return
    for each in registry.all_names():
        info = registry.info(each)
        put(f"{each:<12} {', '.join(info.rule_sets)}")
    put(f"\nTry:  {program()} games {registry.names()[0]}")


def described(game: Game[Any, Any]) -> dict[str, Any]:
    """Return a game as JSON data: its name, version, rule sets, seats, and its settings with the default of each rule set."""
    info = game.info
    defaults = {rules: game.codec.settings_json(game.codec.settings(rules, {})) for rules in info.rule_sets}
    options = []
    for option in info.options:
        own = {rules: defaults[rules].get(option.name, option.default) for rules in info.rule_sets if _has(option, rules)}
        options.append({**option.to_json(), "defaults": {} if option.kind == "lines" else own})
    return {
        "name": info.name,
        "version": info.version,
        "rule_sets": list(info.rule_sets),
        "seats": list(game.seats(game.codec.settings(None, {}))),
        "options": options,
    }


def _has(option: Option, rules: str) -> bool:
    return not option.rules or rules in option.rules


def table(info: GameInfo, defaults: dict[str, dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return the rows of a game's table of settings: name, allowed values, default by rule set, meaning."""
    rows = []
    for option in info.options:
        shown = {rules: _default(option, defaults[rules]) for rules in info.rule_sets if _has(option, rules)}
        texts = list(dict.fromkeys(shown.values()))
        default = texts[0] if len(texts) == 1 else ", ".join(f"{rules} {text}" for rules, text in shown.items())
        only = f" Only in {' and '.join(option.rules)}." if option.rules else ""
        unit = f" {option.unit}" if option.unit else ""
        rows.append((option.name, option.allowed + unit, default, option.meaning + only))
    return rows


def _default(option: Option, settings: dict[str, Any]) -> str:
    if option.default_text:
        return option.default_text
    return option._replace(default=settings.get(option.name, option.default)).shown_default


def _lines(game: Game[Any, Any], columns: int) -> list[str]:
    """Return the settings of a game as text lines, wrapped at ``columns``."""
    info = game.info
    defaults = {rules: game.codec.settings_json(game.codec.settings(rules, {})) for rules in info.rule_sets}
    lines = [f"{info.name}: {', '.join(info.rule_sets)}", f"seats: {', '.join(game.seats(game.codec.settings(None, {})))}", ""]
    for name, allowed, default, meaning in table(info, defaults):
        text = f"{meaning}  [{allowed}; default: {default}]"
        lines += textwrap.wrap(text, columns, initial_indent=f"  {name:<16} ", subsequent_indent=" " * 19, break_on_hyphens=False)
    return [*lines, "", f"Try:  {program()} bots --game {info.name}"]


def markdown(game: Game[Any, Any]) -> str:
    """Return the table of a game's settings in Markdown, as docs/games.md contains it."""
    info = game.info
    defaults = {rules: game.codec.settings_json(game.codec.settings(rules, {})) for rules in info.rule_sets}
    lines = ["| setting | values | default | meaning |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {allowed} | {default} | {meaning} |" for name, allowed, default, meaning in table(info, defaults)]
    return "\n".join(lines) + "\n"


def _columns() -> int:
    wide = shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else 100
    return max(wide, 30)
