"""Run one match for a command: its players, its replay and logs, its pages, and its progress output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from referee.cli import request
from referee.cli.app import say
from referee.cli.pages import Show
from referee.errors import UsageError
from referee.match.clock import CPU, TimeControl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.api.runner import MatchRequest, PlayedMatch, PreparedMatch
    from referee.match.events import Listener
    from referee.match.loop import Entrant, Match
    from referee.match.result import Result
    from referee.players.spec import Spec
    from referee.servers.listener import Visitor
    from referee.web.live import Pages

#: The time control of a person without --human-clock: no limits.
_UNTIMED = TimeControl(None, None, None)
#: Seconds between two writes of the replay while pages show it.
_LIVE_SECONDS = 0.04
#: The default: do not serve a live page.
_PLAIN = Show()
_NOBODY: Mapping[str, Visitor] = {}


class Played(NamedTuple):
    """A played match with its replay, and its pages, which are served until ``close``."""

    match: PlayedMatch
    pages: Pages | None = None

    @property
    def result(self) -> Result:
        """The result of the match."""
        return self.match.result

    @property
    def replay(self) -> Path:
        """The path of its replay."""
        return self.match.replay

    @property
    def logs(self) -> Mapping[str, Path]:
        """The paths of its bots' logs, by seat."""
        return self.match.logs

    def to_json(self) -> dict[str, Any]:
        """Return the match as ``--json`` prints it."""
        return self.match.to_json()

    def close(self) -> None:
        """Stop serving the pages."""
        if self.pages is not None:
            self.pages.close()


def run_match(
    wanted: request.Request,
    names: Mapping[str, str],
    *,
    quiet: bool,
    show: Show = _PLAIN,
    visitors: Mapping[str, Visitor] = _NOBODY,
    listeners: Sequence[Listener] = (),
) -> Played:
    """Play one match and write its replay and logs. Its pages, if any, are still served afterwards.

    ``names`` maps each seat to its player. Players in ``visitors`` are connected already.
    """
    from referee.api import runner
    from referee.players.spec import Spec, resolve

    game = wanted.match.game
    specs = {
        seat: Spec(name, None, visitors[seat].about) if seat in visitors else resolve(name, seat, game.info.name, wanted.match.settings)
        for seat, name in names.items()
    }
    people = tuple(seat for seat, spec in specs.items() if spec.is_human and seat not in visitors)
    _check(show, people, wanted.match)
    prepared = runner.prepare(wanted.match, names, specs, [seat for seat, spec in specs.items() if not spec.is_human])
    pages = None
    try:
        if people or show.is_live:
            pages = _pages(prepared, specs, people, show)
        clock = wanted.match.time if show.is_timed else _UNTIMED
        entrants = {
            seat: _visitor(visitors[seat]) if seat in visitors else _entrant(seat, spec, pages, clock) for seat, spec in specs.items()
        }

        def listen(match: Match) -> list[Listener]:
            return [*([] if pages is None else [pages]), *listeners, *_watchers(match, pages, show, quiet=quiet)]

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
    for note in played.result.notes:
        if not quiet:
            say(f"note: {note}")
    return Played(played, pages)


def _watchers(match: Match, pages: Pages | None, show: Show, *, quiet: bool) -> list[Listener]:
    """Return the listeners for the progress line (unless ``quiet``) and for the pace of a live match between programs."""
    from referee.cli.live import Live, Pace

    found: list[Listener] = [] if quiet else [Live(match.game, match.clocks)]
    if pages is not None and not pages.connections and show.bots_pace is not None:
        found.append(Pace(show.bots_pace))
    return found


def _entrant(seat: str, spec: Spec, pages: Pages | None, clock: TimeControl) -> Entrant:
    """Return the entrant of a seat. ``clock`` is the time control of people."""
    from referee.api import runner
    from referee.match.loop import Entrant

    if pages is None or seat not in pages.connections:
        return runner.entrant(seat, spec)
    return Entrant(spec.label, {**spec.about, "clock": clock.to_json()}, connection=pages.connections[seat], time=clock)


def _visitor(visitor: Visitor) -> Entrant:
    """Return the entrant for a program that connected over the network."""
    from referee.match.loop import Entrant

    return Entrant(visitor.name, visitor.about, connection=visitor.connection, host=visitor.host)


def _check(show: Show, people: tuple[str, ...], wanted: MatchRequest) -> None:
    """Raise UsageError if the requested pages can't be served, or if --human-clock needs another clock."""
    from referee.cli.pages import need_web

    if people:
        need_web("A person's page")
        if show.is_timed and wanted.time.kind == CPU:
            raise UsageError("--human-clock needs --clock wall: a person uses no processor time.")
    elif show.is_live:
        need_web("--live")


def _pages(prepared: PreparedMatch, specs: Mapping[str, Spec], people: tuple[str, ...], show: Show) -> Pages:
    """Start the server of the match's pages and print their addresses."""
    from referee.cli.pages import tell
    from referee.web.live import Pages, Wanted

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
    wanted = Wanted(show.host, show.port, show.pace if is_paced else None, show.is_timed, show.names)
    pages = Pages(prepared.replay, prepared.logs, people, head, wanted)
    tell(pages, people, show)
    return pages


def linger(pages: Pages, show: Show) -> None:
    """Serve the pages after the match: until Ctrl-C if ``show.stays``, else until all connected pages have received the end."""
    try:
        if show.stays:
            say(f"The page stays until Ctrl-C:  {pages.addresses[None]}")
        pages.wait()
    except KeyboardInterrupt:
        say("")
