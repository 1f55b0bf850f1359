"""One match with its pages, for spectators, for people who play, and for players at connections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.api import runner
from referee.errors import UsageError
from referee.isolation.supervision import start_early
from referee.match.options import CPU, TimeControl
from referee.match.steady_pace import SteadyPace
from referee.players.names import HUMAN, is_human, resolve
from referee.players.own_files import published
from referee.support.packages import need_web

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.api.runner import MatchRequest, PlayedMatch, PreparedMatch
    from referee.isolation.bot import Bot
    from referee.match.loop import Match
    from referee.pages.live import Pages
    from referee.players.player import Connection, Player
    from referee.replay.events import Listener

#: The time control of a person without --human-clock: no limits.
_UNTIMED = TimeControl(startup=None, move=None, bank=None)
#: Seconds between two writes of the replay while pages show it.
_LIVE_SECONDS = 0.04


class Show(NamedTuple):
    """The options for a match's pages: whether spectators are served, the server's address, and the pace and clock of people."""

    is_live: bool = False
    pace: float | None = 8
    is_timed: bool = False
    host: str = "127.0.0.1"
    port: int | None = None
    opens: bool = True
    stays: bool = False
    names: tuple[str, ...] = ()
    #: Steps a second of a match between programs; None: no delay between steps.
    bots_pace: float | None = None


def play_shown(
    match: MatchRequest,
    names: Mapping[str, str],
    listen: Callable[[Match], Sequence[Listener]],
    show: Show,
    on_pages: Callable[[Pages, tuple[str, ...], Show], None],
    say: Callable[[str], None],
    *,
    visitors: Mapping[str, Connection],
) -> tuple[PlayedMatch, Pages | None]:
    """Play one match and write its replay and logs. Return it with its pages, if any, which are served until they are closed.

    ``names`` maps each seat to its player. ``listen`` makes the listeners of the match. ``on_pages`` gets new pages with the seats of the
    people. ``say`` gets the place of a replay that ends early. Players in ``visitors`` are connected already.
    """
    people = tuple(seat for seat, name in names.items() if seat not in visitors and is_human(name))
    programs = {seat: name for seat, name in names.items() if seat not in visitors and seat not in people}
    bots = {seat: _bot(match, seat, name) for seat, name in programs.items()}
    if bots:
        start_early()
    _check(show, people, match.options.settled().time)
    # Pages show the position before the match begins.
    match = match._replace(start=runner.begun(match))
    prepared = runner.prepare(match, names.values(), bots)
    pages = None
    try:
        if people or show.is_live:
            labels = {seat: bots[seat].label if seat in bots else name.strip() for seat, name in names.items()}
            pages = _pages(prepared, labels, people, show, on_pages)
        clock = match.options.time if show.is_timed else _UNTIMED
        players: dict[str, Player] = {**bots, **visitors}
        players |= {seat: _person(connection, clock) for seat, connection in ({} if pages is None else pages.connections).items()}

        def listeners(running: Match) -> list[Listener]:
            found = [*([] if pages is None else [pages]), *listen(running)]
            if pages is not None and not pages.connections and show.bots_pace is not None:
                found.append(SteadyPace(show.bots_pace))
            return found

        if pages is None:
            played = runner.play(prepared, players, listeners)
        else:
            # With a person, write the replay after every step, because they wait to see it; spectators can see steps in groups.
            steps = 1 if pages.connections else 100
            played = runner.play(prepared, players, listeners, flush_steps=steps, flush_seconds=_LIVE_SECONDS, on_flush=pages.grown)
            pages.end(stays=show.stays)
    except BaseException:
        if pages is not None:
            pages.close()
        runner.discard_empty(prepared.replay)
        if prepared.replay.exists():
            say(f"The replay so far: {prepared.replay}")
        raise
    return played, pages


def _bot(match: MatchRequest, seat: str, name: str) -> Bot:
    """Return the bot of a name. Its replay, texts and log name no folders of this machine."""
    return published(resolve(name, seat, match.game.info.name, match.settings), str(Path.cwd()))


def _person(connection: Connection, clock: TimeControl) -> Connection:
    """Return the player for a person on a page."""
    return connection._replace(time=clock, about={"program": HUMAN, "clock": clock.to_json()})


def _check(show: Show, people: tuple[str, ...], time: TimeControl) -> None:
    if people:
        need_web("A person's page")
        if show.is_timed and time.kind == CPU:
            raise UsageError("--human-clock needs --clock fair or wall: a person uses no processor time.")
    elif show.is_live:
        need_web("--live")


def _pages(
    prepared: PreparedMatch,
    labels: Mapping[str, str],
    people: tuple[str, ...],
    show: Show,
    on_pages: Callable[[Pages, tuple[str, ...], Show], None],
) -> Pages:
    from referee.pages.live import Pages

    game, settings = prepared.request.game, prepared.request.settings
    head = {
        "format": 1,
        "game": game.info.name,
        "version": game.info.version,
        "rules": settings.rules,
        "settings": game.codec.settings_json(settings),
        "players": {seat: {"name": label} for seat, label in labels.items()},
        "clock": {},
    }
    is_paced = game.human_play is not None and game.human_play.is_paced
    pages = Pages(
        prepared.replay,
        prepared.logs,
        people,
        head,
        host=show.host,
        port=show.port,
        pace=show.pace if is_paced else None,
        is_timed=show.is_timed,
        names=show.names,
        start=_start(prepared.request),
        bots_pace=show.bots_pace,
    )
    on_pages(pages, people, show)
    return pages


def _start(request: MatchRequest) -> dict[str, Any]:
    """Return the position in which a match begins, as spectators see it, with its turn."""
    start = runner.begun(request)
    return {"turn": start.turn, "state": json.loads(request.game.codec.view_text(start.state, None))}
