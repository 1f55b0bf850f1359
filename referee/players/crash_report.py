"""Finds the lines of a bot's stderr that state why it failed: the error, and the line of its own files where it was raised.

Pure functions of text. A bot can write anything to its stderr, so all that they return must be escaped before it is shown. Lines are cut
after ``_WIDTH`` characters. The caller bounds the length of the text: ``Log.tail`` returns 64 KiB at most.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from referee.players.faults import LastWords
from referee.players.own_files import OwnFiles
from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NOTHING = OwnFiles()
#: The longest line that is looked at, in characters, and the longest that a sentence quotes.
_WIDTH, _SAID = 1_000, 160
#: How many lines may follow a Python traceback: the rest of a long message, or what the bot printed on its way out.
_MOST_AFTER = 20
#: How many lines of a stack trace are looked at.
_MOST_FRAMES = 1_100
#: The exit status of a Python program that ends by an exception.
_PYTHON_STATUS = 1


class SourceLine(NamedTuple):
    """A line of the bot's own files, and the function that it is in, if the report names one."""

    file: str
    line: str
    function: str = ""

    def text(self, own: OwnFiles) -> str:
        """The place for a sentence: ``bot.py:12 in hunt``."""
        inside = f" in {escape(self.function, 80)}" if self.function and not self.function.startswith("<") else ""
        return f"{escape(own.named(self.file), 200)}:{self.line}{inside}"


class CrashLine(NamedTuple):
    """The line of an error report that states the error, with its place in the bot's files.

    ``first`` is the number of the report's first line, ``end`` of the first line after it that may not belong to it.
    """

    says: str
    place: SourceLine | None
    first: int
    end: int


def crash_line(text: str, own: OwnFiles = _NOTHING, status: int | None = None) -> CrashLine | None:
    """Return the line of a bot's stderr that states why it crashed; None if no language's error report is found.

    Of several reports the last counts. ``status`` is the exit status if it is known: a Python traceback was caught if it is not 1.
    """
    lines = [line[:_WIDTH].rstrip("\r") for line in text.split("\n")]
    found = [
        _node(lines, own),
        _java(lines),
        _java_launcher(lines),
        _rust(lines, own),
        _cpp(lines),
        _sanitizer(lines),
        _python_fatal(lines, own),
    ]
    if status in (None, _PYTHON_STATUS):
        found += [_python(lines, own), _python_syntax(lines, own)]
    return max(filter(None, found), key=lambda report: report.first, default=None)


def last_words(text: str, own: OwnFiles = _NOTHING, status: int | None = None) -> LastWords:
    """Return what a bot's stderr tells of its end, for a sentence."""
    report = crash_line(text, own, status)
    lines = [line.strip() for line in text.split("\n")]
    if report is None:
        error, place, more = "", "", [line for line in lines if line]
    else:
        error, place = _shortened(own.named(report.says)), report.place.text(own) if report.place is not None else ""
        more = [line for line in lines[report.end :] if any(map(str.isalnum, line))]
    return LastWords(error, place, _shortened(own.named(more[-1])) if more else "")


def _shortened(text: str) -> str:
    """Return a line for a sentence, without its last full stop. It is cut between two words, unless one word is too long."""
    if len(text) <= _SAID:
        return escape(text, _SAID).rstrip(".")
    return f"{escape(text[:_SAID].rpartition(' ')[0] or text[:_SAID], _SAID)} [...]"


def _first_own(frames: Iterable[SourceLine], own: OwnFiles) -> SourceLine | None:
    return next((frame for frame in frames if own.are_in(frame.file)), None)


_HEADER = re.compile(r"^(?:Exception Group )?Traceback \(most recent call last\):$")
_MARGIN = re.compile(r"^ *(?:\| ?|\+ (?=Exception Group))")
#: The errors that the SDK raises are sentences: their class tells an author nothing.
_SDK_ERROR = re.compile(r"^referee\.games\.outcome\.\w+: ")
_PYTHON_FRAME = re.compile(r'^ +File "(.+)", line (\d+)(?:, in (.+))?$')


def _python(lines: Sequence[str], own: OwnFiles) -> CrashLine | None:
    """Return the last traceback. Prefer the main thread's traceback; a program survives the end of another thread."""
    if any("Exception Group Traceback" in line for line in lines):
        lines = [_MARGIN.sub("", line) for line in lines]
    in_thread = None
    for index in range(len(lines) - 1, -1, -1):
        if not _HEADER.match(lines[index]):
            continue
        before = lines[index - 1] if index else ""
        report = None if before.startswith("Exception ignored") else _python_block(lines, index, own)
        if report is not None and not before.startswith("Exception in thread "):
            return report
        in_thread = in_thread or report
    return in_thread


def _python_block(lines: Sequence[str], index: int, own: OwnFiles) -> CrashLine | None:
    """The traceback whose header stands at ``index``, unless it is cut short or too much follows it."""
    frames = []
    last = index + 1
    while last < len(lines) and lines[last].startswith(" "):
        if found := _PYTHON_FRAME.match(lines[last]):
            frames.append(SourceLine(found[1], found[2], found[3] or ""))
        last += 1
    if last == len(lines) or not lines[last] or sum(map(bool, lines[last + 1 :])) > _MOST_AFTER:
        return None
    return CrashLine(_SDK_ERROR.sub("", lines[last]), working_place(frames[::-1], own), index, last + 1)


def _python_fatal(lines: Sequence[str], own: OwnFiles) -> CrashLine | None:
    """Return the report of faulthandler when Python itself ends by a signal, as in a C library: the stacks are the end of the text."""
    for index in range(len(lines) - 1, -1, -1):
        if lines[index].startswith("Fatal Python error: "):
            place = working_place(dumped_frames("\n".join(lines[index:])), own)
            return CrashLine(lines[index], place, index, len(lines))
    return None


def _python_syntax(lines: Sequence[str], own: OwnFiles) -> CrashLine | None:
    """A program that Python can't compile: there is no traceback."""
    for index in range(len(lines) - 1, -1, -1):
        if re.match(r"^(?:SyntaxError|IndentationError|TabError): ", lines[index]):
            for above in range(index - 1, max(-1, index - 5), -1):
                if found := _PYTHON_FRAME.match(lines[above]):
                    place = SourceLine(found[1], found[2])
                    return CrashLine(lines[index], place if own.are_in(place.file) else None, above, index + 1)
    return None


_NODE_HEADER = re.compile(r"^(?:file://)?(\S.*):(\d+)$")
_NODE_FRAME = re.compile(r"^ +at (?:(?:async )?([^()]*?)(?: \[as [^\]]*\])? \()?(?:async )?(?:file://)?([^()]+?):(\d+):\d+\)?$")


def _node(lines: Sequence[str], own: OwnFiles) -> CrashLine | None:
    """An error that Node.js did not catch: a place, its source with a caret below, and the error with its stack."""
    for caret in range(len(lines) - 1, 0, -1):
        if not re.match(r"^\s*\^+\s*$", lines[caret]):
            continue
        header = next((index for index in range(caret - 1, max(-1, caret - 4), -1) if _NODE_HEADER.match(lines[index])), None)
        says = next((index for index in range(caret + 1, min(caret + 3, len(lines))) if lines[index]), None)
        if header is None or says is None:
            continue
        found = _NODE_HEADER.match(lines[header])
        assert found is not None
        place = _first_own([*_node_frames(lines[says + 1 : says + 60]), SourceLine(found[1], found[2])], own)
        return CrashLine(lines[says], place, header, len(lines))
    return None


def _node_frames(lines: Iterable[str]) -> Iterator[SourceLine]:
    for line in lines:
        if not line:
            return
        if found := _NODE_FRAME.match(line):
            name = found[1] or ""
            yield SourceLine(found[2], found[3], "" if name.endswith("<anonymous>") else name)


_JAVA_THREAD = re.compile(r'^Exception in thread "([^"]*)" (\S.*)$')
_JAVA_FRAME = re.compile(r"^\s+at ([\w.$@/<>-]+)\(([^()]*\.\w+):(\d+)\)$")
_JAVA_LIBRARY = re.compile(r"^(?!app/)[\w.]+(?:@[^/]*)?/|^(?:java|javax|jdk|sun|kotlin|scala)\.")


def _java(lines: Sequence[str]) -> CrashLine | None:
    """Return the exception that ended a thread of Java: the innermost "Caused by" if there is one."""
    indices = [index for index, line in enumerate(lines) if _JAVA_THREAD.match(line)]
    if not indices:
        return None
    first = next((index for index in reversed(indices) if lines[index].startswith('Exception in thread "main"')), indices[-1])
    found = _JAVA_THREAD.match(lines[first])
    assert found is not None
    says, place = found[2], None
    for index in range(first + 1, min(len(lines), first + _MOST_FRAMES)):
        line = lines[index]
        if line.startswith("Caused by: "):
            says, place = line.removeprefix("Caused by: "), None
        elif frame := _JAVA_FRAME.match(line):
            if place is None and not _JAVA_LIBRARY.match(frame[1]):
                place = SourceLine(frame[2], frame[3], frame[1].rpartition("/")[2])
        elif not line.startswith((" ", "\t")):
            break
    return CrashLine(says, place, first, len(lines))


_JAVA_REFUSES = re.compile(
    r"^Error: (?:Could not find or load main class|LinkageError|Main method not found|Unable to |Could not find the main)"
)


def _java_launcher(lines: Sequence[str]) -> CrashLine | None:
    """Return the message of Java when it can't start a program."""
    index = next((index for index, line in enumerate(lines) if _JAVA_REFUSES.match(line)), None)
    return None if index is None else CrashLine(lines[index].removeprefix("Error: "), None, index, len(lines))


_RUST = re.compile(r"^thread '([^']*)' (?:\(\d+\) )?panicked at (.+?):(\d+):\d+:$")
#: Rust before 1.73 had the message first.
_RUST_BEFORE = re.compile(r"^thread '([^']*)' panicked at '(.*)', (.+?):(\d+):\d+$")
_RUST_FRAME = re.compile(r"^\s+at (?:\./)?(.+?):(\d+):\d+$")


def _rust(lines: Sequence[str], own: OwnFiles) -> CrashLine | None:
    """A panic of Rust; that of the main thread comes before that of another one, whose end the program may survive."""
    other = None
    for index in range(len(lines) - 1, -1, -1):
        if found := _RUST.match(lines[index]):
            says, file, line = (lines[index + 1] if index + 1 < len(lines) else ""), found[2], found[3]
        elif found := _RUST_BEFORE.match(lines[index]):
            says, file, line = found[2], found[3], found[4]
        else:
            continue
        stack = [SourceLine(at[1], at[2]) for row in lines[index + 1 :] if (at := _RUST_FRAME.match(row))]
        report = CrashLine(f"panicked: {says}", _first_own([SourceLine(file, line), *stack], own), index, len(lines))
        if found[1] == "main":
            return report
        other = other or report
    return other


def _cpp(lines: Sequence[str]) -> CrashLine | None:
    """An exception that a C++ program did not catch."""
    for index in range(len(lines) - 1, -1, -1):
        if found := re.match(r"^terminate called after throwing an instance of '(.+)'$", lines[index]):
            what = re.match(r"^  what\(\):  (.*)$", lines[index + 1]) if index + 1 < len(lines) else None
            return CrashLine(f"{found[1]}: {what[1]}" if what else f"uncaught {found[1]}", None, index, len(lines))
    return None


def _sanitizer(lines: Sequence[str]) -> CrashLine | None:
    """The summary of a sanitizer of gcc or clang, which stands above a picture of the memory."""
    for index in range(len(lines) - 1, -1, -1):
        if found := re.match(r"^SUMMARY: (\w+Sanitizer: \S.*)$", lines[index]):
            return CrashLine(found[1], None, index, len(lines))
    return None


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
            found = _DUMP_FRAME.match(line[:_WIDTH])
            if found is None:
                break
            frames.append(SourceLine(_unescaped(found[1]), found[2], _unescaped(found[3])))
    return frames or []


def _unescaped(text: str) -> str:
    """Undo faulthandler's escapes of non-ASCII characters."""
    return _ESCAPED.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16) % 0x110000), text)


def working_place(frames: Sequence[SourceLine], own: OwnFiles) -> SourceLine | None:
    """The innermost line of the bot's own files; None if its own code had not been called, as where the SDK waits for a question."""
    for frame in frames:
        if own.are_in(frame.file):
            return frame
        if frame.function == "main" and frame.file.endswith("/sdk/bot.py"):
            return None
    return None
