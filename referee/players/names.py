"""Turns a player's description into a bot: ``bot.py``, an executable, a folder, a command line or the name of an example bot.

The name of a dialect may come first, as in ``architect: python player.py {port}``. Then the program gets a port to connect to.

Of a file, only the file itself is copied into a sandbox; of a folder, everything in it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee import games
from referee.errors import PlayerError
from referee.isolation import contents, machine, runtime, scripts, submission
from referee.isolation.bot import PORT, Bot
from referee.isolation.submission import MOST_BYTES, Piece
from referee.players import bot_toml, languages
from referee.players.player import is_human
from referee.support.escape import escape
from referee.support.files import similar
from referee.support.near_names import did_you_mean
from referee.support.words import the_seat

if TYPE_CHECKING:
    from referee.games.dialect import Dialect
    from referee.games.game import Json, Seat


def resolve(text: str, seat: Seat, game: str, settings: Any = None) -> Bot:
    """Return the bot for a seat. PlayerError says what is wrong with the name and what to write instead.

    With ``settings``, PlayerError also refuses a bot whose dialect can't express them, and one whose ``bot.toml`` names other rule sets.
    """
    try:
        bot = _resolved(text, seat, game, settings)
    except OSError as error:
        # The owner may change the file at this moment.
        raise PlayerError(f"{the_seat(seat)} '{text}' can't be read: {error.strerror or error}.") from None
    if not bot.build and (why := scripts.fault_of_argument(bot)):
        raise PlayerError(f"{the_seat(seat)} '{text}' starts {why}")
    return bot


def _resolved(text: str, seat: Seat, game: str, settings: Any) -> Bot:
    text = _trimmed(text)
    dialect = _dialect(text, seat, game)
    if dialect is not None:
        return _of_dialect(dialect, text.partition(":")[2].strip(), text, seat, game, settings)
    if not text:
        raise PlayerError(f"{the_seat(seat)} has an empty name; write a file, a command line or the name of an example bot.")
    if is_human(text):
        raise PlayerError(f"{the_seat(seat)} is a person; here only programs play.")
    try:
        if "\0" in text:
            raise ValueError("it holds a null character")
        path = Path(text).expanduser()
        _exists(path)
    except (RuntimeError, ValueError) as error:
        raise PlayerError(f"{the_seat(seat)} '{text}' can't be a file or a command: {str(error).rstrip('.')}.") from None
    if "/" not in text and not _exists(path):
        example = _example(text, seat, game, settings)
        if example is not None:
            return _of_file(text, seat, example, game)
    if _exists(path) or len(words := _words(text, seat)) == 1:
        return _of_file(text, seat, path, game, settings)
    return _of_command(text, seat, words, game)


def _trimmed(text: str) -> str:
    """Return a player's description without spaces around it, unless there is a file of exactly this name."""
    return text if os.path.exists(text) else text.strip()  # noqa: PTH110 - False for what can't be a path


def named_files(text: str) -> list[Path]:
    """Return the files and folders that a player's description names: itself, or words of its command line."""
    try:
        path = Path(_trimmed(text)).expanduser()
        words = [] if _exists(path) else shlex.split(text)
        paths = [Path(part).expanduser() for word in words for part in (word, word.partition("=")[2]) if part]
    except (OSError, RuntimeError, ValueError):
        return []
    # A command with the current folder, or one above it, as an argument doesn't own everything in there.
    return [path] if not words else [each for each in paths if each.is_file() or (each.is_dir() and not _is_above(each))]


def _is_above(folder: Path) -> bool:
    return Path.cwd().is_relative_to(folder.resolve())


def _dialect(text: str, seat: Seat, game: str) -> Dialect | None:
    """Return the dialect that a name begins with, or None. PlayerError for a name with ``{port}`` and an unknown dialect."""
    prefix, colon, rest = text.partition(":")
    if not colon or not re.fullmatch(r"\w+\s*", prefix):
        return None
    dialects = games.get(game).dialects or {}
    dialect = dialects.get(prefix.strip().lower())
    if dialect is None and PORT in rest:
        choices = f"known dialects: {', '.join(dialects)}" if dialects else f"{game} has no dialects"
        raise PlayerError(f"{the_seat(seat)} '{text}' has an unknown dialect; {choices}.")
    return dialect


def _of_dialect(dialect: Dialect, rest: str, text: str, seat: Seat, game: str, settings: Any) -> Bot:
    """A program that speaks a dialect over TCP, behind a relay."""
    why = dialect.refusal(settings) if settings is not None else ""
    if why:
        raise PlayerError(
            f"{the_seat(seat)} '{text}' can't play this: the {dialect.name} dialect is for {' and '.join(dialect.rules)}; {why}."
        )
    if not rest:
        raise PlayerError(
            f"{the_seat(seat)} '{text}' has no program after the dialect; write, for example, {dialect.name}: python player.py {{port}}"
        )
    if PORT not in rest and not dialect.port:
        raise PlayerError(
            f"{the_seat(seat)} '{text}' has no place for its port; write, for example, {dialect.name}: python player.py {{port}}"
        )
    if is_human(rest) or (bot := _with_words(rest, seat, game)).dialect is not None:
        raise PlayerError(f"{the_seat(seat)} '{text}' is not a program that could speak the {dialect.name} dialect.")
    about = {**bot.about, "program": escape(text, 400), "dialect": dialect.name}
    return bot._replace(label=text, about=about, dialect=dialect)


def _with_words(text: str, seat: Seat, game: str) -> Bot:
    """Return the player as ``resolve`` does, but allow arguments after a file or folder, such as its port."""
    words = _words(text, seat)
    first = Path(words[0]).expanduser()
    if len(words) == 1 or not (first.suffix == ".py" or first.is_dir()) or not _exists(first):
        return resolve(text, seat, game)
    bot = _of_file(text, seat, first, game)
    return bot._replace(argv=(*bot.argv, *words[1:]))


def _exists(path: Path) -> bool:
    """True if the file exists. False also if its folder can't be entered."""
    return os.path.exists(path)  # noqa: PTH110 - as said


def _words(text: str, seat: Seat) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise PlayerError(f"{the_seat(seat)} '{text}' has a quote that is never closed.") from None


def _example(text: str, seat: Seat, game: str, settings: Any) -> Path | None:
    """Return the file of the example bot of that name, or None. PlayerError if it doesn't play the seat or the rule set."""
    import example_bots

    examples = [bot for bot in example_bots.BOTS if bot.game == game and bot.name == text]
    fitting = [bot for bot in examples if bot.plays(seat)]
    playing = [bot for bot in example_bots.BOTS if bot.game == game and bot.plays(seat)]
    if fitting and settings is not None and fitting[0].rules and settings.rules not in fitting[0].rules:
        good = ", ".join(bot.name for bot in playing if settings.rules in (bot.rules or (settings.rules,)))
        raise PlayerError(
            f"{the_seat(seat)} '{text}' is an example that plays {' and '.join(fitting[0].rules)}, not {settings.rules}; examples for it: {good}."
        )
    if fitting:
        return fitting[0].path
    if examples:
        good = ", ".join(bot.name for bot in playing)
        raise PlayerError(
            f"{the_seat(seat)} '{text}' is an example that plays {examples[0].seats[0]}, not {seat}; examples for {seat}: {good}."
        )
    return None


def _of_file(text: str, seat: Seat, path: Path, game: str, settings: Any = None) -> Bot:
    """A bot that is one file: a Python program for this Python, or an executable."""
    quoted = f"'{text}'"
    if not _exists(path):
        raise PlayerError(_unknown(text, seat, quoted, game))
    if path.is_dir():
        return _of_folder(text, seat, path, settings)
    if not path.is_file():
        raise PlayerError(f"{the_seat(seat)} {quoted} is not an ordinary file.")
    named, path = path.absolute(), path.resolve()
    argv = _run(path, text, text, seat)
    about = {"program": escape(text, 400), **_file_facts(named, path.name)}
    return Bot(text, argv, str(path.parent), (Piece(str(named), path.name),), about=about)


def _is_program(path: Path) -> bool:
    """True for an existing file, except ``bot.toml`` and backups of editors."""
    return path.name != bot_toml.NAME and not path.name.endswith("~") and not path.is_dir() and os.path.lexists(path)


def _run(path: Path, name: str, text: str, seat: Seat, *, is_built: bool = False) -> tuple[str, ...]:
    """Return the command line for one file: with this Python, or the file itself. ``name`` is the file's name in messages.

    ``is_built``: it is a part of a program that is built in a copy, in which scripts are repaired.
    """
    if not os.access(path, os.R_OK):
        raise PlayerError(f"{the_seat(seat)} '{text}' can't be read by this user; try: chmod u+r {shlex.quote(name)}")
    if path.suffix == ".py":
        return (runtime.OWN_PYTHON, str(path))
    if why := _not_runnable(path, name, is_built=is_built):
        raise PlayerError(f"{the_seat(seat)} '{text}' {why}")
    return (str(path),)


def _not_runnable(path: Path, name: str, *, is_built: bool = False) -> str:
    """Return why a file can't be started, and what to do, as the end of a sentence; "" if no reason is known."""
    if path.name.lower().endswith(submission.ARCHIVES + submission.OTHER_ARCHIVES):
        return "is an archive; unpack it and name the folder."
    if language := languages.compiled_source(path):
        build, run = languages.how_to_build(path, name)
        lines = languages.in_bot_file(*languages.how_to_build(path, path.name))
        return (
            f'is source in {language.title} and must be compiled ("{build}"); then name "{run}" as the player, '
            f"or a folder with this file and a {bot_toml.NAME} with the lines {lines}."
        )
    if why := scripts.fault(path, name):
        return "" if is_built else why
    has_first, run = bool(runtime.first_line(str(path))), languages.how_to_run(Path(name))
    if (is_built or os.access(path, os.X_OK)) and (has_first or not run or runtime.is_binary(str(path))):
        return ""
    if run and not has_first and not runtime.is_binary(str(path)):
        return f'can\'t be started by itself; name its interpreter: "{run}"'
    if path.stat().st_mode & 0o111 and machine.forbids_programs(str(path)):
        other = f', or name its interpreter, as in "{run}"' if run else ""
        return f"is on a disk that is mounted with noexec, so it can't be started there; copy it to another disk{other}."
    first = "" if has_first else " and a first line that names its interpreter, such as #!/usr/bin/env node"
    return f'is not executable; try: chmod +x {shlex.quote(name)}{first} (or name its interpreter, as in "{run or "node bot.js"}")'


#: The most files of a folder in a message.
_MOST_NAMED = 5
#: Names of the program in a folder, besides the seat's name.
_MAIN = ("main", "bot")


def _of_folder(text: str, seat: Seat, folder: Path, settings: Any) -> Bot:
    """A bot that is a folder: ``bot.toml`` has its command line, or its program has the name of the seat, ``main`` or ``bot``."""
    commands = bot_toml.read(folder, seat, f"{the_seat(seat)} '{text}'")
    if commands is not None and commands.rules and settings is not None and settings.rules not in commands.rules:
        raise PlayerError(
            f"{the_seat(seat)} '{text}' plays the rules {' and '.join(commands.rules)}, as its {bot_toml.NAME} says, not {settings.rules}; "
            f"try: {_flag_of(commands.rules[0], settings.rules)}"
        )
    if commands is not None and commands.run:
        return _of_commands(text, seat, folder, commands)
    for stem in (seat, *_MAIN):
        programs = sorted(path for path in (*folder.glob(f"{stem}.*"), folder / stem) if _is_program(path))
        if len(programs) > 1:
            names = ", ".join(path.name for path in programs)
            raise PlayerError(f"{the_seat(seat)} '{text}' is a folder with several programs called {stem}: {names}; keep one.")
        if programs:
            break
    else:
        raise PlayerError(
            f"{the_seat(seat)} '{text}' is a folder without a program for it: {_missing_program(seat, folder, has_bot_toml=commands is not None)}."
        )
    top, path = folder.resolve(), programs[0]
    real = path.resolve()
    if not real.is_relative_to(top):
        raise PlayerError(f"{the_seat(seat)} '{text}' has its program outside its folder: '{path.name}' points to '{real}'.")
    if not real.is_file():
        raise PlayerError(f"{the_seat(seat)} '{text}' has no ordinary file as its program: '{path.name}'.")
    argv = _run(top / path.name, str(path), text, seat, is_built=commands is not None and bool(commands.build))
    # Use the path as given: the copy decides whether it may follow a link on this path.
    named = folder.absolute()
    bot = Bot(text, argv, str(top), (Piece(str(named), ""),))
    if commands is not None and commands.build:
        return bot._replace(build=_build(commands, seat, folder, text), about=_folder_facts(text, folder))
    return bot._replace(about={"program": escape(text, 400), **_file_facts(named / path.name, real.name)})


def _flag_of(rules: str, played: str) -> str:
    """Return the option with which a bot of these rules plays, where others are played: those of another game have its name too."""
    names = [name for name in games.names() if rules in games.info(name).rule_sets]
    return f"--rules {rules}" if not names or played in games.info(names[0]).rule_sets else f"--game {names[0]} --rules {rules}"


def _missing_program(seat: Seat, folder: Path, *, has_bot_toml: bool) -> str:
    """Return what a folder without a program for a seat should have, and what it has."""
    rule = f"there should be {seat}.*, main.* or bot.* in it"
    if has_bot_toml:
        return f'{rule}, or a line in its {bot_toml.NAME}: run = "./{seat}"'
    files = sorted(path for path in folder.iterdir() if _is_program(path))
    source = next((path for path in files if languages.compiled_source(path)), None)
    if source is not None:
        lines = languages.in_bot_file(*languages.how_to_build(source, source.name))
        return f"{rule}, or, for '{source.name}', a {bot_toml.NAME} with the lines {lines}"
    names = ", ".join(f"'{path.name}'" for path in files[:_MOST_NAMED])
    return f"{rule}, but it has {names or 'no file'}" + (" and more" if len(files) > _MOST_NAMED else "")


def _of_commands(text: str, seat: Seat, folder: Path, commands: bot_toml.BotToml) -> Bot:
    """A bot that is a folder whose ``bot.toml`` has the command line that runs it."""
    top = str(folder.resolve())
    program, place = _first_word("run", commands.run[0], seat, folder, text, is_built=bool(commands.build))
    python = (runtime.OWN_PYTHON,) if place.endswith(".py") else ()
    if place and not python and not commands.build:
        _run(Path(program), str(folder / place), text, seat)
    build = _build(commands, seat, folder, text) if commands.build else ()
    argv = (*python, program, *commands.run[1:])
    return Bot(text, argv, top, (Piece(str(folder.absolute()), ""),), build, about=_folder_facts(text, folder))


def _build(commands: bot_toml.BotToml, seat: Seat, folder: Path, text: str) -> tuple[str, ...]:
    """Return the words of the command that builds a folder."""
    program, place = _first_word("build", commands.build[0], seat, folder, text, is_built=False)
    return (runtime.OWN_PYTHON, place, *commands.build[1:]) if place.endswith(".py") else (program, *commands.build[1:])


def _first_word(key: str, word: str, seat: Seat, folder: Path, text: str, *, is_built: bool) -> tuple[str, str]:
    """Return the program of a command line in ``bot.toml``, and its place in the folder, which is "" for a program on the PATH.

    A hand-in names it, so it must not be just any file of this machine. ``is_built``: the build may create the file.
    """
    begin = f"{the_seat(seat)} '{text}' has a {bot_toml.NAME} whose '{key}' starts with '{word}'"
    place = os.path.normpath(word)
    if word.startswith(("/", "~")) or place == ".." or place.startswith("../"):
        raise PlayerError(f"{begin}, which is outside the folder; write the name of a program on the PATH, or of a file in the folder.")
    program = None if "/" in word else shutil.which(word)
    if program is not None:
        return runtime.without_shim(str(Path(program).absolute())), ""
    path = folder / place
    if _exists(path):
        if not path.is_file():
            raise PlayerError(f"{begin}, which is not an ordinary file.")
        if not path.resolve().is_relative_to(folder.resolve()):
            raise PlayerError(f"{begin}, a link that leaves the folder; put a copy there.")
        if key == "build":
            _run(path, str(path), text, seat, is_built=True)
    elif not is_built:
        raise PlayerError(f"{begin}, which is {_not_found(word, 'no file in the folder')}.")
    return str(folder.resolve() / place), place


def _not_found(word: str, no_file: str) -> str:
    """Return what is missing, as the end of a sentence about a program."""
    return no_file if "/" in word else f"no program on the PATH and {no_file}"


def _folder_facts(text: str, folder: Path) -> dict[str, Json]:
    """Return the replay's facts about a bot that is a whole folder: its name, and the hash of everything in it."""
    return {
        "program": escape(text, 400),
        "file": escape(folder.resolve().name, 200),
        "sha256": contents.digest(str(folder.resolve()), text),
    }


def _file_facts(path: Path, name: str) -> dict[str, Json]:
    """Return the replay's facts about a bot's file; ``name`` is its name in the replay."""
    digest = hashlib.sha256()
    size = 0
    try:
        with submission.open_file(str(path), str(path)) as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
                size += len(chunk)
                if size > MOST_BYTES:
                    raise PlayerError(f"The program '{path}' is larger than {MOST_BYTES >> 20} MiB, so it can't be a bot program.")
    except OSError as error:
        raise PlayerError(f"The program '{path}' can't be read: {error.strerror or error}.") from None
    return {"file": escape(name, 200), "sha256": digest.hexdigest()}


def _unknown(text: str, seat: Seat, quoted: str, game: str) -> str:
    """Return the message for a name that is neither a file nor an example bot."""
    import example_bots

    if Path(text).is_symlink():
        return f"{the_seat(seat)} {quoted} is a broken link, to '{Path(text).readlink()}'; name the file itself."
    names = sorted({bot.name for bot in example_bots.BOTS if bot.game == game and bot.plays(seat)})
    file = similar(Path(text))
    if "/" in text or "." in text:
        if file is None and text.removesuffix(".py") in names:
            return f"{the_seat(seat)} {quoted} does not exist; did you mean the example bot {text.removesuffix('.py')!r}?"
        if file is not None:
            return f"{the_seat(seat)} {quoted} does not exist; did you mean '{file}'?"
        return f"{the_seat(seat)} {quoted} does not exist: there is no such file, or its folder is closed to this user."
    others = [bot for bot in example_bots.BOTS if bot.name == text and bot.game != game]
    if others:
        return f"{the_seat(seat)} {quoted} is an example bot of {others[0].game}, not of {game}; add --game {others[0].game}."
    hint = did_you_mean(text, names) or (f"did you mean '{file}'?" if file is not None else f"examples for {seat}: {', '.join(names)}.")
    return f"{the_seat(seat)} {quoted} is neither a file nor an example bot; {hint}"


def quoted_examples(text: str, game: str) -> str:
    """Return what is wrong with several players in one pair of quotes, as the end of a sentence; "" if the first is no example bot."""
    import example_bots

    first, *others = text.split()
    of_games = [bot.game for bot in example_bots.BOTS if bot.name == first]
    if not of_games or not others:
        return ""
    flag = "" if game in of_games else f", and add --game {of_games[0]}: '{first}' is an example bot of {of_games[0]}"
    return f"'{text}' is one player, because of the quotes; leave them out{flag}."


def _of_command(text: str, seat: Seat, words: list[str], game: str) -> Bot:
    """A bot that is a command line, run in the current folder."""
    program = shutil.which(words[0])
    if program is None:
        if _exists(Path(words[0])):
            raise PlayerError(f"{the_seat(seat)} '{text}' starts with '{words[0]}', which {_not_runnable(Path(words[0]), words[0])}")
        if hint := quoted_examples(text, game):
            raise PlayerError(f"{the_seat(seat)} {hint}")
        raise PlayerError(f"{the_seat(seat)} '{text}' starts with '{words[0]}', which is {_not_found(words[0], 'no file')}.")
    if why := scripts.fault(Path(program), words[0]):
        raise PlayerError(f"{the_seat(seat)} '{text}' starts with '{words[0]}', which {why}")
    argv = (runtime.without_shim(str(Path(program).absolute())), *words[1:])
    about: dict[str, Json] = {"program": escape(text, 400)}
    files = [Path(word) for word in words[1:] if os.path.isfile(word)]  # noqa: PTH113 - the same
    if files:
        about |= _file_facts(files[0].absolute(), files[0].name)
    return Bot(text, argv, str(Path.cwd()), _named_pieces(argv), about=about)


def _named_pieces(argv: tuple[str, ...]) -> tuple[Piece, ...]:
    """Return the files and folders that a command line names, without those in another one's folder."""
    pieces = {} if runtime.is_one(argv[0]) else {argv[0]: _piece(argv[0])}
    for word in argv[1:]:
        _, equals, rest = word.partition("=")
        parts = (rest if equals else word).split(os.pathsep)
        if all(part and _exists(Path(part)) for part in parts):
            pieces |= {part: _piece(part) for part in parts}
    by_place = {piece.place: piece for piece in pieces.values()}
    tops = [place for place, piece in by_place.items() if Path(piece.source).is_dir()]
    return tuple(piece for place, piece in by_place.items() if not any(_lies_in(place, top) for top in tops))


def _lies_in(place: str, top: str) -> bool:
    return place != top and (not top or place.startswith(top + "/"))


def _piece(word: str) -> Piece:
    """Return a file or folder with its place in the bot's folder: its path below the current folder, else its name."""
    path = Path(word).absolute()
    here = Path(os.path.normpath(path))
    place = str(here.relative_to(Path.cwd())) if here.is_relative_to(Path.cwd()) else path.name
    return Piece(str(path), "" if place == "." else place)
