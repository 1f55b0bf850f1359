"""Reads bulk downloads: which files belong to which student, by the naming of Gradescope, Canvas, Moodle and GitHub Classroom.

Sources of the namings: Canvas, lib/content_zipper.rb; Moodle, mod/assign/classes/downloader.php; Gradescope, its export of submissions
(submission_metadata.yml beside one folder for each submission).
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.grading.archive import is_archive, is_ignored, without_suffix
from referee.isolation.submission import KINDS
from referee.support.files import open_regular
from referee.support.packages import install_command
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

#: The file of a Gradescope export that says who submitted what.
METADATA = "submission_metadata.yml"
_MOST_METADATA_BYTES = 64 << 20
#: What Moodle adds to the name of a student: the number of the participant and the kind of submission.
_MOODLE = re.compile(r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL)
#: What Canvas adds: whether it was late, the numbers of the student and of the attachment. Without an attachment it is a text or a link.
_CANVAS = re.compile(
    r"(?:(?P<name>\w+?)_)??(?P<late>LATE_)?(?P<user>\d+|anon_\w{5})_(?:(?P<attachment>\d+)_(?P<file>.+)|(?P<kind>text|link)\.html)",
    re.DOTALL,
)
#: Canvas adds -1, -2 ... to the name of a file that was submitted before.
_NUMBERED = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,3})(?P<suffix>(?:\.[^.]*)?)", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_(\d+)")


class Found(NamedTuple):
    """One submission in a download.

    ``name`` is that of its file or folder. ``pieces`` are paths and where they go in the submission's folder ("" for the whole folder).
    ``student`` is the student's name in tables if there is no roster. ``identities`` are numbers, addresses and file names that identify
    the student, ``people`` are persons' names. ``attempt`` orders several submissions of one student, where the download numbers them.
    A submission that is refused already has a ``reason``.
    """

    name: str
    pieces: tuple[tuple[str, str], ...]
    student: str
    full_name: str = ""
    identities: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    attempt: tuple[str, int] | None = None
    reason: str = ""


def is_wrapper(name: str, inner: Collection[str], programs: Collection[str]) -> bool:
    """True if a folder holds the submissions of a class, and is not one of them.

    ``inner`` are the names in it, ``programs`` the names that a bot's program may have, without suffix.
    """
    if METADATA in inner:
        return True
    if _MOODLE.fullmatch(name) or _GRADESCOPE.fullmatch(name):
        return False
    names = [entry for entry in inner if not entry.startswith(".")]
    if any(_MOODLE.fullmatch(entry) or _CANVAS.fullmatch(entry) for entry in names):
        return True
    return len(names) > 1 and not any(entry.partition(".")[0] in programs for entry in names)


def read(top: Path, refused: Mapping[str, str] | None = None, left_out: Collection[str] = ()) -> list[Found]:
    """Return the submissions in a folder, in the order of their names.

    ``refused`` gives the reason for each name that can't be graded; ``left_out`` are names that aren't submissions. UsageError if the folder
    or the metadata of the download can't be read.
    """
    refused = refused or {}
    reasons = dict(refused)
    kinds: dict[str, int] = {}
    try:
        with os.scandir(top) as entries:
            for entry in entries:
                if is_ignored(entry.name) or entry.name in left_out:
                    continue
                kind = stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode)
                if entry.name.startswith("."):
                    # Tools leave such files and folders behind, but a file with a suffix may be a program.
                    if kind != stat.S_IFREG or "." not in entry.name.lstrip("."):
                        continue
                    reasons.setdefault(
                        entry.name, f"The submission '{escape(entry.name, 120)}' has a name that begins with a dot; rename it."
                    )
                kinds[entry.name] = kind
    except OSError as error:
        raise UsageError(f"The folder '{escape(str(top), 200)}' can't be read: {error.strerror or error}.") from None
    for name, kind in kinds.items():
        if name not in reasons and kind not in (stat.S_IFREG, stat.S_IFDIR):
            what = "a link" if kind == stat.S_IFLNK else KINDS.get(kind, "no ordinary file")
            reasons[name] = f"The submission '{escape(name, 120)}' is {what}; put the file or folder itself there."
    names = sorted({*kinds, *refused})
    found: list[Found] = []
    if METADATA in kinds:
        found += _gradescope(top, names, _metadata(top / METADATA), reasons)
        taken = {METADATA, *(item.name for item in found)}
        names = [name for name in names if name not in taken]
    moodle = {name: match for name in names if (match := _MOODLE.fullmatch(name)) is not None}
    canvas = {name: match for name in names if name not in moodle and (match := _CANVAS.fullmatch(name)) is not None}
    found += _moodle(top, moodle, kinds, reasons)
    found += _canvas(top, canvas, reasons)
    found += _plain(top, [name for name in names if name not in moodle and name not in canvas], kinds, reasons)
    return sorted(found, key=lambda item: (item.name.casefold(), item.name, item.student))


def _metadata(path: Path) -> dict[str, Any]:
    """Return what Gradescope says about each submission. Text of students is in it, so it is never read as code."""
    try:
        import yaml
    except ImportError:
        raise UsageError(f"A download of Gradescope needs pyyaml; install what is missing: {install_command('pyyaml')}") from None

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc] # one of two classes, by what is installed
        """The safe loader, which reads values with a tag of Ruby's as plain text, lists and mappings."""

    Loader.add_multi_constructor("", _untagged)
    try:
        with open_regular(path) as file:
            data = file.read(_MOST_METADATA_BYTES + 1)
        if len(data) > _MOST_METADATA_BYTES:
            raise UsageError(f"The file {METADATA} has more than {_MOST_METADATA_BYTES >> 20} MiB; is it Gradescope's?")
        content = yaml.load(data, Loader=Loader)  # noqa: S506 - a safe loader
    except OSError as error:
        raise UsageError(f"The file {METADATA} can't be read: {error.strerror or error}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"The file {METADATA} is not valid YAML: {escape(str(error), 200)}; download the submissions again.") from None
    if not isinstance(content, dict):
        raise UsageError(f"The file {METADATA} has no submissions; download the submissions again.")
    return {str(name): value for name, value in content.items()}


def _untagged(loader: Any, _: str, node: Any) -> Any:
    if node.id == "mapping":
        return loader.construct_mapping(node)
    return loader.construct_sequence(node) if node.id == "sequence" else loader.construct_scalar(node)


def _gradescope(top: Path, names: Sequence[str], metadata: Mapping[str, Any], reasons: Mapping[str, str]) -> list[Found]:
    """One submission for each student who submitted it: a group's counts for every member."""
    found = []
    for name, facts in metadata.items():
        facts = facts if isinstance(facts, dict) else {}  # noqa: PLW2901 - the rest reads a mapping
        people = facts.get(":submitters")
        match = _GRADESCOPE.fullmatch(name)
        attempt = (str(facts.get(":created_at") or ""), int(match[1]) if match and len(match[1]) < 20 else 0)
        reason = reasons.get(name, "")
        if name not in names:
            reason = f"The submission '{escape(name, 120)}' is named in {METADATA}, but it is not in the download; download it again."
        for person in people if isinstance(people, list) and people else [{}]:
            known = {key: str(person.get(key) or "").strip() for key in (":sid", ":email", ":name")} if isinstance(person, dict) else {}
            sid, email, full_name = (known.get(key, "") for key in (":sid", ":email", ":name"))
            found.append(
                Found(
                    name,
                    ((str(top / name), ""),),
                    sid or email or full_name or name,
                    full_name,
                    _some(sid, email, name),
                    _some(full_name),
                    attempt,
                    reason,
                )
            )
    return found


def _some(*texts: str) -> tuple[str, ...]:
    """Return the texts that aren't empty, each once."""
    return tuple(dict.fromkeys(text for text in texts if text))


def _moodle(top: Path, names: Mapping[str, re.Match[str]], kinds: Mapping[str, int], reasons: Mapping[str, str]) -> list[Found]:
    """Folders ("Jane Doe_123_assignsubmission_file_") and files with the same words before their names."""
    groups: dict[str, list[str]] = {}
    for name, match in names.items():
        groups.setdefault(f"{match['name']}_{match['number'] or ''}", []).append(name)
    found = []
    for group in groups.values():
        files = [name for name in group if names[name]["kind"] == "file"]
        first = names[files[0] if files else group[0]]
        full_name, number = first["name"], first["number"] or ""
        reason = next((reasons[name] for name in files if reasons.get(name)), "")
        if not files:
            reason = f"The submission '{escape(group[0], 120)}' is a text and no file; a bot is a file."
        whole = [name for name in files if kinds.get(name) == stat.S_IFDIR]
        if len(whole) > 1 or (whole and len(files) > 1):
            reason = reason or _several(files)
        pieces = tuple((str(top / name), "" if name in whole else names[name]["file"] or "main") for name in files)
        found.append(
            Found(
                files[0] if files else group[0],
                pieces,
                f"{full_name}-{number}" if number else full_name,
                full_name,
                _some(number, f"Participant {number}" if number else "", *files),
                (full_name,),
                None,
                reason,
            )
        )
    return found


def _several(names: Iterable[str]) -> str:
    shown = " and ".join(f"'{escape(name, 120)}'" for name in names)
    return f"There are several submissions of the same student: {shown}; keep one."


def _canvas(top: Path, names: Mapping[str, re.Match[str]], reasons: Mapping[str, str]) -> list[Found]:
    """Files called after the student, the student's number and the attachment's: "doejane_LATE_123_4567_hunter-1.py"."""
    groups: dict[str, list[str]] = {}
    for name, match in names.items():
        groups.setdefault(match["user"], []).append(name)
    found = []
    for user, group in groups.items():
        files = [name for name in group if names[name]["file"]]
        name = files[0] if files else group[0]
        person = names[name]["name"] or ""
        reason = next((reasons[name] for name in files if reasons.get(name)), "")
        if not files:
            reason = f"The submission '{escape(name, 120)}' is a text or a link and no file; a bot is a file."
        pieces = tuple((str(top / name), place) for place, name in sorted(_places(files, names).items()))
        found.append(
            Found(
                name,
                pieces,
                f"{person}-{user}" if person else user,
                "",
                _some(user, *files),
                _some(person),
                None,
                reason,
            )
        )
    return found


def _places(files: Sequence[str], names: Mapping[str, re.Match[str]]) -> dict[str, str]:
    """Return the file for each name in a submission. Of several attempts with the same file the last one counts.

    Nobody can say whether the student or Canvas wrote the -1 of "map-1.txt". So a file has both names, but for a Python program: no module
    has a hyphen in its name.
    """
    best: dict[str, tuple[tuple[int, int], str]] = {}
    for name in files:
        own = names[name]["file"]
        match = _NUMBERED.fullmatch(own)
        order = int(match["number"]) if match else 0, int(names[name]["attachment"][:18])
        place = match["stem"] + match["suffix"] if match else own
        best[place] = max(best.get(place, ((-1, 0), "")), (order, name))
    places = {place: name for place, (_, name) in best.items()}
    for name in files:
        own = names[name]["file"]
        if not own.endswith(".py") and not is_archive(own):
            places.setdefault(own, name)
    return places


def _plain(top: Path, names: Sequence[str], kinds: Mapping[str, int], reasons: Mapping[str, str]) -> list[Found]:
    """Files and folders with any names. In a folder of repositories the words before all students' names are left out."""
    folders = [name for name in names if kinds.get(name) == stat.S_IFDIR]
    repositories = [name for name in folders if os.path.lexists(top / name / ".git")]
    prefix = _shared(repositories)
    shared = _shared(folders)
    found = []
    for name in names:
        is_folder = name in folders
        base = name if is_folder else stem(name)
        own = name[len(prefix) :] if prefix and name in repositories else base
        parts = [name[match.end() :] for match in re.finditer("[-_]", shared)] if is_folder else []
        place = "" if is_folder else name
        found.append(
            Found(name, ((str(top / name), place),), own, "", _some(own, base, name, *parts), _some(own, base), None, reasons.get(name, ""))
        )
    return found


def _shared(names: Sequence[str]) -> str:
    """Return the whole words with which all names begin: "hw3-" for "hw3-alan" and "hw3-alice"; "" for a single name."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    length = next((number for number, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    prefix = first[:length]
    return prefix[: max(prefix.rfind("-"), prefix.rfind("_")) + 1]


def stem(name: str) -> str:
    """Return a file's name without its suffix."""
    base = without_suffix(name)
    if base != name:
        return base
    base, _, suffix = name.rpartition(".")
    return base if base and re.fullmatch(r"[A-Za-z]\w{0,5}", suffix) else name


def of_file(path: Path) -> Found:
    """Return the submission that is a single file."""
    return _plain(path.parent, [path.name], {}, {})[0]
