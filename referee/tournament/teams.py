"""Teams: the programs that play for a team, found and hashed, and the check whether they have changed since."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from example_bots import BOTS, middling
from referee import games
from referee.errors import PlayerError, UsageError
from referee.isolation import contents, runtime, submission
from referee.players.names import HUMAN, is_human, resolve
from referee.support.escape import is_blank
from referee.support.words import the_seat
from referee.tournament.keys import canonical
from referee.tournament.values import Team

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from referee.games.game import AnyGame, Json, Seat, Settings
    from referee.isolation.bot import Bot
    from referee.isolation.submission import Piece

#: The longest name of a team or a league, in characters.
LONGEST_NAME = 40
#: The key, among the paths of a team's files, of the hash by which replays name its program: that of one file or of the whole folder.
PROGRAM = "."
#: Stands before the target of a link, in place of a hash.
_LINK = "link to "
#: Stands after the hash of a file in a folder that may be executed.
_EXECUTABLE = " executable"
#: Stands for a folder in which there is nothing.
_EMPTY = "empty folder"


def team(
    name: str,
    spec: str | Mapping[Seat, str],
    game: AnyGame,
    settings: Settings,
    home: Path | None = None,
    seats: Sequence[Seat] | None = None,
) -> Team:
    """Return a team with the hashes of its files. ``spec`` is a program or folder for every seat, or one for each seat.

    ``seats`` are those that it has to play, by default all seats of the game.

    If an example bot plays one role only, an example bot of middling strength plays the other one.
    Relative paths begin in ``home``, by default the current folder; the team has absolute ones. The UsageError names the team and says
    which seat has no program that could run.
    """
    home = (home or Path.cwd()).absolute()
    seats = game.seats(settings) if seats is None else tuple(seats)
    texts = {seat: partnered(spec, seat, game, settings, home) for seat in seats} if isinstance(spec, str) else dict(spec)
    missing = [seat for seat in seats if seat not in texts]
    if missing:
        raise UsageError(f"The team '{name}' has no program for {missing[0]}. {to_add(missing[0], game, settings)}")
    players: dict[Seat, str] = {}
    marks: dict[Seat, Json] = {}
    files: dict[Seat, dict[str, str]] = {}
    programs: dict[Seat, dict[str, str]] = {}
    hash_cache: dict[Path, dict[str, str]] = {}
    try:
        for seat in seats:
            players[seat] = absolute(texts[seat], game.info.name, home)
            program = _program(players[seat], seat, game, settings)
            marks[seat], files[seat] = _mark(program, hash_cache)
            if "sha256" in program.about:
                programs[seat] = {PROGRAM: str(program.about["sha256"])}
    except PlayerError as error:
        is_one_role = isinstance(spec, str) and any(
            _is_program(text, other, game, settings, home) for other, text in texts.items() if other != seat
        )
        more = f" {to_add(seat, game, settings)}" if is_one_role else ""
        raise UsageError(f"The team '{name}' can't play: {error}{more}") from None
    digest = hashlib.sha256(canonical({seat: [marks[seat], files[seat]] for seat in seats}).encode()).hexdigest()
    return Team(name, players, digest, str(home), {seat: {**files[seat], **programs.get(seat, {})} for seat in seats})


def partnered(spec: str, seat: Seat, game: AnyGame, settings: Settings, home: Path) -> str:
    """Return the program of a seat for a team named by one program. An example bot of another role is replaced by the middle one of this role."""
    bots = [bot for bot in BOTS if bot.game == game.info.name]
    named = [bot for bot in bots if bot.name == spec.strip()]
    if not named or any(bot.plays(seat) for bot in named) or _exists(home / spec.strip()):
        return spec
    return middling(game.info.name, seat, settings.rules) or spec


def _is_program(text: str, seat: Seat, game: AnyGame, settings: Settings, home: Path) -> bool:
    try:
        _program(absolute(text, game.info.name, home), seat, game, settings)
    except PlayerError:
        return False
    return True


def to_add(seat: Seat, game: AnyGame, settings: Settings, rivals: Sequence[str] = ()) -> str:
    """Return what to do about a team that has no program for a seat: the line for its table, or another command.

    ``rivals`` are this team's program and another one that plays the same seat, if both are known.
    """
    here = " ".join(shlex.quote(rival.removeprefix(f"{Path.cwd()}/")) for rival in rivals)
    compare = f": referee compare {here}" if here else "; referee compare lets two of them meet the same opponent"
    return (
        f'Add a program for {seat}, or the line {seat} = "{middling(game.info.name, seat, settings.rules) or "..."}" to its table in the league file. '
        f"Bots of one role need no league{compare}."
    )


def check_plays(team: Team, game: AnyGame, settings: Settings) -> None:
    """Raise UsageError if a program of the team can't play with these settings."""
    try:
        for seat, player in team.players.items():
            _program(player, seat, game, settings)
    except PlayerError as error:
        raise UsageError(f"The team '{team.name}' can't play: {error}") from None


def changed(team: Team, stored: Team) -> tuple[str, ...]:
    """Return what has changed in a team since it was stored, one phrase for each seat and file; empty if nothing has."""
    if team.hash == stored.hash:
        return ()
    changes = []
    for seat in dict.fromkeys((*stored.files, *team.files)):
        now, then = _own(team.files.get(seat, {})), _own(stored.files.get(seat, {}))
        changes += [f"{seat}: '{path}' has changed" for path in now if path in then and now[path] != then[path]]
        changes += [f"{seat}: '{path}' is new" for path in now if path not in then]
        changes += [f"{seat}: '{path}' is gone" for path in then if path not in now]
    return tuple(changes) or ("its command line has changed",)


def check_copy(team: Team, seat: Seat, bot: Bot, folder: str) -> None:
    """Raise UsageError if the copy of a team's program in ``folder`` has other files than those that the team was stored with.

    In a copy all files may be executed, and there are no empty folders. A team without stored files is not checked.
    """
    if seat not in team.files:
        return
    labels = _labels(_outermost(bot.files))
    places = {source: Path(folder, piece.place) for piece in bot.files for source in _outermost([piece])}
    copied: dict[str, str] = {}
    then = _comparable(_own(team.files[seat]))
    for source, label in labels.items():
        for path, mark in _marks(places[source]).items():
            name = str(Path(label, path))
            copied[name] = _as_stored(mark, then.get(name, ""), places[source] / path)
    copied = _comparable(copied)
    if copied != then:
        differences = "; ".join(
            changed(*(Team(team.name, {}, name, files={seat: files}) for name, files in (("now", copied), ("then", then))))[:3]
        )
        raise UsageError(f"The files of the team '{team.name}' have changed since they were first read ({differences}); restore them.")


def _comparable(files: Mapping[str, str]) -> dict[str, str]:
    """Return what a copy has in common with the files that it was made of."""
    return {path: mark.removesuffix(_EXECUTABLE) for path, mark in files.items() if mark != _EMPTY}


def _as_stored(mark: str, stored: str, path: Path) -> str:
    """Return the mark of an entry of a copy in the form of the stored one, whose link may have had another text."""
    if not mark.startswith(_LINK) or not stored.startswith(_LINK):
        return mark
    text = Path(stored.removeprefix(_LINK))
    return stored if text.is_absolute() or (path.parent / text).resolve() == path.resolve() else mark


def file_name(name: str) -> str:
    """Return a team's name as a part of file names: letters, digits and hyphens, in lower case."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "-", text).strip("-")


def check_name(name: str, what: str, longest: int = LONGEST_NAME) -> None:
    """Raise UsageError for a name that can't stand in a table or a file name; ``what`` begins the sentence ("The name of team 3")."""
    if not name or is_blank(name):
        raise UsageError(f"{what} is empty; give it a name of 1 to {longest} characters.")
    if not name.isprintable():
        raise UsageError(f"{what}, '{name}', has a control character or an invisible one; remove it.")
    if name != name.strip():
        raise UsageError(f"{what}, '{name}', begins or ends with a space; remove it.")
    if len(name) > longest:
        raise UsageError(f"{what}, '{name:.60}', has {len(name):,} characters; the limit is {longest}.")
    if not file_name(name):
        raise UsageError(f"{what}, '{name}', has no letter and no digit; file names need one.")


def check_different(names: Iterable[str]) -> None:
    """Raise UsageError for two names that are equal but for upper and lower case and for forms that Unicode counts as compatible (NFKC)."""
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFKC", name).casefold()
        if key in seen:
            raise UsageError(f"Two teams have the same name, '{seen[key]}' and '{name}'; give one of them another name.")
        seen[key] = name


def absolute(text: str, game: str, home: Path) -> str:
    """Return a player's description with absolute paths in place of those relative to ``home``.

    The name of an example bot stays as it is. PlayerError if it would mean something else in the current folder.
    """
    text = text.strip()
    prefix, colon, rest = text.partition(":")
    if colon and prefix.strip().lower() in (games.get(game).dialects or ()):
        return f"{prefix.strip()}: {_absolute_words(rest.strip(), home, is_dialect=True)}"
    if not text or "\0" in text or text == HUMAN:
        return text
    if text.startswith("~"):
        return text
    if _exists(home / text):
        return str((home / text).absolute())
    try:
        is_one_word = len(shlex.split(text)) == 1
    except ValueError:
        return text
    if not is_one_word:
        return _absolute_words(text, home)
    if "/" in text or "." in text:
        return str((home / text).absolute())
    if _exists(Path(text)):
        raise PlayerError(
            f"'{text}' is a file in the current folder, but there is none in '{home}'; write its path, or run the command elsewhere."
        )
    return text


def _exists(path: Path) -> bool:
    """True if the file exists. False also for a name that no file can have."""
    try:
        return os.path.exists(path)  # noqa: PTH110 - False also if its folder can't be entered
    except ValueError:
        return False


def _absolute_words(text: str, home: Path, *, is_dialect: bool = False) -> str:
    """Return a command line with absolute paths for the files that it names."""
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    rewritten = []
    for number, word in enumerate(words):
        option, equals, rest = word.partition("=")
        parts = (rest if equals else word).split(os.pathsep)
        # The first word is a program on the PATH unless it looks like a file.
        is_file = number > 0 or "/" in word or word.endswith(".py") or (is_dialect and (home / word).is_dir())
        if is_file and all(part and _exists(home / part) for part in parts):
            rewritten.append((option + equals if equals else "") + os.pathsep.join(str((home / part).absolute()) for part in parts))
        else:
            rewritten.append(word)
    return text if rewritten == words else " ".join(_word(word) for word in rewritten)


def _word(word: str) -> str:
    try:
        return word if shlex.split(word) == [word] else shlex.quote(word)
    except ValueError:
        return shlex.quote(word)


def _program(player: str, seat: Seat, game: AnyGame, settings: Settings) -> Bot:
    if is_human(player):
        raise PlayerError(f"{the_seat(seat)} is a person; in a league only programs play.")
    return resolve(player, seat, game.info.name, settings)


def file_hashes(bot: Bot) -> dict[str, str]:
    """Return the hash of each file of a bot, as in ``Team.files``. PlayerError for a file that can't be read."""
    labels = _labels(_outermost(bot.files))
    return {str(Path(label, path)): mark for source, label in labels.items() for path, mark in _marks(source).items()}


def _mark(bot: Bot, hash_cache: dict[Path, dict[str, str]]) -> tuple[Json, dict[str, str]]:
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
    """Return the paths of a submission without those that lie in another one's folder, whatever the current folder is."""
    sources = list(dict.fromkeys(Path(os.path.normpath(Path(piece.source).absolute())) for piece in pieces))
    return [source for source in sources if not any(other in source.parents for other in sources)]


def _labels(sources: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each file and folder of a submission in hashes; a folder that is alone may have any name."""
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
    """Return the hashes of a team's files without the one by which replays name its program."""
    return {path: digest for path, digest in files.items() if path != PROGRAM}


def _hash(path: Path) -> str:
    count = submission.Count(f"'{path}'")
    try:
        return contents.of_file(str(path), count).hex()
    except OSError as error:
        raise PlayerError(f"Its file '{path}' can't be read: {error.strerror or error}.") from None
