"""keys, certify and check-certificate: signed results of gradings and leagues."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import JsonFlag, app, command, program, put, put_json, say
from referee.cli.front import GRADERS
from referee.cli.pages import need_league, need_sign
from referee.cli.plain import Program
from referee.errors import UsageError
from referee.support.words import counted
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.grading.certificate import Checked

keys = Program(name="keys", help="Make a key to sign certificates.")
app.add_typer(keys, rich_help_panel=GRADERS)

#: The most problems that are listed for people.
_MOST = 20


@keys.callback()
def _keys() -> None:
    pass


@keys.command("new")
@command
def new(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The private key's file; the public key is written beside it.")] = Path(
        "referee-key.pem"
    ),
    as_json: JsonFlag = False,
) -> None:
    """Make a key pair and print the fingerprint of the public key. An existing file is never overwritten."""
    need_sign("A key")
    from referee.grading import signing

    public = signing.public_path(out)
    fingerprint = signing.fingerprint(signing.make(out))
    if as_json:
        put_json({"private": str(out), "public": str(public), "fingerprint": fingerprint})
        return
    put(f"private key   {escape(str(out), 200)}   (keep it secret: everybody who has it can sign)")
    put(f"public key    {escape(str(public), 200)}   (publish it)")
    put(f"fingerprint   {fingerprint}")


@app.command(rich_help_panel=GRADERS)
@command
def certify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a grading or of a league.", show_default=False)],
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The private key.", show_default=False)],
    as_json: JsonFlag = False,
) -> None:
    """Write certificate.json beside the results: signed hashes of all files of the folder."""
    need_sign("A certificate")
    need_league("A certificate")
    from referee.grading.certificate import certify as write

    path, fingerprint, left = write(folder, key)
    # Only now it is known that the file holds a private key.
    if key.stat().st_mode & 0o077:
        say(f"warning: other users can read the private key {escape(str(key), 200)}; try: chmod 600 {shlex.quote(str(key))}")
    if as_json:
        put_json({"certificate": str(path), "fingerprint": fingerprint, "left_out": left})
        return
    put(f"{escape(str(path), 200)}, signed by the key with the fingerprint {fingerprint}")
    _print_left_out(left)
    put(f"Next:  {program()} check-certificate {shlex.quote(str(path))} {shlex.quote(str(folder))}")


@app.command("check-certificate", rich_help_panel=GRADERS)
@command
def check_certificate(
    file: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="The certificate.json.", show_default=False)],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="The folder to compare with the certificate.", show_default=False)
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="PUBLIC", help="The signer's public key: its file, or its fingerprint.", show_default=False),
    ] = None,
    part: Annotated[
        str,
        typer.Option(
            "--part", metavar="PATH", help="DIR is only this folder of the certified folder, such as students/ada.", show_default=False
        ),
    ] = "",
    as_json: JsonFlag = False,
) -> None:
    """Check a certificate: its signature, who signed it, and every file in a folder. Exit status 1 if there is a problem."""
    need_sign("A certificate")
    need_league("A certificate")
    from referee.grading.certificate import check

    if part and folder is None:
        raise UsageError("--part says what DIR is; name DIR, too.")
    found = check(file, key, folder, part)
    if as_json:
        put_json(found.to_json())
    else:
        _print(found)
    if not found.ok:
        raise typer.Exit(1)


def _print_left_out(names: Sequence[str]) -> None:
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    if names:
        put(f"{'left out':<12}{', '.join(escape(name, 200) for name in names[:_MOST])}{more} (not covered by the certificate)")


def _print(found: Checked) -> None:
    signed, count = found.certificate, sum(found.certificate.isolation.values())
    for problem in found.problems[:_MOST]:
        put(problem)
    if len(found.problems) > _MOST:
        put(f"... and {len(found.problems) - _MOST:,} more problems")
    put(f"{signed.kind:<12}{escape(signed.name, 200)}, {count:,} replay{'s' * (count != 1)}")
    put(
        f"{'isolation':<12}{', '.join(f'{escape(level, 40)} ({number:,})' for level, number in list(signed.isolation.items())[:10]) or 'none'}"
    )
    put(f"{'referee':<12}{escape(signed.referee.version, 40)}, Python {escape(signed.python, 40)}, code {signed.referee.code[:16]}")
    put(f"{'signed':<12}{escape(signed.time, 40)}, by the clock of the signer's machine")
    put(f"{'fingerprint':<12}{found.fingerprint}")
    _print_left_out(found.left_out)
    for note in found.notes:
        put(note)
    if not found.ok:
        put(f"{len(found.problems):,} problem{'s' * (len(found.problems) != 1)}.")
        return
    files = f" {counted(found.files, 'file')} compared, as certified." if found.files else ""
    if found.is_by_key:
        put(f"Good: signed by the given key.{files}")
    else:
        put(f"Good: nothing has changed since somebody with this fingerprint signed it.{files}")
        put("This does not prove who that is; give the signer's public key with --key.")
