"""Writes starters: one file, or a folder that is a player. It never changes existing files."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.author.starters.compose import compose, compose_test, first_match
from referee.errors import UsageError
from referee.players.languages import NAMES, named, of_suffix
from referee.support.escape import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.author.starters.compose import Chosen
    from referee.players.languages import Language

#: Names that shells, compilers and interpreters read as they stand.
_NAME = re.compile(r"\w[\w .+-]*")
#: pytest takes the nearest settings above a test; these keep those of a project around the bot away.
_PYTEST_INI = "[pytest]\npythonpath = .\n"
#: The most characters of a path that a message shows. No path is longer: the end of a path says most.
_MOST_PATH = 4096


class WrittenStarter(NamedTuple):
    """A written starter: the files, the folder if it is one, and the commands that build and run the bot and run its test.

    ``player`` is the bot as a player of ``referee play``.
    """

    files: list[Path]
    folder: Path | None
    build: str
    run: str
    player: str
    test: str


def language_of(file: str, name: str | None) -> Language:
    """Return the language that ``--lang`` names, else that of a file's suffix, else Python. UsageError for a suffix of no language."""
    if name is not None:
        return named(name)
    suffix = Path(file).suffix
    language = of_suffix(suffix) if suffix else named(NAMES[0])
    if language is None:
        raise UsageError(f"The name {quoted(file)} ends in the suffix of no language here; name one with --lang: {', '.join(NAMES)}.")
    return language


def write_file(chosen: Chosen, language: Language, file: str) -> WrittenStarter:
    """Write a bot of one file. UsageError if the name exists already or can't be used."""
    if file.endswith("/"):
        raise UsageError(f"{quoted(file, _MOST_PATH)} is the name of a folder; name a file in it, or add --folder.")
    path = Path(file or chosen.role + language.suffix)
    _check_name(path)
    if not path.suffix:
        path = path.with_name(path.name + language.suffix)
    if path.suffix != language.suffix:
        raise UsageError(f"The name {quoted(str(path), _MOST_PATH)} doesn't end in {language.suffix}, as a file in {language.title} does.")
    _check_parent(path)
    build, run, player = _commands(language, path, "Bot")
    text, name = compose(chosen, language, path.name, player)
    if "{class}" in language.run:
        build, run, player = _commands(language, path, name)
        text, name = compose(chosen, language, path.name, player)
    _put(path, text, is_executable=language.is_executable)
    return WrittenStarter([path], None, build, run, player, "")


def _commands(language: Language, path: Path, name: str) -> tuple[str, str, str]:
    build, run = language.commands(str(path), name)
    return build, run, str(path) if language.is_executable else run


def write_folder(roles: Sequence[Chosen], language: Language, folder: str) -> WrittenStarter:
    """Write a folder with a bot for each of these roles, their ``bot.toml``, a README and, in Python, tests. UsageError if there is such a folder with something in it."""
    top = Path(folder or roles[0].role)
    _check_name(top)
    by_suffix = of_suffix(top.suffix)
    if by_suffix is not None:
        raise UsageError(
            f"{quoted(top.name)} is the name of a file in {by_suffix.title}, but {'--folder writes a folder' if len(roles) == 1 else 'a team is a folder'}; "
            f"try --lang {by_suffix.name} and the folder {quoted(top.stem)}."
        )
    _check_parent(top)
    parts = [_part(chosen, language, top, is_alone=len(roles) == 1) for chosen in roles]
    has_tests = all(part.test for part in parts)
    texts = {part.file: part.text for part in parts}
    texts["bot.toml"] = _bot_toml(language, parts)
    texts |= {part.test: part.test_text for part in parts if part.test}
    texts |= {"pytest.ini": _PYTEST_INI} if has_tests else {}
    runs_test = f"python -m pytest {shlex.quote(str(top))}" if has_tests else ""
    texts["README.md"] = _readme(language, top, parts, runs_test)
    is_new = _make_folder(top)
    written: list[Path] = []
    try:
        for each, content in texts.items():
            is_bot = any(each == part.file for part in parts)
            _put(top / each, content, is_executable=is_bot and language.is_executable)
            written.append(top / each)
    except BaseException:
        with contextlib.suppress(OSError):
            for path in written:
                path.unlink()
            if is_new:
                top.rmdir()
        raise
    build, run = (parts[0].build, parts[0].run) if len(parts) == 1 else ("", "")
    return WrittenStarter(written, top, build, run, str(top), runs_test.replace("python", _python(), 1))


class _Part(NamedTuple):
    """A bot of a folder, with its test, if the language has one; ``table`` is that of its commands in ``bot.toml``, empty for every seat."""

    chosen: Chosen
    file: str
    text: str
    build: str
    run: str
    test: str
    test_text: str
    table: str


def _part(chosen: Chosen, language: Language, top: Path, *, is_alone: bool) -> _Part:
    """Return a bot of a folder. One of several bots is named after its role, as its seat's program must be."""
    role = chosen.role.capitalize() if language.stem[0].isupper() else chosen.role
    stem = language.stem if is_alone else role
    file = stem + language.suffix
    text, name = compose(chosen, language, file, str(top), top.name if is_alone else stem)
    build, run = language.commands(file, name)
    test = compose_test(chosen, language, stem, name)
    return _Part(chosen, file, text, build, run, f"test_{file}" if test else "", test, "" if is_alone else chosen.seat)


def _make_folder(top: Path) -> bool:
    """Make a folder and return true; false if it is there already and empty. UsageError if something is in it."""
    try:
        top.mkdir()
    except FileExistsError:
        if not top.is_dir() or any(top.iterdir()):
            raise UsageError(f"{quoted(str(top), _MOST_PATH)} is there already, and is not an empty folder; name another one.") from None
        return False
    except OSError as error:
        raise UsageError(f"The folder {quoted(str(top), _MOST_PATH)} can't be made: {error.strerror or error}.") from None
    return True


def _python() -> str:
    """Return the word for a shell that starts this Python: in a virtual environment a link to the same file elsewhere finds other packages."""
    path = shutil.which("python")
    is_this = path is not None and Path(path).absolute().parent == Path(sys.executable).absolute().parent
    return "python" if is_this else shlex.quote(sys.executable)


def _check_name(path: Path) -> None:
    if not _NAME.fullmatch(path.name):
        raise UsageError(
            f"The name {quoted(path.name)} can't be used: it must begin with a letter or a digit, and have only letters, digits, spaces, '_', '-', '+' and '.'."
        )


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise UsageError(
            f"The folder {quoted(str(path.parent), _MOST_PATH)} does not exist, so nothing can be written into it; make it first."
        )


def _put(path: Path, text: str, *, is_executable: bool) -> None:
    """Write a new file. UsageError if there is something of that name, and nothing is left behind if it can't be written whole."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o777 if is_executable else 0o666)
    except FileExistsError:
        raise UsageError(f"{quoted(str(path), _MOST_PATH)} is there already, and nothing is overwritten; name another file.") from None
    except OSError as error:
        raise UsageError(f"{quoted(str(path), _MOST_PATH)} can't be written: {error.strerror or error}.") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def _bot_toml(language: Language, parts: Sequence[_Part]) -> str:
    lines = ["# How the referee builds and runs this bot (docs/languages.md)."]
    runs_itself = not language.run or language.is_executable
    lines += ["# Nothing to build: the referee runs the file itself."] * runs_itself
    rules = parts[0].chosen.starter.rules
    assert all(part.chosen.starter.rules == rules for part in parts), "a team plays by the same rules at each seat"
    lines += [f"rules = {json.dumps(rules)}"] * bool(rules)
    for part in () if runs_itself else parts:
        lines += ["", f"[{part.table}]"] if part.table else []
        lines += [f"build = {json.dumps(part.build)}"] * bool(part.build) + [f"run = {json.dumps(part.run)}"]
    return "\n".join(lines) + "\n"


def _readme(language: Language, top: Path, parts: Sequence[_Part], test: str) -> str:
    needs = " and ".join(f"`{tool}`" for tool in language.tools)
    needed = f" It needs {needs}." if needs else ""
    builds = " The referee builds the bot itself, as `bot.toml` says." if language.build else ""
    is_team = len(parts) > 1
    roles = " and ".join(f"a {part.chosen.role} that {part.chosen.starter.idea}" for part in parts)
    what = f"A {'team' if is_team else 'bot'} in {language.title} for the game {parts[0].chosen.game}: {roles}.{needed}"
    files = "\n".join(
        f'- `{part.file}` is the {part.chosen.role if is_team else "bot"}. Start to read at "Your bot"; the other parts seldom need a change.'
        for part in parts
    )
    duel = f"`referee duel {shlex.quote(str(top))} OTHER`"
    more = f'\n- A duel of two teams: {duel}. A league takes the folder, too: `program = "{top.name}"`.' if is_team else ""
    tests = f"- Test: `{test}`\n" if test else ""
    plays = ", ".join(f"`referee play {first_match(part.chosen, str(top))}`" for part in parts)
    return f"""# {top.name}

{what}

{files}
- Play: {plays}.{builds}{more}
{tests}- The bot prints to stderr for its log, which is beside the replay in `matches/replays`.
"""
