"""Plays the matches of a league, one after another, in one process: a worker.

A worker tests its sandbox once, and again whenever a match had to end its supervisor. All its matches share one supervisor, and those in a
sandbox one copy of each program, until a match fails or may have left something. Its arguments are plain data, so that they can be sent to
another machine.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import select
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee import games
from referee.errors import CopyUnwritten, MatchVoid, PlayerError, RefereeError, ReplayUnwritten, StartError, UsageError, of_seat
from referee.games.game import SettingsError
from referee.handins.hashes import check_copy
from referee.isolation.file_names import from_home, published
from referee.isolation.launcher import open_launcher
from referee.match.match import Match
from referee.match.options import MatchOptions
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.players.names import resolve
from referee.players.player import is_human
from referee.replay.paths import SUFFIX, reserve
from referee.tournament.values import FATAL, Record

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from referee.games.game import Seat, Settings
    from referee.handins.values import Entry
    from referee.isolation.bot import Bot
    from referee.isolation.process import Launcher
    from referee.replay.events import MatchResult
    from referee.tournament.values import Task


class Terms(NamedTuple):
    """The terms that all matches of a league share, as plain data."""

    game: str
    rules: str | None = None
    options: MatchOptions = MatchOptions()


class Worker:
    """Plays matches. ``teams`` are all teams by name; replays go into ``folder``, each named by its match's key."""

    def __init__(self, terms: Terms, teams: Mapping[str, Entry], folder: Path) -> None:
        self._terms = terms
        self._game = games.get(terms.game)
        self._teams = teams
        self._folder = folder
        self._host = platform.node()
        self._launcher: Launcher | None = None
        self._bots: dict[tuple[str, Seat, str], Bot] = {}

    def close(self) -> None:
        """End the worker's supervisor, which removes the copies of programs."""
        if self._launcher is not None:
            self._launcher.close()

    def play(self, task: Task) -> Record:
        """Play one match. Errors of the teams and of the referee become records, too."""
        begun = time.monotonic()
        try:
            settings = self._game.codec.settings(self._terms.rules, dict(task.settings))
            bots = {seat: self._bot(team, seat, settings) for seat, team in task.names.items()}
            return self._played(task, settings, bots, begun)
        except (PlayerError, StartError) as error:
            if error.seat is None:
                return self._void(task, str(error), FATAL)
            absent = task.names[error.seat]
            faults = {seat: str(error) for seat, name in task.names.items() if name == absent}
            return Record(task.key, text=str(error), faults=faults, started=False)
        except SettingsError as error:
            return self._void(task, f"The settings of the match are refused: {error}", FATAL)
        except (UsageError, ReplayUnwritten, CopyUnwritten) as error:
            return self._void(task, str(error), FATAL)
        except MatchVoid as error:
            return self._void(task, str(error), error.reason, tuple(task.names[seat] for seat in error.seats))
        except RefereeError as error:
            return self._void(task, str(error))
        except OSError as error:
            is_fatal = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
            return self._void(task, f"{error.filename or 'a file'}: {error.strerror or error}", FATAL if is_fatal else "")

    def _void(self, task: Task, text: str, cause: str = "", hit: tuple[str, ...] = ()) -> Record:
        return Record(task.key, host=self._host, void=text, cause=cause, hit=hit)

    def _played(self, task: Task, settings: Settings, bots: Mapping[Seat, Bot], begun: float) -> Record:
        replay = replay_path(self._folder, task.key)
        players = {seat: self._player(bot, task.names[seat], task.blamed) for seat, bot in bots.items()}
        start = Start.of(self._game, settings, task.seed)
        if self._launcher is None:
            options = self._terms.options
            self._launcher = open_launcher(options.isolation, options.limits, [*bots.values()], self._check_copy)
        reserve(replay, (), tuple(players), force=True)
        match = MatchSpec(self._game, settings, players, start, self._terms.options, replay)
        result = Match(match, launcher=self._launcher).run()
        return self._record(task, result, time.monotonic() - begun)

    def _player(self, bot: Bot, team: str, blamed: Container[str]) -> Bot:
        """The player of a team; the replay names the team, whatever its bot calls itself."""
        bot = published(bot, str(Path.cwd()))
        return bot._replace(name=team, about={**bot.about, "team": team}, is_blamed=team in blamed)

    def _bot(self, team: str, seat: Seat, settings: Settings) -> Bot:
        """A team's bot for a seat, read once for all matches with the same settings."""
        # The settings matter only if a dialect can't express them.
        key = (team, seat, repr(settings) if ":" in self._teams[team].players[seat] else "")
        if key not in self._bots:
            home, player = self._teams[team].home, self._teams[team].players[seat]
            with of_seat(seat), inside(home):
                if is_human(player):
                    raise PlayerError(f"The team {team} is a person; in a league only programs play.")
                self._bots[key] = published(resolve(from_home(player, home), seat, self._terms.game, settings), home)
        return self._bots[key]

    def _check_copy(self, bot: Bot, folder: str) -> None:
        """Raise UsageError if a bot that was copied now is no longer that of its team."""
        for (team, seat, _), each in self._bots.items():
            if each.files == bot.files:
                check_copy(self._teams[team], seat, bot, folder)

    def _record(self, task: Task, result: MatchResult, seconds: float) -> Record:
        outcome, replay = result.outcome, result.replay
        position = self._game.codec.view_text(result.state, None)
        return Record(
            key=task.key,
            winner=outcome.winner,
            reason=outcome.reason,
            text=outcome.text,
            scores=dict(outcome.scores),
            steps=result.steps,
            faults=result.faults,
            fault_kinds={seat: fault.kind for seat, fault in result.failures.items()},
            seconds={seat: round(used.used, 6) for seat, used in result.times.items()},
            slowest={seat: round(used.longest, 6) for seat, used in result.times.items()},
            replay=str(replay.relative_to(self._folder.parent)),
            replay_hash=hashlib.sha256(replay.read_bytes()).hexdigest(),
            wall_seconds=round(seconds, 6),
            host=self._host,
            position=hashlib.sha256(position.encode()).hexdigest()[:16],
            ranks=None if outcome.ranks is None else dict(outcome.ranks),
            started=result.started,
            answers={seat: used.answers for seat, used in result.times.items()},
            fault_steps=dict(result.fault_steps),
        )


@contextlib.contextmanager
def inside(folder: str) -> Iterator[None]:
    """Change the current folder during the ``with`` block; "" keeps it."""
    if not folder:
        yield
        return
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def replay_path(folder: Path, key: str) -> Path:
    """Return the path of a match's replay. Replays are spread over some hundred folders, so that none grows too large."""
    return folder / key[:2] / (key + SUFFIX)


def end_with(parent: int) -> None:
    """End this process at once when its parent process is gone. Its supervisor then ends the match."""

    def wait() -> None:
        try:
            fd = os.pidfd_open(parent)
        except (OSError, AttributeError):
            while os.getppid() == parent:
                time.sleep(1.0)
            os._exit(1)
        waiting = select.poll()
        waiting.register(fd, select.POLLIN)
        while os.getppid() == parent:
            waiting.poll(60_000)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
