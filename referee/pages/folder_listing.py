"""What the list of a folder knows of each replay: the head and the result, read without playing the match again."""

from __future__ import annotations

import gzip
import hashlib
import os
import shlex
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import ReplayError, UsageError
from referee.replay.names import player_name, recorded_sentence
from referee.replay.paths import SUFFIX, why_unreadable
from referee.replay.reader import RecordedMatch, read_head
from referee.replay.writer import DIGEST_KEY
from referee.support.escape import escape
from referee.support.files import open_regular
from referee.support.words import program
from referee.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json

#: The ending of the files that are listed.
_ENDING = ".gz"
#: Limits of one folder: how deep its folders are searched, and how many files are listed.
_MOST_DEPTH = 6
MOST_FILES = 20_000
#: The most text that is unpacked of one replay, in bytes; a longer one has no result in the list.
MOST_TEXT = 64 << 20
#: The longest line that is looked at, in bytes. No head and no result is longer.
_MOST_LINE = 1 << 20
#: The last step is among this number of last lines.
_LAST_LINES = 10
#: What can be wrong with the data of a file.
_DAMAGED, _TOO_LONG = "is damaged", "is too long for its result to be listed."
#: What can be wrong with lines that are whole.
_LONG_HEAD = f"is not a replay: its first line has more than {_MOST_LINE >> 20} MiB."
_LONG_LINE = f"has no result: its last line has more than {_MOST_LINE >> 20} MiB."
_NO_RECORD = "has no result: its last line is not JSON."
_EDITED = "was edited: its text is not the one that was written, so its result doesn't count."
#: No score reaches this.
_MOST_SCORE = 1 << 50
#: The most characters of a name, and of the sentence of a result.
_NAME, _TEXT = 80, 300


class ReplayFile(NamedTuple):
    """A file: its path, its size in bytes, and when it was changed, in nanoseconds since 1970.

    ``below`` is the folder in which it was found; no link from there is followed. None: the user has named the file.
    """

    path: Path
    size: int
    modified: int
    below: Path | None = None


class ListedReplay(NamedTuple):
    """The entry of one replay in a list. ``problem`` says what is wrong with it; ``opens`` is True if the viewer can show it all the same.

    ``players`` maps each seat to a name, ``teams`` to the team in a league. ``steps`` is None where it is unknown, and ``reason`` is empty without a result.
    """

    name: str
    size: int
    modified: int
    game: str = ""
    rules: str = ""
    players: Mapping[str, str] = {}
    teams: Mapping[str, str] = {}
    winner: str | None = None
    reason: str = ""
    text: str = ""
    scores: Mapping[str, float | None] = {}
    steps: int | None = None
    problem: str = ""
    opens: bool = False

    def to_json(self) -> dict[str, Json]:
        """The entry for a page. The time is in milliseconds."""
        return {**self._asdict(), "modified": self.modified // 1_000_000}


class ShownPlace(NamedTuple):
    """A team in the standings of the projector's page."""

    place: int
    team: str
    points: float
    played: int


class ShownStandings(NamedTuple):
    """The standings of the projector's page: of a league, or with ratings as points. ``done`` of ``total`` matches were played."""

    name: str
    done: int
    total: int
    rows: Sequence[ShownPlace]
    is_rated: bool = False

    def to_json(self) -> dict[str, Json]:
        """The standings for a page."""
        return {
            "name": self.name,
            "done": self.done,
            "total": self.total,
            "isRated": self.is_rated,
            "rows": [row._asdict() for row in self.rows],
        }


def scan(folder: Path) -> tuple[list[ReplayFile], list[str]]:
    """Return the files of a folder that can be replays, also in folders below, and sentences about what could not be listed.

    Hidden folders and links to folders are left out; a link to a file is listed as one that can't be read. OSError if the folder itself
    can't be read.
    """
    files: list[ReplayFile] = []
    notes: list[str] = []
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            with os.scandir(place) as listed:
                for item in listed:
                    if len(files) == MOST_FILES:
                        return files, [*notes, f"Only {MOST_FILES:,} files are listed; the folder has more."]
                    if item.name.startswith("."):
                        continue
                    if item.is_dir(follow_symlinks=False):
                        if depth < _MOST_DEPTH:
                            waiting.append((place / item.name, depth + 1))
                    elif item.name.endswith(_ENDING) and (facts := _facts(item)) is not None:
                        files.append(ReplayFile(place / item.name, facts.st_size, facts.st_mtime_ns, folder))
        except OSError as error:
            if depth == 0:
                raise
            notes.append(f"The folder {escape(str(place.relative_to(folder)))} can't be read: {error.strerror or error}.")
    return files, notes


def _facts(item: os.DirEntry[str]) -> os.stat_result | None:
    """Return the facts of a file or link; None if it has gone meanwhile."""
    try:
        return item.stat(follow_symlinks=False)
    except OSError:
        return None


def read_entry(file: ReplayFile, name: str) -> ListedReplay:
    """Return the entry of a file. It never fails: what is wrong with the file is in ``problem``."""
    entry = ListedReplay(escape(name, 200), file.size, file.modified)
    try:
        return _read(entry, file)
    except ReplayError as error:
        return entry._replace(problem=str(error).removeprefix(f"{entry.name}: ").removeprefix(f"{entry.name} "))
    except (OSError, ValueError) as error:
        return entry._replace(problem=f"can't be read: {getattr(error, 'strerror', None) or error}.")


def _read(entry: ListedReplay, replay: ReplayFile) -> ListedReplay:
    with open_regular(replay.path, replay.below) as file, gzip.open(file, "rb") as text:
        if entry.size == 0:
            return entry._replace(problem="is empty: its match has not begun, or was stopped at once.")
        first, end, digest, fault = _ends(text)
    if not first.endswith(b"\n"):
        if fault:
            return entry._replace(problem="is not a replay: not gzip, or damaged.")
        return entry._replace(problem=_LONG_HEAD if len(first) >= _MOST_LINE else "is cut off before its first line ends.")
    named = Path(entry.name)
    head, _ = read_head(named, iter([first]))
    RecordedMatch.of(named, head)
    players = {str(seat)[:_NAME]: player_name(player, seat)[:_NAME] for seat, player in head["players"].items()}
    teams = {str(seat)[:_NAME]: team[:_NAME] for seat, player in head["players"].items() if isinstance(team := player.get("team"), str)}
    entry = entry._replace(game=str(head["game"])[:_NAME], rules=str(head["rules"])[:_NAME], players=players, teams=teams, opens=True)
    if fault == _TOO_LONG:
        return entry._replace(problem=_TOO_LONG)
    text_before, _, last = end[: end.rfind(b"\n")].rpartition(b"\n")
    if len(last) > _MOST_LINE:
        return entry._replace(problem=_LONG_LINE)
    record = _json(last)
    if record is None:
        return entry._replace(problem=_NO_RECORD)
    if record.get("type") == "result" and fault != _DAMAGED:
        entry = _with_result(entry, record, head["players"])
        digest.update(end[: len(text_before) + 1] + b"".join(last.rpartition(DIGEST_KEY.encode())[:2]))
        is_written = record.get("sha256") == digest.hexdigest()
        return entry if is_written else entry._replace(winner=None, problem=_EDITED)
    lines = [*text_before.rsplit(b"\n", _LAST_LINES)[-_LAST_LINES:], last]
    turns = [turn for line in lines if line.startswith(b'{"turn":') and type(turn := (_json(line) or {}).get("turn")) is int]
    steps = turns[-1] + 1 if turns else 0 if not text_before else None
    after = "" if steps is None else f" after {steps:,} step{'s' * (steps != 1)}"
    return entry._replace(steps=steps, problem=f"{fault or 'breaks off, or its match still runs: it has no result'}{after}.")


def _ends(text: gzip.GzipFile) -> tuple[bytes, bytes, hashlib._Hash, str]:
    """Return the first line of a replay, its last bytes, the SHA-256 of all text before these, and what is wrong with the file; "" also for
    one that is cut.
    """
    first = end = b""
    digest = hashlib.sha256()
    try:
        first = end = text.readline(_MOST_LINE)
        size = len(first)
        while part := text.read1(_MOST_LINE):
            size, end = size + len(part), end + part
            # Only so much is kept: a small file can hold very much.
            digest.update(end[: -2 * _MOST_LINE])
            end = end[-2 * _MOST_LINE :]
            if size > MOST_TEXT:
                return first, end, digest, _TOO_LONG
    except EOFError:
        pass
    except (gzip.BadGzipFile, zlib.error):
        return first, end, digest, _DAMAGED
    return first, end, digest, ""


def _with_result(entry: ListedReplay, result: Mapping[str, Json], players: Mapping[str, Json]) -> ListedReplay:
    winner, steps, scores, reason = (result.get(name) for name in ("winner", "steps", "scores", "reason"))
    numbers = scores if isinstance(scores, dict) else {}
    return entry._replace(
        winner=winner if isinstance(winner, str) and winner in entry.players else None,
        reason=reason[:_NAME] if isinstance(reason, str) else "?",
        text=recorded_sentence(result, players)[:_TEXT],
        scores={seat: _score(value) for seat, value in numbers.items() if seat in entry.players},
        steps=steps if type(steps) is int and 0 <= steps < 1 << 40 else None,
    )


def _score(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _MOST_SCORE else None


def _json(line: bytes) -> dict[str, Json] | None:
    """Return the JSON object in a line, None if there is none."""
    try:
        value = strict_json.read(line)
    except strict_json.NotJson:
        return None
    return value if isinstance(value, dict) else None


def stem(name: str) -> str:
    """Return a replay's name without its ending."""
    return name.removesuffix(SUFFIX).removesuffix(_ENDING)


def hint_for(folder: Path) -> str:
    """Return a sentence for a folder that has no replay yet, "" for any other one. UsageError if it can't be read."""
    name = str(folder)
    try:
        files, notes = scan(folder)
    except OSError as error:
        raise UsageError(f"{name} can't be read: {why_unreadable(error, folder)}") from None
    if files:
        return ""
    why = f" {notes[0]}" if notes else ""
    return (
        f"{name} has no replays yet (files whose names end in .gz); the page lists each one that comes.{why} Play a match into it: "
        f"{program()} play boxer runner --out {shlex.quote(str(folder))}/"
    )
