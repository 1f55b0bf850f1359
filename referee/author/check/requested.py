"""What to check, from the words of a user: the game and the rule set that a bot plays, its seats, and the checks."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from referee import games
from referee.author.check.run import Request, find_game
from referee.author.check.table import CHECKS
from referee.errors import UsageError
from referee.isolation.choose import choose
from referee.isolation.limits import Limits
from referee.support.meant import meant, near_one

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.author.check.check import Check


def chosen_checks(names: Sequence[str]) -> tuple[Check, ...]:
    """Return the named checks, all if none is named. UsageError for a name that no check has."""
    wanted = [name.strip() for text in names for name in text.split(",")]
    known = {check.name: check for check in CHECKS}
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"--only is {name!r:.60}, but there is no such check; {meant(name, known) or 'referee check --list has their names.'}"
            )
    return tuple(check for check in CHECKS if not wanted or check.name in wanted)


def requested(
    bot: str, seat: str | None, game: str | None, rules: str | None, isolation: str, checks: tuple[Check, ...], tell: Callable[[str], None]
) -> Request:
    """Return what to check. Without a game, a seat and rules it is what the bot plays, which is told if it isn't the first game or rule set."""
    request = _request(bot, seat, game or _game_of(seat), rules, isolation, checks)
    if rules is not None:
        return request
    names = games.names() if game is None and seat is None else ()
    return _played(request, names, lambda name, rules: _request(bot, seat, name, rules, isolation, checks), tell)


def _played(first: Request, names: Sequence[str], make: Callable[[str, str], Request], tell: Callable[[str], None]) -> Request:
    """Return the request for the game and the rule set that the bot plays: of some games the default rules, then their other rules."""
    default = first.game.info.name
    others = [name for name in names if name != default]
    tries = [(name, games.info(name).rule_sets[0]) for name in others]
    tries += [(name, rules) for name in (default, *others) for rules in games.info(name).rule_sets[1:]]
    if not tries:
        return first
    found = find_game(chain([first], (make(*one) for one in tries)))
    name, rules = found.game.info.name, found.settings.rules
    if name != default:
        tell(f"note: This bot doesn't play {default}; it is checked for {name}.  (--game {default} checks it for {default})")
    elif rules != first.settings.rules:
        usual = first.settings.rules
        tell(f"note: This bot doesn't play the rules {usual}; it is checked with {rules}.  (--rules {usual} checks it with {usual})")
    return found


def _request(bot: str, seat: str | None, game: str | None, rules: str | None, isolation: str, checks: tuple[Check, ...]) -> Request:
    found = games.get(game or games.names()[0])
    settings = found.codec.settings(rules, {})
    seats = found.seats(settings)
    if seat is not None and seat not in seats:
        raise UsageError(f"--seat is {seat!r:.40}, but {found.info.name} has no such seat; {near_one(seat, seats)}")
    # Where any number of players can play, all seats are alike.
    wanted = (seat,) if seat is not None else seats[:1] if found.info.players_option else seats
    return Request(bot, found, settings, wanted, lambda spec: choose(isolation, Limits(), [spec.program]), checks=checks)


def _game_of(seat: str | None) -> str | None:
    """Return the game that has a seat, if it is not the first game but exactly one other."""
    if seat is None:
        return None
    found = []
    for name in games.names():
        game = games.get(name)
        if seat in game.seats(game.codec.settings(None, {})):
            found.append(name)
    return found[0] if len(found) == 1 else None
