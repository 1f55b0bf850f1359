"""Run one match for a command, with its progress on the terminal and its pages in the browser."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from example_bots import BOTS
from referee import games
from referee.cli.app import say
from referee.cli.pages import put_addresses
from referee.cli.terminal import Live
from referee.errors import UsageError
from referee.match.options import CPU, TimeControl
from referee.pages.show import Show, SteadyPace
from referee.players.player import HUMAN, is_human
from referee.support.packages import need_web

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.games.game import Game
    from referee.isolation.bot import Bot
    from referee.match.request import MatchRequest
    from referee.pages.match_pages import MatchPages
    from referee.players.player import Connection, Player
    from referee.replay.events import Listener, MatchResult

#: The default: do not serve a live page.
_PLAIN = Show()
_NOBODY: Mapping[str, Connection] = {}


def run_match(
    request: MatchRequest,
    names: Mapping[str, str],
    *,
    show: Show = _PLAIN,
    visitors: Mapping[str, Connection] = _NOBODY,
    listeners: Sequence[Listener] = (),
    title: str = "",
    report: Callable[[MatchResult], None] = lambda _: None,
) -> MatchResult:
    """Play one match, print its progress unless it is quiet, ``report`` its result and serve its pages.

    ``names`` maps each seat to its player. Players in ``visitors`` are connected already. ``title`` begins the lines of one of several
    matches, such as "game 2, ".
    """
    # Imported here, because these modules would make other commands start 20 % slower.
    from referee.isolation.launcher import on_builds, open_launcher
    from referee.match.match import Match

    on_builds(announce_build if not request.quiet else lambda _: None)
    people = tuple(seat for seat, name in names.items() if seat not in visitors and is_human(name))
    bots = {seat: request.bot(name, seat) for seat, name in names.items() if seat not in visitors and seat not in people}
    _check(show, is_for_people=bool(people), time=request.options.settled().time)
    start_notes = () if request.start is None else request.start.notes
    request = request.with_start()
    replay = request.reserve(names.values(), tuple(bots))
    players: dict[str, Player] = {**bots, **visitors}
    times: dict[str, TimeControl] = {}
    with ExitStack() as stack:
        try:
            followers = [*listeners, *([] if request.quiet else [Live(title)])]
            launcher = pages = None
            if people or show.is_live:
                # Check the isolation before a page opens.
                launcher = open_launcher(request.options.isolation, request.options.limits, [*bots.values()])
                stack.callback(launcher.close)
                pages = stack.enter_context(_pages(request, replay, names, bots, people, show))
                put_addresses(pages, people, show)
                followers.insert(0, pages)
                clock = request.options.time if show.is_timed else TimeControl(startup=None, move=None, bank=None)  # no limits
                about = {"program": HUMAN, "clock": clock.to_json()}
                players |= {seat: connection._replace(about=about) for seat, connection in pages.connections.items()}
                times = dict.fromkeys(pages.connections, clock)
                if not people and show.bots_pace is not None:
                    followers.append(SteadyPace(show.bots_pace))
            result = Match(request.spec({seat: players[seat] for seat in names}, replay, times), followers, launcher).run()
            if launcher is not None:
                # The pages may be served for hours after the match.
                launcher.close()
        except BaseException:
            stack.close()
            _tell_partial_replay(replay)
            raise
        if not request.quiet:
            say(*(f"note: {note}" for note in result.notes if note not in start_notes))
        report(result)
        if pages is not None:
            linger(pages, show)
    return result


def _pages(
    request: MatchRequest, replay: Path, names: Mapping[str, str], bots: Mapping[str, Bot], people: Sequence[str], show: Show
) -> MatchPages:
    """Return the pages of a match that begins later. ``people`` are the seats of those who play on them."""
    # Imported here, because the server of pages is an optional dependency.
    from referee.pages.match_pages import MatchPages

    assert request.start is not None
    labels = {seat: bots[seat].label if seat in bots else "a person" for seat in names}
    return MatchPages(request.game_object, request.checked_settings, request.start, replay, labels, people, tuple(bots), show)


def _tell_partial_replay(replay: Path) -> None:
    """Print the path of a failed match's replay; remove the file if it is empty."""
    if replay.exists() and replay.stat().st_size == 0:
        replay.unlink()
    if replay.exists():
        say(f"The replay so far: {replay}")


def _check(show: Show, *, is_for_people: bool, time: TimeControl) -> None:
    if is_for_people:
        need_web("A person's page")
        if show.is_timed and time.kind == CPU:
            raise UsageError("--human-clock needs --clock fair or wall: a person uses no processor time.")
    elif show.is_live:
        need_web("--live")


def announce_build(bot: Bot) -> None:
    """Print that a bot is being built, which takes a while."""
    say(f"Building {bot.label}:  {shlex.join([Path(bot.build[0]).name, *bot.build[1:]])}")


def linger(pages: MatchPages, show: Show) -> None:
    """Serve the pages after the match: until Ctrl-C if ``show.stays``, else until all connected pages have received the end."""
    try:
        if show.stays:
            say(f"The page stays until Ctrl-C:  {pages.addresses[None]}")
        pages.wait()
    except KeyboardInterrupt:
        say("")


def example(game: Game[Any, Any], settings: Any, names: Sequence[str] = ()) -> str:
    """Return the arguments of a match under the settings' rule set, from ``play`` on.

    Each seat gets the first of the named players that can take it, else its strongest example bot, or a file if there is none.
    """
    name, seats, left = game.info.name, game.seats(settings), [*names]
    examples = {bot.name for bot in BOTS}
    bots = [bot for bot in BOTS if bot.game == name and (not bot.rules or settings.rules in bot.rules)]
    chosen = []
    for place, seat in enumerate(seats, -len(seats)):
        able = [bot.name for bot in bots if bot.plays(seat)]
        player = next((each for each in left if each in able or each not in examples), None)
        if player is not None:
            left.remove(player)
        chosen.append(player or (able[place % len(able) if game.info.players_option else -1] if able else f"{seat}.py"))
    options = {"--game": (name, games.names()[0]), "--rules": (settings.rules, game.codec.settings(None, {}).rules)}
    flags = [word for option, (value, usual) in options.items() if value != usual for word in (option, value)]
    return shlex.join(["play", *flags, *chosen])
