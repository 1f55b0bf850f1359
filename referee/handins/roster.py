"""The roster of a class, and which of its students a hand-in belongs to. With two possible students, it belongs to neither.

A number of Canvas or Moodle may be that of a person, of a team, or of something else, so it counts only together with the name.

An arena has a roster of its teams, which is read in the same way.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.handins.names import file_name, key
from referee.replay.paths import content
from referee.support.escape import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from referee.handins.layouts import DownloadedHandIn

#: The longest name of a student in tables, in characters.
LONGEST_STUDENT = 80
#: The longest name of a student's folder, in bytes.
LONGEST_FILE_NAME = 160
_MOST_BYTES = 16 << 20
#: So many rows and names are kept in the form in which they are compared: each hand-in is compared with each row.
_MOST_CACHED = 1 << 14
#: The most words of a person's name that are compared.
MOST_WORDS = 8


class RosterRow(NamedTuple):
    """A student on the roster, or the team of an arena. ``hand_in`` is the name of a file or folder, if the roster names one; ``identities`` are all cells.

    ``ids`` are the cells of columns whose name says that they have student ids, ``team`` is that of the student, ``late`` is when the student
    handed in, as a worksheet of Moodle says it. ``numbers`` are the cells that may be numbers of a platform: they don't count the rows, and no other
    row has the same in its column.
    """

    line: int
    student: str
    full_name: str = ""
    hand_in: str = ""
    identities: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    team: str = ""
    late: str = ""
    numbers: tuple[str, ...] = ()


def load(path: Path, who: str = "student", longest: int = LONGEST_STUDENT) -> tuple[RosterRow, ...]:
    """Return the students of a CSV file with the columns student and optionally name, email, submission and any others.

    ``who`` is the name of the first of these columns: "team" for an arena. Students without it go by their address. Names have at most
    ``longest`` characters. UsageError names the line that is wrong.
    """
    label = f"'{path}'"
    text, skipped, delimiter = _table(path, label)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [cell.strip().casefold() for cell in next(reader, [])]
        mail = next((name for name in header if name in _MAILS), "")
        if who == "student" and who not in header and mail:
            header[header.index(mail)] = who
        _check_header(header, label, who)
        table = [(reader.line_num + skipped, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num + skipped} of the roster {label} is no CSV: {error}.") from None
    rows = [_row(header, cells, line, label, who, longest) for line, cells in table]
    rows = [row._replace(numbers=numbers) for row, numbers in zip(rows, _numbers(header, [cells for _, cells in table]), strict=True)]
    if not rows:
        raise UsageError(f"The roster {label} has no {who}s.")
    _check_different(rows, label, who)
    return tuple(rows)


def _table(path: Path, label: str) -> tuple[str, int, str]:
    """Return the text of a table, the number of lines that were left out before its header, and what separates its cells."""
    data = content(path, f"The roster {label}", _MOST_BYTES)
    wide = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-16-le" if data[1:2] == b"\0" else ""
    try:
        text = data.decode(wide or "utf-8-sig").lstrip("\ufeff")
    except UnicodeDecodeError:
        raise UsageError(f"The roster {label} is not UTF-8 text; save it as CSV with the encoding UTF-8.") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    skipped, delimiter = 0, ""
    while text:
        line = text.partition("\n")[0]
        # Spreadsheets write and read such a line.
        separator = re.fullmatch(r'"?sep=(.)"?[\s,;]*', line, re.IGNORECASE)
        if separator is not None:
            delimiter = separator[1]
        elif line.strip(' \t,;"'):
            return text, skipped, delimiter or max(",;\t", key=line.count)
        text = text.partition("\n")[2]
        skipped += 1
    return text, skipped, delimiter or ","


def _check_header(header: Sequence[str], label: str, who: str) -> None:
    if who not in header:
        columns = ", ".join(f"'{name:.40}'" for name in header[:10]) or "none"
        raise UsageError(
            f"The roster {label} has no column '{who}' in its first line; its columns are {columns}. Give the column that names each {who} this heading."
        )
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"The roster {label} has two columns '{twice:.40}'.")


def _row(header: Sequence[str], cells: Sequence[str], line: int, label: str, who: str, longest: int) -> RosterRow:
    where = f"Line {line} of the roster {label}"
    if len(cells) > len(header):
        raise UsageError(f"{where} has {len(cells)} cells, the first line has {len(header)}.")
    values = {name: _cleaned(cell) for name, cell in zip(header, cells, strict=False)}
    student = values.get(who, "")
    if not student or is_blank(student):
        raise UsageError(f"{where} has no {who}.")
    if len(student) > longest:
        raise UsageError(f"{where} has the {who} '{student:.60}' with {len(student):,} characters; the limit is {longest}.")
    if not student.isprintable() or not 0 < len(file_name(student).encode()) <= LONGEST_FILE_NAME:
        raise UsageError(
            f"{where} has the {who} '{student:.60}'; a {who}'s name has 1 to {longest} printable characters, one of them a letter or digit."
        )
    names = [values.get(name, "") for name in ("name", "full name")]
    parts = " ".join(values.get(name, "") for name in ("first name", "last name", "surname")).strip()
    full_name = next((name for name in (*names, parts) if name), "")
    others = _OTHERS - {who}
    number = values.get("identifier", "").rpartition(" ")[2]
    identities = tuple(dict.fromkeys(value for name, value in (*values.items(), ("", number)) if value and name not in others))
    ids = tuple(value for name, value in values.items() if value and name.replace("_", " ") in _IDS)
    team = values.get("team", "") if who != "team" else ""
    return RosterRow(line, student, full_name, values.get("submission", ""), identities, ids, team, values.get(_LATE, "").strip("-"))


def _numbers(header: Sequence[str], table: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return for each row the cells that may be numbers of a platform."""
    numbers: list[list[str]] = [[] for _ in table]
    for at, name in enumerate(header):
        # Data frames write 12 as 12.0 in a column with empty cells.
        cells = [_cleaned(cells[at]).removesuffix(".0") if at < len(cells) else "" for cells in table]
        cells = [cell.rpartition(" ")[2] for cell in cells] if name == "identifier" else cells
        counts = Counter(cells)
        is_counter = "".join(words(name)) in _COUNTERS and cells in (
            [str(number) for number in range(start, start + len(cells))] for start in (0, 1)
        )
        for row, cell in zip(numbers, cells, strict=True):
            if cell.isdecimal() and counts[cell] == 1 and not is_counter and name not in _OTHERS:
                row.append(key(cell))
    return [tuple(row) for row in numbers]


def _cleaned(cell: str) -> str:
    """Return a cell on one line. Of an address as programs for mail write it, "Ada <ada@uni.example>", only the address is left."""
    text = " ".join(cell.split())
    address = _ADDRESS.fullmatch(text)
    return text if address is None else address[1] or address[2]


_ADDRESS = re.compile(r"[^<>@]*<(?:mailto:)?([^\s<>@]+@[^\s<>@]+)>|mailto:([^\s<>@?]+@[^\s<>@?]+)(?:\?.*)?", re.IGNORECASE)
_MAILS = frozenset({"email", "e-mail", "mail", "email address", "e-mail address"})
_NAMES = frozenset({"name", "full name", "first name", "last name", "surname"})
#: The time of a hand-in, in a worksheet of Moodle. Its "Identifier" is "Participant 1234" in the language of the site.
_LATE = "last modified (submission)"
_GRADES = ("status", "grade", "maximum grade", "grade can be changed", "last modified (grade)", "feedback comments", "online text")
#: Columns that identify nobody.
_OTHERS = frozenset({"submission", "team", _LATE, *_NAMES, *_GRADES})
#: Headings of columns that count the rows, as "No.", "#" or the empty one of a data frame. Under any other heading such numbers may be a platform's.
_COUNTERS = frozenset({"", "n", "nr", "no", "lfdnr", "sno", "srno", "row", "line", "pos", "position", "index"})
_IDS = frozenset({"id", "sid", "student id", "studentid", "student number", "matriculation number"})


def _check_different(rows: Iterable[RosterRow], label: str, who: str) -> None:
    seen: dict[str, RosterRow] = {}
    for row in rows:
        other = seen.setdefault(file_name(row.student), row)
        if other is not row:
            raise UsageError(
                f"Lines {other.line} and {row.line} of the roster {label} have {who}s that can't be distinguished: '{other.student:.60}' and '{row.student:.60}'."
            )


def sure(hand_in: DownloadedHandIn, rows: Sequence[RosterRow]) -> tuple[RosterRow, ...]:
    """Return the students of whom the roster names an identity of a hand-in: an id, an address, a number."""
    hand_in_keys = {key(text) for text in hand_in.identities} | _numbered(hand_in)
    return tuple(row for row in rows if not hand_in_keys.isdisjoint(keys(row)))


def _numbered(hand_in: DownloadedHandIn) -> set[str]:
    """Return how Moodle calls a participant without a name: "Participant 7", in the language of the site."""
    return {key(f"{text} {hand_in.number}") for text in hand_in.people if hand_in.number}


def owns(row: RosterRow, hand_in: DownloadedHandIn) -> bool:
    """True if this row of the roster names all that a platform says of the account of a hand-in: the file, or both the id and the address."""
    row_keys = keys(row)
    said = (key(hand_in.student_id), *hand_in.addresses) if hand_in.student_id else hand_in.addresses or (hand_in.number,)
    return is_file_of(hand_in, row) or row_keys.issuperset(said)


def names(row: RosterRow, hand_in: DownloadedHandIn) -> bool:
    """True if the roster names the person of a hand-in in this row: by its file, else by the id, else by the address or number."""
    identities = (hand_in.student_id,) if hand_in.student_id else hand_in.identities
    return is_file_of(hand_in, row) or not keys(row).isdisjoint(key(text) for text in identities)


def contradiction(hand_in: DownloadedHandIn, rows: Sequence[RosterRow]) -> str:
    """Return what is wrong if the student id of a hand-in is not that of the student with its address, as a verb phrase; else ""."""
    if not hand_in.student_id or any(is_file_of(hand_in, row) for row in rows):
        return ""
    by_address = [row for row in rows if not keys(row).isdisjoint(hand_in.addresses)]
    by_id = [row for row in rows if key(hand_in.student_id) in keys(row)]
    if not by_address or any(row in by_id for row in by_address):
        return ""
    owner = f"has the address of the student '{by_address[0].student:.80}'"
    if by_id:
        return f"{owner}, but the student id of '{by_id[0].student:.80}'."
    ids = by_address[0].ids
    return f"{owner}, but not the student id ({', '.join(ids):.80})." if ids else ""


def is_file_of(hand_in: DownloadedHandIn, row: RosterRow) -> bool:
    """True if the column 'submission' names the file or folder of a hand-in in this row."""
    return bool(row.hand_in) and key(row.hand_in) in {key(name) for name in _files(hand_in)}


def _files(hand_in: DownloadedHandIn) -> tuple[str, ...]:
    return hand_in.name, *(path.rpartition("/")[2] for path, _ in hand_in.pieces)


@lru_cache(_MOST_CACHED)
def keys(row: RosterRow) -> frozenset[str]:
    """Return what the roster names in a row, except names of persons, in the form in which it is compared."""
    return frozenset(key(text) for text in (*row.identities, row.hand_in) if text)


def find(hand_in: DownloadedHandIn, rows: Sequence[RosterRow], *, by_name: bool = True, by_account: bool = True) -> tuple[RosterRow, ...]:
    """Return the students to whom a hand-in may belong: it is certain if this is one.

    The file that the roster names counts first, then the identities, then, if ``by_account``, the part of an address before the @, and names of
    persons last, if ``by_name``: never against an address, and never for a hand-in for which a platform gives an id or an address. A number
    of a platform counts only together with the name. Two addresses have to be equal as a whole.
    """
    files = {key(text) for text in (*_files(hand_in), *hand_in.identities)}
    by_file = tuple(row for row in rows if row.hand_in and key(row.hand_in) in files)
    if by_file:
        return by_file
    likely = namesakes(hand_in, rows)
    if hand_in.number:
        return tuple(row for row in sure(hand_in, rows) if is_named(hand_in, row)) or (likely if by_name else ())
    exact = sure(hand_in, rows)
    alike = [row for row in rows if not differ(hand_in.identities, row.identities)] if by_account else []
    short = {_local(text) for text in hand_in.identities}
    near = tuple(row for row in alike if short & {_local(text) for text in row.identities})
    return exact or near or tuple(row for row in likely if by_name and row in alike and not hand_in.is_vouched)


def namesakes(hand_in: DownloadedHandIn, rows: Sequence[RosterRow]) -> tuple[RosterRow, ...]:
    """Return the students who have the name of a hand-in's person."""
    named = {name for text in hand_in.people for name in name_keys(text)}
    return tuple(row for row in rows if named & _names_of(row))


def is_named(hand_in: DownloadedHandIn, row: RosterRow) -> bool:
    """True if the name of a hand-in is that of a student, also after the name of a group and a hyphen, or is a word with the number ("Participant 7")."""
    person_names = {name for text in hand_in.people for name in name_keys(text) | grouped(text)}
    return not person_names.isdisjoint(_names_of(row)) or not _numbered(hand_in).isdisjoint(keys(row))


def members(hand_in: DownloadedHandIn, rows: Sequence[RosterRow]) -> tuple[RosterRow, ...]:
    """Return the students of the team that handed in a hand-in, by the name of the team."""
    teams = {row.team for row in rows if row.team}
    exact = {team for team in teams if key(team) in {key(text) for text in hand_in.people}}
    plain = {"".join(words(text)) for text in hand_in.people}
    matching_teams = exact or {team for team in teams if "".join(words(team)) in plain}
    return tuple(row for row in rows if row.team in matching_teams)


def with_other_zeros(hand_in: DownloadedHandIn, rows: Sequence[RosterRow]) -> tuple[str, str, RosterRow] | None:
    """Return an id of a hand-in, how the roster has it, and its row, if the two differ only in the zeros at the beginning.

    Where the grader named the files, their names are the ids.
    """
    ids = hand_in.identities if hand_in.is_named_by_grader else (hand_in.student_id or hand_in.number,)
    return next(
        (
            (own, text, row)
            for own in map(key, ids)
            for row in rows
            for text in sorted(keys(row))
            if own.isdecimal() and text.isdecimal() and own != text and own.lstrip("0") == text.lstrip("0") != ""
        ),
        None,
    )


@lru_cache(_MOST_CACHED)
def _names_of(row: RosterRow) -> frozenset[str]:
    return name_keys(row.full_name) | name_keys(row.student)


def differ(identities: Sequence[str], others: Sequence[str]) -> bool:
    """True if both have e-mail addresses, and none in common."""
    mine, theirs = ({key(text) for text in texts if "@" in text} for texts in (identities, others))
    return bool(mine and theirs and not mine & theirs)


def _local(text: str) -> str:
    """Return the part of an address before the @, or the whole of another identity."""
    return key(text).partition("@")[0]


@lru_cache(_MOST_CACHED)
def name_keys(text: str) -> frozenset[str]:
    """Return the forms of a person's name that are equal for all ways to write it: "Doe, Jane", "Jane Doe", "doejane"."""
    parts = words(text)
    if len(parts) > MOST_WORDS:
        return frozenset({"".join(parts)})
    return frozenset("".join(parts[start:] + parts[:start]) for start in range(len(parts)))


def grouped(text: str) -> set[str]:
    """Return the forms of the names that a person may have if the name of a group and a hyphen stand before it."""
    return {name for at, char in enumerate(text) if char == "-" for name in name_keys(text[at + 1 :])}


def words(text: str) -> list[str]:
    """Return the words of a name without case and accents. In writings without accents a mark is a part of the word, as a vowel in Hindi is."""
    characters = []
    base = ""
    for char in unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold()):
        kind = unicodedata.category(char)
        if kind[0] == "M":
            characters.append("" if base.startswith(_ACCENTED) else char)
        elif kind != "Cf":
            base = unicodedata.name(char, "")
            characters.append(char if kind[0] in "LN" else " ")
    return "".join(characters).split()


#: Writings in whose names people leave out accents.
_ACCENTED = ("LATIN", "GREEK", "CYRILLIC")
