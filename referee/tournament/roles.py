"""The role in which two bots are compared: all roles if both play all, else the one that both play."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from example_bots import BOTS, middling
from referee.errors import PlayerError, RefereeError, UsageError
from referee.handins.entry import to_add

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from referee.games.game import AnyGame, Seat, Settings
    from referee.handins.values import Entry
    from referee.match.options import MatchOptions
    from referee.tournament.worker import Terms

#: The most teams that a sentence names beside the first.
_MOST_NAMED = 5


def check_roles(teams: Iterable[Entry], game: AnyGame, settings: Settings, terms: Terms) -> None:
    """Raise UsageError if the only program of a team exits at one seat before it is ready, and is ready at another.

    The league itself handles programs that can't be started or built: it reports them and plays without them.
    """
    if game.pairing is None:
        return
    missing_roles: dict[str, tuple[Seat, str]] = {}
    by_name = {team.name: team for team in teams}
    for team in by_name.values():
        programs = set(team.players.values())
        if len(programs) > 1 or any(bot.name in programs for bot in BOTS):
            continue
        try:
            refused = _refused(game, terms.options, settings, team.name, programs.pop())
        except RefereeError:
            continue
        if refused:
            missing_roles[team.name] = next(iter(refused.items()))
    if not missing_roles:
        return
    first, *others = missing_roles
    seat, why = missing_roles[first]
    more = (
        f" {len(others):,} more: {', '.join(f'{name} has no {missing_roles[name][0]}' for name in others[:_MOST_NAMED])}." if others else ""
    )
    rivals = _rivals(by_name, first, seat, [name for name in others if missing_roles[name][0] == seat])
    raise UsageError(f"The team '{first}' doesn't play {seat}. {why} {to_add(seat, game, settings, rivals)}{more}")


def _rivals(teams: Mapping[str, Entry], first: str, lacks: Seat, alike: Sequence[str]) -> tuple[str, ...]:
    """Return the first team's program and that of another team for the same seat, best one that lacks the same seat; empty without one."""
    played = next(seat for seat in teams[first].players if seat != lacks)
    programs = (teams[name].players[played] for name in (*alike, *teams) if name != first)
    rival = next((program for program in programs if program != teams[first].players[played]), None)
    return () if rival is None else (teams[first].players[played], rival)


class Role(NamedTuple):
    """The one seat that is compared, None for all of them. ``why`` has a sentence for each bot that doesn't play all seats.

    ``opponents`` are those that the bots have in this seat if none were named.
    """

    seat: Seat | None
    why: tuple[str, ...] = ()
    opponents: tuple[str, ...] = ()


def role_of(game: AnyGame, options: MatchOptions, settings: Settings, programs: Mapping[str, str], seat: Seat | None) -> Role:
    """Return the role in which the first two of these programs can be compared; the others are their opponents. ``seat`` is the one asked for.

    A bot plays a seat unless its name or its folder says otherwise, or it exits at that seat before it is ready. The UsageError says why
    there is no such role, or what is wrong with ``seat``. StartError if a program can't be built.
    """
    seats = game.seats(settings)
    if game.pairing is None:
        if seat is not None:
            raise UsageError(f"--seat is {seat!r:.40}, but the seats of {game.info.name} are all alike; leave it out.")
        return Role(None)
    if seat is not None and seat not in seats:
        raise UsageError(f"--seat is {seat!r:.40}, but {game.info.name} has no such seat; there are {', '.join(seats)}.")
    refused = {name: _refused(game, options, settings, name, program) for name, program in programs.items()}
    why = tuple(_sentence(name, programs[name], seats, reasons) for name, reasons in refused.items() if reasons)
    a, b, *opponents = refused
    common = [
        candidate
        for candidate in seats
        if candidate not in {*refused[a], *refused[b]} and not any({*seats} - {candidate} & {*refused[other]} for other in opponents)
    ]
    if (seat or next(iter(common), None)) not in common:
        problem = "there is no role in which they can be compared" if seat is None else f"they can't be compared as {seat}"
        raise UsageError(f"{' '.join(why)} So {problem}; name bots that play the same role, or folders with a program for each role.")
    if seat is None and len(common) == len(seats):
        return Role(None)
    seat = seat or common[0]
    if len(programs) > 2:
        return Role(seat, why)
    other = next(candidate for candidate in seats if candidate != seat)
    opponent = middling(game.info.name, other, settings.rules)
    if opponent is None:
        raise UsageError(f"The bots are compared as {seat}, and there is no example bot for {other}; name their opponent: --against C")
    return Role(seat, why, (opponent,))


def _refused(game: AnyGame, options: MatchOptions, settings: Settings, name: str, program: str) -> dict[Seat, str]:
    """Return the seats that a bot doesn't play, each with the reason."""
    from referee.author.check import run

    try:
        return run.seats_refused(
            run.CheckRequest(program, game, settings, game.seats(settings), options.isolation, options.limits, options.time)
        )
    except PlayerError as error:
        raise UsageError(f"'{name}' can't play: {error}") from None


def _sentence(name: str, program: str, seats: Sequence[Seat], refused: Mapping[Seat, str]) -> str:
    """Return which seats a bot plays; for bots that aren't examples also why."""
    played = f"{name} plays only {' and '.join(seat for seat in seats if seat not in refused)}"
    is_example = any(bot.name == program.strip() for bot in BOTS)
    return f"{played}." if is_example else f"{played}: {' '.join(refused.values())}"
