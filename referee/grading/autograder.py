"""Makes the zip of a Gradescope autograder: setup.sh, run_autograder, the rubric with its opponents, and the referee itself.

Source of the format: Gradescope's documentation for autograders, "Specifications". The zip contains the referee as a wheel, made from the
files that are running now, so the container grades with the same code. Its dependencies are installed by their names.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import example_bots
import referee
import sdk
from referee import games
from referee.errors import UsageError
from referee.grading.gradescope import check_runs_per_day
from referee.grading.pools import CONTAINER_SECONDS, MARGIN_SECONDS
from referee.grading.rubric import commitment_of, load, opponent_seats
from referee.handins.entry import absolute, partnered
from referee.isolation.submission import MOST_BYTES, MOST_FILES
from referee.players.names import resolve
from referee.support.files import write_whole
from referee.support.packages import install_command
from referee.support.words import size_text
from referee.tournament import commitment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.game import AnyGame
    from referee.grading.values import Rubric, RubricTest

#: The packages that make up the referee.
_PACKAGES = ("referee", "sdk", "example_bots")
_IGNORED = frozenset({"__pycache__", ".git", ".DS_Store"})
#: A fixed time for all entries, so that the same files make the same zip.
_DATE = (2020, 1, 1, 0, 0, 0)
#: The place of the rubric in the zip; its opponents lie in the same folder. Gradescope unpacks the zip into the folder source.
_RUBRIC = "rubric/rubric.toml"
RUBRIC_PLACE = f"source/{_RUBRIC}"
_MEMORY_BYTES = 768 << 20
_PYTHON = (3, 10)

_SETUP = r"""#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of the autograder.
set -euo pipefail
umask 022
prefix="${REFEREE_PREFIX:-/opt/referee}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${PYTHON:-python3}"

is_ready() {
    "$python" -c 'import ctypes.util, ensurepip, sys, venv; sys.exit(sys.version_info < (MAJOR, MINOR) or ctypes.util.find_library("seccomp") is None)' \
        && command -v setpriv prlimit perl
}
if ! is_ready >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update
    apt-get install -y --no-install-recommends python3 python3-venv libseccomp2 util-linux perl-base
fi
is_ready >/dev/null || { echo "The referee needs Python MAJOR.MINOR or later, setpriv, prlimit, perl and libseccomp2: choose a newer base image." >&2; exit 1; }

# Bots run as other users: this folder must be open to them, and nothing else must be.
"$python" -m venv "$prefix"
"$prefix/bin/pip" install --disable-pip-version-check "$here/WHEEL[league]"
chmod -R a+rX "$prefix"
"$prefix/bin/python" -m compileall -q "$prefix/lib" || true
chmod 0700 "$here"
"""

_RUN = r"""#!/usr/bin/env bash
# Gradescope runs this for every hand-in, as root, in a new container.
begun=$SECONDS
umask 077
home="${AUTOGRADER:-/autograder}"
prefix="${REFEREE_PREFIX:-/opt/referee}"
results="$home/results/results.json"

# Bots run as other users. Only root may open the rubric, the hand-in and the results.
mkdir -p "$home/results" "$home/bots"
chmod 0711 "$home"
chmod 0700 "$home/source" "$home/results"
[ ! -e "$home/submission" ] || chmod 0700 "$home/submission"
[ ! -e "$home/submission_metadata.json" ] || chmod 0600 "$home/submission_metadata.json"
# In folders that everybody may open, a bot could leave notes for the next match. The referee clears /dev/shm itself.
for folder in ${SHARED_FOLDERS-/tmp /var/tmp /run/lock /dev/mqueue}; do
    [ ! -d "$folder" ] || chmod 0700 "$folder"
done
# The copies of the bots' files lie here. Other users may pass through the folder, but not list it.
chmod 0711 "$home/bots"
export TMPDIR="$home/bots"

# Write results before anything can fail.
if [ ! -e "$results" ]; then
    printf '%s\n' '{"score": 0, "output": "The grading did not begin. Submit again, or tell your instructor.", "stdout_visibility": "hidden"}' >"$results"
fi
"$prefix/bin/referee" grade gradescope --in-container --autograder "$home" "$home/source/RUBRIC" \
    --deadline "$((DEADLINE - SECONDS + begun))"OPTIONS
echo "referee: exit status $?"
# The results report errors. Gradescope would hide them after another exit status.
exit 0
"""


class Made(NamedTuple):
    """A zip that was made. ``notes`` are sentences for the instructor."""

    path: Path
    notes: tuple[str, ...]


def init_zip(rubric_path: Path, out: Path, *, runs_per_day: int | None = None, seconds: float = CONTAINER_SECONDS - MARGIN_SECONDS) -> Made:
    """Write the zip of an autograder to ``out``, and the commitment to its starts beside it.

    An existing file is never replaced, because it may contain the only copy of a seed.

    ``runs_per_day`` limits the graded runs within 24 hours; ``seconds`` is the deadline of a run. UsageError for a rubric with a mistake,
    or whose opponents can't be packed.
    """
    check_runs_per_day(runs_per_day)
    if not 30 <= seconds <= 86_400:
        raise UsageError(f"--deadline is {seconds:g}, but must be from 30 to 86,400 seconds.")
    if not out.name or out.is_dir():
        raise UsageError(f"--out is {str(out)!r}, but must be the name of a new file, such as autograder.zip.")
    committed = out.with_name(f"{out.stem}.{commitment.FILE}")
    for path in (out, committed):
        if os.path.lexists(path):
            raise UsageError(f"{path} exists already, and its seed may be in use. Move it away, or name another file with --out.")
    rubric = load(rubric_path)
    text = rubric.text
    notes = []
    if rubric.is_seed_drawn:
        # Without it, each container would draw a seed, and each student would get other starts.
        text = f'# Drawn when this autograder was made. Keep it: all hidden starts come from it.\nseed = "{rubric.seed}"\n{text}'
        notes.append("The rubric has no seed, so one was drawn. It is only in the zip. Keep the zip, or write the seed into the rubric.")
    files = {_RUBRIC: (text.encode(), 0o644), **_opponents(rubric)}
    wheel, data = _wheel()
    files[wheel] = (data, 0o644)
    options = f" \\\n    --max-runs-per-day {runs_per_day}" if runs_per_day is not None else ""
    scripts = {
        "setup.sh": _SETUP.replace("MAJOR", str(_PYTHON[0])).replace("MINOR", str(_PYTHON[1])).replace("WHEEL", wheel),
        "run_autograder": _RUN.replace("RUBRIC", _RUBRIC).replace("DEADLINE", f"{seconds:.0f}").replace("OPTIONS", options),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, script in scripts.items():
            _add(archive, name, script.encode(), 0o755)
        for name, (content, mode) in sorted(files.items()):
            _add(archive, name, content, mode)
    try:
        write_whole(out, buffer.getvalue())
        commitment.save(commitment_of(rubric), committed)
    except OSError as error:
        raise UsageError(f"The zip {out} can't be written: {error.strerror or error}.") from None
    if 2 * rubric.options.limits.memory_bytes > _MEMORY_BYTES:
        notes.append(
            f"Two bots may use {size_text(rubric.options.limits.memory_bytes)} each; Gradescope's smallest container has {size_text(_MEMORY_BYTES)} in all. "
            "Choose a larger container, or lower memory_bytes in [limits]."
        )
    notes += commitment.announcement(commitment_of(rubric), committed)
    return Made(out, tuple(notes))


def _opponents(rubric: Rubric) -> dict[str, tuple[bytes, int]]:
    """Return the files of all opponents by their place in the zip, with their modes. Example bots are part of the referee."""
    home, examples = Path(rubric.home).resolve(), Path(example_bots.__file__).resolve().parent
    files: dict[str, tuple[bytes, int]] = {}
    size = 0
    for test in rubric.tests:
        for source in _sources(rubric, test):
            if source.is_relative_to(examples):
                continue
            for path in _files(source):
                if not path.is_relative_to(home):
                    raise UsageError(
                        f"The opponent '{test.against}' of the test '{test.name}' has files outside the rubric's folder: "
                        f"'{path}'. Move them into '{home}', so that they can be packed."
                    )
                data = path.read_bytes()
                size += len(data)
                place = f"{Path(_RUBRIC).parent}/{path.relative_to(home)}"
                if place == _RUBRIC:
                    continue
                files[place] = (data, 0o755 if path.stat().st_mode & 0o100 else 0o644)
                if size > MOST_BYTES or len(files) > MOST_FILES:
                    raise UsageError(
                        f"The opponents have more than {MOST_FILES:,} files or {MOST_BYTES >> 20} MiB; keep only the bots' own files in '{home}'."
                    )
    return files


def _sources(rubric: Rubric, test: RubricTest) -> Iterator[Path]:
    """Yield the files and folders of the opponent of a test."""
    game: AnyGame = games.get(rubric.game)
    settings = game.codec.settings(rubric.rules, dict(test.settings))
    for seat in opponent_seats(rubric, test):
        player = test.against
        if any(need.kind == "beats" for need in test.needs):
            player = partnered(player, seat, game, settings, Path(rubric.home))
        bot = resolve(absolute(player, rubric.game, Path(rubric.home)), seat, rubric.game, settings)
        for piece in bot.files:
            yield Path(piece.source).resolve()


def _files(source: Path) -> Iterator[Path]:
    """Yield the ordinary files of a file or folder, in order."""
    if source.is_file():
        yield source
        return
    for folder, names, files in os.walk(source):
        names[:] = sorted(set(names) - _IGNORED)
        yield from (path for name in sorted(files) if name not in _IGNORED and (path := Path(folder, name).resolve()).is_file())


def _wheel() -> tuple[str, bytes]:
    """Return the name and the content of a wheel of the running referee."""
    try:
        about = importlib.metadata.distribution("referee")
    except importlib.metadata.PackageNotFoundError:
        source = f"{Path(__file__).parents[2]}[league]"
        raise UsageError(f"The referee is not installed, so its wheel can't be made. Install it: {install_command(source)}") from None
    info = f"referee-{about.version}.dist-info"
    files = {path: content for package in _PACKAGES for path, content in _package(package)}
    files[f"{info}/METADATA"] = (about.read_text("METADATA") or "").encode()
    files[f"{info}/entry_points.txt"] = (about.read_text("entry_points.txt") or "").encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: referee\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    lines = [f'"{path}",sha256={_digest(content)},{len(content)}' for path, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            _add(archive, path, content, 0o644)
    return f"referee-{about.version}-py3-none-any.whl", buffer.getvalue()


def _package(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a package by their path in a wheel."""
    module = {"referee": referee, "sdk": sdk, "example_bots": example_bots}[name]
    top = Path(str(module.__file__)).resolve().parent
    for path in _files(top):
        if path.suffix != ".pyc":
            yield f"{name}/{path.relative_to(top).as_posix()}", path.read_bytes()


def _digest(data: bytes) -> str:
    """Return a hash in the form of a wheel's file RECORD."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)
