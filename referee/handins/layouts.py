"""Reads bulk downloads: which files belong to which account, by the naming of Gradescope, Canvas and Moodle.

Whatever a platform writes before its numbers is a name, and names are chosen by people. Sources of the namings: Canvas, lib/content_zipper.rb;
Moodle, mod/assign/classes/downloader.php.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from statistics import median_low
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.handins import gradescope
from referee.handins.gradescope import EXPORT, METADATA, Attempt
from referee.handins.names import is_archive, is_ignored, key, stem
from referee.isolation.submission import KINDS
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

_MOST_NAMED = 5
#: What Moodle adds to the name of a student or a team: its number and the kind of hand-in.
_MOODLE = re.compile(r"(?P<name>.+?)(?:_(?P<number>[0-9]+))?_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL)
#: The same for a folder, whose name ends there: the name before it may be any, even that of another student's folder.
_MOODLE_FOLDER = re.compile(r"(?P<name>.+?)(?:_(?P<number>[0-9]+))?_assignsubmission_(?P<kind>file|onlinetext)_?(?P<file>)", re.DOTALL)
#: What Canvas adds: whether it was late, the numbers of the student and of the attachment. Without an attachment it is a text or a link. Canvas
#: leaves letters, marks and digits of a name, so of some names nothing. An anonymous hand-in has no name.
_CANVAS = re.compile(
    r"(?:(?=(?:LATE_)?anon_)|(?P<name>.*?)_)(?P<late>LATE_)?(?P<user>[0-9]+|anon_\w{5})_"
    r"(?:(?P<attachment>[0-9]+)_(?P<file>.+)|(?P<kind>text|link)\.html)",
    re.DOTALL,
)
#: A place in a name of Canvas where the name of the student may end, too.
_CANVAS_IDS = re.compile(r"(?=_(?:LATE_)?(?P<user>[0-9]+)_(?:(?P<attachment>[0-9]+)_.|(?:text|link)\.html$))", re.DOTALL)
#: Canvas adds -1, -2 ... to the name of a file that was submitted before.
_NUMBERED = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,3})(?P<suffix>(?:\.[^.]*)?)", re.DOTALL)
#: How the hand-ins of a class can be laid out. AUTO: by the names at the top, which no student chooses.
LAYOUTS = AUTO, GRADESCOPE, CANVAS, MOODLE, PLAIN = ("auto", "gradescope", "canvas", "moodle", "plain")


class DownloadedHandIn(NamedTuple):
    """One hand-in in a download.

    ``name`` is that of its file or folder. ``pieces`` are paths and where they go in the hand-in's folder ("" for the whole folder).
    ``student`` is the student's name in tables if there is no roster. ``identities`` are numbers, addresses and, if the grader named them, file names that
    identify the student, ``people`` are persons' names. ``attempt`` orders the hand-ins of one account, where the download tells their times.
    A hand-in that is refused already has a ``reason``. ``person`` is what no two accounts of a download share: the student id ("id 101"),
    else the whole address ("mail ada@a.example"), the platform's number ("canvas 7001"), or the name of the file or folder ("name ada").
    ``is_absent`` is True for a hand-in that the download names but doesn't contain; the ``reason`` says so. ``late`` is what the platform
    says about the time of the hand-in, ``replaced`` are the names of the earlier attempts in whose place it counts.
    """

    name: str
    pieces: tuple[tuple[str, str], ...]
    student: str
    full_name: str = ""
    identities: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    attempt: Attempt | None = None
    reason: str = ""
    person: str = ""
    is_absent: bool = False
    late: str = ""
    replaced: tuple[str, ...] = ()

    @property
    def is_named_by_grader(self) -> bool:
        """True if the grader, and no platform, said whose this is: by the name of the file or folder."""
        return self.person.startswith("name ")

    @property
    def student_id(self) -> str:
        """The student id by which a platform knows the person, as ``key`` returns it; "" if it knows none."""
        return self.person[3:] if self.person.startswith("id ") else ""

    @property
    def number(self) -> str:
        """The number of the person or team in Canvas or Moodle; "" without one."""
        platform, _, number = self.person.partition(" ")
        return number if platform in (CANVAS, MOODLE) and number.isdecimal() else ""

    @property
    def is_vouched(self) -> bool:
        """True if a platform gives a student id or an address. Then names decide nothing: people choose them."""
        return bool(self.student_id or self.addresses)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The e-mail addresses, as ``key`` returns them."""
        return tuple(dict.fromkeys(key(text) for text in self.identities if "@" in text and not self.is_named_by_grader))


def is_wrapper(name: str, inner: Collection[str], programs: Collection[str], layout: str, is_known: Callable[[str], bool]) -> bool:
    """True if the only folder in SUBMISSIONS holds the hand-ins of a class, and is not one of them.

    ``inner`` are the names in it, ``programs`` the names that a bot's program may have, without suffix. ``is_known`` tells whether a name is
    that of a student. A student chooses what is in a hand-in, so that never makes it a class: what could be either is a UsageError.
    """
    if layout == GRADESCOPE:
        return METADATA in inner and not gradescope.FOLDER.fullmatch(name)
    if layout in (CANVAS, MOODLE):
        return not (_MOODLE if layout == MOODLE else _CANVAS).fullmatch(name)
    if layout == PLAIN or _MOODLE.fullmatch(name) or gradescope.FOLDER.fullmatch(name) or is_known(name):
        return False
    if EXPORT.fullmatch(name) and METADATA in inner:
        return True
    names = sorted(entry for entry in inner if not entry.startswith(".") and not is_ignored(entry) and entry != METADATA)
    is_class = METADATA in inner or any(_MOODLE.fullmatch(entry) or _CANVAS.fullmatch(entry) or is_known(entry) for entry in names)
    if not is_class and (len(names) < 2 or any(entry.partition(".")[0].casefold() in programs for entry in names)):
        return False
    examples = ", ".join(f"'{entry:.80}' of {stem(entry):.80}" for entry in names[:_MOST_NAMED])
    raise UsageError(
        f"It isn't certain how the hand-ins are laid out: there is only the folder '{name:.80}'. Read as plain, it is one hand-in, "
        f"of {name:.80}. Read as the folder around a class, it holds {counted(len(names), 'hand-in')}: {examples or 'none'}"
        f"{', as ' + METADATA + ' says' if METADATA in inner else ''}. For the first, add --layout plain; for the second, name the folder "
        f"'{name:.80}' itself (unpack an archive first), or its platform with --layout."
    )


def read(top: Path, refused: Mapping[str, str] | None = None, left_out: Collection[str] = (), layout: str = AUTO) -> list[DownloadedHandIn]:
    """Return the hand-ins in a folder, in the order of their names.

    ``refused`` gives the reason for each name that can't be graded; ``left_out`` are names that aren't hand-ins. UsageError if the folder
    or the metadata of the download can't be read, or if the ``layout`` isn't certain.
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
                    reasons.setdefault(entry.name, f"The hand-in '{entry.name:.120}' has a name that begins with a dot; rename it.")
                kinds[entry.name] = kind
    except OSError as error:
        raise UsageError(f"The folder '{top}' can't be read: {error.strerror or error}.") from None
    for name, kind in kinds.items():
        if name not in reasons and kind not in (stat.S_IFREG, stat.S_IFDIR):
            what = "a link" if kind == stat.S_IFLNK else KINDS.get(kind, "no ordinary file")
            reasons[name] = f"The hand-in '{name:.120}' is {what}; put the file or folder itself there."
    names = sorted({*kinds, *refused})
    layout = _layout([name for name in names if name in kinds] or names, kinds) if layout == AUTO else layout
    hand_ins: list[DownloadedHandIn] = []
    if layout == GRADESCOPE:
        hand_ins += _gradescope(top, names, gradescope.metadata(top / METADATA), reasons)
        taken = {METADATA, *(item.name for item in hand_ins)}
        names = [name for name in names if name not in taken]
    moodle = _matching(_MOODLE, names if layout == MOODLE else ())
    moodle |= _matching(_MOODLE_FOLDER, [name for name in moodle if kinds.get(name) == stat.S_IFDIR])
    canvas = _matching(_CANVAS, names if layout == CANVAS else ())
    hand_ins += _moodle(top, moodle, kinds, reasons)
    hand_ins += _canvas(top, canvas, reasons)
    others = [name for name in names if name not in moodle and name not in canvas]
    if layout in (CANVAS, MOODLE) and others == names and names:
        raise UsageError(f"No name in '{top}' is one of {layout}, such as '{names[0]:.80}'; choose another --layout.")
    hand_ins += _plain(top, others, kinds, reasons)
    return sorted(hand_ins, key=lambda item: (item.name.casefold(), item.name, item.student))


def _matching(pattern: re.Pattern[str], names: Iterable[str]) -> dict[str, re.Match[str]]:
    return {name: match for name in names if (match := pattern.fullmatch(name)) is not None}


def _layout(names: Sequence[str], kinds: Mapping[str, int]) -> str:
    """Return the layout that the names at the top have. UsageError if only some of them are named as by a platform, or all as by two.

    A student chooses the ends of these names on some platforms, and never the beginnings. So a single name decides nothing.
    """
    if kinds.get(METADATA) == stat.S_IFREG:
        other = next((name for name in names if name != METADATA and not gradescope.FOLDER.fullmatch(name)), None)
        if other is None:
            return GRADESCOPE
        raise UsageError(
            f"It isn't certain how the hand-ins are laid out: {METADATA} is that of a Gradescope export, but '{other:.80}' isn't "
            f"named as in one (submission_123456). Take out what doesn't belong there, or add --layout {GRADESCOPE} or --layout {PLAIN}."
        )
    counts = {CANVAS: len(_matching(_CANVAS, names)), MOODLE: len(_matching(_MOODLE, names))}
    whole = [layout for layout, count in counts.items() if names and count == len(names)]
    if len(whole) == 1:
        return whole[0]
    if any(counts.values()):
        read_as = [
            f"as {layout}, {count:,} of {len(names):,} are named by it, such as {_example(pattern, names)}"
            for (layout, count), pattern in zip(counts.items(), (_CANVAS, _MOODLE), strict=True)
            if count
        ]
        other = next((name for name in names if not _CANVAS.fullmatch(name) and not _MOODLE.fullmatch(name)), None)
        plain = "" if other is None else f"; as plain, each is named after its student, such as '{other:.80}'"
        raise UsageError(
            f"It isn't certain how the hand-ins are laid out: read {'; '.join(read_as)}{plain}. Take out what doesn't belong there, or add "
            f"{' or '.join(f'--layout {layout}' for layout in (*(each for each, count in counts.items() if count), PLAIN))}."
        )
    return PLAIN


def _example(pattern: re.Pattern[str], names: Iterable[str]) -> str:
    return f"'{next(iter(_matching(pattern, names))):.80}'"


def _gradescope(top: Path, names: Sequence[str], metadata: Mapping[str, object], reasons: Mapping[str, str]) -> list[DownloadedHandIn]:
    """One hand-in for each student who submitted it: a group's counts for every member."""
    hand_ins = []
    for place, (name, facts) in enumerate(metadata.items()):
        attempt = gradescope.attempt(name, facts, place)
        reason = reasons.get(name, "")
        if name not in names:
            reason = f"The hand-in '{name:.120}' is named in {METADATA}, but it is not in the download; download it again."
        for sid, email, full_name in gradescope.submitters(facts):
            hand_ins.append(
                DownloadedHandIn(
                    name,
                    ((str(top / name), ""),),
                    sid or email or full_name or name,
                    full_name,
                    _non_empty(sid, email, name),
                    _non_empty(full_name),
                    attempt,
                    reason,
                    f"id {key(sid)}" if sid else f"mail {key(email)}" if email else f"hand-in {name}",
                    name not in names,
                    attempt.time_text,
                )
            )
    return hand_ins


def _non_empty(*texts: str) -> tuple[str, ...]:
    """Return the texts that aren't empty, each once."""
    return tuple(dict.fromkeys(text for text in texts if text))


def _moodle(top: Path, names: Mapping[str, re.Match[str]], kinds: Mapping[str, int], reasons: Mapping[str, str]) -> list[DownloadedHandIn]:
    """Folders ("Jane Doe_123_assignsubmission_file_") and files with the same words before their names."""
    groups: dict[str, list[str]] = {}
    hand_ins = []
    for name, match in names.items():
        inner = _MOODLE.fullmatch(match["file"] or "")
        if inner is not None:
            hand_ins.append(_unclear(top, name, (match["number"] or match["name"], inner["number"] or inner["name"]), MOODLE))
        else:
            groups.setdefault(f"{match['name']}_{match['number'] or ''}", []).append(name)
    for group in groups.values():
        files = [name for name in group if names[name]["kind"] == "file"]
        first = names[files[0] if files else group[0]]
        full_name, number = first["name"], first["number"] or ""
        reason = next((reasons[name] for name in files if reasons.get(name)), "")
        if not files:
            reason = f"The hand-in '{group[0]:.120}' is a text, not a file; a bot is a file."
        whole = [name for name in files if kinds.get(name) == stat.S_IFDIR]
        if len(whole) > 1 or (whole and len(files) > 1):
            reason = reason or _several(files)
        pieces = tuple((str(top / name), "" if name in whole else names[name]["file"] or "main") for name in files)
        hand_ins.append(
            DownloadedHandIn(
                files[0] if files else group[0],
                pieces,
                f"{full_name}-{number}" if number else full_name,
                full_name,
                _non_empty(number),
                (full_name,),
                None,
                reason,
                f"{MOODLE} {number}" if number else f"team {key(full_name)}",
            )
        )
    return hand_ins


def _several(names: Iterable[str]) -> str:
    quoted = " and ".join(f"'{name:.120}'" for name in names)
    return f"There are several hand-ins of the same student: {quoted}; keep one."


def _canvas(top: Path, names: Mapping[str, re.Match[str]], reasons: Mapping[str, str]) -> list[DownloadedHandIn]:
    """Files called after the student, the student's number and the attachment's: "doejane_LATE_123_4567_hunter-1.py"."""
    groups: dict[str, list[str]] = {}
    hand_ins = []
    unclear = _divisible(names)
    for name, match in names.items():
        if name in unclear:
            hand_ins.append(_unclear(top, name, (match["user"], unclear[name]), CANVAS))
        else:
            groups.setdefault(match["user"], []).append(name)
    for user, group in groups.items():
        files = [name for name in group if names[name]["file"]]
        places = _places(files, names)
        graded = list(dict.fromkeys(name for _, name in sorted(places.items()))) or group[:1]
        person = names[graded[0]]["name"] or ""
        reason = next((reasons[name] for name in files if reasons.get(name)), "")
        if not files:
            reason = f"The hand-in '{graded[0]:.120}' is a text or a link, not a file; a bot is a file."
        hand_ins.append(
            DownloadedHandIn(
                graded[0],
                tuple((str(top / name), place) for place, name in sorted(places.items())),
                f"{person}-{user}" if person else user,
                "",
                _non_empty(user),
                _non_empty(person),
                None,
                reason,
                f"{CANVAS} {user}",
                late="LATE" if any(names[name]["late"] for name in graded) else "",
                replaced=tuple(name for name in files if name not in graded),
            )
        )
    return hand_ins


def _divisible(names: Mapping[str, re.Match[str]]) -> dict[str, str]:
    """Return the names that can be divided in two ways, each with the student's number by the second one.

    Students choose their own name and the name of the file, so both may have numbers in them. Only Canvas writes LATE, because it makes the
    letters of names small, and there is no name before an anonymous number. A second division is no real one if others have the same number of
    an attachment, or if that number is far shorter than those of others: "project_1_2_bot.zip" is the name of a file.
    """
    seconds = {
        name: list(_CANVAS_IDS.finditer(name, match.end("user")))
        for name, match in names.items()
        if not match["late"] and match["user"].isdecimal()
    }
    uses = Counter(number for divisions in seconds.values() for number in {second["attachment"] for second in divisions})
    second_users = {}
    for name, divisions in seconds.items():
        others = [
            len(each["attachment"]) for each in names.values() if divisions and each["attachment"] and each["user"] != names[name]["user"]
        ]
        least = median_low(others) - 1 if others else 0
        for second in divisions:
            number = second["attachment"]
            if number is None or (uses[number] == 1 and len(number) >= least):
                second_users[name] = second["user"]
    return second_users


def _unclear(top: Path, name: str, numbers: tuple[str, str], platform: str) -> DownloadedHandIn:
    """A hand-in whose student isn't certain, because students choose their own names and those of their files.

    In Canvas, the name of a student and that of a file may both have numbers in them. In Moodle, what follows the first of two numbers is the
    rest of a name or the beginning of a file's.
    """
    reason = (
        f"The hand-in '{name:.120}' could be that of {numbers[0]:.60} or of {numbers[1]:.60}, because its name can be "
        "divided in two ways; find out whose it is, and rename it so that there are only two numbers in its name."
    )
    return DownloadedHandIn(name, ((str(top / name), name),), stem(name), reason=reason, person=f"{platform} {name}")


def _places(files: Sequence[str], names: Mapping[str, re.Match[str]]) -> dict[str, str]:
    """Return the file for each name in a hand-in. Of several attempts with the same file the last one counts.

    Nobody can say whether the student or Canvas wrote the -1 of "map-1.txt". So a file has both names, but for a Python program: no module
    has a hyphen in its name.
    """
    best: dict[str, tuple[tuple[int, int], str]] = {}
    for name in files:
        file = names[name]["file"]
        match = _NUMBERED.fullmatch(file)
        order = int(match["number"]) if match else 0, int(names[name]["attachment"][:18])
        place = match["stem"] + match["suffix"] if match else file
        best[place] = max(best.get(place, ((-1, 0), "")), (order, name))
    places = {place: name for place, (_, name) in best.items()}
    for name in files:
        file = names[name]["file"]
        if not file.endswith(".py") and not is_archive(file):
            places.setdefault(file, name)
    return places


def _plain(top: Path, names: Sequence[str], kinds: Mapping[str, int], reasons: Mapping[str, str]) -> list[DownloadedHandIn]:
    """Files and folders with any names. A folder is also known by its name without the words with which all folders begin."""
    folders = [name for name in names if kinds.get(name) == stat.S_IFDIR]
    shared = _shared(folders)
    hand_ins = []
    for name in names:
        is_folder = name in folders
        base = name if is_folder else stem(name)
        parts = [name[match.end() :] for match in re.finditer("[-_]", shared)] if is_folder else []
        pieces = ((str(top / name), "" if is_folder else name),)
        hand_ins.append(
            DownloadedHandIn(
                name, pieces, base, "", _non_empty(base, name, *parts), (base,), None, reasons.get(name, ""), f"name {key(base)}"
            )
        )
    return hand_ins


def _shared(names: Sequence[str]) -> str:
    """Return the whole words with which all names begin: "hw3-" for "hw3-alan" and "hw3-alice"; "" for a single name."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    length = next((number for number, (char, other) in enumerate(zip(first, last, strict=False)) if char != other), len(first))
    prefix = first[:length]
    return prefix[: max(prefix.rfind("-"), prefix.rfind("_")) + 1]


def of_entry(path: Path) -> DownloadedHandIn:
    """Return the hand-in that is a file or folder named after its student."""
    return _plain(path.parent, [path.name], {path.name: stat.S_IFDIR} if path.is_dir() else {}, {})[0]
