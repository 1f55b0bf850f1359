"""Decides whose each hand-in is. A clash is an error that names both hand-ins: no mark is moved by a guess.

With a roster, a person is a row of it; without one, the name of the hand-in in its layout. An account is what a platform vouches for: the
student id with the whole address, or the platform's number. Of the hand-ins of one account the last counts. People choose their own names, so
a name is not enough to identify a person if the platform gives an id or an address: such a hand-in is listed and left out.

"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.handins import roster
from referee.handins.gradescope import UNREADABLE
from referee.handins.names import key, stem
from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.handins.layouts import DownloadedHandIn
    from referee.handins.roster import RosterRow
    from referee.handins.values import HandIn

#: A sentence names no more files or students than this.
MOST_NAMED = 5
_REMEDY = (
    "Nothing was graded or changed. Take out the wrong hand-in, or name the right one on the roster: by the student id or the whole address, by "
    "the platform's number beside the name, by its name in a column 'submission', or, for a team, by the team's name in a column 'team'."
)


class Attribution(NamedTuple):
    """A row of the result: a hand-in and a student, or one of them.

    ``student`` is the name of a student who is known, else "". ``reason`` says why the hand-in isn't graded, ``note`` is a remark about one
    that is.
    """

    hand_in: DownloadedHandIn | None
    student: str = ""
    row: RosterRow | None = None
    reason: str = ""
    note: str = ""


def is_known(name: str, rows: Sequence[RosterRow], earlier: Sequence[HandIn]) -> bool:
    """True if a file or folder has the name of a student on the roster, or of one of an earlier run."""
    texts = {key(name), key(stem(name))}
    return any(texts & {key(text) for text in (row.student, row.hand_in, *row.identities)} for row in rows) or any(
        key(hand_in.student) in texts or hand_in.person in {f"name {text}" for text in texts} for hand_in in earlier
    )


def attributions(hand_ins: Sequence[DownloadedHandIn], rows: Sequence[RosterRow] | None, earlier: Sequence[HandIn]) -> list[Attribution]:
    """Return one row for each student, those on the roster first, then one for each hand-in of anybody else.

    ``earlier`` are the hand-ins of earlier runs. UsageError for two hand-ins of one student that aren't attempts of the same account, for
    two accounts with one id or address, for one that could be a person's or a team's, and for one in place of another person's.
    """
    clashes: list[str] = []
    made: list[Attribution] = []
    hand_ins = _latest(hand_ins, clashes)
    teams = {old.person for old in earlier if old.person.startswith("team ")}
    others = [Attribution(_as_team(item) if f"team {escape(item.person)}" in teams else item) for item in hand_ins]
    owned: list[Attribution] = []
    strangers = earlier
    if rows is not None:
        _check_names(rows, earlier)
        made, others, owned = _on_roster(hand_ins, rows, earlier, clashes)
        students = {row.student for row in rows}
        strangers = [hand_in for hand_in in earlier if hand_in.student not in students]
    groups: dict[str, list[Attribution]] = {}
    for attribution in others:
        for student in _students(attribution, strangers, clashes):
            groups.setdefault(student or _hand_in_of(attribution).student, []).append(attribution._replace(student=student))
            owned.append(attribution._replace(student=student or _hand_in_of(attribution).student))
    clashes += _shared(owned, earlier)
    for student, group in groups.items():
        chosen = _only([_hand_in_of(attribution) for attribution in group], student, clashes)
        made.append(next(attribution for attribution in group if attribution.hand_in is chosen)._replace(note=group[0].note))
    if clashes:
        more = f" There are {len(clashes) - MOST_NAMED} more such students." if len(clashes) > MOST_NAMED else ""
        raise UsageError(f"{' '.join(clashes[:MOST_NAMED])}{more} {_REMEDY}")
    return made


def _no_match_sentence(hand_ins: Sequence[DownloadedHandIn], rows: Sequence[RosterRow]) -> str:
    """Return the sentence for a roster that fits no hand-in: it may be that of another class, or the hand-ins may be those of teams."""
    named = listed([item.full_name or item.student for item in hand_ins])
    zeros = next((pair for item in hand_ins if (pair := roster.with_other_zeros(item, rows))), None)
    hint = f"{_hint(zeros, ())} " if zeros else ""
    return (
        f"None of the {len(hand_ins)} hand-ins belongs surely to a student on the roster: it may be that of another class, it may lack the ids or "
        f"addresses by which the platform knows the students, or the hand-ins may be those of teams. They are by {named}. {hint}Without the roster, each "
        "is graded under its own name."
    )


def _latest(hand_ins: Sequence[DownloadedHandIn], clashes: list[str]) -> list[DownloadedHandIn]:
    """Return the last hand-in of each account, with the names of those that it replaces."""
    accounts: dict[tuple[str, ...], list[DownloadedHandIn]] = {}
    for item in hand_ins:
        account = (item.person, *item.addresses) if item.is_vouched else (item.person, item.name)
        accounts.setdefault(account, []).append(item)
    return [_last(group, clashes) for group in accounts.values()]


def _last(group: Sequence[DownloadedHandIn], clashes: list[str]) -> DownloadedHandIn:
    attempts = [item.attempt for item in group if item.attempt is not None]
    if len(group) == 1 or len(attempts) < len(group):
        return group[0]
    clocks = {attempt.clock for attempt in attempts}
    if UNREADABLE in clocks or len(clocks) > 1:
        times = " and ".join(f"'{item.name}' ({item.attempt.time_text or 'no time'})" for item in group if item.attempt is not None)
        clashes.append(f"The times of the hand-ins {times} of '{group[0].student}' can't be compared, so none is the last.")
    *earlier, last = sorted(group, key=lambda item: attempts[group.index(item)])
    return last._replace(replaced=tuple(dict.fromkeys(item.name for item in earlier if item.name != last.name)))


def _check_names(rows: Sequence[RosterRow], earlier: Sequence[HandIn]) -> None:
    """Raise UsageError if the roster gives another name to a student of an earlier run, who would be another student without the marks."""
    on_roster, begun = {row.student for row in rows}, {hand_in.student for hand_in in earlier}
    for old in earlier:
        if old.name and old.student not in on_roster and (tokens := _tokens(old)):
            texts = {token.partition(" ")[2] for token in tokens}
            row = next((row for row in rows if row.student not in begun and texts & {escape(text) for text in roster.keys(row)}), None)
            if row is not None:
                name = old.student
                raise UsageError(
                    f"The student '{row.student}' on the roster is the student '{name}' of an earlier run ({old.person}), "
                    f"who has the marks. Nothing was graded or changed. Write '{name}' into the column 'student' of line {row.line}, or name another folder with --out."
                )


def _tokens(old: HandIn) -> tuple[str, ...]:
    """Return the person and the addresses of a hand-in of an earlier run, if a platform knows them."""
    if not old.person or old.person.startswith(("name ", "hand-in ", "team ")):
        return ()
    return old.person, *(f"mail {escape(key(text))}" for text in old.identities if "@" in text)


def _shared(owned: Sequence[Attribution], earlier: Sequence[HandIn]) -> list[str]:
    """Return a sentence for each id, number and address that two accounts, or hand-ins of two students, have.

    What the roster names in the row of a student belongs to that student, whatever an earlier run found.
    """
    before: dict[str, dict[str, str]] = {}
    for old in earlier:
        for token in _tokens(old) if old.name else ():
            before.setdefault(token, {})[old.student] = f"the hand-in '{old.name}' ({old.person}) of an earlier run"
    now: dict[str, tuple[Attribution, str]] = {}
    clashes: dict[tuple[str, str], str] = {}
    for attribution in owned:
        item, row = _hand_in_of(attribution), attribution.row
        if item.is_named_by_grader or item.person.startswith("team ") or (row is not None and roster.is_file_of(item, row)):
            continue
        label = f"the hand-in '{item.name}' ({_identity(item)})"
        for token in dict.fromkeys((escape(item.person), *(f"mail {escape(address)}" for address in item.addresses))):
            kind, _, text = token.partition(" ")
            what = {"id": "student id", "mail": "address"}.get(kind, "number")
            other = now.setdefault(token, (attribution, label))
            if _hand_in_of(other[0]) is not item and not (
                row is not None and other[0].row is row and _is_settled(row, (item, _hand_in_of(other[0])))
            ):
                text = f"T{label[1:]} has the {what} of {other[1]}, but they are of different accounts"
                students = (
                    "" if other[0].student == attribution.student else f" and students: '{other[0].student}' and '{attribution.student}'"
                )
                clashes.setdefault((other[1], label), f"{text}{students}.")
            owners = before.get(token, {})
            if owners and attribution.student not in owners and not (row is not None and text in roster.keys(row)):
                student, old_label = next(iter(owners.items()))
                text = f"T{label[1:]} has the {what} of {old_label}, but they are of different students: '{student}' and '{attribution.student}'."
                clashes.setdefault((old_label, label), text)
    return list(clashes.values())


def _is_settled(row: RosterRow, items: Sequence[DownloadedHandIn]) -> bool:
    """True if the roster names in one row all that the platform says of these accounts: then they are one person's."""
    return all(roster.owns(row, item) for item in items)


def _hand_in_of(attribution: Attribution) -> DownloadedHandIn:
    assert attribution.hand_in is not None, "it was made of a hand-in"
    return attribution.hand_in


class _Facts(NamedTuple):
    """The facts that follow from all hand-ins of a download together.

    ``are_numbers``: the roster has numbers of the platform. ``is_open``: it has no number, id or address of any hand-in, so that names count.
    ``is_vouched``: the platform gives ids or addresses; ``has_one_domain``: the addresses end alike. ``are_teams``: teams handed in.
    """

    are_numbers: bool
    is_open: bool
    is_vouched: bool
    has_one_domain: bool
    are_teams: bool


def _facts(hand_ins: Sequence[DownloadedHandIn], rows: Sequence[RosterRow]) -> _Facts:
    numbered = [item for item in hand_ins if item.number]
    # A number that only counts a row may be right by chance.
    owners = {
        item: [row for row in roster.sure(item, rows) if item.number in row.numbers or item.number not in roster.keys(row)]
        for item in numbered
    }
    are_named = [any(roster.is_named(item, row) for row in owner_rows) for item, owner_rows in owners.items() if owner_rows]
    are_numbers = any(are_named) and sum(are_named) * 2 >= len(are_named)
    is_vouched = any(item.is_vouched for item in hand_ins)
    return _Facts(
        are_numbers,
        not are_numbers and not any(item.is_vouched and roster.sure(item, rows) for item in hand_ins),
        is_vouched,
        len({address.partition("@")[2] for item in hand_ins for address in item.addresses}) < 2,
        any(roster.members(item, rows) for item in numbered),
    )


def _on_roster(
    hand_ins: Sequence[DownloadedHandIn], rows: Sequence[RosterRow], earlier: Sequence[HandIn], clashes: list[str]
) -> tuple[list[Attribution], list[Attribution], list[Attribution]]:
    """Return an attribution for each student on the roster, and one for each other hand-in."""
    hand_ins = _without_groups(hand_ins, rows)
    facts = _facts(hand_ins, rows)
    is_anybodys = False
    groups: dict[int, list[DownloadedHandIn]] = {}
    possible: dict[int, list[DownloadedHandIn]] = {}
    others: list[Attribution] = []
    owned: list[Attribution] = []
    for item in hand_ins:
        team = roster.members(item, rows) if not item.is_vouched else ()
        if text := _doubt(item, team, rows, facts):
            clashes.append(f"{_the_hand_in(item)} ({_identity(item)}) {text}")
            continue
        candidates = _candidates(item, rows, facts, earlier)
        students = team or (candidates if len(candidates) == 1 else ())
        mine = _as_team(item) if team else item
        for row in students:
            groups.setdefault(row.line, []).append(mine)
            owned.append(Attribution(mine, row.student, row))
        if not students:
            alike = candidates or (() if item.is_named_by_grader else roster.namesakes(item, rows))
            zeros = roster.with_other_zeros(item, rows)
            grouped = [row for row in rows if item.number and not alike and roster.is_named(item, row)]
            for row in (*alike, *grouped, *([zeros[2]] if zeros and zeros[2] not in alike else ())):
                possible.setdefault(row.line, []).append(item)
            others.append(_outsider(item, candidates, alike, _hint(zeros, grouped)))
            is_anybodys |= bool(candidates)
    if not is_anybodys and not groups and not earlier and not clashes and len(hand_ins) > 1:
        clashes.append(_no_match_sentence(hand_ins, rows))
    made = []
    for row in rows:
        if row.line in groups:
            made.append(_of_row(groups[row.line], row, earlier, clashes))
        elif row.line in possible:
            names = listed([item.name for item in possible[row.line]])
            made.append(Attribution(None, row.student, row, f"No hand-in surely belongs to this student; it could be {names}."))
        else:
            made.append(Attribution(None, row.student, row, "Nothing was submitted."))
    return made, others, owned


def _as_team(item: DownloadedHandIn) -> DownloadedHandIn:
    """Return the hand-in of a team, whose number identifies none of its members."""
    return item._replace(identities=(), person=f"team {item.person}")


def _without_groups(hand_ins: Sequence[DownloadedHandIn], rows: Sequence[RosterRow]) -> list[DownloadedHandIn]:
    """Return the hand-ins with the names of the students without that of a group, which Moodle may write before them: "Lab 2-Kim Lee".

    What several names begin with, up to a hyphen, is a group, unless one of these is on the roster as it stands: names have hyphens, too.
    """
    full_names = {id(item): item.full_name for item in hand_ins if item.number and not roster.members(item, rows)}
    begins = Counter(name[: at + 1] for name in full_names.values() for at, char in enumerate(name) if char == "-")
    names = {name for item in hand_ins if id(item) in full_names and roster.namesakes(item, rows) for name in [item.full_name]}
    roster_names = {key(text) for row in rows for text in (row.team, *row.identities)}
    groups = {
        begin
        for begin, count in begins.items()
        if (count > 1 or key(begin[:-1]) in roster_names) and not any(name.startswith(begin) for name in names)
    }
    return [
        item._replace(people=tuple(dict.fromkeys((*item.people, *(full_names[id(item)].removeprefix(group) for group in groups)))))
        if id(item) in full_names
        else item
        for item in hand_ins
    ]


def _candidates(item: DownloadedHandIn, rows: Sequence[RosterRow], facts: _Facts, earlier: Sequence[HandIn]) -> tuple[RosterRow, ...]:
    """Return the students to whom a hand-in may belong. Names count only where nothing surer is known.

    A person of an earlier run stays the same student, unless the roster has another address by now.
    """
    if item.is_named_by_grader:
        return roster.find(item, rows)
    students = {old.student for old in earlier if item.person and old.person == escape(item.person)}
    is_open = facts.is_open and not students
    by_account = is_open and (facts.has_one_domain or not item.is_vouched)
    candidates = roster.find(item, rows, by_name=is_open and not facts.is_vouched, by_account=by_account)
    same = next((row for row in rows if row.student in students and not roster.differ(item.identities, row.identities)), None)
    return candidates if len(candidates) == 1 or same is None else (same,)


def _doubt(item: DownloadedHandIn, team: Sequence[RosterRow], rows: Sequence[RosterRow], facts: _Facts) -> str:
    """Return why it isn't certain whose a hand-in is, so that the class has to stop, as a verb phrase; else ""."""
    if any(roster.is_file_of(item, row) for row in rows):
        return ""
    # A class of Moodle hands in by teams or by students, one of Canvas in both ways.
    if team or (facts.are_teams and item.person.startswith("moodle ")):
        return _unclear_team(item, team, rows)
    return roster.contradiction(item, rows) or _unclear_number(item, rows, facts)


def _unclear_number(item: DownloadedHandIn, rows: Sequence[RosterRow], facts: _Facts) -> str:
    """Return what is wrong if the number of a hand-in is that of a student with another name, as a verb phrase; else "".

    The name of another student counts only if the number can't be one of the platform: it counts the rows, or several students have it. Numbers that
    all belong to others aren't of another kind for that: two students may have swapped their names.
    """
    number = item.number
    numbered = [row for row in rows if number and (number in roster.keys(row) or number in row.numbers)]
    alike = roster.namesakes(item, rows)
    if not numbered or any(roster.is_named(item, row) for row in numbered):
        return ""
    owner = next((row for row in numbered if number in row.numbers), None)
    if alike and owner is None and not facts.are_numbers:
        return ""
    owner = owner or numbered[0]
    name = f"'{item.people[0]:.80}'" if item.people else "none"
    other = f"the student '{alike[0].student}'" if alike else "a team"
    return (
        f"could be that of the student '{owner.student}', by the number {number}, or that of {other}, by the name {name}. If the {number} in line "
        f"{owner.line} of the roster is no number of the platform, leave its column out."
    )


def _unclear_team(item: DownloadedHandIn, team: Sequence[RosterRow], rows: Sequence[RosterRow]) -> str:
    """Return what is wrong with a hand-in in a class of teams, as a verb phrase; "" if it is a team's and no student has its name."""
    alike = [row for row in roster.namesakes(item, rows) if row not in team]
    name = item.people[0] if item.people else ""
    if len({key(row.team) for row in team}) > 1:
        return f"could be that of several teams on the roster: {listed(sorted({row.team for row in team}))}."
    if alike:
        return f"could be that of the student '{alike[0].student}', or that of a team called '{name:.80}'."
    return "" if team else f"is in a download of teams, but no student on the roster has the team '{name:.80}'."


def _of_row(group: Sequence[DownloadedHandIn], row: RosterRow, earlier: Sequence[HandIn], clashes: list[str]) -> Attribution:
    is_sure = all(roster.names(row, item) for item in group)
    is_one = _is_settled(row, group) and all(item.attempt is not None for item in group)
    chosen = _last(group, clashes) if is_one else _only(group, row.student, clashes)
    before = next((each for each in earlier if each.student == row.student), None)
    if before is not None and before.name and not is_sure and not _is_same_person(chosen, before):
        clashes.append(
            f"{_the_hand_in(chosen)} ({_identity(chosen)}) is of another person than the hand-in '{before.name}' "
            f"({before.person}) of the student '{row.student}', which it would replace."
        )
    return Attribution(chosen, row.student, row)


def _is_same_person(item: DownloadedHandIn, before: HandIn) -> bool:
    """False if a platform vouches for another person than before."""
    if item.is_named_by_grader or not before.person or before.person.startswith("name "):
        return True
    return escape(item.person) == before.person


def _hint(zeros: tuple[str, str, RosterRow] | None, grouped: Sequence[RosterRow]) -> str:
    """Return whose a hand-in could be that belongs to nobody: by an id with other zeros, or by a name after that of a group."""
    if zeros is not None:
        own, text, row = zeros
        return f"Line {row.line} of the roster has {text:.60} for {own:.60}: a spreadsheet drops or adds such zeros, so make the column one of text."
    if not grouped:
        return ""
    return f"If its name begins with that of a group, it could be that of {listed([row.student for row in grouped])}: name it in a column 'submission'."


def _outsider(item: DownloadedHandIn, several: Sequence[RosterRow], alike: Sequence[RosterRow], hint: str) -> Attribution:
    """Return the attribution of a hand-in that belongs to nobody on the roster, or that could belong to several students there.

    It is left out if it has the name of somebody there.
    """
    if several:
        students = listed([row.student for row in several])
        return Attribution(
            item,
            reason=f"{_the_hand_in(item)} could belong to several students on the roster: {students}; name it in a column 'submission'.",
        )
    text = " ".join(part for part in (f"{_the_hand_in(item)} belongs to nobody on the roster.", hint) if part)
    if not alike:
        return Attribution(item, note=text)
    namesakes = " and ".join(f"'{row.student}' ({', '.join(row.identities[:3])})" for row in alike[:MOST_NAMED])
    reason = f"{text} It is left out. It is by {_identity(item)}, whose name is that of {namesakes} there, but the roster has no such id, address or number."
    return Attribution(item, reason=reason)


def _only(group: Sequence[DownloadedHandIn], student: str, clashes: list[str]) -> DownloadedHandIn:
    """Return the hand-in of a student; several are a clash."""
    if len(group) > 1:
        persons = {item.person for item in group}
        if len(persons) == 1 or all(item.is_named_by_grader for item in group):
            names = listed([item.name for item in group])
            clashes.append(f"There are {len(group)} hand-ins of the same student, '{student}': {names}; keep one.")
        else:
            names = " and ".join(f"'{item.name}' ({_identity(item)})" for item in group[:MOST_NAMED])
            clashes.append(f"The hand-ins {names} claim to be of the same student, '{student}', but are of different persons.")
    return group[0]


def _students(attribution: Attribution, earlier: Sequence[HandIn], clashes: list[str]) -> list[str]:
    """Return the students of an earlier run to whom a hand-in belongs, else [""]. A student of the same name may be another person."""
    item = _hand_in_of(attribution)
    if students := [hand_in.student for hand_in in earlier if item.person and hand_in.person == escape(item.person)]:
        return students
    same = next((hand_in for hand_in in earlier if hand_in.student == item.student), None)
    if same is None:
        return [""]
    is_vouched = not item.person.startswith("hand-in ")
    if same.person and not (is_vouched and item.is_named_by_grader != same.person.startswith("name ")):
        clashes.append(
            f"{_the_hand_in(item)} ({_identity(item)}) has the name of the student '{same.student}', whose hand-in "
            f"'{same.name}' is of another person ({same.person})."
        )
    return [same.student]


def _identity(item: DownloadedHandIn) -> str:
    address = next((text for text in item.identities if "@" in text), "")
    return ", ".join(dict.fromkeys(text for text in (item.person.removeprefix("mail "), key(address)) if text))


def _the_hand_in(hand_in: DownloadedHandIn) -> str:
    return f"The hand-in '{hand_in.name}'"


def listed(names: Sequence[str]) -> str:
    """Return the first names in quotes, for a sentence."""
    quoted = [f"'{name}'" for name in names[:MOST_NAMED]]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    words = quoted + more
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "nothing"
