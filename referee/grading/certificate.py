"""Certificates: anybody can check that the results of a grading or a league are those that its signer had.

A certificate is one JSON object. Its ``signature`` is that of Ed25519 (RFC 8032) over ``PREFIX`` and all other fields as canonical JSON:
sorted keys, no spaces, ASCII. The certificate to check is untrusted input.
"""

from __future__ import annotations

import hmac
import os
import platform
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from referee.errors import RefereeError, UsageError
from referee.grading import evidence, signed_files, signing
from referee.league.keys import canonical
from referee.replay.paths import SUFFIX
from referee.support.files import write_whole
from referee.version import __version__
from referee.wire.escape import escape

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.game import Json

FILE = "certificate.json"
FORMAT = 1
#: What is signed begins with this, so that no signature for another purpose can be taken for that of a certificate.
PREFIX = b"referee certificate 1\n"
#: Room for the hashes of half a million replays.
_MOST_BYTES = 128 << 20

_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _Referee(_Part):
    version: str
    code: _Hash


class Certificate(_Part):
    """The fields of a certificate that are read again; all others are signed, too."""

    type: Literal["certificate"]
    format: int
    kind: Literal["grading", "league"]
    name: str
    time: str
    files: dict[str, str]
    submissions: dict[str, str]
    opponents: dict[str, str]
    matches: dict[str, int]
    records_sha256: str
    isolation: dict[str, int]
    referee: _Referee
    python: str
    public_key: _Hash
    signature: Annotated[str, Field(pattern="^[0-9a-f]{128}$")]


class Checked(NamedTuple):
    """The result of a check. ``is_by_key`` is None if no key was given; ``files`` counts the files that were looked at.

    ``problems`` has a sentence for each problem, ``notes`` for what was not checked.
    """

    fingerprint: str
    is_by_key: bool | None
    files: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    certificate: Certificate

    @property
    def ok(self) -> bool:
        """True if there is no problem."""
        return not self.problems

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it."""
        found = self.certificate
        return {
            "ok": self.ok,
            "fingerprint": self.fingerprint,
            "is_by_key": self.is_by_key,
            "kind": found.kind,
            "name": found.name,
            "time": found.time,
            "isolation": found.isolation,
            "matches": found.matches,
            "referee": found.referee.model_dump(),
            "python": found.python,
            "files": self.files,
            "problems": list(self.problems),
            "notes": list(self.notes),
        }


def certify(folder: Path, key: Path) -> tuple[Path, str]:
    """Write the certificate of a folder and return its path and the key's fingerprint. Raises RefereeError."""
    private = signing.read_private(key)
    kind = evidence.kind_of(folder)
    facts = evidence.stored(folder, kind)
    paths = evidence.paths(folder, kind)
    levels, players = evidence.heads(path for path in paths.values() if path.name.endswith(SUFFIX))
    public = signing.public_of(private)
    body: dict[str, Json] = {
        "type": "certificate",
        "format": FORMAT,
        "kind": kind,
        **facts,
        "files": {name: evidence.hash_of(path) for name, path in paths.items()},
        "isolation": levels,
        "played_by": players,
        "referee": {"version": __version__, "code": evidence.code()},
        "python": platform.python_version(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "public_key": public.hex(),
    }
    body["signature"] = private.sign(_signed(body)).hex()
    path = folder / FILE
    try:
        write_whole(path, (canonical(body) + "\n").encode())
    except OSError as error:
        raise UsageError(f"The certificate can't be written to {_quoted(path)}: {error.strerror or error}.") from None
    return path, signing.fingerprint(public)


def check(path: Path, key: str | None = None, folder: Path | None = None) -> Checked:
    """Check a certificate. ``key`` is a file with a public key, or its fingerprint. UsageError if a file can't be read or has another kind of content."""
    body, found = read(path)
    public = bytes.fromhex(found.public_key)
    print_ = signing.fingerprint(public)
    is_by_key = None if key is None else hmac.compare_digest(print_, _wanted(key))
    problems: list[str] = []
    notes: list[str] = []
    if not signing.is_signed(public, bytes.fromhex(found.signature), _signed(body)):
        problems.append("The signature is wrong: the certificate was changed after it was signed.")
    if is_by_key is False:
        problems.append(f"It is signed by another key than the given one: by the key with the fingerprint {print_}.")
    if folder is None:
        notes.append("No folder was given, so no file was compared.")
    else:
        _compare(folder, body, found, problems, notes)
    return Checked(print_, is_by_key, 0 if folder is None else len(found.files), tuple(problems), tuple(notes), found)


def read(path: Path) -> tuple[dict[str, Json], Certificate]:
    """Return a certificate as JSON and as a value. UsageError if the file isn't a certificate."""
    return signed_files.read(path, "certificate", FORMAT, Certificate, _MOST_BYTES)


def _wanted(key: str) -> str:
    """Return the fingerprint that is asked for, by itself or by the file of a public key."""
    from pathlib import Path

    text = key.strip().lower()
    if len(text) == 64 and not set(text) - set("0123456789abcdef"):
        return text
    if not os.path.lexists(key):
        raise UsageError(f"{_quoted(key)} is neither a fingerprint, which has 64 hexadecimal digits, nor the file of a public key.")
    return signing.fingerprint(signing.read_public(Path(key)))


def _compare(folder: Path, body: dict[str, Json], found: Certificate, problems: list[str], notes: list[str]) -> None:
    """Compare the files of a folder with the certificate."""
    if not folder.is_dir():
        raise UsageError(f"{_quoted(folder)} is not a folder.")
    problems += [problem for name, digest in found.files.items() if (problem := evidence.problem_of(folder, name, digest)) is not None]
    try:
        more = sorted(evidence.paths(folder, found.kind).keys() - found.files.keys())
    except UsageError as error:
        problems.append(str(error))
        more = []
    problems += [f"{escape(name, 200)}: it is not in the certificate." for name in more]
    try:
        stored = evidence.stored_here(folder, found.kind) if evidence.has_store(folder, found.kind) else None
    except RefereeError as error:
        problems.append(f"The stored results can't be compared: {error}")
        return
    except Exception as error:  # noqa: BLE001 - a store that somebody else made can hold anything
        problems.append(f"The store holds what no referee writes ({type(error).__name__}).")
        return
    if stored is None:
        notes.append("There is no SQLite store in the folder, so the stored results were not compared.")
        return
    said = {
        "submissions": "The submissions in the store are",
        "opponents": "The opponents in the store are",
        "matches": "The number of matches in the store is",
        "records_sha256": "The results in the store are",
        "league_sha256": "The league in the store is",
        "rubric_sha256": "The rubric in the store is",
        "seed_sha256": "The seed in the store is",
        "standings": "The standings computed from the store are",
    }
    for name, subject in said.items():
        if name in stored and canonical(stored[name]) != canonical(body.get(name)):
            problems.append(f"{subject} not as certified.")


def _signed(body: dict[str, Json]) -> bytes:
    return PREFIX + canonical({name: value for name, value in body.items() if name != "signature"}).encode()


def _quoted(path: Any) -> str:
    return escape(str(path), 200)
