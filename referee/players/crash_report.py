"""The error message at the end of a bot's stderr: the error and the line of its own files for a Python bot, the last line for others.

Pure functions of text. A bot can write anything to its stderr, so callers must escape all results before they show them. Lines are cut
after ``_WIDTH`` characters. The caller bounds the length of the text: ``Log.tail`` returns 64 KiB at most.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation.file_names import FileNames
from referee.replay.faults import CrashReport
from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOTHING = FileNames()
#: The longest line to examine, in characters, and the longest quotation in a sentence.
_WIDTH, _SAID = 1_000, 160
#: How many lines may follow a Python traceback: the rest of a long message, or output of the bot while it exits.
_MOST_AFTER = 20
#: The exit status of a Python program that ends by an exception.
_PYTHON_STATUS = 1
#: The errors that the SDK raises are sentences, so their class is no help to an author.
_SDK_ERROR = re.compile(r"^referee\.games\.outcome\.\w+: ")
_FRAME = re.compile(r'^ +File "(.+)", line (\d+)(?:, in (.+))?$')


class SourceLine(NamedTuple):
    """A line of the bot's own files, and the function that it is in, if the report names one."""

    file: str
    line: str
    function: str = ""

    def text(self, files: FileNames) -> str:
        """The place for a sentence: ``bot.py:12 in hunt``."""
        inside = f" in {escape(self.function, 80)}" if self.function and not self.function.startswith("<") else ""
        return f"{escape(files.named(self.file), 200)}:{self.line}{inside}"


def crash_report(text: str, files: FileNames = _NOTHING, status: int | None = None) -> CrashReport:
    """Return the error message at the end of a bot's stderr. ``status`` is the exit status, if known: unless it is 1, the bot caught its traceback."""
    lines = [line[:_WIDTH].rstrip("\r") for line in text.split("\n")]
    words = _traceback(lines, files) if status in (None, _PYTHON_STATUS) else None
    if words is None:
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        words = CrashReport(last=_shortened(files.named(last)))
    return words


def _traceback(lines: Sequence[str], files: FileNames) -> CrashReport | None:
    """Return the error and the place of the last Python traceback, unless it is incomplete or too much follows it. That of a syntax error has only one line."""
    end = next((index + 1 for index in range(len(lines) - 1, -1, -1) if _FRAME.match(lines[index])), 0)
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    if not 0 < end < len(lines) or not lines[end] or sum(map(bool, lines[end + 1 :])) > _MOST_AFTER:
        return None
    frames = []
    for line in reversed(lines[:end]):
        if not line.startswith(" "):
            break
        if frame := _FRAME.match(line):
            frames.append(SourceLine(frame[1], frame[2], frame[3] or ""))
    place = working_place(frames, files)
    return CrashReport(_shortened(files.named(_SDK_ERROR.sub("", lines[end]))), "" if place is None else place.text(files))


def _shortened(text: str) -> str:
    """Return a line for a sentence, without its last full stop. It is cut between two words, unless one word is too long."""
    if len(text) <= _SAID:
        return escape(text, _SAID).rstrip(".")
    return f"{escape(text[:_SAID].rpartition(' ')[0] or text[:_SAID], _SAID)} [...]"


_DUMP = re.compile(r"^Current thread 0x[0-9a-f]+.*\(most recent call first\):$")
_DUMP_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
_ESCAPED = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def dumped_frames(text: str) -> list[SourceLine]:
    """The stack of the thread that took the signal, innermost first, from what Python's faulthandler has written so far."""
    frames: list[SourceLine] | None = None
    *lines, _ = text.split("\n")
    for line in lines:
        if _DUMP.match(line[:_WIDTH]):
            frames = []
        elif frames is not None:
            frame = _DUMP_FRAME.match(line[:_WIDTH])
            if frame is None:
                break
            frames.append(SourceLine(_unescaped(frame[1]), frame[2], _unescaped(frame[3])))
    return frames or []


def _unescaped(text: str) -> str:
    """Undo faulthandler's escapes of non-ASCII characters."""
    return _ESCAPED.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16) % 0x110000), text)


def working_place(frames: Sequence[SourceLine], files: FileNames) -> SourceLine | None:
    """Return the innermost line of the bot's own files; None if none of its own code runs, for example while the SDK waits for a question."""
    for frame in frames:
        if files.are_in(frame.file):
            return frame
        if frame.function == "main" and frame.file.endswith("/sdk/bot.py"):
            return None
    return None
