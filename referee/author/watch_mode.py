"""play --watch: plays a match again whenever a file of one of its bots changes, with one line for each match."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.api import runner
from referee.errors import RefereeError, StartError, UsageError
from referee.match.events import Listener, MatchBegun, StepTaken
from referee.match.seeds import new_seed
from referee.players.spec import resolve
from referee.support.packages import need_author, to_watch
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.api.runner import MatchRequest, PlayedMatch
    from referee.author.bot_watcher import BotWatcher
    from referee.games.game import Seat
    from referee.match.loop import Match


#: How many replays of the latest matches are kept.
KEPT = 5
#: The most changed files that a line names.
_MOST_NAMED = 3


class WatchOutput(NamedTuple):
    """Where watch mode tells of its matches: ``put`` takes lines, ``say`` remarks, ``listeners`` follow one match."""

    put: Callable[..., None]
    say: Callable[[str], None]
    listeners: Callable[[Match], Sequence[Listener]]
    is_quiet: bool
    as_json: bool


def keep_playing(
    match: MatchRequest, players: Mapping[Seat, str], draw: Callable[[MatchRequest], list[MatchRequest]] | None, output: WatchOutput
) -> None:
    """Play a match, and again after each change of the bots' files, until Ctrl-C. Then tell the summary.

    ``draw`` returns several games that are played one after another instead.
    """
    need_author("referee play --watch")
    from referee.author.bot_watcher import BotWatcher

    match = match if match.seed is not None else match._replace(seed=new_seed())
    specs = {seat: resolve(name, seat, match.game.info.name, match.settings) for seat, name in players.items()}
    if any(spec.is_human for spec in specs.values()):
        raise UsageError("--watch plays by itself at every change, which people can't; name a program for each seat.")
    matches = [match] if draw is None else draw(match)
    session = _WatchSession(matches, players, output)
    with BotWatcher([spec.program for spec in specs.values()]) as watcher:
        if not output.as_json and not output.is_quiet:
            seeds = (
                f"Every match has the seed {match.seed}."
                if draw is None
                else f"The {counted(len(matches), 'game')} are drawn from the seed {match.seed}."
            )
            output.say(f"{seeds} A change of the bots' files begins {'the next one' if draw is None else 'them again'}; Ctrl-C ends.")
        try:
            session.run(watcher)
        except KeyboardInterrupt:
            session.sum_up()


class _WatchSession:
    """The matches of one command: one for each change, or several games."""

    def __init__(self, matches: Sequence[MatchRequest], players: Mapping[Seat, str], output: WatchOutput) -> None:
        self._matches = matches
        #: The game that is played, from 0.
        self._game = 0
        self._players = players
        self._output = output
        self._tally = Tally()
        self._kept: list[tuple[Path, ...]] = []
        self._number = 0
        self._noted: set[Path] = set()

    def run(self, watcher: BotWatcher) -> None:
        """Play until the user interrupts."""
        while True:
            changed = watcher.begin()
            if changed:
                # Between two games: the others would be of an older bot.
                self._game = 0
            self._number += 1
            try:
                self._play(watcher, changed)
            except FilesChanged as error:
                self._tally.stopped += 1
                self._put(
                    {"changed": _names(changed), "stopped": True, "steps": error.step},
                    f"stopped at step {error.step:,}: a file has changed",
                )
                self._game = 0
                continue
            except RefereeError as error:
                watcher.end()
                self._tally.failed += 1
                self._put({"changed": _names(changed), "error": str(error), "exit_code": error.exit_code}, f"no match: {error}")
            else:
                self._game += 1
                if self._game < len(self._matches):
                    continue
            self._game = 0
            self._note(watcher)
            watcher.wait()

    def _play(self, watcher: BotWatcher, changed: list[Path]) -> None:
        match = self._matches[self._game]
        specs = {seat: resolve(name, seat, match.game.info.name, match.settings) for seat, name in self._players.items()}
        entrants = {seat: runner.entrant(seat, spec) for seat, spec in specs.items()}
        prepared = runner.prepare(match, self._players.values(), entrants)
        files = (prepared.replay, *prepared.logs.values())
        try:
            played = runner.play(prepared, entrants, lambda one: [*self._output.listeners(one), ChangeListener(watcher)])
        except BaseException:
            # A part of a match is of no use here, and the next one begins anew.
            _remove(files)
            raise
        # Before the result is printed: what the author saves after that is a change.
        watcher.end()
        self._keep(files)
        if not played.result.started:
            self._tally.failed += 1
            faults = " ".join(fault.text for fault in played.result.faults.values())
            self._put({"changed": _names(changed), "error": faults, "exit_code": StartError.exit_code}, f"no match: {faults}")
            return
        change = self._tally.add(played, self._game)
        told = {**played.to_json(), "changed": _names(changed), "change": None if change is None else change._asdict()}
        self._put(told, _line(played, change))

    def _keep(self, files: tuple[Path, ...]) -> None:
        """Keep the files of a match, and remove those of the oldest one. A replay named by --out has the same name in every match."""
        self._kept = [kept for kept in self._kept if kept != files] + [files]
        most = max(KEPT, len(self._matches))
        for old in self._kept[:-most]:
            _remove(old)
        self._kept = self._kept[-most:]

    def _put(self, told: Mapping[str, Any], line: str) -> None:
        count = len(self._matches)
        if self._output.as_json:
            self._output.put(
                json.dumps({"number": self._number, **({"game_number": self._game + 1, "games": count} if count > 1 else {}), **told})
            )
        else:
            self._output.put(f"{self._number:>3}  {f'game {self._game + 1} of {count}: ' if count > 1 else ''}{line}")

    def _note(self, watcher: BotWatcher) -> None:
        """Say once of each file that it counts as the bots' own output."""
        new = sorted(watcher.taken - self._noted)
        self._noted.update(new)
        if new:
            names = ", ".join(_names(new[:_MOST_NAMED])) + (f" and {len(new) - _MOST_NAMED} more" if len(new) > _MOST_NAMED else "")
            self._output.say(f"note: {names} changed during the match and counts as the bots' own output; save it again to play with it.")

    def sum_up(self) -> None:
        """Print what the matches came to."""
        tally = self._tally
        if self._output.as_json:
            self._output.put(json.dumps({"summary": tally.to_json()}))
            return
        won = ", ".join(f"{seat} won {count:,}" for seat, count in tally.won.items())
        steps = f"; {min(tally.steps):,} to {counted(max(tally.steps), 'step')}" if tally.steps else ""
        others = [f"{count:,} {what}" for count, what in ((tally.stopped, "stopped"), (tally.failed, "not played")) if count]
        self._output.put("", "; ".join([f"{tally.played:,} match{'es' * (tally.played != 1)}{': ' if won else ''}{won}{steps}", *others]))
        if tally.last is not None:
            most = max(KEPT, len(self._matches))
            kept = f"the last {most} replays are kept" if tally.played > most else "the replays are kept"
            self._output.say(f"In {tally.last.replay.parent}/ {kept}.")
            self._output.put(f"Next:  {to_watch(tally.last.replay)}")


def _names(files: list[Path]) -> list[str]:
    """Return paths as they are told: relative to the current folder if they are in it."""
    here = Path.cwd()
    return [str(file.relative_to(here) if file.is_relative_to(here) else file) for file in files]


def _remove(files: tuple[Path, ...]) -> None:
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()


def _line(played: PlayedMatch, change: Change | None) -> str:
    """Return a match in one line: the result, the change, the time that the bots used, and the replay."""
    result = played.result
    outcome = result.outcome
    winner = "nobody wins" if outcome.winner is None else f"{outcome.winner} {result.names[outcome.winner]} wins"
    parts = [f"{winner} ({outcome.reason})", counted(result.steps, "step")]
    if outcome.unit != "steps":
        parts += [f"{seat} {score:,} {outcome.unit}" for seat, score in outcome.scores.items() if score is not None]
    if change is not None:
        parts.append(_told(change, played))
    parts += [f"{seat} {clock.used:.2f} s" for seat, clock in result.clocks.items()]
    faults = [fault.text for fault in result.faults.values()]
    return "  ".join([*parts, os.path.relpath(played.replay), *faults])


def _told(change: Change, played: PlayedMatch) -> str:
    outcome = played.result.outcome
    parts = [f"{outcome.winner or 'nobody'} now wins"] if change.winner else [f"now {outcome.reason}"] if change.reason else []
    if change.steps:
        parts.append(f"{change.steps:+,} step{'s' * (abs(change.steps) != 1)}")
    if outcome.unit != "steps":
        parts += [f"{seat} {difference:+,} {outcome.unit}" for seat, difference in change.scores.items()]
    return f"[{', '.join(parts) or 'no change'}]"


class FilesChanged(Exception):
    """A file of a bot has changed during the match."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


class ChangeListener(Listener):
    """Ends the match when a file has changed."""

    def __init__(self, watcher: BotWatcher) -> None:
        self._watcher = watcher
        self._step = 0

    def begun(self, event: MatchBegun) -> None:
        """Look before the first step."""
        self.ticked()

    def stepped(self, event: StepTaken) -> None:
        """Look after each step."""
        self._step = event.turn + 1
        self.ticked()

    def ticked(self) -> None:
        """Look while a bot thinks."""
        if self._watcher.has_changed:
            raise FilesChanged(self._step)


class Change(NamedTuple):
    """The difference between a match and the last one that was played to its end."""

    winner: bool
    reason: bool
    steps: int
    scores: Mapping[Seat, float]


class Tally:
    """What the matches so far come to, for the summary, and the last of them."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.played = self.stopped = self.failed = 0
        self.won: dict[str, int] = {}
        self.steps: list[int] = []
        self.last: PlayedMatch | None = None
        self._last_of: dict[int, PlayedMatch] = {}

    def add(self, played: PlayedMatch, game: int) -> Change | None:
        """Count a match, and return its difference from the last one; of several games, from the last one on the same start."""
        change = None if game not in self._last_of else difference(self._last_of[game], played)
        self.last = self._last_of[game] = played
        self.played += 1
        self.steps.append(played.result.steps)
        winner = played.result.outcome.winner or "nobody"
        self.won[winner] = self.won.get(winner, 0) + 1
        return change

    def to_json(self) -> dict[str, Any]:
        """The summary as ``--json`` prints it."""
        return {
            "played": self.played,
            "stopped": self.stopped,
            "failed": self.failed,
            "won": self.won,
            "least_steps": min(self.steps, default=None),
            "most_steps": max(self.steps, default=None),
            "seconds": round(time.monotonic() - self.begun, 3),
        }


def difference(last: PlayedMatch, now: PlayedMatch) -> Change:
    """Return what has changed between two matches of the same players."""
    before, after = last.result.outcome, now.result.outcome
    scores = {
        seat: score - old
        for seat, score in after.scores.items()
        if score is not None and (old := before.scores.get(seat)) is not None and score != old
    }
    return Change(before.winner != after.winner, before.reason != after.reason, now.result.steps - last.result.steps, scores)
