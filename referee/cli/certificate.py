"""certificate, and what ``grade --reveal`` and ``grade --check-reveal`` do: others can check the results of gradings and leagues."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import JsonFlag, app, command, put, put_json, say
from referee.cli.front import GRADERS
from referee.cli.plain import Program
from referee.errors import UsageError
from referee.support.packages import need_league, need_sign
from referee.support.words import program

if TYPE_CHECKING:
    from referee.grading.published import CheckReport

certificate = Program(name="certificate", help="Sign the results of a grading or of a league, and check such a signature.")
app.add_typer(certificate, rich_help_panel=GRADERS)
_argument = partial(typer.Argument, show_default=False)
_key, _part = partial(typer.Option, "--key", show_default=False), partial(typer.Option, "--part", show_default=False)


@certificate.command("new-key")
@command
def new_key(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The private key's file; the public key is written beside it.")] = Path(
        "referee-key.pem"
    ),
    as_json: JsonFlag = False,
) -> None:
    """Make a key pair and print the fingerprint of the public key. An existing file is never overwritten."""
    need_sign("A key")
    from referee.grading import signing

    public, fingerprint = signing.public_path(out), signing.make(out)
    if as_json:
        put_json({"private": str(out), "public": str(public), "fingerprint": fingerprint})
        return
    put(f"private key   {out}   (keep it secret: everybody who has it can sign)")
    put(f"public key    {public}   (publish it)")
    put(f"fingerprint   {fingerprint}")


@certificate.command("sign")
@command
def sign(
    folder: Annotated[Path, _argument(metavar="DIR", help="The folder of a grading or of a league.")],
    key: Annotated[Path, _key(metavar="FILE", help="The private key.")],
    as_json: JsonFlag = False,
) -> None:
    """Write certificate.json beside the results: signed hashes of all files of the folder."""
    need_sign("A certificate")
    need_league("A certificate")
    from referee.grading.certificate import certify, left_out_lines

    path, fingerprint, left = certify(folder, key)
    # Only now it is known that the file holds a private key.
    if key.stat().st_mode & 0o077:
        say(f"warning: other users can read the private key {key}; try: chmod 600 {shlex.quote(str(key))}")
    if as_json:
        put_json({"certificate": str(path), "fingerprint": fingerprint, "left_out": left})
        return
    put(f"{path}, signed by the key with the fingerprint {fingerprint}", *left_out_lines(left))
    put(f"Next:  {program()} certificate check {shlex.quote(str(path))} {shlex.quote(str(folder))}")


@certificate.command("check")
@command
def check(
    file: Annotated[Path, _argument(metavar="CERTIFICATE", help="The certificate.json.")],
    folder: Annotated[Path | None, _argument(metavar="[DIR]", help="The folder to compare with the certificate.")] = None,
    key: Annotated[str | None, _key(metavar="PUBLIC", help="The signer's public key: its file, or its fingerprint.")] = None,
    part: Annotated[str, _part(metavar="PATH", help="DIR is only this folder of the certified folder, such as students/ada.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """Check a certificate: its signature, who signed it, and every file in a folder. Exit status 1 if there is a problem."""
    need_sign("A certificate")
    need_league("A certificate")
    from referee.grading import certificate as certificates

    if part and folder is None:
        raise UsageError("--part says what DIR is; name DIR, too.")
    _show(certificates.check(file, key, folder, part), as_json=as_json)


def _show(found: CheckReport, *, as_json: bool) -> None:
    """Print the report of a check. Exit with status 1 if there is a problem."""
    if as_json:
        put_json(found.to_json())
    else:
        put(*found.lines())
    if not found.ok:
        raise typer.Exit(1)


def reveal_grading(folder: Path, *, as_json: bool) -> None:
    """Write ``reveal.json`` into the folder of a grading and say how it is checked. Raises UsageError."""
    from referee.grading.family import committed
    from referee.grading.grading import open_grading
    from referee.grading.reveal import reveal

    with open_grading(folder) as opened:
        path, digest = reveal(opened.rubric, folder), committed(opened.rubric)
    if as_json:
        put_json({"file": str(path), "hash": digest})
        return
    put(f"{path} has the seed and all starts, also the hidden ones: publish it after the deadline only.")
    put(f"Everybody can check it:  {program()} grade --check-reveal {path.name} --hash {digest}")


def check_revealed(file: Path | None, digest: str | None, *, as_json: bool) -> None:
    """Check a ``reveal.json`` against the hash that was published before the deadline. Exit with status 1 if they differ. Raises UsageError."""
    if file is None:
        raise UsageError(f"Name the published file: {program()} grade --check-reveal reveal.json --hash HASH")
    from referee.grading.reveal import check_reveal

    _show(check_reveal(file, digest), as_json=as_json)
