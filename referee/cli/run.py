"""Run one match for a command: its players, its replay and logs, its pages, and its progress output."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.cli import request
from referee.cli.app import say
from referee.cli.pages import Show, tell
from referee.errors import UsageError
from referee.match.options import CPU, TimeControl
from referee.support.packages import need_web

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.api.rematches import SeriesMatch
    from referee.api.runner import MatchRequest, PlayedMatch, PreparedMatch
    from referee.isolation.program import Program
    from referee.match.events import Listener
    from referee.match.loop import Entrant, Match
    from referee.players.spec import Spec
    from referee.servers.listener import Visitor
    from referee.web.live import PageAddress, Pages

#: The time control of a person without --human-clock: no limits.
_UNTIMED = TimeControl(startup=None, move=None, bank=None)
#: Seconds between two writes of the replay while pages show it.
_LIVE_SECONDS = 0.04
#: The default: do not serve a live page.
_PLAIN = Show()
_NOBODY: Mapping[str, Visitor] = {}


def run_match(
    wanted: request.Request,
    names: Mapping[str, str],
    *,
    quiet: bool,
    show: Show = _PLAIN,
    visitors: Mapping[str, Visitor] = _NOBODY,
    listeners: Sequence[Listener] = (),
    has_stderr: bool = False,
    series_match: SeriesMatch | None = None,
    place: PageAddress | None = None,
    title: str = "",
) -> tuple[PlayedMatch, Pages | None]:
    """Play one match and write its replay and logs. Return it with its pages, if any, which are served until they are closed.

    ``names`` maps each seat to its player. Players in ``visitors`` are connected already. ``has_stderr``: print the bots' stderr. With
    ``series_match`` the people may agree on a rematch. ``place`` is where the pages of the match before were served. ``title`` begins
    the lines of one of several matches, such as "game 2, ".
    """
    from referee.api import runner
    from referee.isolation.supervision import start_early
    from referee.match.seeds import new_seed
    from referee.match.steady_pace import SteadyPace
    from referee.players.building import tell_builds
    from referee.players.spec import Spec

    specs = {
        seat: Spec(name, None, visitors[seat].about) if seat in visitors else _spec(name, seat, wanted) for seat, name in names.items()
    }
    if any(spec.runs is not None for spec in specs.values()):
        start_early()
    people = tuple(seat for seat, spec in specs.items() if spec.is_human and seat not in visitors)
    _check(show, people, wanted.match.options.time)
    tell_builds(announce_build if not quiet else lambda _: None)
    match = wanted.match
    if people and match.seed is None and match.beginning is None:
        # People see the position before the match begins.
        match = match._replace(seed=new_seed())
    prepared = runner.prepare(match, names, specs, [seat for seat, spec in specs.items() if not spec.is_human])
    pages = None
    try:
        if people or show.is_live:
            pages = _pages(prepared, specs, people, show, series_match if people else None, place)
        clock = wanted.match.options.time if show.is_timed else _UNTIMED
        entrants = {seat: _entrant(seat, spec, pages, clock, visitors.get(seat)) for seat, spec in specs.items()}

        def listen(match: Match) -> list[Listener]:
            found = [*([] if pages is None else [pages]), *listeners, *progress(match, is_quiet=quiet, has_stderr=has_stderr, title=title)]
            if pages is not None and not pages.connections and show.bots_pace is not None:
                found.append(SteadyPace(show.bots_pace))
            return found

        if pages is None:
            played = runner.play(prepared, entrants, listen)
        else:
            # With a person, write the replay after every step, because they wait to see it; spectators can see steps in groups.
            steps = 1 if pages.connections else 100
            played = runner.play(prepared, entrants, listen, flush_steps=steps, flush_seconds=_LIVE_SECONDS, on_flush=pages.grown)
            pages.end(stays=show.stays)
    except BaseException:
        if pages is not None:
            pages.close()
        runner.discard_empty(prepared.replay)
        if prepared.replay.exists():
            say(f"The replay so far: {prepared.replay}")
        raise
    known = () if wanted.match.beginning is None else wanted.match.beginning.notes
    tell_notes([note for note in played.result.notes if note not in known], is_quiet=quiet)
    return played, pages


def _spec(name: str, seat: str, wanted: request.Request) -> Spec:
    """Return a player by its name, under a name without folders of this machine: others may read its replay, texts and log."""
    from referee.players.own_files import published
    from referee.players.spec import resolve

    return published(resolve(name, seat, wanted.match.game.info.name, wanted.match.settings), str(Path.cwd()))


def tell_notes(notes: Sequence[str], *, is_quiet: bool) -> None:
    """Tell notes on a match on stderr, unless it is quiet."""
    for note in () if is_quiet else notes:
        say(f"note: {note}")


def announce_build(program: Program) -> None:
    """Tell the person at the terminal that a bot is being built, which takes a while."""
    say(f"Building {program.label}:  {shlex.join([Path(program.build[0]).name, *program.build[1:]])}")


def progress(match: Match, *, is_quiet: bool, has_stderr: bool, title: str = "", is_brief: bool = False) -> list[Listener]:
    """Return the listeners that print a match on stderr: its progress unless ``is_quiet``, and the bots' own stderr if wanted."""
    from referee.author.bot_stderr import BotStderr
    from referee.cli.terminal import Brief, Live

    live = None if is_quiet else (Brief if is_brief else Live)(match.game, match.clocks, title)
    shown: list[Listener] = [BotStderr(match, say if live is None else live.put_line)] if has_stderr else []
    return [*shown, *([] if live is None else [live])]


def _entrant(seat: str, spec: Spec, pages: Pages | None, clock: TimeControl, visitor: Visitor | None) -> Entrant:
    from referee.api import runner
    from referee.match.loop import Entrant

    if visitor is not None:
        return Entrant(visitor.name, visitor.about, connection=visitor.connection, host=visitor.host)
    if pages is None or seat not in pages.connections:
        return runner.entrant(seat, spec)
    return Entrant(spec.label, {**spec.about, "clock": clock.to_json()}, connection=pages.connections[seat], time=clock)


def _check(show: Show, people: tuple[str, ...], time: TimeControl) -> None:
    if people:
        need_web("A person's page")
        if show.is_timed and time.kind == CPU:
            raise UsageError("--human-clock needs --clock wall: a person uses no processor time.")
    elif show.is_live:
        need_web("--live")


def _pages(
    prepared: PreparedMatch,
    specs: Mapping[str, Spec],
    people: tuple[str, ...],
    show: Show,
    series_match: SeriesMatch | None,
    place: PageAddress | None,
) -> Pages:
    from referee.web.live import Pages

    game, settings = prepared.request.game, prepared.request.settings
    head = {
        "format": 1,
        "game": game.info.name,
        "version": game.info.version,
        "rules": settings.rules,
        "settings": game.codec.settings_json(settings),
        "players": {seat: {"name": spec.label} for seat, spec in specs.items()},
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
        offers=None if series_match is None else series_match.offers(),
        place=place if series_match is None else series_match.place,
        series=show.series,
        bots_pace=show.bots_pace,
    )
    if place is None and (series_match is None or series_match.place is None):
        tell(pages, people, show)
    return pages


def _start(request: MatchRequest) -> dict[str, Any]:
    """Return the position in which a match begins, as spectators see it, with its turn."""
    from referee.match.seeds import secret_of

    game, beginning = request.game, request.beginning
    state, turn = (game.start(request.settings, secret_of(request.seed)), 0) if beginning is None else (beginning.state, beginning.turn)
    return {"turn": turn, "state": json.loads(game.codec.view_text(state, None))}


def linger(pages: Pages, show: Show) -> str | None:
    """Serve the pages after the match: until Ctrl-C if ``show.stays``, else until all connected pages have received the end.

    Return the kind of rematch on which people agree before that, else None.
    """
    try:
        if show.stays:
            say(f"The page stays until Ctrl-C:  {pages.addresses[None]}")
        return pages.wait()
    except KeyboardInterrupt:
        say("")
        return None
