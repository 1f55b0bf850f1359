"""Golden files: what commands print is held once, as text that ``pytest --snapshot-update`` writes anew.

A scene is a list of command lines, each behind its exit status. The status is part of the test; the words are those of the golden file,
in ``__snapshots__`` beside the test, without what another run or machine changes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from commands import CALLED_AS
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

#: The program as a user has it on the PATH.
PROGRAM = Path(sys.prefix) / "bin" / "referee"

_VOLATILE = (
    (rf"{re.escape(sys.executable)}|\bpython3\.\d+", "python"),
    (r"http://[\w.\[\]:]+:\d+[\w/-]*", "http://ADDRESS"),
    (r"\b\d{8}-\d{6}(-\d+)?-?[0-9a-f]*-", "TIME-"),
    (r"(TIME-[\w-]+?)-\d+(?=\.replay)", r"\1"),
    (r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?)?", "TIME"),
    (r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b", "HASH"),
    (r"\b\d{12,}\b", "NUMBER"),
    (r"\b(referee )\d+\.\d+\.\d+\w*", r"\1VERSION"),
    (r"[\d.,]+( of [\d.,]+)? (µs|ms|s)\b", "N s"),
    (r"[\d.,]+( of [\d.,]+)? (min|h|KiB|MiB|GiB|kB|MB|bytes)\b", r"N \2"),
    (r"(is not TOML: ).*", r"\1REASON"),
    (r"[\d.,]+( \w+)? (?=(a|per) (second|minute))", r"N\1 "),
)


#: What long work says on a slow machine only, and what a machine without a free core adds.
_SLOW = re.compile(
    r"(?m)^(?:(?:asked [\d,]+ of|judged up to|verified [\d,]+ of) .*|[\d,]+ of [\d,]+ (?: |matches,|games).*|note: No core was free.*)\n?"
)


class GoldenText(SingleFileSnapshotExtension):
    """One text file for each scene."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


def plain(text: str, folder: Path) -> str:
    """Return what a command printed without what changes: the folder, times, sizes, speeds, versions, addresses, hashes."""
    text = _SLOW.sub("", text).replace(str(folder), "FOLDER")
    for pattern, name in _VOLATILE:
        text = re.sub(pattern, name, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def shape(value: object) -> object:
    """Return the keys of a JSON value; in place of a list its first item, and of any other value its type."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value[:1]]
    return "a number" if type(value) in (int, float) else type(value).__name__


def transcript(scene: str, run: Callable[..., CompletedProcess[str]], folder: Path) -> str:
    """Run the commands of a scene in the folder, hold their exit status, and return all they printed: stdout, then stderr behind '!'."""
    parts = []
    for line in filter(None, map(str.strip, scene.splitlines())):
        status, words = line.split(" ", 1)
        done = run(
            *shlex.split(words),
            cwd=folder,
            env={"COLUMNS": "100", "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", CALLED_AS: str(PROGRAM)},
        )
        assert done.returncode == int(status), (line, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr, (line, done.stderr)
        said = done.stdout
        if "--json" in words:
            said = "\n".join(wrap(json.dumps(shape(json.loads(said)), ensure_ascii=False).replace('"', ""), 120))
        problems = [f"! {each}" for each in plain(done.stderr, folder).splitlines()]
        parts.append("\n".join([f"$ referee {words}", *filter(None, [plain(said, folder)]), *problems]))
    return "\n\n".join(parts) + "\n"
