"""Turns the words of a user into a check request: the game and the rule set that a bot plays, its seats, and the checks."""

from __future__ import annotations

from itertools import chain, starmap
from typing import TYPE_CHECKING

from referee import games
from referee.author.check.run import CHECKS, CheckRequest, find_game
from referee.errors import UsageError
from referee.support.near_names import did_you_mean, nearest_or_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.author.check.check import Check


def chosen_checks(names: Sequence[str]) -> tuple[Check, ...]:
    """Return the named checks, all if none is named. UsageError for a name that no check has."""
    only = [name.strip() for text in names for name in text.split(",")]
    checks = {check.name: check for check in CHECKS}
    for name in only:
        if name not in checks:
            raise UsageError(
                f"--only is {name!r:.60}, but there is no such check; {did_you_mean(name, checks) or 'referee check --list has their names.'}"
            )
    if "rule-sets" in only:
        # That check plays the other rule sets; a match plays the one that the user names.
        only.append("match")
    return tuple(check for check in CHECKS if not only or check.name in only)


def requested(
    bot: str,
    seat: str | None,
    game: str | None,
    rules: str | None,
    isolation: str,
    checks: tuple[Check, ...],
    on_note: Callable[[str], None],
) -> CheckRequest:
    """Return the request. Without a game, a seat and rules it is for what the bot plays; ``on_note`` gets a note unless these are the first ones."""
    request = _request(bot, seat, game or _game_of(seat), rules, isolation, checks)
    if rules is not None:
        return request
    names = games.names() if game is None and seat is None else ()
    return _played(request, names, lambda name, rules: _request(bot, seat, name, rules, isolation, checks), on_note)


def _played(
    first: CheckRequest, names: Sequence[str], make: Callable[[str, str], CheckRequest], on_note: Callable[[str], None]
) -> CheckRequest:
    """Return the request for the game and the rule set that the bot plays: of some games the default rules, then their other rules."""
    default = first.game.info.name
    others = [name for name in names if name != default]
    tries = [(name, games.info(name).rule_sets[0]) for name in others]
    tries += [(name, rules) for name in (default, *others) for rules in games.info(name).rule_sets[1:]]
    if not tries:
        return first
    request = find_game(chain([first], starmap(make, tries)))
    name, rules = request.game.info.name, request.settings.rules
    if name != default:
        on_note(f"note: This bot doesn't play {default}; it is checked for {name}.  (--game {default} checks it for {default})")
    elif rules != first.settings.rules:
        usual = first.settings.rules
        on_note(f"note: This bot doesn't play the rules {usual}; it is checked with {rules}.  (--rules {usual} checks it with {usual})")
    return request


def _request(bot: str, seat: str | None, game: str | None, rules: str | None, isolation: str, checks: tuple[Check, ...]) -> CheckRequest:
    game_object = games.get(game or games.names()[0])
    settings = game_object.codec.settings(rules, {})
    seats = game_object.seats(settings)
    if seat is not None and seat not in seats:
        raise UsageError(f"--seat is {seat!r:.40}, but {game_object.info.name} has no such seat; {nearest_or_all(seat, seats)}")
    # Where any number of players can play, all seats are alike.
    checked = (seat,) if seat is not None else seats[:1] if game_object.info.players_option else seats
    return CheckRequest(bot, game_object, settings, checked, isolation, checks=checks)


def _game_of(seat: str | None) -> str | None:
    """Return the game that has a seat, if it is not the first game but exactly one other."""
    if seat is None:
        return None
    candidates = map(games.get, games.names())
    names = [game.info.name for game in candidates if seat in game.seats(game.codec.settings(None, {}))]
    return names[0] if len(names) == 1 else None
