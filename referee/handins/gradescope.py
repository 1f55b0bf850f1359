"""Reads the metadata of Gradescope's export: the owner and the time of each hand-in.

Source: Gradescope's export of hand-ins, submission_metadata.yml beside one folder for each hand-in.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.support.files import open_regular
from referee.support.packages import install_command

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.game import Json

#: The file of an export that says who submitted what.
METADATA = "submission_metadata.yml"
FOLDER = re.compile(r"submission_([0-9]{1,19})")
#: The folder in Gradescope's archive.
EXPORT = re.compile(r"assignment_\d+_export")
_MOST_METADATA_BYTES = 64 << 20
_TIME = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|\s+)(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(?:(Z|UTC|GMT)|([+-])(\d\d?)(?::?(\d\d))?)?",
    re.ASCII | re.IGNORECASE,
)
#: The form of a time: with its zone, without one, unknown, or missing.
ZONED, LOCAL, UNREADABLE, NONE = "zoned", "local", "unreadable", "none"


class Attempt(NamedTuple):
    """The order of the hand-ins of one account: by nanoseconds since 1970, then by number, then by the place in the file.

    ``clock`` is how the time was written; times that are written in different ways can't be compared. ``time_text`` is the time as a text.
    """

    nanoseconds: int
    number: int
    place: int
    clock: str
    time_text: str


def attempt(name: str, facts: Json, place: int) -> Attempt:
    """Return when a hand-in was handed in. ``place`` is its place in the file."""
    match = FOLDER.fullmatch(name)
    number = int(match[1]) if match else 0
    value = facts.get(":created_at") if isinstance(facts, dict) else None
    if isinstance(value, dict):
        value = value.get("utc") or value.get("time")
    text = str(value or "").strip()
    parts = _TIME.fullmatch(text)
    try:
        clock, moment = (NONE, None) if not text else (UNREADABLE, None) if parts is None else _moment(parts)
    except ValueError:
        clock, moment = UNREADABLE, None
    if parts is None or moment is None:
        return Attempt(0, number, place, clock, text[:60])
    fraction = int((parts[7] or "0")[:9].ljust(9, "0"))
    seconds = (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(seconds=1)
    time_text = moment.isoformat() if clock == ZONED else moment.replace(tzinfo=None).isoformat()
    return Attempt(seconds * 10**9 + fraction, number, place, clock, time_text)


def _moment(parts: re.Match[str]) -> tuple[str, datetime]:
    zone = timezone.utc
    if parts[9]:
        zone = timezone((1 if parts[9] == "+" else -1) * timedelta(hours=int(parts[10]), minutes=int(parts[11] or 0)))
    year, month, day, hour, minute, second = (int(parts[at] or 0) for at in range(1, 7))
    return ZONED if parts[8] or parts[9] else LOCAL, datetime(year, month, day, hour, minute, second, tzinfo=zone)


def submitters(facts: Json) -> list[tuple[str, ...]]:
    """Return the student id, the address and the name of each person of a hand-in. There is at least one, who may be unknown.

    Students choose the name; Gradescope vouches for the others.
    """
    people = facts.get(":submitters") if isinstance(facts, dict) else None
    entries = [person if isinstance(person, dict) else {} for person in (people if isinstance(people, list) and people else [{}])]
    return list(dict.fromkeys(tuple(str(each.get(key) or "").strip() for key in (":sid", ":email", ":name")) for each in entries))


def metadata(path: Path) -> dict[str, Json]:
    """Return Gradescope's metadata of each hand-in. It contains text of students, so it is never run as code."""
    try:
        import yaml
    except ImportError:
        raise UsageError(f"A download of Gradescope needs pyyaml; install what is missing: {install_command('pyyaml')}") from None

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc] # one of two classes, by what is installed
        """The safe loader, which reads times and numbers as they are written, and values with a tag of Ruby's as plain text, lists and mappings."""

    Loader.add_multi_constructor("", _untagged)
    # As numbers and times, 007 would be 7, and a time would lose its zone.
    for tag in ("int", "float", "timestamp"):
        Loader.add_constructor(f"tag:yaml.org,2002:{tag}", base.construct_yaml_str)
    try:
        with open_regular(path) as file:
            data = file.read(_MOST_METADATA_BYTES + 1)
        if len(data) > _MOST_METADATA_BYTES:
            raise UsageError(f"The file {METADATA} has more than {_MOST_METADATA_BYTES >> 20} MiB; is it Gradescope's?")
        content = yaml.load(data, Loader=Loader)  # noqa: S506 - a safe loader
    except OSError as error:
        raise UsageError(f"The file {METADATA} can't be read: {error.strerror or error}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(
            f"The file {METADATA} is not valid YAML: {' '.join(str(error).split()):.200}; download the hand-ins again."
        ) from None
    if not isinstance(content, dict):
        raise UsageError(f"The file {METADATA} has no hand-ins; download the hand-ins again.")
    return {str(name): value for name, value in content.items()}


def _untagged(loader: Any, _: str, node: Any) -> Any:
    if node.id == "mapping":
        return loader.construct_mapping(node)
    return loader.construct_sequence(node) if node.id == "sequence" else loader.construct_scalar(node)
