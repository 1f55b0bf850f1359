"""One match from a command: its players, its replay and logs, its pages, and what is printed meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from referee.cli import request
from referee.cli.app import say
from referee.cli.pages import Show
from referee.errors import MatchVoid, UsageError
from referee.match.clock import CPU, TimeControl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.isolation.level import Isolation
    from referee.match.events import Listener
    from referee.match.loop import Entrant, Result
    from referee.players.spec import Spec
    from referee.servers.listener import Visitor
    from referee.web.live import Pages

#: A person's clock: none.
_UNTIMED = TimeControl(None, None, None)
#: How often the replay is written out where somebody reads along, in seconds.
_LIVE_SECONDS = 0.04
#: A match without pages.
_PLAIN = Show()
_NOBODY: Mapping[str, Visitor] = {}


class Played(NamedTuple):
    """A match that was played, where its replay is, and its pages, which stay until they are closed."""

    result: Result
    replay: Path
    logs: Mapping[str, Path]
    pages: Pages | None = None

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        logs = {seat: str(path) for seat, path in self.logs.items() if path.exists()}
        return {**self.result.to_json(), "replay": str(self.replay), "logs": logs}

    def close(self) -> None:
        """End the pages."""
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
    """Play one match and write its replay and logs; its pages, if it has any, are still there afterwards.

    ``names`` says for each seat who plays it; those of ``visitors`` are connected already.
    """
    from referee.isolation.choose import choose, forget
    from referee.players.spec import Spec, resolve

    specs = {
        seat: Spec(name, None, visitors[seat].about) if seat in visitors else resolve(name, seat, wanted.game.info.name, wanted.settings)
        for seat, name in names.items()
    }
    people = tuple(seat for seat, spec in specs.items() if spec.is_human and seat not in visitors)
    _check(show, people, wanted)
    isolation = choose(wanted.isolation, wanted.limits, [spec.program for spec in specs.values() if not spec.is_human])
    _check_ports(specs, isolation)
    path = request.replay_path(wanted.out, list(names.values()))
    logs = {seat: log for seat, log in request.log_paths(path, tuple(names)).items() if not specs[seat].is_human}
    for log in logs.values():
        log.unlink(missing_ok=True)
    pages = None
    try:
        if people or show.is_live:
            pages = _pages(path, logs, specs, people, wanted, show)
        entrants = {
            seat: _visitor(visitors[seat]) if seat in visitors else _entrant(seat, spec, pages, wanted.time if show.is_timed else _UNTIMED)
            for seat, spec in specs.items()
        }
        result = _play(wanted, entrants, isolation, path, logs, pages, listeners, show, quiet=quiet)
        if pages is not None:
            pages.end(stays=show.stays)
    except BaseException as error:
        if pages is not None:
            pages.close()
        if isinstance(error, MatchVoid):
            # The next match begins with a proof, and finds out what has changed.
            forget(isolation)
        if path.stat().st_size == 0:
            path.unlink()
        raise
    for note in result.notes:
        if not quiet:
            say(f"note: {note}")
    return Played(result, path, logs, pages)


def _play(
    wanted: request.Request,
    entrants: Mapping[str, Entrant],
    isolation: Isolation,
    path: Path,
    logs: Mapping[str, Path],
    pages: Pages | None,
    listeners: Sequence[Listener],
    show: Show,
    *,
    quiet: bool,
) -> Result:
    """The match itself, with everybody who listens to it."""
    from referee.match.loop import Match, Options
    from referee.match.seeds import new_seed
    from referee.replay.writer import ReplayWriter

    options = Options(wanted.time, **wanted.run, isolation=isolation)
    match = Match(wanted.game, wanted.settings, entrants, options, seed=new_seed() if wanted.seed is None else wanted.seed, logs=logs)
    writer = ReplayWriter(path)
    if pages is not None:
        news = pages.grown

        def tell() -> None:
            match.flush_logs()
            news()

        # Somebody reads along; a person waits to see every step.
        writer = ReplayWriter(path, steps=1 if pages.connections else 100, seconds=_LIVE_SECONDS, on_flush=tell)
    match.listeners = [writer, *listeners] if pages is None else [writer, pages, *listeners]
    try:
        if not quiet:
            from referee.cli.live import Live

            match.listeners.append(Live(wanted.game, match.clocks))
        if pages is not None and not pages.connections and show.bots_pace is not None:
            from referee.cli.live import Pace

            match.listeners.append(Pace(show.bots_pace))
        result = match.run()
    except BaseException:
        match.close()
        if writer.has_begun:
            say(f"The replay so far: {path}")
        raise
    return result


def _entrant(seat: str, spec: Spec, pages: Pages | None, clock: TimeControl) -> Entrant:
    """Who plays a seat; ``clock`` is that of people."""
    from referee.match.loop import Entrant

    if pages is None or seat not in pages.connections:
        return Entrant(spec.label, spec.about, spec.runs, host=spec.dialect.host(seat) if spec.dialect else None)
    return Entrant(spec.label, {**spec.about, "clock": clock.to_json()}, connection=pages.connections[seat], time=clock)


def _check_ports(specs: Mapping[str, Spec], isolation: Isolation) -> None:
    """UsageError where two programs would need one port: only sandboxes have ports of their own."""
    fixed = [spec for spec in specs.values() if spec.runs is not None and spec.runs.through[1:] not in ((), ("0",))]
    if len(fixed) > 1 and not isolation.has_walls:
        raise UsageError(
            f"Both programs expect a server on port {fixed[0].program.through[1]}, and outside a sandbox there is one such port; "
            "write {port} where each is told its own."
        )


def _visitor(visitor: Visitor) -> Entrant:
    """Somebody else's program that has come over the network."""
    from referee.match.loop import Entrant

    return Entrant(visitor.name, visitor.about, connection=visitor.connection, host=visitor.host)


def _check(show: Show, people: tuple[str, ...], wanted: request.Request) -> None:
    """UsageError where the pages that are asked for can't be had."""
    from referee.cli.pages import need_web

    if people:
        need_web("A person's page")
        if show.is_timed and wanted.time.kind == CPU:
            raise UsageError("--human-clock needs --clock wall: a person uses no processor time.")
    elif show.is_live:
        need_web("--live")


def _pages(
    path: Path, logs: Mapping[str, Path], specs: Mapping[str, Spec], people: tuple[str, ...], wanted: request.Request, show: Show
) -> Pages:
    """Start the server of the match's pages and tell their addresses."""
    from referee.cli.pages import tell
    from referee.web.live import Pages, Wanted

    head = {
        "format": 1,
        "game": wanted.game.info.name,
        "version": wanted.game.info.version,
        "rules": wanted.settings.rules,
        "settings": wanted.game.codec.settings_json(wanted.settings),
        "players": {seat: {"name": spec.label} for seat, spec in specs.items()},
        "clock": {},
    }
    is_paced = wanted.game.human_play is not None and wanted.game.human_play.is_paced
    pages = Pages(path, logs, people, head, Wanted(show.host, show.port, show.pace if is_paced else None, show.is_timed, show.names))
    tell(pages, people, show)
    return pages


def linger(pages: Pages, show: Show) -> None:
    """Leave the pages up for who wants to look, until Ctrl-C; else until everybody who is there has seen the end."""
    try:
        if show.stays:
            say(f"The page stays until Ctrl-C:  {pages.addresses[None]}")
        pages.wait()
    except KeyboardInterrupt:
        say("")
