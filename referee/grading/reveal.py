"""Publishes the seed of a rubric after the deadline, with all starts, and checks what was published against the commitment from before."""

from __future__ import annotations

import hashlib
import json
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.grading import family, published
from referee.grading.published import CheckReport, Finding, Part
from referee.grading.values import Rubric, RubricTest
from referee.league.keys import canonical
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import Game, Json

FILE = "reveal.json"
#: Files of format 1 have no commitment. What was published for them is the hash of the seed.
_FORMAT = 2
_MOST_BYTES = 64 << 20
_MOST_STARTS = 100_000
_HASH = "[0-9a-f]{64}"
_COMMITMENT = f"{_HASH}(-[0-9a-f]{{4}}){{7}}"

#: How anybody can derive the starts, without a program of ours. It stands in the file.
HOW = (
    'The first 64 digits of the commitment, which was published with the assignment, are the SHA-256 of the line "referee starts" and everything that decides a start, as JSON with sorted keys, without spaces, and with escapes for everything that isn\'t ASCII.',
    "The secret of a test is HMAC-SHA256 with the seed's text as the key and \"family/\" and the test's name as the message.",
    'The seed of start n is made from HMAC-SHA256 with that secret as the key and "start/n" as the message: the first 8 bytes as a big-endian number, shifted right by 11 bits.',
    'In a game that draws positions, the position follows from the seed of the start; a position that was drawn before is drawn again with "start/n/1", "start/n/2" and so on.',
    "referee grade --check-reveal does all of this; docs/trust.md shows how to do the first two with other programs.",
)


#: What to do about a problem.
_ASK = "Ask the grader for the file and the hash that were published."
#: What a check without a problem has shown, by what the published hash covers.
_PROVED = {
    "starts": ["Good. Everything that decides a start is as it was when the hash was published, and it gives every start in the file."],
    "seed": [
        "Only the seed is proved: it is the one whose hash was published, and it gives every start in the file.",
        "Not proved: the game and its version, the rules, the settings, and the names and numbers of the tests and starts.",
        "The hash has the format of earlier versions, which covers the seed alone; they may have been chosen later. Compare them with the assignment.",
    ],
    None: [
        "Nothing is proved yet: the seed gives every start in the file, but the file may be newer than the submissions.",
        "Compare the hash above with the one that was published with the assignment, or give that one with --hash.",
    ],
}


class _RevealedStart(Part):
    number: int
    hidden: bool
    seed: int
    settings: dict[str, Any]


class _Test(Part):
    name: str
    has_set_start: bool
    secret: str
    settings: dict[str, Any]
    starts: list[_RevealedStart]


class _File(Part):
    type: Literal["reveal"]
    format: Literal[1, 2]
    name: str
    game: str
    version: int
    rules: str
    seed: str
    seed_sha256: str
    commitment: Annotated[str, Field(pattern=f"^{_COMMITMENT}$")] = ""
    tests: list[_Test]


def reveal(rubric: Rubric, folder: Path) -> Path:
    """Write ``reveal.json`` with the seed, the commitment and the starts of each test; return its path. UsageError if it can't be written."""
    game = games.get(rubric.game)
    body: dict[str, Json] = {
        "type": "reveal",
        "format": _FORMAT,
        "name": rubric.name,
        "game": rubric.game,
        "version": game.info.version,
        "rules": rubric.rules,
        "seed": rubric.seed,
        "seed_sha256": family.seed_hash(rubric.seed),
        "commitment": family.committed(rubric),
        "rubric_sha256": hashlib.sha256(rubric.text.encode()).hexdigest(),
        "how": list(HOW),
        "tests": [_revealed(game, rubric, test).model_dump() for test in rubric.tests],
    }
    published.write(folder / FILE, json.dumps(body, indent=1))
    return folder / FILE


def check_reveal(path: Path, hash_: str | None = None) -> CheckReport:
    """Check what was revealed: everything that decides a start against the commitment from before the deadline, and the starts against it.

    ``hash_`` is the published commitment, its first 64 digits, or the hash of the seed that earlier versions published. None: the file's own
    commitment, which proves nothing about the time before. UsageError if one of them is nothing of the kind.

    The report's fact ``hash_covers`` says to what the published hash commits: "starts" for everything that decides them, "seed" for nothing
    but the seed, None without a published hash.
    """
    given = None if hash_ is None else hash_.strip().lower()
    if given is not None and not re.fullmatch(f"{_HASH}|{_COMMITMENT}", given):
        raise UsageError(f"{hash_} is not a published hash: that has 64 hexadecimal digits, or these and seven groups of four after them.")
    _, found = published.read(path, "reveal", _File, _MOST_BYTES)
    starts = [start for test in found.tests for start in test.starts]
    if found.format != 1 and not found.commitment:
        raise UsageError(f"{path} is not a reveal: it has no commitment.")
    if len(starts) > _MOST_STARTS:
        raise UsageError(f"{path} has more than {_MOST_STARTS:,} starts: the referee wrote none like it.")
    rubric = Rubric(found.name, found.game, found.rules, found.seed, tuple(map(_test, range(len(found.tests)), found.tests)))
    parts = family.deciding(rubric, found.version)
    own = family.commitment(parts)
    covers = None if given is None else "seed" if given == family.seed_hash(found.seed) else "starts"
    problems: list[str] = []
    if found.seed_sha256 != family.seed_hash(found.seed):
        problems.append("The file's hash of the seed is not that of its seed.")
    if not found.seed.isprintable():
        problems.append("The seed is none that a rubric can have: it has an invisible character.")
    if covers == "starts" and given is not None and given[:64] != own[:64]:
        # The file's own groups can name a change only if they belong to what was published.
        known = given if "-" in given else found.commitment if found.commitment[:64] == given else ""
        problems.append(f"The file is not what was published: {_changed(parts, known)}")
    elif found.format != 1 and found.commitment != own:
        problems.append(f"The file's content is not what its own commitment says: {_changed(parts, found.commitment)}")
    if not found.tests:
        problems.append("The file has no test.")
    findings = [Finding("", problem, _ASK) for problem in problems]
    if not findings:
        pairs = zip(rubric.tests, found.tests, strict=True)
        wrong = [(test.name, _problem(rubric, test, revealed, found.version)) for test, revealed in pairs]
        findings = [Finding(f"Test {name!r}", problem, _ASK) for name, problem in wrong if problem]
    hidden = sum(start.hidden for start in starts)
    facts = {"name": found.name, "hash": own, "hash_covers": covers, "tests": len(found.tests), "starts": len(starts), "hidden": hidden}
    counts = f"{counted(len(starts), 'start')} in {counted(len(found.tests), 'test')}, {hidden:,} of them hidden"
    by_hash = {"is_by_hash": given is not None and not findings}
    return CheckReport(findings, facts | by_hash, [f"{found.name:.100}: {counts}", f"hash: {own}"], _PROVED[covers])


def _revealed(game: Game[Any, Any], rubric: Rubric, test: RubricTest) -> _Test:
    """Return a test with its secret and its starts. SettingsError if they can't be drawn."""
    return _Test(
        name=test.name,
        has_set_start=test.has_set_start,
        secret=family.secret(rubric.seed, test.name).hex(),
        settings=dict(test.settings),
        starts=[
            _RevealedStart(number=start.number, hidden=family.is_hidden(test, start.number), seed=start.seed, settings=dict(start.settings))
            for start in family.starts(game, rubric, test)
        ],
    )


def _changed(parts: Mapping[str, Json], known: str) -> str:
    """Return which of the parts differ from a commitment, as the end of a sentence. ``known`` is "" if it has no groups."""
    names = family.differing(parts, known) if known else []
    if names:
        return f"{', '.join(names)} {'has' if names in (['the seed'], ['the game'], ['the version of the game']) else 'have'} changed."
    return f"one or more of these have changed: {', '.join(parts)}. The published groups of four digits, given with the hash, say which."


def _test(number: int, given: _Test) -> RubricTest:
    hidden = sum(start.hidden for start in given.starts)
    return RubricTest(number, given.name, None, "", (), 0.0, len(given.starts), hidden, "", given.settings, given.has_set_start)


def _problem(rubric: Rubric, test: RubricTest, given: _Test, version: int) -> str:
    """Return what is wrong with a test; "" if it is as the seed gives it. UsageError if this referee has another version of the rules."""
    game = games.get(rubric.game)
    if version != game.info.version:
        raise UsageError(
            f"The starts are for version {version} of the rules of {rubric.game}; this referee has version {game.info.version}. "
            "Check them with that one."
        )
    if not given.starts:
        return "it has no start."
    try:
        expected = _revealed(game, rubric, test)
    except SettingsError as error:
        return f"its starts can't be drawn: {error}"
    if expected.secret != given.secret:
        return "its secret is not the one that the seed gives."
    # As JSON, because true and 1 are equal values.
    pairs = zip_longest(expected.model_dump()["starts"], given.model_dump()["starts"])
    wrong = [number for number, (start, told) in enumerate(pairs) if canonical(start) != canonical(told)]
    return f"start {wrong[0]} is not the one that the seed gives." if wrong else ""
