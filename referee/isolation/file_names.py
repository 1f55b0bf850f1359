"""Decides which files are the bot's own, and translates their paths into those that its author knows.

In a sandbox a bot's files are in ``/bot``. Outside a sandbox the referee runs them by their resolved paths. The author of the bot knows
neither path, only the path on the command line.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation.bot import HOME
from referee.support.escape import escape

if TYPE_CHECKING:
    from referee.isolation.bot import Bot

#: Files of Python's libraries.
_LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3[\d.]*(?:zip)?/|/Python\.framework/")

#: The referee's own folders, whose files are never a bot's.
FOREIGN = tuple(str(Path(__file__).resolve().parents[2] / name) for name in ("sdk", "referee"))

#: The folders of this Python and of the referee, usually in a person's home, and their replacements in published logs.
_INSTALLED = {
    **{prefix: "." for prefix in (sys.prefix, sys.base_prefix) if not prefix.startswith("/usr")},
    str(Path(__file__).resolve().parents[2]): "./site-packages",
}
#: One of them, or a path below it; not a folder whose name only begins with it.
_IN_INSTALLED = re.compile(rf"({'|'.join(re.escape(folder) for folder in sorted(_INSTALLED, key=len, reverse=True))})(?![\w-]|\.\w)")


#: A long path in a text, as messages cut it.
_CUT = re.compile(r" \((/[^()]*)\.\.\.\)")
#: A remedy at the end of a sentence that only the person who runs the referee can use.
_OPTION = re.compile(r"; (?:try: )?--[a-z][^;\n]*?(?:\.(?=\s)|\.?$)", re.MULTILINE)


class FileNames(NamedTuple):
    """The bot's own files.

    ``names`` maps each path as the bot sees it to the path that its author knows. ``foreign`` are folders of the referee, whose files are
    never the bot's own unless they are named in ``names``.
    """

    names: tuple[tuple[str, str], ...] = ()
    foreign: tuple[str, ...] = ()

    def named(self, text: str) -> str:
        """Return a text with the paths of the bot's own files as its author knows them."""
        if not self.names:
            return text
        # In JSON, letters of other languages may be escaped.
        names_by_path = {json.dumps(path)[1:-1]: json.dumps(name)[1:-1] for path, name in self.names} | dict(self.names)
        paths = "|".join(re.escape(path) for path in sorted(names_by_path, key=len, reverse=True))
        return re.sub(
            rf"(?<![\w./-])(?:file://)?({paths})(/(?=[^\s/])|(?![\w/-]|\.\w))",
            lambda match: _joined(names_by_path[match[1]], match[2]),
            text,
        )

    def named_bytes(self, data: bytes) -> bytes:
        """Return ``named`` of a bot's output, which may not be UTF-8."""
        return self.named(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def published(self, data: bytes) -> bytes:
        """Return the text of a bot without this machine's folders: the bot's own paths as its author knows them, Python's and the referee's replaced."""
        text = self.named(data.decode("utf-8", "surrogateescape"))
        return _IN_INSTALLED.sub(lambda found: _INSTALLED[found[1]], text).encode("utf-8", "surrogateescape")

    def are_in(self, path: str) -> bool:
        """Whether a path in an error report is one of the bot's own files, not of a library."""
        if any(path == path_of_bot for path_of_bot, _ in self.names):
            return True
        if path.startswith("<"):
            # Code of "python -c" has no file.
            return path in ("<string>", "<stdin>")
        return _LIBRARY.search(path) is None and not any(path.startswith(f"{folder}/") for folder in self.foreign)


def _joined(folder: str, slash: str) -> str:
    """The beginning of a path below a folder, "" for the current folder; the folder itself without a slash."""
    return "" if folder == "." and slash else folder.rstrip("/") + slash


def file_names(bot: Bot, *, is_sandbox: bool, home: str = HOME) -> FileNames:
    """Return the own files of a bot that the referee runs; in a sandbox they are in the folder ``home``."""
    if bot.origin:
        # It was built from a copy of the author's folder.
        return FileNames(((home if is_sandbox else bot.folder, short_path(bot.origin, bot.home)),), FOREIGN)
    names: dict[str, str] = {}
    if is_sandbox:
        names[home] = short_path(bot.folder, bot.home)
    else:
        names[bot.folder] = short_path(bot.folder, bot.home)
    for piece in bot.files:
        is_as_given = os.path.abspath(os.path.join(bot.home, os.path.expanduser(bot.label))) == os.path.abspath(piece.source)
        name = bot.label if is_as_given else short_path(piece.source, bot.home)
        if is_sandbox:
            names[f"{home}/{piece.place}" if piece.place else home] = name
        else:
            for path in (piece.source, os.path.realpath(piece.source)):
                names[path] = name
                folder = os.path.dirname(path)
                if bot.home and folder != "/":
                    # Python's own path begins with it.
                    names.setdefault(folder, short_path(folder, bot.home))
    if bot.home and not is_sandbox:
        names.setdefault(bot.home, ".")
    return FileNames(tuple(names.items()), FOREIGN)


def short_path(path: str, home: str = "") -> str:
    """Return a path relative to the folder ``home``, by default the current one, if it is in that folder.

    Of another path return its last name if there is a ``home``, because the results of leagues and gradings are published; else the whole path.
    """
    path = os.path.normpath(path)
    try:
        here = home or os.getcwd()
    except OSError:
        return path
    # Below the root are all folders.
    if (here.strip("/") or not home) and f"{path}/".startswith(f"{here.rstrip('/')}/"):
        return os.path.relpath(path, here)
    return os.path.basename(path) if home else path


def from_home(player: str, home: str) -> str:
    """Return a player's description with paths relative to the folder ``home`` in place of absolute ones."""
    return re.sub(rf"(?<![\w./-]){re.escape(home.rstrip('/'))}/", "./", player) if home.strip("/") else player


def for_author(text: str, folder: Path | None = None, name: str = ".") -> str:
    """Return a message for the author of a copied program, who doesn't run the referee.

    Paths begin in the folder, which is called ``name``. Remedies that are options of the referee's command are removed.
    """
    if folder is not None:
        whole = f"{folder}/"
        # A long path was cut, so none of it is useful.
        text = _CUT.sub(lambda cut: "" if whole.startswith(cut[1]) or cut[1].startswith(whole) else cut[0], text)
        text = text.replace(whole, "").replace(str(folder), name)
    return _OPTION.sub(".", text)


def published(bot: Bot, home: str) -> Bot:
    """Return a bot under a name without folders of this machine: others may read its replay, texts and log.

    Paths in the folder ``home`` are relative to it; of others the last name stays. A bot that has such a name already keeps it.
    """
    if bot.home:
        return bot

    def is_outside(path: str) -> bool:
        # Below the root are all folders.
        return not home.strip("/") or not f"{path}/".startswith(f"{home.rstrip('/')}/")

    def short(match: re.Match[str]) -> str:
        path = os.path.abspath(os.path.join(home, os.path.expanduser(match[0])))
        return os.path.basename(path) or match[0] if is_outside(path) and os.path.lexists(path) else match[0]

    label = from_home(bot.label, home)
    for piece in bot.files:
        # It may have a space in it.
        if is_outside(piece.source):
            label = label.replace(piece.source, os.path.basename(piece.source))
    label = re.sub(r"[^\s'\":;,=]*/[^\s'\":;,=]*", short, label)
    return bot._replace(label=label, about={**bot.about, "program": escape(label, 400)}, home=home)
