"""The commitment to the starts of a grading, a league or the final of an arena.

When one of them begins, the referee writes ``commitment.toml``: all that decides its starts, and a secret. The SHA-256 of this file is
published before the hand-ins come in, the file itself after the last match. So everybody can check that the starts were fixed in advance,
and draw them again. The starts that are played come from the same ``Commitment`` that is written.

Everything random comes from the secret, which the system drew, or from a seed that somebody wrote into the rubric or the league file. Each
test of a grading has a secret of its own: HMAC-SHA256 (RFC 2104) of "test/" and its number, from 0. The variants of a league share the secret,
so they have the same seeds. The file contains only what decides the starts: no names, paths or addresses.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.match import settings_file
from referee.replay.paths import content
from referee.support.files import write_whole
from referee.support.plain_text import toml, toml_lines
from referee.support.sections import Section
from referee.tournament import starts as start_lists
from referee.tournament.values import MatchStart
from referee.wire.seeds import secret_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import AnyGame, Json, Settings

FILE = "commitment.toml"
#: The private folder in that of a grading or a league, only for its organizer.
PRIVATE = "private"
GRADING, LEAGUE = KINDS = ("grading", "league")
#: The names of the file's tables, by kind.
_TABLES = {GRADING: "tests", LEAGUE: "variants"}
_FORMAT = 1
_MOST_BYTES = 64 << 20
#: A secret has at least 128 bits, as hexadecimal digits.
_DIGITS = "[0-9a-f]{32,}"
_LEAST_DIFFERENT = 8
_HEAD = """\
# All that decides the starts of this {kind}. Keep this file secret while matches are played, then publish it{why}.
"""
#: The end of that line: what the file proves. A hash is published only where nobody can guess the seed.
_PROVEN, _GUESSABLE = ": its SHA-256 was published before", ". No hash of it was published, since its seed can be guessed"


def new_secret() -> str:
    """Return a new secret of 128 bits that the system drew, as 32 hexadecimal digits."""
    return secrets.token_hex(16)


def root(source: int | str) -> bytes:
    """Return the bytes from which everything random is derived, for a secret or for a seed that was written by hand."""
    return secret_of(source) if isinstance(source, int) else source.encode()


def is_guessable(source: int | str) -> bool:
    """True for anything but a secret as ``new_secret`` returns it: a number, a word or a sentence can be found by trying many."""
    return isinstance(source, int) or not re.fullmatch(_DIGITS, source) or source.isdecimal() or len(set(source)) < _LEAST_DIFFERENT


def resampling_seed(source: int | str) -> int:
    """Return the seed of the resamples from which intervals of ratings come: the same secret always has the same ones."""
    return int.from_bytes(root(source)[:4], "big")


class StartFamily(NamedTuple):
    """The starts of a test or of a variant: ``drawn`` of them, or the one that the ``settings`` name (0). The last ``hidden`` ones are hidden."""

    settings: Mapping[str, Json]
    drawn: int
    hidden: int = 0


class Commitment(NamedTuple):
    """All that decides the starts of a grading or a league.

    ``source`` is the secret, or the seed that somebody wrote by hand. ``listed`` are the starts of a file, which serve all families. Every
    start is played in ``repeat`` matches of different seeds. ``version`` is that of the game.
    """

    kind: str
    game: str
    version: int
    rules: str
    source: int | str
    families: tuple[StartFamily, ...]
    listed: tuple[MatchStart, ...] = ()
    repeat: int = 1

    @property
    def is_guessable(self) -> bool:
        """True if the starts come from a seed that could be guessed, so that a published hash would prove little."""
        return is_guessable(self.source)

    def starts(self, number: int) -> tuple[MatchStart, ...]:
        """Return the starts of a family. Raises SettingsError if its settings allow too few."""
        if self.listed:
            return self.listed
        family, secret = self.families[number], root(self.source)
        if self.kind == GRADING:
            secret = hmac.digest(secret, b"test/%d" % number, "sha256")
        if not family.drawn:
            return start_lists.standard(secret)
        return start_lists.starts(self._game, self._settings(number), secret, family.drawn)

    def match_settings(self, number: int, start: MatchStart) -> dict[str, Json]:
        """Return all settings of the matches of a family on a start, as JSON and as the head of a replay has them."""
        placed = start_lists.placed(self._game, self._settings(number), start.settings)
        return self._game.codec.settings_json(placed)

    def is_hidden(self, number: int, start: int) -> bool:
        """True if this start of a family is hidden."""
        family = self.families[number]
        return start >= max(family.drawn, len(self.listed), 1) - family.hidden

    @property
    def _game(self) -> AnyGame:
        return games.get(self.game)

    def _settings(self, number: int) -> Settings:
        return self._game.codec.settings(self.rules, dict(self.families[number].settings))

    def decisive(self, text: str | None = None) -> str:
        """Return the content of the file, or of ``text``, without the random line that says nothing about the starts."""
        text = self.text() if text is None else text
        return re.sub(r'^secret = "[0-9a-f]*"$', "", text, count=1, flags=re.MULTILINE) if self.is_guessable else text

    def text(self) -> str:
        """Return the content of the file. A seed that could be guessed gets a new secret beside it, so that the hash doesn't give it away."""
        seed = {"seed": self.source} if self.is_guessable else {}
        head = {
            "format": _FORMAT,
            "kind": self.kind,
            "game": self.game,
            "version": self.version,
            "rules": self.rules,
            "secret": new_secret() if seed else self.source,
            **seed,
            "repeat": self.repeat,
        }
        tables = [(_TABLES[self.kind], {**family._asdict(), "settings": dict(family.settings)}) for family in self.families]
        tables += [("starts", {"seed": start.seed, "settings": dict(start.settings)}) for start in self.listed]
        return (
            _HEAD.format(kind=self.kind, why=_GUESSABLE if self.is_guessable else _PROVEN)
            + toml_lines(head)
            + "".join(f"\n[[{name}]]\n{toml_lines(table)}" for name, table in tables)
        )


def private_file(folder: Path) -> Path:
    """Return the path of a commitment in the folder of a grading or a league."""
    return folder / PRIVATE / FILE


def check_place(commitment: Commitment, folder: Path) -> bool:
    """True if the private folder of a grading or a league has this commitment already. UsageError if something else stands in its place."""
    path = private_file(folder)
    if path.parent.is_symlink():
        raise UsageError(f"{path.parent} is a link, so nothing secret is written there. Remove it, or name another folder with --out.")
    if not os.path.lexists(path):
        return False
    try:
        is_same = (
            commitment.decisive(content(path, f"The commitment {path}", _MOST_BYTES).decode("utf-8", "replace")) == commitment.decisive()
        )
    except UsageError:
        is_same = False
    if not is_same:
        raise UsageError(
            f"{path} is not the commitment of this {commitment.kind}: it was changed, or it belongs to another one, whose hash may be published. "
            "Move it away and run the command again, or name another folder with --out."
        )
    return True


def write(commitment: Commitment, folder: Path) -> bool:
    """Write the file into the private folder of a grading or a league; False if it is there. OSError if that fails, UsageError as ``check_place``."""
    if check_place(commitment, folder):
        return False
    path = private_file(folder)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    save(commitment, path)
    return True


def set_aside(folder: Path) -> None:
    """Rename the commitment of a grading or a league after the beginning of its hash, because other starts are played from now on."""
    path = private_file(folder)
    if path.is_file():
        path.rename(path.with_name(f"{path.stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}.toml"))


def save(commitment: Commitment, path: Path) -> None:
    """Write the file so that only its owner can read it. OSError if that fails."""
    write_whole(path, commitment.text().encode())
    path.chmod(0o600)


def digest(text: str) -> str:
    """Return the SHA-256 of the file's content, as ``sha256sum`` prints it."""
    return hashlib.sha256(text.encode()).hexdigest()


def announcement(commitment: Commitment, path: Path) -> list[str]:
    """Return the announcement of a new grading or league: the hash of the file at ``path`` to publish, or why there is none."""
    if commitment.is_guessable:
        return [no_commitment(commitment)]
    return [
        f"commitment to the starts: {digest(path.read_text('utf-8'))}",
        f"Publish this hash now. It is the SHA-256 of {path}; publish that file after the last match.",
    ]


def no_commitment(commitment: Commitment) -> str:
    """Return the sentence that says why no hash is printed."""
    what = "the number" if isinstance(commitment.source, int) or commitment.source.isdecimal() else "the text"
    seed = str(commitment.source)
    name = "rubric" if commitment.kind == GRADING else "league file"
    return (
        f"No commitment is printed: the starts come from the seed in the {name}, {what} {seed[:40]!r}, which can be guessed. "
        f"Remove the seed, and the {commitment.kind} begins with a secret that the system draws."
    )


class _FamilyTable(Section):
    settings: dict[str, object]
    drawn: int = Field(ge=0, le=start_lists.MOST)
    hidden: int = Field(default=0, ge=0, le=start_lists.MOST)


class _StartTable(Section):
    seed: int
    settings: dict[str, object]


def _checked_secret(secret: str) -> str:
    if not re.fullmatch(_DIGITS, secret):
        raise ValueError("a secret has 32 or more of the digits 0-9 and a-f")
    return secret


class _File(Section):
    format: Literal[1]
    kind: Literal["grading", "league"]
    game: str
    version: int
    rules: str
    secret: Annotated[str, AfterValidator(_checked_secret)]
    seed: int | str | None = None
    repeat: int = Field(ge=1, le=start_lists.MOST)
    tests: list[_FamilyTable] = Field(default_factory=list)
    variants: list[_FamilyTable] = Field(default_factory=list)
    starts: list[_StartTable] = Field(default_factory=list)


def is_commitment(path: Path) -> bool:
    """True if a file is a commitment and not a rubric: only a commitment has a kind. UsageError if it can't be read."""
    return _has_kind(content(path, f"The file {path}", _MOST_BYTES)) is True


def _has_kind(text: bytes) -> bool | None:
    """True for the content of a commitment, None if it isn't TOML."""
    try:
        return "kind" in toml(text)
    except ValueError:
        return None


def read(path: Path, kind: str) -> tuple[Commitment, str]:
    """Return the commitment of a published file, and the file's SHA-256. The file may come from a stranger.

    UsageError if it can't be read, is of another ``kind``, or is for another version of the game than this referee has.
    """
    where = f"The commitment {path}"
    text = content(path, where, _MOST_BYTES)
    if _has_kind(text) is False:
        raise UsageError(
            f"{path} is not a commitment: it has no kind. The referee writes one when a grading or a league begins: private/{FILE}"
        )
    data = settings_file.parse(text, _File, where)
    if data.kind != kind:
        command = "grade check-rubric FILE --starts" if data.kind == GRADING else "league starts FILE"
        raise UsageError(f"{path} is the commitment of a {data.kind}, not of a {kind}: referee {command.replace('FILE', str(path))}")
    _check_tables(data, where)
    families = tuple(StartFamily(**each.model_dump()) for each in (data.tests if kind == GRADING else data.variants))
    if (len(data.starts) or sum(max(family.drawn, 1) for family in families)) * data.repeat > start_lists.MOST:
        raise UsageError(f"{where} has more than {start_lists.MOST:,} starts: the referee wrote none like it.")
    listed = tuple(MatchStart(number, start.settings, start.seed) for number, start in enumerate(data.starts))
    source = data.secret if data.seed is None else data.seed
    commitment = Commitment(data.kind, data.game, data.version, data.rules, source, families, listed, data.repeat)
    try:
        version = games.get(data.game).info.version
    except SettingsError as error:
        raise UsageError(f"{where}: {error}") from None
    if version != data.version:
        raise UsageError(
            f"{where} is for version {data.version} of the rules of {data.game}; this referee has version {version}. Take the referee that wrote it."
        )
    return commitment, hashlib.sha256(text).hexdigest()


def _check_tables(data: _File, where: str) -> None:
    """Raise UsageError if a file has starts of the other kind, none, or more hidden ones than starts: the referee writes no such file."""
    name, others = ("tests", data.variants) if data.kind == GRADING else ("variants", data.tests)
    families = data.tests if data.kind == GRADING else data.variants
    if others or not families:
        raise UsageError(
            f"{where} is one of a {data.kind}, so it needs tables [[{name}]] and no others: it is not as the referee wrote it."
        )
    if any(family.hidden > max(family.drawn, len(data.starts), 1) for family in families):
        raise UsageError(f"{where} has more hidden starts than starts: it is not as the referee wrote it.")


class CommittedStart(NamedTuple):
    """A start that follows from a commitment, with its number and repetition from 0; ``seed`` and ``settings`` are those in a replay's head."""

    start: int
    repeat: int
    hidden: bool
    seed: int
    settings: Mapping[str, Json]


def committed_starts(commitment: Commitment, number: int) -> list[CommittedStart]:
    """Return the starts of a test or a variant. UsageError if they can't be drawn."""
    try:
        return [
            CommittedStart(
                start.number,
                repeat,
                commitment.is_hidden(number, start.number),
                start_lists.match_seed(start, repeat),
                commitment.match_settings(number, start),
            )
            for start in commitment.starts(number)
            for repeat in range(commitment.repeat)
        ]
    except SettingsError as error:
        raise UsageError(f"The starts of {_TABLES[commitment.kind][:-1]} {number + 1} can't be drawn: {error}") from None


def starts_json(commitment: Commitment) -> dict[str, Json]:
    """Return all starts as ``--json`` prints them."""
    tables = [[each._asdict() for each in committed_starts(commitment, number)] for number in range(len(commitment.families))]
    name = _TABLES[commitment.kind]
    return {"kind": commitment.kind, "game": commitment.game, "rules": commitment.rules, name: [{"starts": table} for table in tables]}


def starts_lines(commitment: Commitment) -> list[str]:
    """Return a line for each start: its place, its seed, and its settings as JSON."""
    lines = []
    for number in range(len(commitment.families)):
        for each in committed_starts(commitment, number):
            place = [f"{_TABLES[commitment.kind][:-1]} {number + 1}", f"start {each.start + 1}"]
            place += [f"repetition {each.repeat + 1}"] if commitment.repeat > 1 else []
            place += ["hidden"] if each.hidden else []
            lines.append(f'{", ".join(place)}: "settings":{_compact(each.settings)}, "seed":{each.seed}')
    return lines


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
