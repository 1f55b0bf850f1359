"""A folder of teams: which of its files and folders are teams, where the programs of an archive are, and the league file for them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import UsageError
from referee.handins import collect
from referee.handins.names import is_archive, is_ignored, stem
from referee.handins.programs import is_program
from referee.handins.values import REFUSED
from referee.players import languages
from referee.support.files import write_whole
from referee.support.plain_text import toml_lines, toml_value
from referee.support.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from referee.games.game import Seat

#: The league file in a folder of teams.
FILE = "league.toml"
#: Where a league keeps what it has unpacked, in its folder.
HANDED_IN = "handed-in"

_TEMPLATE = """\
# A league: "referee league run {folder}" plays it. docs/leagues.md describes every key. Options of the command win over this file.

game = "{game}"
rules = "{rules}"

# round-robin, swiss (with rounds = N), elimination, or in games of many players tables.
format = "round-robin"

# "strict" plays in a sandbox or not at all; "none" has no sandbox.
isolation = "auto"

# Each pair meets on each start. The starts are drawn when the league begins.
[starts]
count = {starts}

# The settings of the game: referee games {game}
[settings]

# Seconds, or "none": startup, move, bank, increment.
[time]

# The teams: "program" is a player as in referee play, for every seat, or there is a line for each seat. Paths begin in this folder.
{teams}"""
_STARTS = 4
#: The files by which a results folder is known.
RESULTS = ("league.sqlite", "database.url", "league.id")


def is_results(folder: Path) -> bool:
    """True for the results folder of a league, known by its store or its id; any other folder is a folder of teams."""
    return any((folder / name).is_file() for name in RESULTS)


def teams_of(folder: Path, tell: Callable[[str], None]) -> list[dict[str, object]]:
    """Return the rows of the teams in a folder, and report entries that are left out because they aren't bots. UsageError for fewer than two."""
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith((".", "__")) and not is_ignored(entry.name))
        teams = [entry for entry in entries if _is_team(entry)]
    except OSError as error:
        raise UsageError(f"The folder {folder} can't be read: {error.strerror or error}.") from None
    if left_out := [entry.name for entry in entries if entry not in teams]:
        tell(f"note: left out, because no program is in it: {listed(left_out)}")
    if len(teams) < 2:
        raise UsageError(
            f"In the folder {folder}, where each file and folder is a team: there {'is one team' if teams else 'are no teams'}, "
            "but a league needs two or more; put a program, or a folder of programs, into it for each team."
        )
    named: dict[str, Path] = {}
    for entry in teams:
        name = entry.name if entry.is_dir() else stem(entry.name)
        if (other := named.setdefault(name, entry)) is not entry:
            raise UsageError(f"{other} and {entry} are both the team '{name}': move one of them away, or give it another name.")
    return [
        {"name": name, "program": str(_innermost(entry).relative_to(folder)) if entry.is_dir() else entry.name}
        for name, entry in named.items()
    ]


def _is_team(path: Path) -> bool:
    """True if a file could be a program or an archive of one, or a folder has such a file, perhaps in folders of its own.

    A compiler leaves ``a.out`` beside the source.
    """
    if not path.is_dir():
        return path.is_file() and path.name not in (FILE, "a.out") and _could_play(path)
    for place, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not is_ignored(name) and not name.startswith(".")]
        if any(_could_play(Path(place) / name) for name in files):
            return True
    return False


def _could_play(path: Path) -> bool:
    """True for a program, including one that needs a compiler or an interpreter, and for an archive."""
    return (
        is_archive(path.name)
        or is_program(path)
        or os.access(path, os.X_OK)
        or bool(languages.how_to_run(path) or languages.compiled_source(path))
    )


def unpacked(
    rows: Sequence[Mapping[str, object]], home: Path, seats: Sequence[Seat], handed_in: Callable[[], Path], tell: Callable[[str], None]
) -> Iterator[Mapping[str, object]]:
    """Yield the rows of the teams, those of archives with the programs in them, which are unpacked into the folder ``handed_in()``.

    Each content has a folder of its own there, so files that a league has played are never replaced. An archive without a program is left out,
    and ``tell`` gets the reason.
    """
    for row in rows:
        program = row.get("program")
        path = home / program if isinstance(program, str) and "\0" not in program else home
        if not (is_archive(path.name) and path.is_file()):
            yield row
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        taken = collect.single(path, handed_in() / digest, seats)
        if taken.status == REFUSED:
            tell(f"note: the team '{row.get('name')}' is left out: {taken.reason}")
            continue
        programs = dict.fromkeys(taken.players.values())
        others = {name: value for name, value in row.items() if name != "program"}
        yield {**others, **({"program": next(iter(programs))} if len(programs) == 1 else taken.players)}


def _innermost(path: Path) -> Path:
    """Return the folder in which the files of a team are: archives often unpack into one folder in another."""
    while True:
        inside = [entry for entry in path.iterdir() if not is_ignored(entry.name) and not entry.name.startswith(".")]
        if len(inside) != 1 or not inside[0].is_dir():
            return path
        path = inside[0]


def write_new(folder: Path, game: str, rules: str, names: Collection[str]) -> Path:
    """Write a commented league file whose teams are those of a folder that have these names, and return its path."""
    path = folder / FILE
    rows = [row for row in teams_of(folder, lambda _: None) if row["name"] in names]
    tables = [f"[[teams]]\nname = {toml_value(row['name'])}\nprogram = {toml_value(row['program'])}\n" for row in rows]
    text = _TEMPLATE.format(folder=folder, game=game, rules=rules, starts=_STARTS, teams="\n".join(tables))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror or error}.") from None
    return path


def write_copy(values: Mapping[str, Any], path: Path) -> None:
    """Write the effective league file, with the options of the command and with absolute paths."""
    head = {name: value for name, value in values.items() if name != "teams"}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, (toml_lines(head) + "".join(f"\n[[teams]]\n{toml_lines(team)}" for team in values["teams"])).encode())


@contextlib.contextmanager
def handed_in_folders() -> Iterator[Callable[[Path], Path]]:
    """Return where a league's folder has its unpacked archives. If no league begins there, they are removed again."""
    used: list[Path] = []

    def handed_in(folder: Path) -> Path:
        used.append(folder)
        return folder / HANDED_IN

    try:
        yield handed_in
    finally:
        for folder in used:
            if not is_results(folder):
                shutil.rmtree(folder / HANDED_IN, ignore_errors=True)
                with contextlib.suppress(OSError):
                    folder.rmdir()
