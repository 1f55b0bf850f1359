"""Certificates: anybody can check that the results of a grading or a league are those that its signer had.

A certificate is one JSON object: what the store says, the manifest of the folder, and the referee that signed. Its ``signature`` is that of
Ed25519 (RFC 8032) over ``_PREFIX`` and all other fields as canonical JSON: sorted keys, no spaces, ASCII. The certificate to check is untrusted
input: its names are compared with those of the folder and never opened.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import platform
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from referee.errors import ReplayError, UsageError
from referee.grading import published, signing
from referee.grading.family import seed_hash
from referee.grading.manifest import change, hash_of, name_of, paths
from referee.grading.marks import opponent_name
from referee.grading.published import CheckReport, Part
from referee.league.database import FILE
from referee.league.keys import canonical
from referee.league.league import REPLAYS, open_league
from referee.league.store import Store
from referee.replay.paths import SUFFIX
from referee.replay.reader import read_head, read_lines
from referee.support.escape import escape
from referee.support.files import write_whole
from referee.support.words import counted
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from referee.games.game import Json

#: Certificates of format 1 cover replays, and of a grading some other files. Their hash of the stored results is not compared.
_FORMAT = 2
#: What is signed begins with this, so that no signature for another purpose can be taken for that of a certificate.
_PREFIX = b"referee certificate %d\n"
#: The most problems and files that are listed for people.
_MOST = 20
#: Room for the hashes of half a million files.
_MOST_BYTES = 128 << 20
#: The certificate itself, in the folder that it covers.
CERTIFICATE = "certificate.json"
#: The folder of a grading that its students must not read.
_PRIVATE = "private"
_STORES = (FILE, f"{_PRIVATE}/{FILE}")
#: The logs and indexes of stores that are open, or were not closed. Logs hold results.
_OF_OPEN_STORES = frozenset(f"{store}{end}" for store in _STORES for end in ("-wal", "-shm"))
_LEFT_OUT_EMPTY = frozenset(f"{store}{end}" for store in _STORES for end in ("-wal", ".lock"))

_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Referee(Part):
    version: str
    code: _Hash


class _Signed(Part):
    """The fields that a report repeats."""

    kind: Literal["grading", "league"]
    name: str
    time: str
    isolation: dict[str, int]
    matches: dict[str, int]
    referee: _Referee
    python: str


class Certificate(_Signed):
    """The fields of a certificate that are read again; all others are signed, too."""

    type: Literal["certificate"]
    format: Literal[1, 2]
    files: dict[str, str]
    submissions: dict[str, str]
    opponents: dict[str, str]
    public_key: _Hash
    signature: Annotated[str, Field(pattern="^[0-9a-f]{128}$")]


class CertificateReport(CheckReport, _Signed):
    """The result of a check. ``is_by_key`` is None if no key was given; ``files`` counts the files that were looked at.

    ``left_out`` names the files of the folder that no certificate covers. ``notes`` has a sentence for what was not checked.
    """

    fingerprint: str
    is_by_key: bool | None
    files: int
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the result for people."""
        lines = list(self.problems[:_MOST])
        if len(self.problems) > _MOST:
            lines.append(f"... and {len(self.problems) - _MOST:,} more problems")
        levels = ", ".join(f"{level:.40} ({number:,})" for level, number in list(self.isolation.items())[:10])
        lines += [
            f"{self.kind:<12}{self.name}, {counted(sum(self.isolation.values()), 'replay')}",
            f"{'isolation':<12}{levels or 'none'}",
            f"{'referee':<12}{self.referee.version:.40}, Python {self.python:.40}, code {self.referee.code[:16]}",
            f"{'signed':<12}{self.time:.40}, by the clock of the signer's machine",
            f"{'fingerprint':<12}{self.fingerprint}",
            *left_out_lines(self.left_out),
            *self.notes,
        ]
        if not self.ok:
            return [*lines, f"{counted(len(self.problems), 'problem')}."]
        files = f" {counted(self.files, 'file')} compared, as certified." if self.files else ""
        if self.is_by_key:
            return [*lines, f"Good: signed by the given key.{files}"]
        return [
            *lines,
            f"Good: nothing has changed since somebody with this fingerprint signed it.{files}",
            "This does not prove who that is; give the signer's public key with --key.",
        ]


def left_out_lines(names: Sequence[str]) -> list[str]:
    """Return which files of a folder a certificate leaves out, as a line; nothing if it covers all."""
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return [f"{'left out':<12}{', '.join(names[:_MOST])}{more} (not covered by the certificate)"] if names else []


def certify(folder: Path, key: Path) -> tuple[Path, str, list[str]]:
    """Write the certificate of a folder. Return its path, the key's fingerprint, and the names of the files that it leaves out. Raises RefereeError."""
    private = signing.read_private(key)
    facts = _stored(folder)
    public = signing.public_of(private)
    try:
        files, left = _covered(folder)
        if busy := _OF_OPEN_STORES & files.keys():
            raise UsageError(f"{folder / min(busy)} is there: another program has the store open. Wait until it has closed it.")
        hashes: dict[str, Json] = {name: hash_of(path) for name, path in files.items()}
    except OSError as error:
        raise UsageError(_unreadable(error)) from None
    # The replays in the folders of students are copies.
    played = f"{_PRIVATE}/{REPLAYS}/" if facts["kind"] == "grading" else f"{REPLAYS}/"
    body: dict[str, Json] = {
        "type": "certificate",
        "format": _FORMAT,
        **facts,
        "files": hashes,
        **_heads(path for name, path in files.items() if name.startswith(played) and name.endswith(SUFFIX)),
        "referee": {"version": __version__, "code": code()},
        "python": platform.python_version(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "public_key": public.hex(),
    }
    body["signature"] = private.sign(signed_bytes(body)).hex()
    path = folder / CERTIFICATE
    try:
        write_whole(path, (canonical(body) + "\n").encode())
    except OSError as error:
        raise UsageError(f"The certificate can't be written to {path}: {error.strerror or error}.") from None
    return path, signing.fingerprint(public), left


def check(path: Path, key: str | None = None, folder: Path | None = None, part: str = "") -> CertificateReport:
    """Check a certificate. ``key`` is a file with a public key, or its fingerprint. ``folder`` is the certified folder, or its folder ``part``.

    UsageError if a file can't be read or has another kind of content. The store is compared as a file, and never opened.
    """
    body, found = published.read(path, "certificate", Certificate, _MOST_BYTES)
    public = bytes.fromhex(found.public_key)
    print_ = signing.fingerprint(public)
    is_by_key = None if key is None else hmac.compare_digest(print_, _wanted(key))
    problems: list[str] = []
    notes: list[str] = []
    if not signing.is_signed(public, bytes.fromhex(found.signature), signed_bytes(body)):
        problems.append("The signature is wrong: the certificate was changed after it was signed.")
    if is_by_key is False:
        problems.append(f"It is signed by another key than the given one: by the key with the fingerprint {print_}.")
    files: dict[str, str] = {}
    left: list[str] = []
    if folder is None:
        notes.append("No folder was given, so no file was compared.")
    else:
        files = _files_of(found, name_of(Path(part.strip("/"))))
        changed, left = _compare(folder, files, covers_all=found.format != 1)
        problems += changed
        if found.format == 1:
            notes.append(
                "An earlier version wrote this certificate. It covers only the files that it names: others may have been changed or added."
            )
        if part:
            notes.append(f"Only {part} was compared, not the rest of the certified folder.")
    facts = {"fingerprint": print_, "is_by_key": is_by_key, "files": len(files), "left_out": left, "problems": problems, "notes": notes}
    return CertificateReport.model_validate({**body, **facts}, strict=False)


def signed_bytes(body: dict[str, Json]) -> bytes:
    """Return the bytes that the signature of a certificate is for."""
    prefix: bytes = _PREFIX % body["format"]
    return prefix + canonical({name: value for name, value in body.items() if name != "signature"}).encode()


def code() -> str:
    """Return the hash of the referee's own files and those of the SDK: of their names and values."""
    top = Path(__file__).resolve().parents[2]
    found = {f"{package}/{name}": path for package in ("referee", "sdk") for name, path in paths(top / package).items()}
    return _digest(canonical({name: hash_of(path) for name, path in found.items() if "__pycache__" not in path.parts}))


def _wanted(key: str) -> str:
    """Return the fingerprint that is asked for, by itself or by the file of a public key."""
    text = key.strip().lower()
    if len(text) == 64 and not set(text) - set("0123456789abcdef"):
        return text
    if not os.path.lexists(key):
        raise UsageError(f"{key} is neither a fingerprint, which has 64 hexadecimal digits, nor the file of a public key.")
    return signing.fingerprint(signing.read_public(Path(key)))


def _files_of(found: Certificate, part: str) -> dict[str, str]:
    """Return the certified files of a folder of the certified one; "." is the whole."""
    top = "" if part == "." else f"{part}/"
    files = {name.removeprefix(top): value for name, value in found.files.items() if name.startswith(top)}
    if top and not files:
        raise UsageError(f"The certificate names no file in {top}.")
    return files


def _compare(folder: Path, files: dict[str, str], *, covers_all: bool) -> tuple[list[str], list[str]]:
    """Compare a folder with a manifest. Return a sentence for each problem, and the names of the files that aren't covered."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    try:
        here, left = _covered(folder)
    except OSError as error:
        return [_unreadable(error)], []
    problems = []
    for name in sorted({*files, *here}):
        what = ""
        if name not in here:
            what = "it is missing."
        elif name in files:
            try:
                what = change(here[name], files[name])
            except OSError as error:
                what = f"it can't be read ({(error.strerror or str(error)).rstrip('.')})."
        elif covers_all:
            why = "; a program that has the store open makes it" if name in _OF_OPEN_STORES else ""
            what = f"it is not in the certificate{why}."
        else:
            left.append(name)
        if what:
            problems.append(f"{name:.200}: {what}")
    return problems, left


def _covered(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the files of a folder that a certificate covers, and the names of the others. Raises OSError.

    Left out are the certificate itself, and the log and the lock of a store if they are empty. A log that isn't empty holds results.
    """
    found = paths(folder)
    empty = {name for name in _LEFT_OUT_EMPTY & found.keys() if found[name].is_file() and not found[name].lstat().st_size}
    left = sorted(empty | {CERTIFICATE} & found.keys())
    return {name: path for name, path in found.items() if name not in left}, left


def _heads(replays: Iterable[Path]) -> dict[str, dict[str, int]]:
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
    return {"isolation": dict(levels), "played_by": dict(players)}


def _stored(folder: Path) -> dict[str, Json]:
    """Return what a certificate says of the store of a folder. RefereeError if there is none, if it can't be read or if it is in use."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    if (folder / _PRIVATE / FILE).is_file():
        with Store.open(folder / _PRIVATE) as store:
            facts = store.fact("grading")
            if facts is None:
                raise UsageError(f"{folder} holds a grading that was never begun.")
            about = {"kind": "grading", **{name: facts[name] for name in ("name", "game", "rules")}}
            own = {"rubric_sha256": _digest(facts["text"]), "seed_sha256": seed_hash(facts["seed"])}
            return {**about, **own, **_matches(store, {opponent_name(test["against"]) for test in facts["tests"]})}
    if not (folder / FILE).is_file() and not (folder / REPLAYS).is_dir():
        raise UsageError(f"{folder} is the folder of no grading and of no league.")
    with closing(open_league(folder)) as opened:
        facts = opened.league.to_json()
        about = {"kind": "league", "name": opened.league.name, "game": opened.league.game, "rules": opened.league.rules}
        # Where the league's file lay, and how many matches ran at once, is no part of it.
        own = {"league_sha256": _digest(canonical({name: value for name, value in facts.items() if name not in ("home", "slots")}))}
        rows = [row._asdict() for row in opened.rows(opened.state().results)]
        return {**about, **own, "standings": rows, **_matches(opened.store)}


def _matches(store: Store, opponents: Container[str] = ()) -> dict[str, Json]:
    if store.is_claimed():
        raise UsageError(f"{store.where} is in use: its matches are being played. Wait until they are over.")
    counts = store.counts()
    teams = {team.name: team.hash for team in store.teams()}
    return {
        "submissions": {name: value for name, value in teams.items() if name not in opponents},
        "opponents": {name: value for name, value in teams.items() if name in opponents},
        "matches": {"done": counts.done, "planned": counts.planned, "stopped": counts.stopped},
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _unreadable(error: OSError) -> str:
    return f"{error.filename} can't be read: {error.strerror or error}."
