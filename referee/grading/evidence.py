"""What a certificate covers in the folder of a grading or a league: the hash of each file, what the store says, and the referee's own code."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from referee.errors import ReplayError, UsageError
from referee.grading.family import seed_hash
from referee.grading.marks import opponent_name
from referee.league.database import FILE
from referee.league.keys import canonical
from referee.league.league import open_league
from referee.league.store import Store
from referee.replay.paths import SUFFIX
from referee.replay.reader import read_head, read_lines
from referee.support.files import open_whole
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from referee.games.game import Json

GRADING, LEAGUE = "grading", "league"
#: The folder of a grading that its students must not read.
PRIVATE = "private"
_REPLAYS = {GRADING: f"{PRIVATE}/replays/", LEAGUE: "replays/"}
#: The certificate itself, in the folder that it covers.
CERTIFICATE = "certificate.json"
_STORES = (FILE, f"{PRIVATE}/{FILE}")
#: The logs and indexes of stores that are open, or were not closed. Logs hold results.
OF_OPEN_STORES = frozenset(f"{store}{end}" for store in _STORES for end in ("-wal", "-shm"))
_LEFT_OUT_EMPTY = frozenset(f"{store}{end}" for store in _STORES for end in ("-wal", ".lock"))
#: The value of a link begins with this; the hash of its target follows.
_LINK = "link "
_CHUNK = 1 << 20


def kind_of(folder: Path) -> str:
    """Return whether a folder is that of a grading or of a league. UsageError if it is neither."""
    if not folder.is_dir():
        raise UsageError(f"{escape(str(folder))} is not a folder.")
    if (folder / PRIVATE / FILE).is_file():
        return GRADING
    if (folder / FILE).is_file() or (folder / _REPLAYS[LEAGUE]).is_dir():
        return LEAGUE
    raise UsageError(f"{escape(str(folder))} is the folder of no grading and of no league.")


def paths(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return all files of a folder by the name that they have in a certificate, and the names of those that it leaves out.

    Left out are the certificate itself, and the log and the lock of a store if they are empty. A log that isn't empty holds results.
    """
    found, left = {}, []
    for path in _walk(folder):
        name = name_of(path, folder)
        if name == CERTIFICATE or (name in _LEFT_OUT_EMPTY and stat.S_ISREG(path.lstat().st_mode) and not path.lstat().st_size):
            left.append(name)
        else:
            found[name] = path
    return found, left


def is_played(name: str, kind: str) -> bool:
    """True for the name of a replay that a match wrote. The replays in the folders of students are copies."""
    return name.startswith(_REPLAYS[kind]) and name.endswith(SUFFIX)


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
    """Return what a certificate says of the store. RefereeError if there is no such store, if it can't be read or if it is in use."""
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
            raise UsageError(f"{escape(str(folder))} holds a grading that was never begun.")
        about = {name: facts[name] for name in ("name", "game", "rules")}
        own = {"rubric_sha256": _digest(facts["text"]), "seed_sha256": seed_hash(facts["seed"])}
        return {**about, **own, **_matches(store, {opponent_name(test["against"]) for test in facts["tests"]})}


def _matches(store: Store, opponents: Container[str] = ()) -> dict[str, Json]:
    if store.is_claimed():
        raise UsageError(f"{escape(str(store.where))} is in use: its matches are being played. Wait until they are over.")
    counts = store.counts()
    teams = {team.name: team.hash for team in store.teams()}
    return {
        "submissions": {name: value for name, value in teams.items() if name not in opponents},
        "opponents": {name: value for name, value in teams.items() if name in opponents},
        "matches": {"done": counts.done, "planned": counts.planned, "stopped": counts.stopped},
    }


def code() -> str:
    """Return the hash of the referee's own files and those of the SDK: of their paths and contents."""
    top = Path(__file__).resolve().parents[2]
    return _digest(
        canonical(
            {
                name_of(path, top): hash_of(path)
                for package in ("referee", "sdk")
                for path in _walk(top / package)
                if "__pycache__" not in path.parts
            }
        )
    )


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
    if name_of(folder / place, folder) != name:
        # Otherwise one large file could be hashed under a million names.
        return f"{shown}: no certificate writes a path in this way, so it was not looked at."
    path = folder
    try:
        for part in parts[:-1]:
            path /= part
            if stat.S_ISLNK(path.lstat().st_mode):
                return f"{shown}: it lies behind a link, so it was not looked at."
        path /= parts[-1]
        if stat.S_ISLNK(path.lstat().st_mode) and not expected.startswith(_LINK):
            return f"{shown}: there is a link in its place."
        found = _hash(path)
    except (FileNotFoundError, NotADirectoryError):
        return f"{shown}: it is missing."
    except (OSError, ValueError) as error:
        return f"{shown}: it can't be read ({escape(getattr(error, 'strerror', None) or str(error), 100).rstrip('.')})."
    return None if found == expected else f"{shown}: it has changed."


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of a link's target after the word "link". UsageError if it can't be read."""
    try:
        return _hash(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"{escape(str(path))} can't be read: {error.strerror or error}.") from None


def _hash(path: Path) -> str:
    if path.is_symlink():
        return _LINK + hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
    digest = hashlib.sha256()
    with open_whole(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _walk(top: Path) -> Iterator[Path]:
    """Yield all files and links below a folder in order."""
    for place, folders, names in os.walk(top, onerror=_refuse):
        folders.sort()
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in sorted([*names, *links]):
            yield Path(place) / name


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise UsageError(f"{escape(str(error.filename))} can't be read: {error.strerror or error}.") from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
