"""One match with its files: the isolation level, the replay and the logs around the match loop. Commands and the API call it."""

from __future__ import annotations

import os
import re
import time
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import MatchVoid, UsageError
from referee.isolation.bot import Bot
from referee.isolation.limits import Limits
from referee.match.options import MatchOptions, limits_of
from referee.match.start import Start
from referee.replay.paths import SUFFIX, log_path, reserve
from referee.support.outputs import check_not_input
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from referee.games.game import Game, Seat
    from referee.isolation.level import Isolation
    from referee.isolation.supervision import SupervisionReserve
    from referee.match.loop import Match, Result
    from referee.players.player import Player
    from referee.replay.events import Listener
    from referee.replay.recorded_match import RecordedMatch


#: What the players' names may take in the name of a replay: each in characters, all in bytes. A file's name has at most 255 bytes.
_LONGEST_WORD = 24
_MOST_NAMED_BYTES = 180


class MatchRequest(NamedTuple):
    """One match to play, without its players.

    ``seed`` None: a seed is drawn and stored in the replay. ``out`` is a file or a folder for the replay, None for matches/replays/.
    ``start`` is where the match begins; None: at the start of the game under ``seed``. With ``force``, the replay and the logs may replace any file but ``inputs``, which may be folders.
    """

    game: Game[Any, Any]
    settings: Any
    options: MatchOptions = MatchOptions()
    seed: int | None = None
    out: str | None = None
    start: Start[Any] | None = None
    force: bool = False
    inputs: Sequence[Path] = ()


def begun(request: MatchRequest) -> Start[Any]:
    """Return where a requested match begins."""
    if request.start is not None:
        return request.start
    return Start.of(request.game, request.settings, new_seed() if request.seed is None else request.seed)


def continued(recorded: RecordedMatch, start: Start[Any], options: MatchOptions, notes: Sequence[str], out: str | None) -> MatchRequest:
    """Return the request for a match that continues a recorded one from ``start``.

    ``notes`` are printed after the match, ``out`` is a file or a folder for the replay. UsageError if the new replay would overwrite the
    recorded one.
    """
    for name in () if out is None else (out, out + SUFFIX):
        check_not_input(Path(name), (recorded.path,))
    limits, higher = options.limits, options.limits.above(Limits())
    if higher and limits == limits_of(recorded.head):
        notes = (
            *notes,
            f"The limits are those of the match in the replay, which are higher than the ordinary ones: {', '.join(higher)}.",
        )
    start = replace(start, notes=(*start.notes, *notes))
    return MatchRequest(recorded.game, recorded.settings, options, start.seed, out, start)


def settings_of(game: Game[Any, Any], *, draws_starts: bool = False) -> Callable[[str | None, Mapping[str, Any]], Any]:
    """Return the function that checks a game's settings. With ``draws_starts`` they need not say where the game starts."""
    source = game.starts if draws_starts else None
    return (source or game.codec).settings


class PreparedMatch(NamedTuple):
    """A match whose isolation level is known and whose replay file is reserved."""

    request: MatchRequest
    isolation: Isolation
    replay: Path
    logs: Mapping[Seat, Path]


class PlayedMatch(NamedTuple):
    """A match that was played, with its replay and logs."""

    result: Result
    replay: Path
    logs: Mapping[Seat, Path]

    def to_json(self) -> dict[str, Any]:
        """The match as ``--json`` prints it."""
        logs = {seat: str(path) for seat, path in self.logs.items() if path.exists()}
        return {**self.result.to_json(), "replay": str(self.replay), "logs": logs}


def prepare(
    request: MatchRequest,
    names: Iterable[str],
    players: Mapping[Seat, Player],
    *,
    isolation: Isolation | None = None,
) -> PreparedMatch:
    """Choose the isolation level and reserve the replay file. ``names`` go into the file's name; ``players`` are those that have a log.

    ``isolation`` is a level that was chosen for these bots before, in a series of matches. Raises UsageError if the isolation level or the file isn't available.
    """
    if isolation is None:
        from referee.isolation.choose import choose

        isolation = choose(request.options.isolation, request.options.limits, bots_of(players))
    _check_ports(bots_of(players), isolation)
    path = reserve_replay(request.out, list(names), tuple(players), request.inputs, force=request.force)
    logs = {seat: log_path(path, seat) for seat in players}
    for log in logs.values():
        log.unlink(missing_ok=True)
    return PreparedMatch(request, isolation, path, logs)


def play(
    prepared: PreparedMatch,
    players: Mapping[Seat, Player],
    listeners: Callable[[Match], Sequence[Listener]] = lambda _: (),
    *,
    flush_steps: int = 100,
    flush_seconds: float = 1.0,
    on_flush: Callable[[], None] | None = None,
    reserve: SupervisionReserve | None = None,
) -> PlayedMatch:
    """Play a prepared match and write its replay and logs. ``listeners`` makes further listeners for the match.

    ``reserve`` keeps the supervisor between the matches of one process. A replay without a first record is removed. Raises StartError and MatchVoid as ``Match.run`` does.
    """
    from referee.isolation.choose import forget
    from referee.match.loop import Match, Options
    from referee.replay.writer import ReplayWriter

    request = prepared.request
    match = None
    try:
        options = Options(request.options.time, request.options.run, prepared.isolation)
        logs = prepared.logs
        writer = ReplayWriter(prepared.replay, steps=flush_steps, seconds=flush_seconds, on_flush=on_flush)
        match = Match(
            request.game,
            request.settings,
            players,
            options,
            start=begun(request),
            listeners=lambda match: [writer, *listeners(match)],
            logs=logs,
            reserve=reserve,
        )
        return PlayedMatch(match.run(), prepared.replay, prepared.logs)
    except BaseException as error:
        if match is not None:
            match.close()
        if isinstance(error, MatchVoid):
            # The next match begins with a proof, and finds out what has changed.
            forget(prepared.isolation)
        discard_empty(prepared.replay)
        if not prepared.replay.exists():
            # Without their replay, the next match would take them for somebody else's.
            for log in prepared.logs.values():
                log.unlink(missing_ok=True)
        raise


def discard_empty(replay: Path) -> None:
    """Remove a reserved replay file that nothing was written to."""
    if replay.exists() and replay.stat().st_size == 0:
        replay.unlink()


def reserve_replay(
    out: str | None, players: Sequence[str], seats: Sequence[Seat] = (), inputs: Sequence[Path] = (), *, force: bool = False
) -> Path:
    """A new replay's file, made empty so that no other match takes it: below matches/replays/, or where ``out`` says."""
    words = [_file_word(player, _MOST_NAMED_BYTES // max(1, len(players))) for player in players]
    stem = "-".join([time.strftime("%Y%m%d-%H%M%S"), *words])
    try:
        return reserve(out, stem, seats, inputs, force=force)
    except (OSError, ValueError) as error:
        where = str(getattr(error, "filename", None) or out or "matches/replays")
        raise UsageError(
            f"The replay can't be written to {where}: {getattr(error, 'strerror', None) or error}; name another place with --out."
        ) from None


def _file_word(player: str, most_bytes: int) -> str:
    """Return a player's name as a part of a file's name: letters of any language, digits and hyphens."""
    text = unicodedata.normalize("NFC", Path(player).stem)
    word = re.sub(r"[\W_]+", "-", text).strip("-")[:_LONGEST_WORD]
    while len(os.fsencode(word)) > most_bytes:
        word = word[:-1]
    return word or "bot"


def bots_of(players: Mapping[Seat, Player]) -> list[Bot]:
    """Return the players that are programs of this machine."""
    return [player for player in players.values() if isinstance(player, Bot)]


def _check_ports(bots: Sequence[Bot], isolation: Isolation) -> None:
    """UsageError where two programs would need one port: only sandboxes have ports of their own."""
    ports = [bot.port for bot in bots if bot.port]
    if len(ports) > 1 and not isolation.has_sandbox:
        raise UsageError(
            f"Both programs expect a server on port {ports[0]}, and outside a sandbox there is one such port; "
            "write {port} where each is told its own."
        )
