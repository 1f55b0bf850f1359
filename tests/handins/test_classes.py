"""Classes as the platforms lay them out: who gets whose hand-in, for honest students, hostile ones and tired teachers."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hostile_archives import laid_out

from referee.errors import UsageError
from referee.handins.collect import collect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.handins.values import HandIn


def moodle(folder: Path, *names: str) -> Path:
    return laid_out(folder, *(f"{name}_assignsubmission_file_/" for name in names))


def gradescope(folder: Path, *hand_ins: tuple[int, str, str]) -> Path:
    """An export: (number of the hand-in, its time as YAML, its submitters as YAML mappings)."""
    text = ""
    for number, time, people in hand_ins:
        laid_out(folder, f"submission_{number}/")
        text += f"submission_{number}:\n  :submitters:\n  - {people}\n" + (f"  :created_at: {time}\n" if time else "")
    (folder / "submission_metadata.yml").write_text(text)
    return folder


def graded(source: Path, *lines: str, known: Sequence[HandIn] = (), roster: bytes | None = None) -> dict[str, HandIn]:
    """The class's hand-ins by student."""
    path = source.parent / "roster.csv"
    path.write_bytes(roster or ("\n".join(lines) + "\n").encode())
    found = collect(source, source.parent / "out", ("hunter",), path if lines or roster else None, earlier=known)
    return {each.student: each for each in found}


def names(found: Mapping[str, HandIn]) -> dict[str, str]:
    """The number of each student's hand-in in Moodle, "" if nothing is graded."""
    return {
        student: each.name.rpartition("_assign")[0].rpartition("_")[2] if each.status == "ok" else "" for student, each in found.items()
    }


TIMES = {
    "winter time": ("2026-11-01 01:50:00.000000000 -07:00", "2026-11-01 01:10:00.000000000 -08:00"),
    "quoted ISO": ("'2026-11-01T01:50:00.000-07:00'", "'2026-11-01T01:10:00.000-08:00'"),
    "ISO and Ruby": ("'2026-11-01T09:00:00Z'", "2026-11-01 01:10:00 -08:00"),
    "mixed offsets": ("2026-10-01 23:00:00 +05:30", "2026-10-01 18:00:00 +00:00"),
    "no colon": ("2026-10-01 23:00:00 +0530", "2026-10-01 18:00:00 UTC"),
    "nanoseconds": ("2026-10-01 18:00:00.000000001 Z", "2026-10-01 18:00:00.000000002 Z"),
    "a mapping": ("{utc: 2026-11-01 08:50:00 Z, time: 2026-11-01 01:50:00 -07:00}", "2026-11-01 01:10:00 -08:00"),
    "without zone": ("2026-10-01 17:59:59", "2026-10-01 18:00:00"),
}


@pytest.mark.parametrize("case", TIMES)
def test_the_last_attempt_is_that_of_the_last_instant(case: str, tmp_path: Path) -> None:
    ada = """{":name": Ada, ":sid": 0101, ":email": ada@u.example}"""
    earlier, later = TIMES[case]
    found = graded(gradescope(tmp_path / "class", (9, earlier, ada), (5, later, ada)))
    assert (found["0101"].name, found["0101"].replaced) == ("submission_5", ("submission_9",))
    same = graded(gradescope(tmp_path / "same", (5, later, ada), (9, later, ada)))
    assert same["0101"].name == "submission_9"


@pytest.mark.parametrize(
    ("one", "other"),
    [("last Friday", "2026-10-01 18:00:00 Z"), ("", "2026-10-01 18:00:00 Z"), ("2026-10-01 18:00:00", "2026-10-01 18:00:00 Z")],
)
def test_times_that_can_not_be_compared_stop_the_class(one: str, other: str, tmp_path: Path) -> None:
    ada = """{":name": Ada, ":sid": '101'}"""
    with pytest.raises(UsageError, match=r"times of the hand-ins 'submission_1' .* can't be compared"):
        graded(gradescope(tmp_path / "class", (1, one, ada), (2, other, ada)))


def test_the_time_of_a_hand_in_is_kept(tmp_path: Path) -> None:
    source = gradescope(tmp_path / "class", (1, "2026-11-01 01:10:00.5 -08:00", """{":name": Ada, ":sid": '101'}"""))
    assert graded(source)["101"].late == "2026-11-01T01:10:00-08:00"
    found = graded(laid_out(tmp_path / "canvas", "doejane_LATE_7001_901_bot.py", "roejim_7002_902_bot.py"))
    assert [each.late for each in found.values()] == ["LATE", ""]
    sheet = (
        "Identifier,Full name,Email address,Status,Last modified (submission)",
        'Participant 12,Kim Lee,kim@u.example,Submitted,"Friday, 20 November 2026, 10:00 AM"',
    )
    assert graded(moodle(tmp_path / "moodle", "Kim Lee_12"), *sheet)["kim@u.example"].late == "Friday, 20 November 2026, 10:00 AM"


TEAM_ROSTER = (
    "student,name,id,team",
    "klee,Kim Lee,12,",
    "aruiz,Ana Ruiz,40,Team Rocket",
    "bli,Bo Li,13,Team Rocket",
    "cdo,Cy Do,14,Team Moon",
)


def test_a_team_hands_in_for_its_members(tmp_path: Path) -> None:
    source = moodle(tmp_path / "class", "Team Rocket_12", "Team Moon_13")
    found = graded(source, *TEAM_ROSTER)
    assert names(found) == {"klee": "", "aruiz": "12", "bli": "12", "cdo": "13"}
    assert found["klee"].status == "missing"
    # The number of the team identifies no participant, in no gradebook either.
    assert "12" not in found["aruiz"].identities
    # Later and without the roster, a team is the same team.
    assert names(graded(moodle(tmp_path / "late", "Team Rocket_12"), known=list(found.values()))) == {"aruiz": "12", "bli": "12"}
    # Somebody joins a team.
    joined = (*TEAM_ROSTER[:1], "klee,Kim Lee,12,Team Rocket", *TEAM_ROSTER[2:])
    assert names(graded(moodle(tmp_path / "joined", "Team Rocket_12"), *joined, known=list(found.values())))["klee"] == "12"
    canvas = laid_out(tmp_path / "canvas", "teamrocket_13_901_bot.py", "teammoon_14_902_bot.py", "leekim_12_903_bot.py")
    assert [each.name[:8] for each in graded(canvas, *TEAM_ROSTER).values()] == ["leekim_1", "teamrock", "teamrock", "teammoon"]
    assert [each.name for each in graded(laid_out(tmp_path / "plain", "Team Rocket.py"), *TEAM_ROSTER).values()] == [
        "",
        *["Team Rocket.py"] * 2,
        "",
    ]


NO_TEAMS = ("student,name,id", "klee,Kim Lee,12", "aruiz,Ana Ruiz,40", "bli,Bo Li,13")
#: What stops a class: the roster, the hand-ins, and what the sentence says.
STOPS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "a team's number": (NO_TEAMS, ("Team Rocket_12", "Team Moon_77"), "the student 'klee', by the number 12, or that of a team, by the name 'Team Rocket'"),
    "teams with other numbers": (NO_TEAMS, ("Team Rocket_77", "Team Moon_78"), "or the hand-ins may be those of teams. They are by 'Team Moon' and 'Team Rocket'"),
    "a name with another's number": (NO_TEAMS, ("Kim Lee_12", "Ana Ruiz_13"), "the student 'bli', by the number 13, or that of the student 'aruiz', by the name 'Ana Ruiz'"),
    "no names": (("student,id", "klee,12", "aruiz,40"), ("Team Rocket_12", "Team Moon_77"), "the student 'klee', by the number 12, or that of a team"),
    "a team with a student's name": ((*TEAM_ROSTER, "tr,Team Rocket,99,"), ("Team Rocket_12", "Team Moon_13"), "could be that of the student 'tr', or that of a team"),
    "a team that isn't on the roster": (TEAM_ROSTER, ("Team Rocket_12", "Team Sun_77"), "no student on the roster has the team 'Team Sun'"),
    "another class's roster": (("student,name", "x,Xi Xu", "y,Yo Yi"), ("Kim Lee_12", "Ana Ruiz_40"), "it may be that of another class"),
    "two of one name": (("student,name", "klee,Kim Lee", "x,X Y"), ("Kim Lee_12", "Kim Lee_40"), "are of different persons"),
}  # fmt: skip


@pytest.mark.parametrize("case", STOPS)
def test_both_readings_are_named(case: str, tmp_path: Path) -> None:
    lines, hand_ins, words = STOPS[case]
    with pytest.raises(UsageError) as caught:
        graded(moodle(tmp_path / "class", *hand_ins), *lines)
    assert words in str(caught.value)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("heading", ["nr", "No.", "#", ""])
@pytest.mark.parametrize("start", [0, 1])
def test_a_number_of_another_kind_is_nobodys(start: int, heading: str, tmp_path: Path) -> None:
    """The roster counts its rows, or several students have the number: so the names decide."""
    lines: tuple[str, ...] = (
        f"{heading},student,name",
        *(f"{start + at},{who}" for at, who in enumerate(("aruiz,Ana Ruiz", "klee,Kim Lee"))),
    )
    hand_ins = (f"Kim Lee_{start}", f"Ana Ruiz_{start + 1}")
    assert names(graded(moodle(tmp_path / "class", *hand_ins), *lines)) == {"aruiz": str(start + 1), "klee": str(start)}
    assert names(graded(moodle(tmp_path / "chance", f"Ana Ruiz_{start}", "Kim Lee_57"), *lines)) == {"aruiz": str(start), "klee": "57"}
    assert names(graded(moodle(tmp_path / "one", f"Kim Lee_{start}"), *lines)) == {"aruiz": "", "klee": str(start)}
    lines = ("student,name,section", "klee,Kim Lee,12", "bli,Bo Li,12", "aruiz,Ana Ruiz,13", "cy,Cy Fox,13")
    assert names(graded(moodle(tmp_path / "sections", "Kim Lee_13", "Ana Ruiz_12"), *lines)) == {
        "klee": "13",
        "bli": "",
        "aruiz": "12",
        "cy": "",
    }
    lines = ("student,name,room", "klee,Kim Lee,Room 12", "aruiz,Ana Ruiz,Room 12")
    assert names(graded(moodle(tmp_path / "room", "Ana Ruiz_7", "Guest_12"), *lines)) == {"klee": "", "aruiz": "7", "Guest-12": "12"}


#: Rosters with numbers that may be the platform's, and Kim's and Ana's.
NUMBERED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "a column": (("student,name,moodle", "klee,Kim Lee,1007", "aruiz,Ana Ruiz,1008"), "1007", "1008"),
    "no heading of a counter": (("student,name,participant", "klee,Kim Lee,1", "aruiz,Ana Ruiz,2"), "1", "2"),
    "a data frame's": (("student,name,moodle", "klee,Kim Lee,1007.0", "bli,Bo Li,", "aruiz,Ana Ruiz,1008.0"), "1007", "1008"),
    "no counter": (("nr,student,name", "12,klee,Kim Lee", "40,aruiz,Ana Ruiz"), "12", "40"),
    "a counter beside them": (("nr,student,name,moodle", "1,klee,Kim Lee,1", "2,aruiz,Ana Ruiz,2"), "1", "2"),
    "students": (("student,name", "1007,Kim Lee", "1008,Ana Ruiz"), "1007", "1008"),
    "more students": (("student,name,id", "klee,Kim Lee,7", "bli,Bo Li,8", "aruiz,Ana Ruiz,9", "x,X Y,10"), "7", "9"),
    "a worksheet": (("Identifier,Full name,Email address", "Participant 7,Kim Lee,k@u.example", "Participant 8,Ana Ruiz,a@u.example"), "7", "8"),
}  # fmt: skip


@pytest.mark.parametrize("case", NUMBERED)
@pytest.mark.parametrize("others", [(), ("Bo Li_77",), ("Bo Li_8",)])
def test_swapped_names_swap_no_hand_ins(others: tuple[str, ...], case: str, tmp_path: Path) -> None:
    """Students choose their names: two who swap them get a stop with both readings, not each other's marks."""
    lines, kims, anas = NUMBERED[case]
    sources = [moodle(tmp_path / "moodle", f"Kim Lee_{anas}", f"Ana Ruiz_{kims}", *others)]
    if case != "a worksheet":
        sources.append(laid_out(tmp_path / "canvas", f"leekim_{anas}_901_bot.py", f"ruizana_{kims}_902_bot.py"))
    for source in sources:
        with pytest.raises(UsageError, match=f"by the number {kims}, or that of the student '.*', by the name") as caught:
            graded(source, *lines)
        assert f"by the number {anas}, or that of the student" in str(caught.value)


def test_participants_without_names_are_known_by_their_numbers(tmp_path: Path) -> None:
    source = moodle(tmp_path / "class", "Participant_77", "Participant_78")
    assert names(graded(source, "student,moodle", "ada,Participant 78", "bob,Participant 77")) == {"ada": "78", "bob": "77"}


ANNA = "student,name", "anna,Anne-Marie Smith", "mary,Marie Smith", "kim,Kim Lee", "ana,Ana Ruiz"
GROUPS = {
    "a group": (("Lab 2-Kim Lee_12", "Lab 2-Ana Ruiz_40"), {"anna": "", "mary": "", "kim": "12", "ana": "40"}),
    "a group with a hyphen": (("Mon-Wed-Kim Lee_12", "Mon-Wed-Ana Ruiz_40"), {"anna": "", "mary": "", "kim": "12", "ana": "40"}),
    "a name with a hyphen": (("Anne-Marie Smith_7", "Kim Lee_12"), {"anna": "7", "mary": "", "kim": "12", "ana": ""}),
    "both": (("Lab-Anne-Marie Smith_7", "Lab-Kim Lee_12"), {"anna": "7", "mary": "", "kim": "12", "ana": ""}),
    "of each student": (("A-Kim Lee_12", "A-Marie Smith_7", "B-Ana Ruiz_40", "B-Anne-Marie Smith_8"), {"anna": "8", "mary": "7", "kim": "12", "ana": "40"}),
}  # fmt: skip


@pytest.mark.parametrize("case", GROUPS)
def test_a_group_may_stand_before_the_name_of_a_student(case: str, tmp_path: Path) -> None:
    hand_ins, expected = GROUPS[case]
    assert names(graded(moodle(tmp_path / "class", *hand_ins), *ANNA)) == expected


def test_the_roster_may_know_the_group(tmp_path: Path) -> None:
    lines = ("student,name,lab,team", "kim,Kim Lee,Lab 2,", "ana,Ana Ruiz,Lab 3,Team Moon")
    assert names(graded(moodle(tmp_path / "class", "Lab 2-Kim Lee_12", "Team Moon-Ana Ruiz_13"), *lines)) == {"kim": "12", "ana": "13"}


def test_a_worksheet_of_moodle_is_a_roster(tmp_path: Path) -> None:
    """Its grades and dates identify nobody."""
    head = "Identifier,Full name,Email address,Status,Grade,Maximum Grade"
    rows = ("Teilnehmer 12,Kim Lee,kim@u.example,Submitted,13,12", "Teilnehmer 13,Ana Ruiz,ana@u.example,Submitted,12,12")
    source = moodle(tmp_path / "class", "Kim Lee_12", "Ana Ruiz_13")
    assert names(graded(source, head, *rows)) == {"kim@u.example": "12", "ana@u.example": "13"}
    with pytest.raises(UsageError, match=r"could be that of the student 'kim@u.example', by the number 12, or that of a team"):
        graded(moodle(tmp_path / "teams", "Rocket_12", "Ana Ruiz_13"), head, *rows)


def test_a_part_of_a_name_is_nobody_else(tmp_path: Path) -> None:
    found = graded(moodle(tmp_path / "class", "Anne-Marie Smith_7", "Kim Lee_12"), *ANNA[:1], *ANNA[2:])
    assert names(found) == {"mary": "", "kim": "12", "ana": "", "Anne-Marie Smith-7": "7"}
    assert "it could be that of 'mary'" in found["Anne-Marie Smith-7"].reason


@pytest.mark.parametrize("others", [(), ("Kim Lee_12",)])
def test_the_only_hand_in_of_a_group_could_be_its_students(others: tuple[str, ...], tmp_path: Path) -> None:
    found = graded(moodle(tmp_path / "class", "Lab 2-Ana Ruiz_1009", *others), *ANNA)
    assert (found["ana"].status, found["Lab 2-Ana Ruiz-1009"].status) == ("missing", "ok")
    assert "it could be 'Lab 2-Ana Ruiz_1009_assignsubmission_file_'" in found["ana"].reason
    assert (
        "belongs to nobody on the roster. If its name begins with that of a group, it could be that of 'ana'"
        in found["Lab 2-Ana Ruiz-1009"].reason
    )
    assert found["mary"].reason == "Nothing was submitted."


#: Names on a roster, and as Canvas writes them.
WRITINGS = {
    "Hindi": ("प्रिया शर्मा", "शर्माप्रिया"),
    "Thai": ("สมชาย ใจดี", "ใจดีสมชาย"),
    "Arabic": ("مُحَمَّد علي", "عليمُحَمَّد"),
    "a joiner": ("می\u200cنا راد", "رادمینا"),  # noqa: RUF001 - Persian
    "Hebrew": ("נֹעַם כהן", "כהןנֹעַם"),
    "Tamil": ("கமலா தேவி", "தேவிகமலா"),
    "Vietnamese": ("Nguyễn Thị Hương", "nguyễnthịhương"),
    "apostrophe": ("Seán O\u2019Brien", "obrienseán"),
    "no letter": ("🙂", ""),
}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("case", WRITINGS)
def test_canvas_keeps_letters_and_marks_of_every_writing(case: str, form: str, tmp_path: Path) -> None:
    name, written = WRITINGS[case]
    file = f"{unicodedata.normalize(form, written)}_7002_902_bot.py"  # type: ignore[arg-type] # one of two forms
    source = laid_out(tmp_path / "class", "doejane_7001_901_bot.py", file)
    assert {each.person: each.status for each in graded(source).values()} == {"canvas 7001": "ok", "canvas 7002": "ok"}
    found = graded(source, "student,name", f"p,{name}", "jane,Jane Doe")
    assert [each.name for each in found.values()][:2] == [file if written else "", "doejane_7001_901_bot.py"]


def test_vowels_are_no_accents(tmp_path: Path) -> None:
    """Two Hindi names that differ only in a vowel are two names."""
    source = laid_out(tmp_path / "class", "रमा_7001_901_bot.py", "doejane_7002_902_bot.py")
    assert [each.name for each in graded(source, "student,name", "ram,राम", "jane,Jane Doe").values()][:2] == [
        "",
        "doejane_7002_902_bot.py",
    ]


def test_a_canvas_resubmission_is_marked_under_its_own_name(tmp_path: Path) -> None:
    source = laid_out(
        tmp_path / "class",
        "a_1_10_bot.py",
        "a_1_12_bot-1.py",
        "a_LATE_1_14_bot-2.py",
        "b_2_11_hunter.py",
        "b_2_13_hunter-1.py",
        "b_2_15_prey.py",
    )
    found = graded(source)
    assert (found["a-1"].name, found["a-1"].replaced, found["a-1"].late) == (
        "a_LATE_1_14_bot-2.py",
        ("a_1_10_bot.py", "a_1_12_bot-1.py"),
        "LATE",
    )
    assert (found["b-2"].name, found["b-2"].replaced, found["b-2"].late) == ("b_2_13_hunter-1.py", ("b_2_11_hunter.py",), "")


#: Names of Canvas that a student made so that they look like another's: nobody is graded by them.
IMITATIONS = (
    "x_7001_9999_bot_7002_902_bot.py",
    "doejane_7001_999999999_7002_902_bot.py",
    "x_7001_999_y_LATE_7002_902_bot.py",
    "x_7001_9_y_7002_text.html",
)


@pytest.mark.parametrize("name", IMITATIONS)
def test_an_imitated_name_of_canvas_is_left_out(name: str, tmp_path: Path) -> None:
    source = laid_out(tmp_path / "class", name, "doejane_7001_901_bot.py", "roejim_7003_903_bot.py")
    for lines in ((), ("student,name,canvas", "jane,Jane Doe,7001", "x,X,7002", "jim,Jim Roe,7003")):
        found = graded(source, *lines)
        assert [each.name for each in found.values() if each.status == "ok"] == ["doejane_7001_901_bot.py", "roejim_7003_903_bot.py"]
        assert not any("7001" in each.identities for each in found.values() if each.name != "doejane_7001_901_bot.py" and each.name)


@pytest.mark.parametrize("file", ["hw_1_2_3.zip.py", "project_1_2026_bot.py", "a_901_1_bot.py"])
def test_the_name_of_a_file_may_have_numbers(file: str, tmp_path: Path) -> None:
    source = laid_out(tmp_path / "class", *(f"{name}_70{name}_9010{name}_{file}" for name in "123"))
    assert {each.status for each in graded(source).values()} == {"ok"}


HOSTILE = {
    "her name": """{":name": Ada Lovelace, ":sid": '666', ":email": eve@u.example}""",
    "her id as a name": """{":name": '101', ":email": eve@u.example}""",
    "her address as a name": """{":name": ada@u.example, ":email": eve@u.example}""",
    "her login elsewhere": """{":name": Eve, ":email": ada@evil.example}""",
    "her student as a name": """{":name": ada, ":email": eve@u.example}""",
}


@pytest.mark.parametrize(
    "lines",
    [
        ("student,name,id,email", "ada,Ada Lovelace,101,ada@u.example", "bob,Bob,102,bob@u.example"),
        ("student,name", "ada,Ada Lovelace", "bob,Bob"),
    ],
)
@pytest.mark.parametrize("case", HOSTILE)
def test_what_a_student_chooses_claims_nobody(case: str, lines: tuple[str, ...], tmp_path: Path) -> None:
    bob = """{":name": Bob, ":sid": '102', ":email": bob@u.example}"""
    try:
        found = graded(
            gradescope(tmp_path / "class", (1, "2026-10-01 18:00:00 Z", HOSTILE[case]), (2, "2026-10-01 18:00:00 Z", bob)), *lines
        )
    except UsageError as error:
        assert "None of the 2 hand-ins" in str(error)
        return
    assert (found["ada"].status, found["bob"].name) == ("missing", "submission_2")


def test_a_hand_in_with_no_such_address_is_listed_and_left_out(tmp_path: Path) -> None:
    source = gradescope(tmp_path / "class", (1, "", HOSTILE["her name"]))
    found = graded(source, "student,name,email", "ada,Ada Lovelace,ada@u.example")
    assert [(each.status, each.name) for each in found.values()] == [("missing", ""), ("refused", "submission_1")]
    assert "it could be 'submission_1'" in found["ada"].reason


@pytest.mark.parametrize("layout", ["gradescope", "canvas", "files", "folders"])
@pytest.mark.parametrize(("own", "written"), [("00101", "101"), ("101", "00101")])
def test_zeros_that_a_spreadsheet_dropped_or_added_are_a_hint(own: str, written: str, layout: str, tmp_path: Path) -> None:
    place = tmp_path / "class"
    if layout == "gradescope":
        people = (f"""{{":name": x, ":sid": '{sid}', ":email": a{sid}@u.example}}""" for sid in (own, "555"))
        source = gradescope(place, *((number, "", each) for number, each in enumerate(people, 1)))
    else:
        form = {"canvas": "n{0}_{0}_9{0}_bot.py", "files": "{0}.py", "folders": "hw3-{0}/"}[layout]
        source = laid_out(place, form.format(own), form.format("555"))
    found = graded(source, "student,name,id", f"ada,Ada,{written}", "bob,n555,555")
    assert [each.status for each in found.values()] == ["missing", "ok", "ok"]
    assert "it could be '" in found["ada"].reason
    *_, stranger = found.values()
    assert f"Line 2 of the roster has {written} for {own}: a spreadsheet drops or adds such zeros" in stranger.reason


def test_zeros_of_the_whole_class(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"None of the 2 hand-ins .* Line 2 of the roster has 7123 for 007123: a spreadsheet drops or adds such zeros"
    ):
        graded(laid_out(tmp_path / "class", "007123.py", "007124.py"), "student", "7123", "7124")


TABLES = {
    "sep": b"sep=;\nstudent;email\nada;ada@u.example\n",
    "quoted sep": b'"sep=\t"\r\nstudent\temail\r\nada\tada@u.example\r\n',
    "a mark before sep": "\ufeffsep=,\nstudent,email\nada,ada@u.example\n".encode(),
    "blank lines": b"\n;;\r\n  \nstudent;email\nada;ada@u.example\n",
    "UTF-16": "student\temail\r\nada\tada@u.example\r\n".encode("utf-16"),
    "UTF-16 without a mark": "student,email\nada,ada@u.example\n".encode("utf-16-le"),
    "UTF-16, big": b"\xfe\xff" + "sep=;\nstudent;email\nada;ada@u.example\n".encode("utf-16-be"),
    "old Mac": b"student,email\rada,ada@u.example\r",
    "a name before": b"student,email\nada,Ada <ada@u.example>\n",
    "two names before": b'student,email\nada,"""Lovelace, Ada"" <Ada@U.example>"\n',
    "mailto": b"student,email\nada,mailto:ada@u.example\n",
    "a link": b"student,email\nada,<mailto:ada@u.example>\n",
    "a subject": b"student,email\nada,mailto:ada@u.example?subject=hi\n",
}


@pytest.mark.parametrize("case", TABLES)
def test_rosters_as_programs_write_them(case: str, tmp_path: Path) -> None:
    found = graded(gradescope(tmp_path / "class", (1, "", """{":name": x, ":email": ada@u.example}""")), roster=TABLES[case])
    assert {student: each.name for student, each in found.items()} == {"ada": "submission_1"}


def test_a_line_is_counted_from_the_top(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Line 5 of the roster .* has no student"):
        graded(laid_out(tmp_path / "class", "ada.py"), "sep=,", "", "student,name", "ada,Ada", ",Bob")


def test_an_address_alone_names_its_student(tmp_path: Path) -> None:
    found = graded(
        gradescope(tmp_path / "class", (1, "", """{":name": x, ":email": ada@u.example}""")), "name,email", "Ada,Ada <ada@u.example>"
    )
    assert list(found) == ["ada@u.example"]


def test_what_could_be_that_of_two_is_listed(tmp_path: Path) -> None:
    found = graded(moodle(tmp_path / "class", "Kim Lee_12", "Kim Lee_13"), "student,name", "k,Kim Lee", "l,Kim Lee")
    assert [each.status for each in found.values()] == ["missing", "missing", "refused", "refused"]
    assert "could belong to several students on the roster: 'k' and 'l'" in found["Kim Lee-12"].reason


def test_an_at_in_a_name_is_no_address(tmp_path: Path) -> None:
    """Neither in that of a file, nor in that of a student who wants another's."""
    lines = ("student,name,email", "jane,Jane Doe,jane@u.example", "jim,Jim Roe,jim@u.example")
    canvas = laid_out(tmp_path / "canvas", "doejane_7001_901_my@bot.py", "roejim_7002_902_bot.py")
    assert [each.status for each in graded(canvas, *lines).values()] == ["ok", "ok"]
    found = graded(moodle(tmp_path / "moodle", "jane@u.example_12", "Jim Roe_13"), *lines)
    assert names(found) == {"jane": "", "jim": "13", "jane@u.example-12": "12"}
    assert found["jane@u.example-12"].identities == ("12",)
