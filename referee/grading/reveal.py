"""Publishes the seed of a rubric after the deadline, with all starts, and checks what was published against the hash from before."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.grading import family, signed_files
from referee.grading.values import Rubric, RubricTest
from referee.league.keys import canonical
from referee.support.files import write_whole
from referee.wire.escape import escape

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.game import Json

FILE = "reveal.json"
FORMAT = 1
_MOST_BYTES = 64 << 20
_MOST_STARTS = 100_000

#: How anybody can derive the starts, without a program of ours. It stands in the file.
HOW = (
    "seed_sha256 is the SHA-256 of the seed's text in UTF-8. It must be the hash that was published with the assignment.",
    "The secret of a test is HMAC-SHA256 with the seed's text as the key and \"family/\" and the test's name as the message.",
    'The seed of start n is made from HMAC-SHA256 with that secret as the key and "start/n" as the message: the first 8 bytes as a big-endian number, shifted right by 11 bits.',
    'In a game that draws positions, the position follows from the seed of the start; a position that was drawn before is drawn again with "start/n/1", "start/n/2" and so on.',
    "referee check-reveal does all of this; OpenSSL does the first two: docs/trust.md.",
)


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _Start(_Part):
    number: int
    hidden: bool
    seed: int
    settings: dict[str, Any]


class _Test(_Part):
    name: str
    has_set_start: bool
    secret: str
    settings: dict[str, Any]
    starts: list[_Start]


class _File(_Part):
    type: Literal["reveal"]
    format: int
    name: str
    game: str
    version: int
    rules: str
    seed: str
    seed_sha256: str
    tests: list[_Test]


class Checked(NamedTuple):
    """The result of a check: the rubric's name, the number of tests and starts, the hash of the seed, and a sentence for each problem."""

    name: str
    seed_sha256: str
    tests: int
    starts: int
    hidden: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if there is no problem."""
        return not self.problems

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it."""
        return {"ok": self.ok, **self._asdict(), "problems": list(self.problems)}


def reveal(rubric: Rubric, folder: Path) -> Path:
    """Write ``reveal.json`` with the seed, its hash and the starts of each test; return its path. UsageError if it can't be written."""
    game = games.get(rubric.game)
    tests: list[Json] = []
    for test in rubric.tests:
        starts = family.starts(game, rubric, test)
        tests.append(
            {
                "name": test.name,
                "has_set_start": test.has_set_start,
                "secret": family.secret(rubric.seed, test.name).hex(),
                "settings": dict(test.settings),
                "starts": [
                    {
                        "number": start.number,
                        "hidden": family.is_hidden(test, start.number),
                        "seed": start.seed,
                        "settings": dict(start.settings),
                    }
                    for start in starts
                ],
            }
        )
    body: dict[str, Json] = {
        "type": "reveal",
        "format": FORMAT,
        "name": rubric.name,
        "game": rubric.game,
        "version": game.info.version,
        "rules": rubric.rules,
        "seed": rubric.seed,
        "seed_sha256": family.seed_hash(rubric.seed),
        "rubric_sha256": hashlib.sha256(rubric.text.encode()).hexdigest(),
        "how": list(HOW),
        "tests": tests,
    }
    path = folder / FILE
    try:
        write_whole(path, (json.dumps(body, indent=1) + "\n").encode())
    except OSError as error:
        raise UsageError(f"{_quoted(path)} can't be written: {error.strerror or error}.") from None
    return path


def check_reveal(path: Path, seed_hash: str | None = None) -> Checked:
    """Check what was revealed: the seed against its hash from before the deadline, and the starts against the seed.

    ``seed_hash`` None: the file's own hash, which proves nothing about the time before. UsageError if the file is none of these.
    """
    found = _read(path)
    problems: list[str] = []
    own = family.seed_hash(found.seed)
    if found.seed_sha256 != own:
        problems.append("The file's hash is not that of its seed.")
    if seed_hash is not None and seed_hash.strip().lower() != own:
        problems.append(f"The seed is not the one whose hash was published: its own hash is {own}.")
    rubric = Rubric(found.name, found.game, found.rules, found.seed, ())
    if not found.tests:
        problems.append("The file has no test.")
    if not problems:
        for number, test in enumerate(found.tests):
            problem = _problem(rubric, number, test)
            if problem is not None:
                problems.append(f"Test {escape(test.name, 100)!r}: {problem}")
    starts = [start for test in found.tests for start in test.starts]
    hidden = sum(start.hidden for start in starts)
    return Checked(found.name, own, len(found.tests), len(starts), hidden, tuple(problems))


def _problem(rubric: Rubric, number: int, given: _Test) -> str | None:
    """Return what is wrong with a test, None if its starts are those that the seed gives."""
    if family.secret(rubric.seed, given.name).hex() != given.secret:
        return "its secret is not the one that the seed gives."
    if not given.starts:
        return "it has no start."
    hidden = sum(start.hidden for start in given.starts)
    test = RubricTest(number, given.name, None, "", (), 0.0, len(given.starts), hidden, "", given.settings, given.has_set_start)
    try:
        expected = family.starts(games.get(rubric.game), rubric, test)
    except SettingsError as error:
        return f"its starts can't be drawn: {error}"
    if len(expected) != len(given.starts):
        return f"it has {len(given.starts):,} starts; with a start that its settings name, there is one."
    for start, told in zip(expected, given.starts, strict=True):
        facts = [start.number, family.is_hidden(test, start.number), start.seed, dict(start.settings)]
        if canonical(facts) != canonical([told.number, told.hidden, told.seed, told.settings]):
            return f"start {start.number} is not the one that the seed gives."
    return None


def _read(path: Path) -> _File:
    shown = _quoted(path)
    _, found = signed_files.read(path, "reveal", FORMAT, _File, _MOST_BYTES)
    if sum(len(test.starts) for test in found.tests) > _MOST_STARTS:
        raise UsageError(f"{shown} has more than {_MOST_STARTS:,} starts: the referee wrote none like it.")
    version = games.get(found.game).info.version
    if found.version != version:
        raise UsageError(f"{shown} is for version {found.version} of the rules of {found.game}; this referee has version {version}.")
    return found


def _quoted(path: object) -> str:
    return escape(str(path), 200)
