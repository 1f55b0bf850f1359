"""Writes the output of commands. It replaces no input, and only files that the same command wrote."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.support.files import open_regular, takes_data, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    #: Returns whether the command wrote the file that begins with these bytes.
    Mark = Callable[[bytes], object]

#: The mark is in this number of bytes at the beginning of a file.
_HEAD_BYTES = 4096


def check_output(place: Path, mark: Mark, inputs: Iterable[Path] = (), *, force: bool | None = False, option: str = "--out") -> None:
    """Raise UsageError if a command must not write a file at ``place``.

    An existing file is replaced if it is empty, if it has the command's ``mark``, or with ``force``. An input is never replaced, whichever of
    its names is used; an input may be a folder with all files in it. A device or a pipe takes the data, so nothing is replaced. ``option``
    names the place. ``force`` None: the command has no such option.
    """
    check_not_input(place, inputs, option=option)
    if force or place.is_dir() or takes_data(os.fspath(place)):
        return
    try:
        with open_regular(place) as file:
            head = file.read(_HEAD_BYTES)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # There is no file, or there can't be one: then the error of writing says why.
        return
    except OSError as error:
        raise UsageError(
            f"{place} exists and can't be read ({error.strerror}), so it isn't replaced; name another place with {option}."
        ) from None
    if head and not mark(head):
        remedy = "" if force is None else ", or replace it with --force"
        raise UsageError(f"{place} exists, and this command did not write it; name another place with {option}{remedy}.")


def check_not_input(place: Path, inputs: Iterable[Path], *, option: str = "--out") -> None:
    """Raise UsageError if a path is one of a command's inputs or lies in one. It need not exist yet."""
    try:
        facts = place.stat()
    except OSError:
        facts = None
    except ValueError:
        return
    for each in inputs:
        if _is_part(place, facts, each):
            under = "" if place == each else f" ({each})"
            raise UsageError(f"{place} is an input of this command{under}, so nothing is written there; name another place with {option}.")


def _is_part(place: Path, facts: os.stat_result | None, each: Path) -> bool:
    try:
        other = each.stat()
    except (OSError, ValueError):
        return False
    if facts is not None and os.path.samestat(facts, other):
        return True
    if not stat.S_ISDIR(other.st_mode) or (facts is not None and stat.S_ISDIR(facts.st_mode)):
        return False
    if place.resolve().is_relative_to(each.resolve()):
        return True
    # A file with several names can also be in the folder under another name.
    return (
        facts is not None and facts.st_nlink > 1 and any(os.path.samestat(facts, file.stat()) for file in each.rglob("*") if file.is_file())
    )


def write_output(
    place: Path, data: bytes, mark: Mark, inputs: Iterable[Path] = (), *, force: bool | None = False, option: str = "--out"
) -> None:
    """Write a file that the user named, whole or not at all. UsageError as in ``check_output``, or if it can't be written.

    A link is kept, and its target replaced; a device or a pipe gets the data.
    """
    if place.is_dir():
        raise UsageError(f"{option} is {place}, a folder; name the file.")
    check_output(place, mark, inputs, force=force, option=option)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # /dev/stdout, for example, is a link to the open file itself.
        leads = place.is_symlink() and not str(place).startswith(("/dev/", "/proc/"))
        write_whole(os.path.realpath(place) if leads else place, data)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{place} can't be written: {getattr(error, 'strerror', None) or error}; name another place with {option}."
        ) from None


def no_mark(_: bytes) -> bool:
    """The mark of a file that is written only once: no existing file has it."""
    return False
