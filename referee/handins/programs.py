"""Finds the program of each seat among the files of a hand-in, and says what is wrong if it is missing."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import stat
from typing import TYPE_CHECKING

from referee.handins.names import is_ignored
from referee.handins.ownership import MOST_NAMED, listed
from referee.isolation import runtime, scripts, submission
from referee.players import bot_toml, languages
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.errors import PlayerError
    from referee.games.game import Seat

#: Names of a program besides its seat's, in this order.
MAIN = ("main", "bot")
#: How programs for this machine begin: Linux, and macOS in its three forms.
_BINARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def players_of(top: Path, seats: Sequence[Seat], others: Sequence[Seat], label: str) -> Mapping[Seat, str]:
    """Return the player of each seat, as a name in the hand-in's folder; "" is the folder, whose programs have the names of seats.

    As on the command line, a seat's program is called after it, or main or bot, or ``bot.toml`` says how it is run. A single program with
    another name plays every seat. A program with the name of a seat plays no other one.
    """
    files = file_names(top)
    if bot_toml.NAME in files:
        return _by_bot_toml(top, seats, label, files)
    chosen = {seat: _chosen(files, seat, label) for seat in seats}
    lacking = [seat for seat in seats if not chosen[seat]]
    for seat, name in chosen.items():
        if name:
            _check_program(top / name, seat, label)
    if not lacking:
        return dict.fromkeys(seats, "")
    programs = [name for name in files if is_program(top / name)]
    if len(lacking) < len(seats):
        # Tests of the other seats earn nothing.
        return {seat: "" for seat in seats if chosen[seat]}
    if len(programs) != 1:
        raise _no_program(label, lacking[0], top, files, programs)
    name = programs[0]
    if role := next((seat for seat in others if name.partition(".")[0] == seat), None):
        raise submission.refusal(
            label,
            f"has no program for the {lacking[0]}: a file {lacking[0]}.*, main.* or bot.*; by its name, '{name:.80}' plays only the {role}.",
        )
    _check_program(top / name, lacking[0], label)
    names = [path.name for path in top.iterdir()]
    is_alone = len(names) == 1
    suffix = ".py" if name.endswith(".py") else ""
    if is_alone and _PLAIN_NAME.fullmatch(name):
        return dict.fromkeys(seats, name)
    if any(other != name and other.partition(".")[0] == "main" for other in names):
        raise _no_program(label, lacking[0], top, files, programs)
    (top / name).rename(top / f"main{suffix}")
    return dict.fromkeys(seats, f"main{suffix}" if is_alone else "")


def _by_bot_toml(top: Path, seats: Sequence[Seat], label: str, files: Sequence[str]) -> Mapping[Seat, str]:
    """Return the folder for each seat that its ``bot.toml`` or a program in it plays. PlayerError if the file is wrong or missing."""
    players: dict[Seat, str] = {}
    others = [name for name in files if name != bot_toml.NAME]
    for seat in seats:
        bot_settings = bot_toml.read(top, seat, f"The hand-in {label}")
        if bot_settings is not None and bot_settings.run:
            scripts.repair(str(top), bot_settings.run)
            players[seat] = ""
        elif name := _chosen(others, seat, label):
            if bot_settings is None or not bot_settings.build:
                _check_program(top / name, seat, label)
            players[seat] = ""
    if not players:
        raise _no_program(label, seats[0], top, others, [name for name in others if is_program(top / name)])
    return players


def _chosen(files: Sequence[str], seat: Seat, label: str) -> str:
    """Return the program for a seat by its name, "" without one. PlayerError if several could be it."""
    for beginning in (seat, *MAIN):
        candidates = [name for name in files if name == beginning or name.startswith(f"{beginning}.")]
        if len(candidates) > 1:
            raise submission.refusal(label, f"has {len(candidates)} files that could be the {seat}: {listed(candidates)}; keep one.")
        if candidates:
            return candidates[0]
    return ""


def _no_program(label: str, seat: Seat, top: Path, files: Sequence[str], programs: Sequence[str]) -> PlayerError:
    names = f"{seat}.*, main.* or bot.*"
    if len(programs) > 1:
        return submission.refusal(label, f"has no program called {names}, but several others: {listed(programs)}; rename one.")
    begin = f"has no program for the {seat}: a file {names}"
    text = next((name for name in files if re.search(r"\.\w+\.txt$", name)), None)
    if text is not None:
        return submission.refusal(label, f"{begin}; rename '{text:.80}' to '{text[:-4]:.80}'.")
    source = next((name for name in files if languages.compiled_source(top / name)), None)
    if source is not None:
        return submission.refusal(label, f"{begin}; '{source:.80}' {languages.how_to_submit(top / source)}")
    folders = sorted(entry.name for entry in os.scandir(top) if entry.is_dir() and not is_ignored(entry.name))
    if files or not folders:
        return submission.refusal(label, f"{begin}; at its top there is {listed(files)}.")
    inside = [f"{folder}/{name}" for folder in folders[:MOST_NAMED] for name in file_names(top / folder) if is_program(top / folder / name)]
    contents = listed(folders) + (f", with {listed(inside)}" if inside else "")
    return submission.refusal(label, f"{begin}; at its top there are only folders, {contents}; submit only the files of one folder.")


def _check_program(path: Path, seat: Seat, label: str) -> None:
    """Raise PlayerError if a program can't run here."""
    name = f"'{path.name:.80}'"
    if not stat.S_ISREG(path.stat().st_mode):
        raise submission.refusal(label, f"has no ordinary file for the {seat}: {name}.")
    if _begins(path).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise submission.refusal(label, f"has a program for the {seat}, {name}, in UTF-16; save it in the encoding UTF-8.")
    if path.suffix == ".py":
        return
    if not is_program(path):
        otherwise = "is neither a Python file nor executable, and its first line doesn't name an interpreter, as #!/usr/bin/env node does."
        remedy = languages.how_to_submit(path) or otherwise
        raise submission.refusal(label, f"has a file for the {seat} that can't be run: {name} {remedy}")
    words = runtime.first_line(str(path))
    if words or _begins(path).startswith(b"#!"):
        missing = _missing_interpreter(words)
        if missing:
            raise submission.refusal(label, f"has a program for the {seat}, {name}, whose interpreter isn't here: '{missing:.80}'.")


def _missing_interpreter(words: Sequence[str]) -> str:
    """Return the interpreter of a script if it doesn't exist on this machine, else ""."""
    if not words or "\0" in "".join(words):
        return "#!"
    if not os.access(words[0], os.X_OK):
        return words[0]
    if os.path.basename(words[0]) != "env":  # noqa: PTH119 - a name of bytes from a script
        return ""
    named = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return "" if named and shutil.which(named[0]) else (named[0] if named else words[0])


def file_names(top: Path) -> list[str]:
    """Return the names of everything in a folder except folders."""
    with os.scandir(top) as entries:
        return sorted(entry.name for entry in entries if not entry.is_dir())


def is_program(path: Path) -> bool:
    """True for a program, or a file that says how to run the folder."""
    return bot_toml.is_bot_toml(path.name) or path.suffix == ".py" or _begins(path).startswith((b"#!", *_BINARIES))


def _begins(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(4)
