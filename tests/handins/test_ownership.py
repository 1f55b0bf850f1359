"""Whose a hand-in is, in the face of somebody who wants to be another student. Names are chosen by students; ids and addresses are not."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest
from gradings import CRASHES, HUNTS
from hostile_archives import laid_out
from leagues import IDLE

from referee.errors import UsageError
from referee.handins.collect import collect

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from referee.handins.values import HandIn

    Referee = Callable[..., subprocess.CompletedProcess[str]]

SEATS = ("hunter",)
ADA = ("Ada Lovelace", "", "ada@uni.example")
EVIL = ("Someone", "", "ada@evil.example")
NAMESAKE = ("Ada Lovelace", "", "mallory@uni.example")


def gradescope(folder: Path, *people: tuple[str, str, str], first: int = 1) -> Path:
    """An export with one hand-in of each person (name, student id, address); the first one is good, all others crash."""
    text = ""
    for number, (name, sid, email) in enumerate(people, first):
        own = folder / f"submission_{number}"
        own.mkdir(parents=True)
        (own / "bot.py").write_text(IDLE if number == 1 else CRASHES)
        text += f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{sid}'\n    :email: '{email}'\n"
        text += f"  :created_at: 2026-01-0{number} 00:00:00 Z\n"
    (folder / "submission_metadata.yml").write_text(text)
    return folder


def roster(folder: Path, *lines: str) -> Path:
    path = folder / "roster.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def students(found: Sequence[HandIn]) -> dict[str, str]:
    return {item.student: item.name for item in found}


NAMES = ("student,name", "ada,Ada Lovelace", "bob,Bob Martin")
ADDRESSES = ("student,name,email", "ada,Ada Lovelace,ada@uni.example", "bob,Bob Martin,bob@uni.example")


def test_a_name_claims_nobody_where_the_platform_gives_addresses(tmp_path: Path) -> None:
    """The roster has no address. Part of an address counts only if all addresses end alike: people choose where theirs end."""
    found = collect(gradescope(tmp_path / "one", ADA, NAMESAKE), tmp_path / "out", SEATS, roster(tmp_path, *NAMES))
    assert [(item.student, item.name, item.status) for item in found] == [
        ("ada", "submission_1", "ok"),
        ("bob", "", "missing"),
        (NAMESAKE[2], "submission_2", "refused"),
    ]
    assert "It is left out. It is by mallory@uni.example, whose name is that of 'ada' (ada) there" in found[2].reason
    with pytest.raises(UsageError, match="None of the 2 hand-ins belongs surely to a student on the roster"):
        collect(gradescope(tmp_path / "two", ADA, EVIL), tmp_path / "out", SEATS, roster(tmp_path, *NAMES))


@pytest.mark.parametrize("other", [EVIL, NAMESAKE])
@pytest.mark.parametrize("has_ada", [True, False])
def test_an_address_on_the_roster_decides(has_ada: bool, other: tuple[str, str, str], tmp_path: Path) -> None:
    source = gradescope(tmp_path / "export", *((ADA, other) if has_ada else (other,)))
    found = collect(source, tmp_path / "out", SEATS, roster(tmp_path, *ADDRESSES))
    assert students(found) == {"ada": "submission_1" if has_ada else "", "bob": "", other[2]: f"submission_{1 + has_ada}"}
    assert "belongs to nobody on the roster" in found[2].reason
    assert (f"It is by {other[2]}, whose name is that of 'ada' (ada, ada@uni.example) there" in found[2].reason) == (other is NAMESAKE)


def test_a_student_id_decides_before_a_name(tmp_path: Path) -> None:
    lines = ("student,name,id", "ada,Ada Lovelace,101", "bob,Bob Martin,102")
    source = gradescope(tmp_path / "export", ("Bob", "102", ""), ("Ada Lovelace", "666", "a@b.example"))
    assert students(collect(source, tmp_path / "out", SEATS, roster(tmp_path, *lines))) == {
        "ada": "",
        "bob": "submission_1",
        "666": "submission_2",
    }


def test_two_accounts_with_one_student_id_are_a_clash(tmp_path: Path) -> None:
    source = gradescope(tmp_path / "export", ("Ada", "101", "ada@uni.example"), ("Ada L.", "101", "lovelace@uni.example"))
    for options in ((), (roster(tmp_path, "student", "101"),)):
        with pytest.raises(UsageError) as caught:
            collect(source, tmp_path / "out", SEATS, *options)
        for words in ("'submission_2' (id 101, lovelace@uni.example) has the student id", "'submission_1' (id 101, ada@uni.example)"):
            assert words in str(caught.value)
    both = roster(tmp_path, "student,email,old email", "101,lovelace@uni.example,ada@uni.example")
    (found,) = collect(source, tmp_path / "out", SEATS, both)
    assert (found.student, found.name, found.replaced) == ("101", "submission_2", ("submission_1",))


IDS = ("student,name,id,email", "ada,Ada Lovelace,101,ada@uni.example", "bob,Bob Martin,102,bob@uni.example")
ADA_101, BOB_102 = ("Ada", "101", "ada@uni.example"), ("Bob", "102", "bob@uni.example")
BOB_AS_ADA = ("Bob", "102", "ada@uni.example")
#: What a hand-in with Bob's student id and Ada's address is told, beside both students or hand-ins.
TORN = {
    "ids and addresses": (IDS, (ADA_101, BOB_AS_ADA), "has the address of the student 'ada', but the student id of 'bob'"),
    "alone": (IDS, (BOB_AS_ADA,), "has the address of the student 'ada', but the student id of 'bob'"),
    "an id of nobody": (IDS, (("Bob", "666", "ada@uni.example"),), "has the address of the student 'ada', but not the student id (101)"),
    "addresses": (ADDRESSES, (ADA_101, ("Rob", *BOB_AS_ADA[1:])), "claim to be of the same student, 'ada', but are of different persons"),
    "her id is unknown": (
        ADDRESSES,
        (ADA, ("Rob", *BOB_AS_ADA[1:])),
        "claim to be of the same student, 'ada', but are of different persons",
    ),
    "addresses and a name": (ADDRESSES, (ADA_101, BOB_AS_ADA), "has the address of the hand-in 'submission_1'"),
    "two addresses": (ADDRESSES, (BOB_102, BOB_AS_ADA), "has the student id of the hand-in 'submission_1'"),
    "only ids": (("student", "101", "102"), (ADA_101, BOB_AS_ADA), "has the address of the hand-in 'submission_1'"),
    "names": (NAMES, (("Ada Lovelace", *ADA_101[1:]), ("Bob Martin", *BOB_AS_ADA[1:])), "has the address of the hand-in 'submission_1'"),
    "no roster": ((), (ADA_101, BOB_AS_ADA), "has the address of the hand-in 'submission_1'"),
}


@pytest.mark.parametrize("case", TORN)
def test_an_address_never_moves_a_hand_in_to_another_student_id(case: str, tmp_path: Path) -> None:
    lines, people, words = TORN[case]
    source = gradescope(tmp_path / "export", *people)
    with pytest.raises(UsageError) as caught:
        collect(source, tmp_path / "out", SEATS, roster(tmp_path, *lines) if lines else None)
    assert words in str(caught.value)
    assert f"'submission_{len(people)}' (id {people[-1][1]}, ada@uni.example)" in str(caught.value)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("lines", [ADDRESSES, ("student", "101", "102"), ()])
def test_an_earlier_run_knows_whose_an_id_and_an_address_are(lines: Sequence[str], tmp_path: Path) -> None:
    names = roster(tmp_path, *lines) if lines else None
    before = collect(gradescope(tmp_path / "first", ADA_101, BOB_102), tmp_path / "1", SEATS, names)
    with pytest.raises(UsageError, match=r"'submission_3' \(id 102, ada@uni.example\)") as caught:
        collect(gradescope(tmp_path / "late", BOB_AS_ADA, first=3), tmp_path / "2", SEATS, names, earlier=before)
    assert "'submission_1' (id 101)" in str(caught.value)
    again = collect(gradescope(tmp_path / "again", ADA_101, first=3), tmp_path / "3", SEATS, names, earlier=before)
    assert "submission_3" in students(again).values()


@pytest.mark.parametrize("lines", [IDS, ADDRESSES])
def test_a_student_of_an_earlier_run_gets_no_other_name(lines: Sequence[str], tmp_path: Path) -> None:
    """The name is that of the marks: under another one Ada would be missing."""
    before = collect(gradescope(tmp_path / "first", ADA_101, BOB_102), tmp_path / "1", SEATS)
    for people in ((BOB_102,), (ADA_101, BOB_102)):
        with pytest.raises(
            UsageError, match=r"'ada' on the roster is the student '101' of an earlier run \(id 101\), who has the marks"
        ) as caught:
            collect(
                gradescope(tmp_path / f"late {len(people)}", *people, first=3),
                tmp_path / "2",
                SEATS,
                roster(tmp_path, *lines),
                earlier=before,
            )
        assert "Write '101' into the column 'student' of line 2" in str(caught.value)
    names = ("student,name,email", "101,Ada Lovelace,ada@uni.example", "102,Bob Martin,bob@uni.example")
    again = collect(gradescope(tmp_path / "again", BOB_102, first=3), tmp_path / "3", SEATS, roster(tmp_path, *names), earlier=before)
    assert students(again) == {"101": "", "102": "submission_3"}


def test_the_roster_settles_a_clash_of_an_id_and_an_address(tmp_path: Path) -> None:
    """By the file of each, or by both the id and the address of the person."""
    source = gradescope(tmp_path / "export", ADA_101, BOB_AS_ADA)
    lines = ("student,submission", "ada,submission_1", "bob,submission_2")
    assert students(collect(source, tmp_path / "1", SEATS, roster(tmp_path, *lines))) == {"ada": "submission_1", "bob": "submission_2"}
    source = gradescope(tmp_path / "newer", ADA, ADA_101)
    assert students(collect(source, tmp_path / "2", SEATS, roster(tmp_path, *IDS))) == {"ada": "submission_2", "bob": ""}


def test_persons_without_an_identity_are_never_one(tmp_path: Path) -> None:
    source = gradescope(tmp_path / "export", ("Ada Lovelace", "", ""), ("Ada Lovelace", "", ""))
    with pytest.raises(UsageError, match="claim to be of the same student, 'Ada Lovelace'"):
        collect(source, tmp_path / "out", SEATS)


CLASHES = {
    "moodle": ("Ada Lovelace_1_assignsubmission_file_/", "Ada Lovelace_2_assignsubmission_file_/"),
    "canvas": ("lovelaceada_7001_901_bot.py", "lovelaceada_7666_902_bot.py"),
    "plain": ("ada.py", "Ada Lovelace.py"),
    "two kinds": ("ada.py", "ada/"),
}


@pytest.mark.parametrize("layout", CLASHES)
def test_a_clash_stops_in_every_layout(layout: str, tmp_path: Path) -> None:
    source = laid_out(tmp_path / "class", *CLASHES[layout])
    with pytest.raises(UsageError, match="the same student, 'ada'") as caught:
        collect(source, tmp_path / "out", SEATS, roster(tmp_path, *NAMES))
    assert all(f"'{name.rstrip('/')}'" in str(caught.value) for name in CLASHES[layout])
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("layout", ["moodle", "canvas"])
def test_the_number_of_a_platform_decides(layout: str, tmp_path: Path) -> None:
    source = laid_out(tmp_path / "class", *CLASHES[layout])
    number = "1" if layout == "moodle" else "7001"
    found = collect(source, tmp_path / "out", SEATS, roster(tmp_path, "student,name,number", f"ada,Ada Lovelace,{number}"))
    assert (found[0].student, found[0].name) == ("ada", CLASHES[layout][0].rstrip("/"))
    assert "belongs to nobody on the roster" in found[1].reason


@pytest.mark.parametrize("has_roster", [True, False])
def test_a_later_run_never_takes_another_person_for_a_student(has_roster: bool, tmp_path: Path) -> None:
    names = roster(tmp_path, *NAMES) if has_roster else None
    before = collect(gradescope(tmp_path / "first", ADA), tmp_path / "1", SEATS, names)
    late = gradescope(tmp_path / "late", NAMESAKE, first=2)
    if not has_roster:
        assert students(collect(late, tmp_path / "2", SEATS, earlier=before)) == {NAMESAKE[2]: "submission_2"}
        return
    assert students(collect(late, tmp_path / "2", SEATS, names, earlier=before)) == {"ada": "", "bob": "", NAMESAKE[2]: "submission_2"}
    again = collect(gradescope(tmp_path / "again", ADA, first=3), tmp_path / "3", SEATS, names, earlier=before)
    assert students(again)["ada"] == "submission_3"


def test_a_student_keeps_the_name_of_earlier_runs(tmp_path: Path) -> None:
    """Also without the roster."""
    first = collect(gradescope(tmp_path / "first", ADA), tmp_path / "1", SEATS, roster(tmp_path, *ADDRESSES))
    again = collect(gradescope(tmp_path / "again", ADA, first=2), tmp_path / "2", SEATS, earlier=first)
    assert students(again) == {"ada": "submission_2"}


def points(home: Path) -> dict[str, str]:
    with (home / "out" / "grades.csv").open(newline="", encoding="utf-8-sig") as file:
        return {row["student"]: row["points"] for row in csv.DictReader(file)}


def test_another_student_id_with_her_address_can_not_move_adas_mark(referee: Referee, tmp_path: Path) -> None:
    (tmp_path / "rubric.toml").write_text(HUNTS)
    roster(tmp_path, *ADDRESSES)
    gradescope(tmp_path / "export", ADA_101)
    options = ("--out", "out", "--roster", "roster.csv", "--slots", "1")
    assert referee("grade", "run", "export", *options).returncode == 0
    for folder, people in (("both", (ADA_101, BOB_AS_ADA)), ("late", (BOB_AS_ADA,))):
        done = referee("grade", "run", str(gradescope(tmp_path / folder, *people, first=3 - len(people))), *options)
        assert done.returncode == 2, done.stderr
        assert "id 101" in done.stderr
        assert "id 102" in done.stderr
    assert points(tmp_path) == {"ada": "20", "bob": "0"}


def test_a_stranger_with_her_name_can_not_move_adas_mark(referee: Referee, tmp_path: Path) -> None:
    (tmp_path / "rubric.toml").write_text(HUNTS)
    roster(tmp_path, *NAMES)
    gradescope(tmp_path / "export", ADA)
    options = ("--out", "out", "--roster", "roster.csv", "--slots", "1")
    assert referee("grade", "run", "export", *options).returncode == 0
    gradescope(tmp_path / "both", ADA, EVIL)
    gradescope(tmp_path / "late", EVIL, first=2)
    for folder in ("both", "late"):
        assert referee("grade", "run", folder, *options).returncode == 0
        assert points(tmp_path) == {"ada": "20", "bob": "0", "ada@evil.example": "0"}
    roster(tmp_path, *ADDRESSES)
    assert referee("grade", "run", "both", *options).returncode == 0
    assert points(tmp_path) == {"ada": "20", "bob": "0", "ada@evil.example": "0"}


@pytest.mark.parametrize("has_metadata", [True, False])
def test_the_files_of_a_hand_in_are_of_nobody_else(has_metadata: bool, referee: Referee, tmp_path: Path) -> None:
    (tmp_path / "rubric.toml").write_text(HUNTS)
    laid_out(tmp_path / "class", "ada.py", "bob.py")
    options = ("--out", "out", "--slots", "1")
    assert referee("grade", "run", "class", *options).returncode == 0
    mallory = tmp_path / "late" / "mallory"
    if has_metadata:
        gradescope(mallory, ("Ada", "ada", ""), first=2)
    else:
        mallory.mkdir(parents=True)
    for name in ("ada", "carl"):
        (mallory / f"{name}.py").write_text(CRASHES)
    done = referee("grade", "run", "late", *options)
    assert done.returncode == 2, done.stderr
    for words in ("there is only the folder 'mallory'", "'ada.py' of ada", "--layout plain"):
        assert words in done.stderr
    assert points(tmp_path) == {"ada": "20", "bob": "20"}
    assert referee("grade", "run", "late", *options, "--layout", "plain").returncode == 0
    assert points(tmp_path) == {"ada": "20", "bob": "20", "mallory": "0"}
    # Now mallory is a student, so there is no doubt any more.
    assert referee("grade", "run", "late", *options).returncode == 0
