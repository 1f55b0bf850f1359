"""What a certificate covers in the folder of a grading or a league: hashes of files, of the stored results and of the referee's own code."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from referee.errors import RefereeError, ReplayError, UsageError
from referee.grading.family import seed_hash
from referee.grading.marks import opponent_name
from referee.league.database import FILE
from referee.league.keys import canonical
from referee.league.league import open_league
from referee.league.store import Store, result_text
from referee.replay.paths import SUFFIX
from referee.replay.reader import read_head, read_lines
from referee.support.files import open_regular
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from referee.games.game import Json

GRADING, LEAGUE = "grading", "league"
#: The folder of a grading that its students must not read, and what lies in it.
PRIVATE = "private"
RUBRIC = f"{PRIVATE}/rubric.toml"
_REPLAYS = {GRADING: f"{PRIVATE}/replays", LEAGUE: "replays"}
_SUBMISSIONS = f"{PRIVATE}/submissions"
#: The tables of marks in a grading's folder.
_TABLES = ("grades.csv", "grades.json", "junit.xml", "results.json")
#: The value of a link begins with this; the hash of its target follows.
_LINK = "link "
_CHUNK = 1 << 20
#: A match takes about a kilobyte of the store.
_MOST_STORED = 4 << 30
_IGNORED = frozenset({"__pycache__", ".git"})


def kind_of(folder: Path) -> str:
    """Return whether a folder is that of a grading or of a league. UsageError if it is neither."""
    if not folder.is_dir():
        raise UsageError(f"{_quoted(folder)} is not a folder.")
    if (folder / PRIVATE / FILE).is_file():
        return GRADING
    if (folder / FILE).is_file() or (folder / _REPLAYS[LEAGUE]).is_dir():
        return LEAGUE
    raise UsageError(f"{_quoted(folder)} is the folder of no grading and of no league.")


def paths(folder: Path, kind: str) -> dict[str, Path]:
    """Return all files that a certificate covers, by the name that they have in it."""
    found = [path for path in _walk(folder / _REPLAYS[kind]) if path.name.endswith(SUFFIX)]
    if kind == GRADING:
        own = [folder / name for name in (*_TABLES, RUBRIC)] + sorted((folder / "students").glob("*/report.md"))
        found += [path for path in own if os.path.lexists(path)]
        found += _walk(folder / _SUBMISSIONS)
    return {name_of(path, folder): path for path in found}


def heads(replays: Iterable[Path]) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many replays name each level of isolation, and each version of the referee with its Python."""
    levels: Counter[str] = Counter()
    players: Counter[str] = Counter()
    for path in replays:
        try:
            head, _ = read_head(path, read_lines(path))
        except ReplayError:
            levels["unreadable"] += 1
            continue
        machine = head.get("machine")
        python = machine.get("python") if isinstance(machine, dict) else None
        levels[escape(str(head.get("isolation")), 40)] += 1
        players[escape(f"referee {head.get('referee')}, Python {python}", 80)] += 1
    return dict(levels), dict(players)


def stored(folder: Path, kind: str) -> dict[str, Json]:
    """Return the content of the store in the form of a certificate. Raises RefereeError if there is no such store or it can't be read."""
    if kind == LEAGUE:
        opened = open_league(folder)
        try:
            facts = opened.league.to_json()
            # Where the league's file lay, and how many matches ran at once, is no part of it.
            about = {"name": opened.league.name, "game": opened.league.game, "rules": opened.league.rules}
            rows = [row._asdict() for row in opened.rows(opened.state().results)]
            own = {"league_sha256": _digest(canonical({name: value for name, value in facts.items() if name not in ("home", "slots")}))}
            return {**about, **own, "standings": rows, **_matches(opened.store)}
        finally:
            opened.close()
    with Store.open(folder / PRIVATE) as store:
        facts = store.fact("grading")
        if facts is None:
            raise UsageError(f"{_quoted(folder)} holds a grading that was never begun.")
        about = {name: facts[name] for name in ("name", "game", "rules")}
        own = {"rubric_sha256": _digest(facts["text"]), "seed_sha256": seed_hash(facts["seed"])}
        return {**about, **own, **_matches(store, {opponent_name(test["against"]) for test in facts["tests"]})}


def _matches(store: Store, opponents: Container[str] = ()) -> dict[str, Json]:
    if store.is_claimed():
        raise UsageError(f"{_quoted(store.where)} is in use: its matches are being played. Wait until they are over.")
    counts = store.counts()
    digest = hashlib.sha256()
    for match in store.matches():
        task, record = match.task, match.record
        facts = [*task._replace(seats=dict(task.seats), settings=dict(task.settings)), match.status, record and result_text(record)]
        digest.update(canonical(facts).encode() + b"\n")
    teams = {team.name: team.hash for team in store.teams()}
    return {
        "submissions": {name: value for name, value in teams.items() if name not in opponents},
        "opponents": {name: value for name, value in teams.items() if name in opponents},
        "matches": {"done": counts.done, "planned": counts.planned, "stopped": counts.stopped},
        "records_sha256": digest.hexdigest(),
    }


def stored_here(folder: Path, kind: str) -> dict[str, Json]:
    """As ``stored``, for a folder of somebody else: from a copy of its SQLite file, because opening one writes into its folder.

    A PostgreSQL database is not asked: the folder could name any host.
    """
    part = PRIVATE if kind == GRADING else ""
    with tempfile.TemporaryDirectory(prefix="referee-check-") as temporary:
        (Path(temporary) / part).mkdir(exist_ok=True)
        # A store that was not closed has its last results in the second file.
        for name in (FILE, f"{FILE}-wal"):
            source = folder / part / name
            if name == FILE or os.path.lexists(source):
                _copy(source, Path(temporary, part, name))
        try:
            return stored(Path(temporary), kind)
        except RefereeError as error:
            raise UsageError(str(error).replace(temporary, str(folder))) from None


def _copy(source: Path, target: Path) -> None:
    size = 0
    try:
        if any(path.is_symlink() for path in (source, source.parent)):
            raise UsageError(f"{_quoted(source)} lies behind a link, so it was not looked at.")
        with open_regular(source) as file, target.open("xb") as copy:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                if size > _MOST_STORED:
                    raise UsageError(f"{_quoted(source)} has more than {_MOST_STORED >> 30} GiB, so it was not looked at.")
                copy.write(chunk)
    except OSError as error:
        raise UsageError(f"{_quoted(source)} can't be read: {error.strerror or error}.") from None


def has_store(folder: Path, kind: str) -> bool:
    """True if the folder has the file of a store."""
    return os.path.lexists(folder / FILE if kind == LEAGUE else folder / PRIVATE / FILE)


def code() -> str:
    """Return the hash of the referee's own files and those of the SDK: of their paths and contents."""
    top = Path(__file__).resolve().parents[2]
    return _digest(canonical({name_of(path, top): hash_of(path) for package in ("referee", "sdk") for path in _walk(top / package)}))


def name_of(path: Path, folder: Path) -> str:
    """Return the path of a file in a folder as a certificate has it: ``%`` and bytes that aren't UTF-8 are written as %XX."""
    text = path.relative_to(folder).as_posix()
    return "".join(f"%{ord(char) & 0xFF:02X}" if char == "%" or "\udc80" <= char <= "\udcff" else char for char in text)


def problem_of(folder: Path, name: str, expected: str) -> str | None:
    """Return what is wrong with a certified file, as a sentence; None if it is as certified. The name is untrusted."""
    shown = escape(name, 200)
    place = os.fsdecode(unquote_to_bytes(name))
    parts = place.split("/")
    if not place or "\0" in place or any(part in ("", ".", "..") for part in parts):
        return f"{shown}: the path leads out of the folder, so it was not looked at."
    path = folder
    try:
        for part in parts[:-1]:
            path /= part
            if stat.S_ISLNK(path.lstat().st_mode):
                return f"{shown}: it lies behind a link, so it was not looked at."
        path /= parts[-1]
        if stat.S_ISLNK(path.lstat().st_mode) and not expected.startswith(_LINK):
            return f"{shown}: there is a link in its place."
        found = hash_of(path)
    except (FileNotFoundError, NotADirectoryError):
        return f"{shown}: it is missing."
    except (OSError, ValueError, UsageError) as error:
        return f"{shown}: it can't be read ({escape(getattr(error, 'strerror', None) or str(error), 100).rstrip('.')})."
    return None if found == expected else f"{shown}: it has changed."


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of a link's target after the word "link". UsageError if it can't be read."""
    try:
        if path.is_symlink():
            return _LINK + hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
        digest = hashlib.sha256()
        with open_regular(path) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"{_quoted(path)} can't be read: {error.strerror or error}.") from None
    return digest.hexdigest()


def _walk(top: Path) -> Iterator[Path]:
    """Yield all files and links below a folder in order."""
    for place, folders, names in os.walk(top, onerror=_refuse):
        folders[:] = sorted(set(folders) - _IGNORED)
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in sorted([*names, *links]):
            yield Path(place) / name


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise UsageError(f"{_quoted(error.filename)} can't be read: {error.strerror or error}.") from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _quoted(path: Any) -> str:
    return escape(str(path), 200)
