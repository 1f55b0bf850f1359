"""Decides whose each submission is. A clash is an error that names both submissions: no mark is moved by a guess.

A person is known by what the platform vouches for: the student id, else the whole e-mail address, or the platform's number. So two student ids
with one address are two persons. People choose their own names, so a name alone never makes one submission the next attempt of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from referee.errors import UsageError
from referee.handins import roster
from referee.handins.names import key, stem
from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.handins.layouts import Found
    from referee.handins.roster import Row

#: A sentence names no more files or students than this.
MOST_NAMED = 5
_REMEDY = (
    "Nothing was graded or changed. Take out the wrong submission, or name the right one on the roster: by the student id or the whole address, by "
    "the platform's number, or by its name in a column 'submission'."
)


class Known(Protocol):
    """A submission of an earlier run, as the grading notes it: its student, its own name, its person and the person's identities, escaped."""

    @property
    def student(self) -> str: ...  # noqa: D102 - told above
    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def person(self) -> str: ...  # noqa: D102
    @property
    def identities(self) -> tuple[str, ...]: ...  # noqa: D102


class Claim(NamedTuple):
    """A row of the result: a submission and a student, or one of them.

    ``student`` is the name of a student who is known, else "". ``reason`` says why the submission isn't graded, ``note`` is a remark about one
    that is.
    """

    found: Found | None
    student: str = ""
    row: Row | None = None
    reason: str = ""
    note: str = ""


def is_known(name: str, rows: Sequence[Row], known: Sequence[Known]) -> bool:
    """True if a file or folder has the name of a student on the roster, or of one of an earlier run."""
    texts = {key(name), key(stem(name))}
    return any(texts & {key(text) for text in (row.student, row.submission, *row.identities)} for row in rows) or any(
        key(submission.student) in texts or submission.person in {f"name {text}" for text in texts} for submission in known
    )


def claims(found: Sequence[Found], rows: Sequence[Row] | None, known: Sequence[Known]) -> list[Claim]:
    """Return one row for each student, those on the roster first, then one for each submission of anybody else.

    ``known`` are the submissions of earlier runs. UsageError for two submissions of one student that aren't attempts of the same person, and
    for one in place of another person's.
    """
    clashes: list[str] = []
    made: list[Claim] = []
    others = [Claim(item) for item in found]
    owned: list[Claim] = []
    strangers = known
    if rows is not None:
        _check_names(rows, known)
        made, others, owned = _on_roster(found, rows, known, clashes)
        students = {row.student for row in rows}
        strangers = [submission for submission in known if submission.student not in students]
    groups: dict[str, list[Claim]] = {}
    for claim in others:
        student = _student(claim, strangers, clashes)
        groups.setdefault(student or _own(claim).student, []).append(claim._replace(student=student))
        owned.append(claim._replace(student=student or _own(claim).student))
    clashes += _shared(owned, known)
    for student, group in groups.items():
        chosen, note = _last([_own(claim) for claim in group], student, clashes)
        made.append(next(claim for claim in group if claim.found is chosen)._replace(note=group[0].note or note))
    if clashes:
        more = f" There are {len(clashes) - MOST_NAMED} more such students." if len(clashes) > MOST_NAMED else ""
        raise UsageError(f"{' '.join(clashes[:MOST_NAMED])}{more} {_REMEDY}")
    return made


def _check_names(rows: Sequence[Row], known: Sequence[Known]) -> None:
    """Raise UsageError if the roster gives another name to a student of an earlier run, who would be another student without the marks."""
    on_roster, begun = {row.student for row in rows}, {submission.student for submission in known}
    for old in known:
        if old.name and old.student not in on_roster and (tokens := _tokens(old)):
            texts = {token.partition(" ")[2] for token in tokens}
            row = next((row for row in rows if row.student not in begun and texts & {escape(text) for text in roster.keys(row)}), None)
            if row is not None:
                name = old.student
                raise UsageError(
                    f"The student '{row.student}' on the roster is the student '{name}' of an earlier run ({old.person}), "
                    f"who has the marks. Nothing was graded or changed. Write '{name}' into the column 'student' of line {row.line}, or name another folder with --out."
                )


def _tokens(old: Known) -> tuple[str, ...]:
    """Return the person and the addresses of a submission of an earlier run, if a platform knows them."""
    if not old.person or old.person.startswith(("name ", "submission ")):
        return ()
    return old.person, *(f"mail {escape(key(text))}" for text in old.identities if "@" in text)


def _shared(owned: Sequence[Claim], known: Sequence[Known]) -> list[str]:
    """Return a sentence for each person and each address that submissions of two students have.

    What the roster names in the row of a student belongs to that student, whatever an earlier run found.
    """
    before: dict[str, tuple[str, str]] = {}
    for old in known:
        shown = f"the submission '{old.name}' ({old.person}) of an earlier run"
        for token in _tokens(old) if old.name else ():
            before.setdefault(token, (old.student, shown))
    now: dict[str, tuple[str, str]] = {}
    clashes: dict[tuple[str, str], str] = {}
    for claim in owned:
        item, row = _own(claim), claim.row
        if item.is_named_by_grader or (row is not None and roster.is_file_of(item, row)):
            continue
        mine = claim.student, f"the submission '{item.name}' ({_who(item)})"
        for token in dict.fromkeys((escape(item.person), *(f"mail {escape(address)}" for address in item.addresses))):
            kind, _, text = token.partition(" ")
            is_settled = row is not None and text in roster.keys(row)
            other = now.get(token) or (None if is_settled else before.get(token))
            now.setdefault(token, mine)
            if other is not None and other[0] != mine[0]:
                what = {"id": "student id", "mail": "address"}.get(kind, "number")
                students = f"'{other[0]}' and '{mine[0]}'"
                text = f"T{mine[1][1:]} has the {what} of {other[1]}, but they are of different students: {students}."
                clashes.setdefault((other[1], mine[1]), text)
    return list(clashes.values())


def _own(claim: Claim) -> Found:
    assert claim.found is not None, "it was made of a submission"
    return claim.found


def _on_roster(
    found: Sequence[Found], rows: Sequence[Row], known: Sequence[Known], clashes: list[str]
) -> tuple[list[Claim], list[Claim], list[Claim]]:
    """Return a claim for each student on the roster, those of submissions that belong to none of them, and one for each other submission.

    Once the roster has an id, an address or a number of one submission of a platform, the names of persons on it decide nothing.
    """
    has_identities = any(roster.sure(item, rows) for item in found if not item.is_named_by_grader)
    groups: dict[int, list[Found]] = {}
    possible: dict[int, list[Found]] = {}
    others: list[Claim] = []
    owned: list[Claim] = []
    for item in found:
        if text := roster.contradiction(item, rows):
            clashes.append(f"{_the_submission(item)} ({_who(item)}) {text}")
            continue
        match = roster.find(item, rows, by_name=item.is_named_by_grader or not has_identities)
        if match.row is not None:
            groups.setdefault(match.row.line, []).append(item)
            owned.append(Claim(item, match.row.student, match.row))
        elif match.rows:
            for row in match.rows:
                possible.setdefault(row.line, []).append(item)
            students = listed([row.student for row in match.rows])
            reason = (
                f"{_the_submission(item)} could belong to several students on the roster: {students}; name it in a column 'submission'."
            )
            others.append(Claim(item, reason=reason))
        else:
            others.append(Claim(item, note=_outsider(item, rows)))
    made = []
    for row in rows:
        if row.line in groups:
            made.append(_of_row(groups[row.line], row, known, clashes))
        elif row.line in possible:
            names = listed([item.name for item in possible[row.line]])
            made.append(Claim(None, row.student, row, f"No submission surely belongs to this student; it could be {names}."))
        else:
            made.append(Claim(None, row.student, row, "Nothing was submitted."))
    return made, others, owned


def _of_row(group: Sequence[Found], row: Row, known: Sequence[Known], clashes: list[str]) -> Claim:
    is_sure = all(roster.names(row, item) for item in group)
    chosen, note = _last(group, row.student, clashes, is_sure=is_sure)
    before = next((each for each in known if each.student == row.student), None)
    if before is not None and before.name and not is_sure and not _is_same_person(chosen, before):
        clashes.append(
            f"{_the_submission(chosen)} ({_who(chosen)}) is of another person than the submission '{before.name}' "
            f"({before.person}) of the student '{row.student}', which it would replace."
        )
    return Claim(chosen, row.student, row, note=note)


def _is_same_person(item: Found, before: Known) -> bool:
    """False if a platform vouches for another person than before. Earlier versions noted no persons."""
    if item.is_named_by_grader or not before.person or before.person.startswith("name "):
        return True
    return escape(item.person) == before.person


def _outsider(item: Found, rows: Sequence[Row]) -> str:
    text = f"{_the_submission(item)} belongs to nobody on the roster."
    alike = () if item.is_named_by_grader else roster.namesakes(item, rows)
    if not alike:
        return text
    shown = " and ".join(f"'{row.student}' ({', '.join(row.identities[:3])})" for row in alike[:MOST_NAMED])
    return f"{text} It is by {_who(item)}, whose name is that of {shown} there, but the id, address or number is another one."


def _last(group: Sequence[Found], student: str, clashes: list[str], *, is_sure: bool = False) -> tuple[Found, str]:
    """Return the last attempt of a person, and a remark if its attempts have different addresses. Several submissions of others are a clash."""
    if len(group) == 1:
        return group[0], ""
    attempts = [item.attempt for item in group]
    persons = {item.person for item in group}
    if (is_sure or len(persons) == 1) and None not in attempts and len(set(attempts)) == len(attempts):
        addresses = list(dict.fromkeys(text for item in group for text in item.identities if "@" in text))
        note = f"The submissions of this student have different addresses: {listed(addresses)}." if len(addresses) > 1 else ""
        return max(group, key=lambda item: item.attempt or ("", 0)), note
    if len(persons) == 1 or all(item.is_named_by_grader for item in group):
        names = listed([item.name for item in group])
        clashes.append(f"There are {len(group)} submissions of the same student, '{student}': {names}; keep one.")
    else:
        names = " and ".join(f"'{item.name}' ({_who(item)})" for item in group[:MOST_NAMED])
        clashes.append(f"The submissions {names} claim to be of the same student, '{student}', but are of different persons.")
    return group[0], ""


def _student(claim: Claim, known: Sequence[Known], clashes: list[str]) -> str:
    """Return the student of an earlier run to whom a submission belongs, else "". A student of the same name may be another person."""
    item = _own(claim)
    for submission in known:
        if item.person and submission.person == escape(item.person):
            return submission.student
    same = next((submission for submission in known if submission.student == item.student), None)
    if same is None:
        return ""
    is_vouched = not item.person.startswith("submission ")
    if same.person and not (is_vouched and item.is_named_by_grader != same.person.startswith("name ")):
        clashes.append(
            f"{_the_submission(item)} ({_who(item)}) has the name of the student '{same.student}', whose submission "
            f"'{same.name}' is of another person ({same.person})."
        )
    return same.student


def _who(item: Found) -> str:
    address = next((text for text in item.identities if "@" in text), "")
    return ", ".join(dict.fromkeys(text for text in (item.person.removeprefix("mail "), key(address)) if text))


def _the_submission(found: Found) -> str:
    return f"The submission '{found.name}'"


def listed(names: Sequence[str]) -> str:
    """Return the first names in quotes, for a sentence."""
    shown = [f"'{name}'" for name in names[:MOST_NAMED]]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    words = shown + more
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "nothing"
