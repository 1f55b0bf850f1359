"""The hashes of an entry's files, what has changed in them, and whether a copy has the same ones."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import PlayerError, UsageError
from referee.handins.values import Entry
from referee.isolation import contents, runtime, submission

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.isolation.bot import Bot
    from referee.isolation.submission import Piece

#: The key, among the paths of an entry's files, of the hash by which replays name its program: that of one file or of the whole folder.
PROGRAM = "."
#: Stands before the target of a link, in place of a hash.
_LINK = "link to "
#: Stands after the hash of a file in a folder that may be executed.
_EXECUTABLE = " executable"
#: Stands for a folder in which there is nothing.
_EMPTY = "empty folder"


def changed(entry: Entry, stored: Entry) -> tuple[str, ...]:
    """Return the changes of an entry since it was stored, one phrase for each seat and file; empty without changes."""
    if entry.hash == stored.hash:
        return ()
    changes = []
    for seat in dict.fromkeys((*stored.files, *entry.files)):
        now, then = _own(entry.files.get(seat, {})), _own(stored.files.get(seat, {}))
        changes += [f"{seat}: '{path}' has changed" for path in now if path in then and now[path] != then[path]]
        changes += [f"{seat}: '{path}' is new" for path in now if path not in then]
        changes += [f"{seat}: '{path}' is gone" for path in then if path not in now]
    return tuple(changes) or ("its command line has changed",)


def check_copy(entry: Entry, seat: Seat, bot: Bot, folder: str) -> None:
    """Raise UsageError if the copy of an entry's program in ``folder`` has other files than those that it was stored with.

    In a copy all files may be executed, and there are no empty folders. An entry without stored files is not checked.
    """
    if seat not in entry.files:
        return
    labels = _labels(_outermost(bot.files))
    places = {source: Path(folder, piece.place) for piece in bot.files for source in _outermost([piece])}
    copied: dict[str, str] = {}
    then = _comparable(_own(entry.files[seat]))
    for source, label in labels.items():
        for path, mark in _marks(places[source]).items():
            name = str(Path(label, path))
            copied[name] = _as_stored(mark, then.get(name, ""), places[source] / path)
    copied = _comparable(copied)
    if copied != then:
        differences = "; ".join(
            changed(*(Entry(entry.name, {}, name, files={seat: files}) for name, files in (("now", copied), ("then", then))))[:3]
        )
        raise UsageError(f"The files of the team '{entry.name}' have changed since they were first read ({differences}); restore them.")


def _comparable(files: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the hashes that a copy shares with its original files."""
    return {path: mark.removesuffix(_EXECUTABLE) for path, mark in files.items() if mark != _EMPTY}


def _as_stored(mark: str, stored: str, path: Path) -> str:
    """Return the mark of an entry of a copy in the form of the stored one, whose link may have had another text."""
    if not mark.startswith(_LINK) or not stored.startswith(_LINK):
        return mark
    text = Path(stored.removeprefix(_LINK))
    return stored if text.is_absolute() or (path.parent / text).resolve() == path.resolve() else mark


def file_hashes(bot: Bot) -> dict[str, str]:
    """Return the hash of each file of a bot, as in ``Entry.files``. PlayerError for a file that can't be read."""
    labels = _labels(_outermost(bot.files))
    return {str(Path(label, path)): mark for source, label in labels.items() for path, mark in _marks(source).items()}


def mark(bot: Bot, hash_cache: dict[Path, dict[str, str]]) -> tuple[Json, dict[str, str]]:
    """Return the command line of a program without this machine's paths, and the hashes of its files.

    ``hash_cache`` caches the hashes of files and folders that several seats share.
    """
    labels = _labels(_outermost(bot.files))
    files: dict[str, str] = {}
    for source, label in labels.items():
        if source not in hash_cache:
            hash_cache[source] = _marks(source)
        files |= {str(Path(label, path)): mark for path, mark in hash_cache[source].items()}
    argv = bot.argv
    words = [Path(argv[0]).name if runtime.is_one(argv[0]) else argv[0], *argv[1:]]
    # A program's own path is free of links, the path of its folder may have some.
    names = {str(path): label for source, label in labels.items() for path in (source, source.resolve())}
    for path in sorted(names, key=len, reverse=True):
        words = [_relabelled(word, path, names[path]) for word in words]
    return [words, bot.dialect.name if bot.dialect else ""], files


def _outermost(pieces: Sequence[Piece]) -> list[Path]:
    """Return the paths of a hand-in without those that lie in another one's folder, whatever the current folder is."""
    sources = list(dict.fromkeys(Path(os.path.normpath(Path(piece.source).absolute())) for piece in pieces))
    return [source for source in sources if not any(other in source.parents for other in sources)]


def _labels(sources: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each file and folder of a hand-in in hashes; a single folder may have any name."""
    if len(sources) == 1 and sources[0].is_dir():
        return {sources[0]: ""}
    labels: dict[Path, str] = {}
    for source in sources:
        number = sum(other.name == source.name for other in labels)
        labels[source] = f"{source.name}#{number + 1}" if number else source.name
    return labels


def _relabelled(word: str, path: str, label: str) -> str:
    """Return a word of a command line with a path replaced by its name in hashes."""
    return re.sub(f"{re.escape(path)}(?=[/{os.pathsep}]|$)", lambda _: label, word)


def _marks(source: Path) -> dict[str, str]:
    """Return the mark of a file (its path is ""), or of each file, link and empty folder in a folder by its path there. Raises PlayerError."""
    if not source.is_dir():
        return {"": _hash(source)}
    entries = contents.entries(str(source), str(source))
    full = {str(Path(path).parent) for path in entries}
    marks = {path: _mark_of(source / path, entry) for path, entry in entries.items() if entry.kind != contents.FOLDER or path not in full}
    top = source.resolve()
    for path in (path for path, entry in entries.items() if entry.kind == contents.LINK):
        real = (source / path).resolve()
        # No sandbox takes such a link. Elsewhere, the bot reads a file behind it that isn't in the list.
        if real.is_file() and not (real.is_relative_to(top) and str(real.relative_to(top)) in entries):
            marks[path] += f", {_hash(real)}"
    return marks


def _mark_of(path: Path, entry: contents.FolderEntry) -> str:
    if entry.kind == contents.OTHER:
        raise PlayerError(f"Its file '{path}' can't be read: it is not an ordinary file.")
    if entry.kind == contents.LINK:
        return f"{_LINK}{os.fsdecode(entry.content)}"
    return {contents.FOLDER: _EMPTY, contents.EXECUTABLE: entry.content.hex() + _EXECUTABLE}.get(entry.kind, entry.content.hex())


def _own(files: Mapping[str, str]) -> dict[str, str]:
    """Return the hashes of an entry's files without the one by which replays name its program."""
    return {path: digest for path, digest in files.items() if path != PROGRAM}


def _hash(path: Path) -> str:
    count = submission.Count(f"'{path}'")
    try:
        return contents.of_file(str(path), count).hex()
    except OSError as error:
        raise PlayerError(f"Its file '{path}' can't be read: {error.strerror or error}.") from None
