"""Certificates: anybody can check that the results of a grading or a league are those that its signer had.

A certificate is one JSON object. Its ``signature`` is that of Ed25519 (RFC 8032) over ``PREFIX`` and all other fields as canonical JSON:
sorted keys, no spaces, ASCII. The certificate to check is untrusted input.
"""

from __future__ import annotations

import hmac
import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field

from referee.errors import UsageError
from referee.grading import evidence, signed_files, signing
from referee.grading.signed_files import Part
from referee.league.keys import canonical
from referee.support.files import write_whole
from referee.version import __version__
from referee.wire.escape import escape

if TYPE_CHECKING:
    from referee.games.game import Json

FORMAT = 2
#: Certificates of this format cover replays, and of a grading some other files. Their hash of the stored results is not compared.
_OLDEST = 1
#: What is signed begins with this, so that no signature for another purpose can be taken for that of a certificate.
PREFIX = b"referee certificate %d\n"
#: Room for the hashes of half a million files.
_MOST_BYTES = 128 << 20

_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Referee(Part):
    version: str
    code: _Hash


class Certificate(Part):
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
    isolation: dict[str, int]
    referee: _Referee
    python: str
    public_key: _Hash
    signature: Annotated[str, Field(pattern="^[0-9a-f]{128}$")]


class CertificateReport(NamedTuple):
    """The result of a check. ``is_by_key`` is None if no key was given; ``files`` counts the files that were looked at.

    ``left_out`` names the files of the folder that no certificate covers. ``problems`` has a sentence for each problem, ``notes`` for what
    was not checked.
    """

    fingerprint: str
    is_by_key: bool | None
    files: int
    left_out: tuple[str, ...]
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
        signed = found.model_dump(include={"kind", "name", "time", "isolation", "matches", "referee", "python"})
        own = {"fingerprint": self.fingerprint, "is_by_key": self.is_by_key, "files": self.files}
        lists = {"left_out": self.left_out, "problems": self.problems, "notes": self.notes}
        return {"ok": self.ok, **signed, **own, **{name: list(texts) for name, texts in lists.items()}}


def certify(folder: Path, key: Path) -> tuple[Path, str, list[str]]:
    """Write the certificate of a folder. Return its path, the key's fingerprint, and the names of the files that it leaves out. Raises RefereeError."""
    private = signing.read_private(key)
    kind = evidence.kind_of(folder)
    facts = evidence.stored(folder, kind)
    paths, left = evidence.paths(folder)
    if busy := evidence.OF_OPEN_STORES & paths.keys():
        raise UsageError(f"{escape(str(folder / min(busy)))} is there: another program has the store open. Wait until it has closed it.")
    levels, players = evidence.heads(path for name, path in paths.items() if evidence.is_played(name, kind))
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
    body["signature"] = private.sign(signed_bytes(body)).hex()
    path = folder / evidence.CERTIFICATE
    try:
        write_whole(path, (canonical(body) + "\n").encode())
    except OSError as error:
        raise UsageError(f"The certificate can't be written to {escape(str(path))}: {error.strerror or error}.") from None
    return path, signing.fingerprint(public), left


def check(path: Path, key: str | None = None, folder: Path | None = None, part: str = "") -> CertificateReport:
    """Check a certificate. ``key`` is a file with a public key, or its fingerprint. ``folder`` is the certified folder, or its folder ``part``.

    UsageError if a file can't be read or has another kind of content. The store is compared as a file, and never opened.
    """
    body, found = read(path)
    public = bytes.fromhex(found.public_key)
    print_ = signing.fingerprint(public)
    is_by_key = None if key is None else hmac.compare_digest(print_, _wanted(key))
    problems: list[str] = []
    notes: list[str] = []
    if not signing.is_signed(public, bytes.fromhex(found.signature), signed_bytes(body)):
        problems.append("The signature is wrong: the certificate was changed after it was signed.")
    if is_by_key is False:
        problems.append(f"It is signed by another key than the given one: by the key with the fingerprint {print_}.")
    files, left = 0, list[str]()
    if folder is None:
        notes.append("No folder was given, so no file was compared.")
    else:
        files, left = _compare(folder, evidence.name_of(Path(part.strip("/")), Path()), found, problems)
        if found.format == _OLDEST:
            notes.append(
                "An earlier version wrote this certificate. It covers only the files that it names: others may have been changed or added."
            )
        if part:
            notes.append(f"Only {escape(str(part))} was compared, not the rest of the certified folder.")
    return CertificateReport(print_, is_by_key, files, tuple(left), tuple(problems), tuple(notes), found)


def read(path: Path) -> tuple[dict[str, Json], Certificate]:
    """Return a certificate as JSON and as a value. UsageError if the file isn't a certificate."""
    return signed_files.read(path, "certificate", FORMAT, Certificate, _MOST_BYTES, _OLDEST)


def _wanted(key: str) -> str:
    """Return the fingerprint that is asked for, by itself or by the file of a public key."""
    text = key.strip().lower()
    if len(text) == 64 and not set(text) - set("0123456789abcdef"):
        return text
    if not os.path.lexists(key):
        raise UsageError(f"{escape(str(key))} is neither a fingerprint, which has 64 hexadecimal digits, nor the file of a public key.")
    return signing.fingerprint(signing.read_public(Path(key)))


def _compare(folder: Path, part: str, found: Certificate, problems: list[str]) -> tuple[int, list[str]]:
    """Compare a folder, which was ``part`` of the certified one, with the certificate. Return how many files it should have, and what is left out."""
    if not folder.is_dir():
        raise UsageError(f"{escape(str(folder))} is not a folder.")
    top = "" if part == "." else f"{part}/"
    files = {name.removeprefix(top): digest for name, digest in found.files.items() if name.startswith(top)}
    if top and not files:
        raise UsageError(f"The certificate names no file in {escape(top, 200)}.")
    problems += [problem for name, digest in files.items() if (problem := evidence.problem_of(folder, name, digest)) is not None]
    try:
        here, left = evidence.paths(folder)
    except UsageError as error:
        problems.append(str(error))
        return len(files), []
    more = sorted(here.keys() - files.keys())
    if found.format == _OLDEST:
        return len(files), [*left, *more]
    for name in more:
        why = "; a program that has the store open makes it" if name in evidence.OF_OPEN_STORES else ""
        problems.append(f"{escape(name, 200)}: it is not in the certificate{why}.")
    return len(files), left


def signed_bytes(body: dict[str, Json]) -> bytes:
    """Return the bytes that the signature of a certificate is for."""
    prefix: bytes = PREFIX % body["format"]
    return prefix + canonical({name: value for name, value in body.items() if name != "signature"}).encode()
