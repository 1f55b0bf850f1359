"""Run one match for a command, with its progress on the terminal and its pages in the browser."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from referee.api.shown_match import Show, play_shown
from referee.cli.app import say
from referee.cli.pages import tell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.api.runner import MatchRequest, PlayedMatch
    from referee.isolation.bot import Bot
    from referee.match.loop import Match
    from referee.pages.live import Pages
    from referee.players.player import Connection
    from referee.replay.events import Listener

#: The default: do not serve a live page.
_PLAIN = Show()
_NOBODY: Mapping[str, Connection] = {}


def run_match(
    match: MatchRequest,
    names: Mapping[str, str],
    *,
    quiet: bool,
    show: Show = _PLAIN,
    visitors: Mapping[str, Connection] = _NOBODY,
    listeners: Sequence[Listener] = (),
    title: str = "",
) -> tuple[PlayedMatch, Pages | None]:
    """Play one match as ``play_shown`` does, and print its progress unless ``quiet``.

    ``title`` begins the lines of one of several matches, such as "game 2, ".
    """
    from referee.cli.terminal import Live
    from referee.players.building import tell_builds

    tell_builds(announce_build if not quiet else lambda _: None)

    def listen(running: Match) -> list[Listener]:
        progress = [] if quiet else [Live(running.game, running.clocks, title, running.awaited)]
        return [*listeners, *progress]

    played, pages = play_shown(match, names, listen, show, tell, say, visitors=visitors)
    said = () if match.start is None else match.start.notes
    tell_notes([note for note in played.result.notes if note not in said], is_quiet=quiet)
    return played, pages


def tell_notes(notes: Sequence[str], *, is_quiet: bool) -> None:
    """Tell notes on a match on stderr, unless it is quiet."""
    for note in () if is_quiet else notes:
        say(f"note: {note}")


def announce_build(bot: Bot) -> None:
    """Tell the person at the terminal that a bot is being built, which takes a while."""
    say(f"Building {bot.label}:  {shlex.join([Path(bot.build[0]).name, *bot.build[1:]])}")


def linger(pages: Pages, show: Show) -> None:
    """Serve the pages after the match: until Ctrl-C if ``show.stays``, else until all connected pages have received the end."""
    try:
        if show.stays:
            say(f"The page stays until Ctrl-C:  {pages.addresses[None]}")
        pages.wait()
    except KeyboardInterrupt:
        say("")
