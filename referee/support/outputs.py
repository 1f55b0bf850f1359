"""What commands write: it replaces no input, and nothing that the same command did not write."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.support.files import open_regular, takes_data, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    #: Whether a file with these first bytes was written by the command.
    Mark = Callable[[bytes], object]

#: The most bytes of a file in which its mark is looked for.
_HEAD_BYTES = 4096


def check_output(place: Path, mark: Mark, inputs: Iterable[Path] = (), *, force: bool | None = False, option: str = "--out") -> None:
    """Raise UsageError if a command must not write a file at ``place``.

    An existing file is replaced if it is empty, if it has the command's ``mark``, or with ``force``. An input is never replaced, under none of
    its names; an input may be a folder with all files in it. A device or a pipe takes the data, so nothing is replaced. ``option`` names
    the place. ``force`` None: the command has no such option.
    """
    check_not_input(place, inputs, option=option)
    if force or place.is_dir() or takes_data(os.fspath(place)):
        return
    try:
        with open_regular(place) as file:
            head = file.read(_HEAD_BYTES)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # Nothing is there, or nothing can be; then writing says why.
        return
    except OSError as error:
        raise UsageError(
            f"{place} exists and can't be read ({error.strerror}), so it isn't replaced; name another place with {option}."
        ) from None
    if head and not mark(head):
        remedy = "" if force is None else ", or replace it with --force"
        raise UsageError(f"{place} exists, and this command did not write it; name another place with {option}{remedy}.")


def check_not_input(place: Path, inputs: Iterable[Path], *, option: str = "--out") -> None:
    """Raise UsageError if a file or folder is one of a command's inputs, or a file in one of them, also one that isn't there yet."""
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
    # Only a file with several names can be in the folder under another one.
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
        # A link among the devices stands for what is open there.
        leads = place.is_symlink() and not str(place).startswith(("/dev/", "/proc/"))
        write_whole(os.path.realpath(place) if leads else place, data)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{place} can't be written: {getattr(error, 'strerror', None) or error}; name another place with {option}."
        ) from None


def no_mark(_: bytes) -> bool:
    """The mark of what is written once only: no existing file has it."""
    return False
