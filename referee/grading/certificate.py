"""Certificates: anybody can check that the results of a grading or a league are those that its signer had.

A certificate is one JSON object: what the store says, the manifest of the folder, and the referee that signed. Its ``signature`` is that of
Ed25519 (RFC 8032) over ``_PREFIX`` and all other fields as canonical JSON: sorted keys, no spaces, ASCII. The certificate to check is untrusted
input: its names are compared with those of the folder and never opened.

The manifest has the SHA-256 of each file by its name: the path in the folder, with ``%`` and bytes that aren't UTF-8 written as %XX. No link
is followed: the value of a link is the word "link" and the hash of its target.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import Field

from referee.errors import ReplayError, UsageError
from referee.grading import published, signing
from referee.grading.family import seed_hash
from referee.grading.marks import opponent_name
from referee.grading.published import CheckReport, Finding, Part
from referee.league.database import FILE
from referee.league.keys import canonical
from referee.league.league import REPLAYS, first, open_league
from referee.league.store import Store
from referee.replay.paths import SUFFIX
from referee.replay.reader import read_head, read_lines
from referee.support.escape import escape
from referee.support.files import open_whole
from referee.support.words import counted
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from referee.games.game import Json

#: What is signed begins with this and the format, so that no signature for another purpose can be taken for that of a certificate.
_PREFIX = b"referee certificate %d\n"
#: The most files that are listed for people.
_MOST = 20
#: Room for the hashes of half a million files.
_MOST_BYTES = 128 << 20
_CHUNK = 1 << 20
#: How the value of a link begins.
_LINK = "link "
#: The certificate itself, in the folder that it covers.
CERTIFICATE = "certificate.json"
#: The folder of a grading that its students must not read.
_PRIVATE = "private"
#: The log, the index and the lock of a store, beside it. A log holds results. Only a program that has the store open makes an index.
_LOGS, _INDEXES, _LOCKS = ({f"{FILE}{end}", f"{_PRIVATE}/{FILE}{end}"} for end in ("-wal", "-shm", ".lock"))

#: What to do about a problem.
_AGAIN = "Ask the signer for the files as they were signed."
_COMPARE = "Compare the fingerprint with the one that the signer published."
_CLOSE = "Close the program that has the store open, and check again."
_MAY_READ = "Make all files ordinary ones that you may read, and check again."
#: What a check without a problem has shown, and what to know of it.
_BY_GIVEN_KEY = ("Good: signed by the given key.",)
_BY_SOME_KEY = (
    "Good: nothing has changed since somebody with this fingerprint signed it.",
    "This does not prove who that is; give the signer's public key with --key.",
)
_OF_FORMAT_1 = "An earlier version wrote this certificate. It covers only the files that it names: others may have been changed or added."

_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Referee(Part):
    version: str
    code: _Hash


class Certificate(Part):
    """The fields of a certificate that are read again; all others are signed, too.

    Certificates of format 1 cover replays, and of a grading some other files. Their hash of the stored results is not compared.
    """

    type: Literal["certificate"]
    format: Literal[1, 2]
    kind: Literal["grading", "league"]
    name: str
    time: str
    isolation: dict[str, int]
    matches: dict[str, int]
    referee: _Referee
    python: str
    files: dict[str, str]
    submissions: dict[str, str]
    opponents: dict[str, str]
    public_key: _Hash
    signature: Annotated[str, Field(pattern="^[0-9a-f]{128}$")]


def left_out_lines(names: Sequence[str]) -> list[str]:
    """Return which files of a folder a certificate leaves out, as a line; nothing if it covers all."""
    return [f"{'left out':<12}{first(names, _MOST)} (not covered by the certificate)"] if names else []


def certify(folder: Path, key: Path) -> tuple[Path, str, list[str]]:
    """Write the certificate of a folder. Return its path, the key's fingerprint, and the names of the files that it leaves out. Raises RefereeError."""
    private = signing.private_key(key)
    facts = _stored(folder)
    public = private.public_key()
    try:
        files, left = _covered(folder)
        if busy := files.keys() & (_LOGS | _INDEXES):
            raise UsageError(f"{folder / min(busy)} is there: another program has the store open. Wait until it has closed it.")
        hashes: dict[str, Json] = {name: hash_of(path) for name, path in files.items()}
    except OSError as error:
        raise UsageError(f"{error.filename} can't be read: {error.strerror or error}.") from None
    # The replays in the folders of students are copies.
    played = f"{_PRIVATE}/{REPLAYS}/" if facts["kind"] == "grading" else f"{REPLAYS}/"
    body: dict[str, Json] = {
        "type": "certificate",
        "format": 2,
        **facts,
        "files": hashes,
        **_heads(path for name, path in files.items() if name.startswith(played) and name.endswith(SUFFIX)),
        "referee": {"version": __version__, "code": code()},
        "python": platform.python_version(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "public_key": public.public_bytes_raw().hex(),
    }
    body["signature"] = private.sign(signed_bytes(body)).hex()
    published.write(folder / CERTIFICATE, canonical(body))
    return folder / CERTIFICATE, signing.fingerprint(public), left


def check(path: Path, key: str | None = None, folder: Path | None = None, part: str = "") -> CheckReport:
    """Check a certificate. ``key`` is a file with a public key, or its fingerprint. ``folder`` is the certified folder, or its folder ``part``.

    UsageError if a file can't be read or has another kind of content. The store is compared as a file, and never opened.
    """
    body, found = published.read(path, "certificate", Certificate, _MOST_BYTES)
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(found.public_key))
    own = signing.fingerprint(public)
    is_by_key = None if key is None else own == signing.wanted(key)
    findings, notes = [], []
    files: dict[str, str] = {}
    left: list[str] = []
    try:
        public.verify(bytes.fromhex(found.signature), signed_bytes(body))
    except InvalidSignature:
        findings.append(Finding("", "The signature is wrong: the certificate was changed after it was signed.", _AGAIN))
    if is_by_key is False:
        findings.append(Finding("", f"It is signed by another key than the given one: by the key with the fingerprint {own}.", _COMPARE))
    if folder is None:
        notes.append("No folder was given, so no file was compared.")
    else:
        top = name_of(Path(part.strip("/"), "_")).removesuffix("_")
        files = {name.removeprefix(top): value for name, value in found.files.items() if name.startswith(top)}
        if top and not files:
            raise UsageError(f"The certificate names no file in {top}.")
        differences, left = _compare(folder, files, covers_all=found.format != 1)
        findings += differences
        if found.format == 1:
            notes.append(_OF_FORMAT_1)
        if part:
            notes.append(f"Only {part} was compared, not the rest of the certified folder.")
    facts = found.model_dump(include={"kind", "name", "time", "isolation", "matches", "referee", "python"})
    facts |= {"fingerprint": own, "is_by_key": is_by_key, "files": len(files), "left_out": left, "notes": notes}
    levels = ", ".join(f"{level:.40} ({number:,})" for level, number in list(found.isolation.items())[:10])
    summary = [
        f"{found.kind:<12}{found.name}, {counted(sum(found.isolation.values()), 'replay')}",
        f"{'isolation':<12}{levels or 'none'}",
        f"{'referee':<12}{found.referee.version:.40}, Python {found.python:.40}, code {found.referee.code[:16]}",
        f"{'signed':<12}{found.time:.40}, by the clock of the signer's machine",
        f"{'fingerprint':<12}{own}",
        *left_out_lines(left),
        *notes,
    ]
    compared = f" {counted(len(files), 'file')} compared, as certified." if files else ""
    good, *more = _BY_GIVEN_KEY if is_by_key else _BY_SOME_KEY
    return CheckReport(findings, facts, summary, [f"{good}{compared}", *more])


def signed_bytes(body: dict[str, Json]) -> bytes:
    """Return the bytes that the signature of a certificate is for."""
    prefix: bytes = _PREFIX % body["format"]
    return prefix + canonical({name: value for name, value in body.items() if name != "signature"}).encode()


def code() -> str:
    """Return the hash of the referee's own files and those of the SDK: of their names and values."""
    top = Path(__file__).resolve().parents[2]
    found = {f"{package}/{name}": path for package in ("referee", "sdk") for name, path in _covered(top / package)[0].items()}
    return _digest(canonical({name: hash_of(path) for name, path in found.items() if "__pycache__" not in path.parts}))


def _compare(folder: Path, files: dict[str, str], *, covers_all: bool) -> tuple[list[Finding], list[str]]:
    """Compare a folder with a manifest. Return the findings, sorted by name, and the names of the files that aren't covered."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    try:
        here, left = _covered(folder)
    except OSError as error:
        return [_unreadable(str(error.filename), error)], []
    if not covers_all:
        left += sorted(here.keys() - files.keys())
    names = sorted(files.keys() | here.keys() - set(left))
    return [found for name in names if (found := _difference(name, here.get(name), files.get(name)))], left


def _difference(name: str, path: Path | None, expected: str | None) -> Finding | None:
    """Return how a file or a link differs from its value in a manifest; None if it doesn't."""
    if path is None:
        return Finding(name, "it is missing.", _AGAIN)
    if expected is None:
        is_open = name in _LOGS | _INDEXES
        more = "; a program that has the store open makes it" if is_open else ""
        return Finding(name, f"it is not in the certificate{more}.", _CLOSE if is_open else _AGAIN)
    try:
        found = hash_of(path)
    except OSError as error:
        return _unreadable(name, error)
    if found.startswith(_LINK) and not expected.startswith(_LINK):
        return Finding(name, "there is a link in its place.", _AGAIN)
    return None if found == expected else Finding(name, "it has changed.", _AGAIN)


def _unreadable(name: str, error: OSError) -> Finding:
    return Finding(name, f"it can't be read ({(error.strerror or str(error)).rstrip('.')}).", _MAY_READ)


def _covered(folder: Path) -> tuple[dict[str, Path], list[str]]:
    """Return the files and links below a folder that a certificate covers, by their names, and the names of the others. Raises OSError.

    Left out are the certificate itself, and the log and the lock of a store if they are empty. A log that isn't empty holds results.
    """
    found, left, waiting = {}, [], [folder]
    while waiting:
        for path in waiting.pop().iterdir():
            name = name_of(path.relative_to(folder))
            is_link = path.is_symlink()
            if path.is_dir() and not is_link:
                waiting.append(path)
            elif name == CERTIFICATE or (name in _LOGS | _LOCKS and path.is_file() and not path.lstat().st_size):
                left.append(name)
            else:
                found[name] = path
    return found, sorted(left)


def name_of(path: Path) -> str:
    """Return the name of a relative path in a manifest."""
    return "".join(f"%{ord(char) & 0xFF:02X}" if char == "%" or "\udc80" <= char <= "\udcff" else char for char in path.as_posix())


def hash_of(path: Path) -> str:
    """Return the value of a file or a link in a manifest. Raises OSError."""
    if path.is_symlink():
        return _LINK + hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
    digest = hashlib.sha256()
    with open_whole(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


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
