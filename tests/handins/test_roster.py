"""Rosters: whose a hand-in is, without a guess."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import UsageError
from referee.handins import roster
from referee.handins.layouts import DownloadedHandIn
from referee.handins.roster import RosterRow, find, load, name_keys

CLASS = """student,name,email,canvas,submission
101,Jane Doe,jdoe@uni.example,7001,
102,"Smith, John",jsmith@uni.example,7002,
103,John Smith,jsmith2@uni.example,7003,odd name.zip
104,Zo\u00eb van der Berg,zberg@uni.example,7004,
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def rows(tmp_path: Path) -> tuple[RosterRow, ...]:
    return load(written(tmp_path, CLASS))


def found(name: str = "x", identities: tuple[str, ...] = (), people: tuple[str, ...] = (), full_name: str = "") -> DownloadedHandIn:
    return DownloadedHandIn(name, (), name, full_name, identities, people)


def test_a_roster_is_read(rows: tuple[RosterRow, ...]) -> None:
    assert [row.student for row in rows] == ["101", "102", "103", "104"]
    assert rows[0] == RosterRow(2, "101", "Jane Doe", "", ("101", "jdoe@uni.example", "7001"), numbers=("101", "7001"))
    assert rows[1].full_name == "Smith, John"
    assert rows[2].hand_in == "odd name.zip"


@pytest.mark.parametrize("text", ["Student;Email\na;b\n", "\ufeffstudent\temail\r\na\tb\r\n\r\n", "email,student\nb,a\n"])
def test_as_spreadsheets_save_it(text: str, tmp_path: Path) -> None:
    row = load(written(tmp_path, text))[0]
    assert row.student == "a"
    assert set(row.identities) == {"a", "b"}


@pytest.mark.parametrize("heading", ["email", "E-Mail", "mail", "Email address"])
def test_an_address_alone_identifies_a_student(heading: str, tmp_path: Path) -> None:
    rows = load(written(tmp_path, f"Name,{heading}\nJane Doe,jdoe@uni.example\nJohn,john@uni.example\n"))
    assert [row.student for row in rows] == ["jdoe@uni.example", "john@uni.example"]
    assert rows[0].full_name == "Jane Doe"
    assert find(found("jdoe.zip", people=("jdoe@uni.example",)), rows) == (rows[0],)
    with pytest.raises(UsageError, match="no column 'team'"):
        load(written(tmp_path, "email\nx@uni.example\n"), "team")


def test_first_and_last_names(tmp_path: Path) -> None:
    assert load(written(tmp_path, "student,first name,last name\n1,Jane,Doe\n"))[0].full_name == "Jane Doe"


BAD = {
    "": "has no column 'student' in its first line; its columns are none. Give the column that names each student this heading.",
    "name,phone\na,b\n": "has no column 'student' in its first line; its columns are 'name', 'phone'. Give the column that",
    "student\n": "has no students.",
    "student,name,name\na,b,c\n": "has two columns 'name'.",
    "student,name\n,Jane\n": "has no student.",
    "student\na,b\n": "has 2 cells, the first line has 1.",
    "student\na\x1b[2J\n": "has the student 'a\\x1b[2J'; a student's name has",
    "student\n---\n": "one of them a letter or digit.",
    f"student\n{'a' * 81}\n": "with 81 characters; the limit is 80",
    "student\nann\nbob\nANN\n": "Lines 2 and 4 of the roster",
    'student\n"open\n': "is no CSV",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_roster_is_a_sentence(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load(written(tmp_path, text))
    assert BAD[text] in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_roster_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read: No such file"):
        load(tmp_path / "none.csv")
    (tmp_path / "a.csv").write_bytes(b"student\n\xe9\n")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        load(tmp_path / "a.csv")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not an ordinary file"):
        load(tmp_path / "pipe")


MATCHES = [
    (found(identities=("101",)), "101"),
    (found(identities=("7002",)), "102"),
    (found(identities=("JDOE@uni.example",)), "101"),
    (found(identities=("jdoe",)), "101"),
    (found(people=("doejane",)), "101"),
    (found(people=("Doe, Jane",)), "101"),
    (found(people=("vanderbergzoe",)), "104"),
    (found(people=("Zo\u00eb Van Der Berg",)), "104"),
    (found("odd name.zip"), "103"),
    (found("odd name.zip", ("102",)), "103"),
    (found(identities=("102",), people=("John Smith",), full_name="John Smith"), "102"),
    (found(identities=("101",), people=("Janey D",), full_name="Janey D"), "101"),
]


@pytest.mark.parametrize(("item", "student"), MATCHES)
def test_a_hand_in_is_found_by_any_identity(item: DownloadedHandIn, student: str, rows: tuple[RosterRow, ...]) -> None:
    assert [row.student for row in find(item, rows)] == [student]


UNSURE = [
    (found(people=("John Smith",)), {"102", "103"}),
    (found(identities=("101", "7002")), {"101", "102"}),
    (found(identities=("999",), people=("Nobody Here",)), set()),
    (found(identities=("jdoe@other.example",)), set()),
    (found(identities=("jdoe@other.example",), people=("Jane Doe",), full_name="Jane Doe"), set()),
    (found(), set()),
]


@pytest.mark.parametrize(("item", "students"), UNSURE)
def test_nothing_is_guessed(item: DownloadedHandIn, students: set[str], rows: tuple[RosterRow, ...]) -> None:
    assert {row.student for row in find(item, rows)} == students
    assert len(students) != 1


def test_names_count_only_if_they_may(rows: tuple[RosterRow, ...]) -> None:
    assert find(found(people=("Jane Doe",)), rows) == (rows[0],)
    assert find(found(people=("Jane Doe",)), rows, by_name=False) == ()


@given(st.text(max_size=60))
def test_any_text_is_a_name(text: str) -> None:
    assert name_keys(text) == name_keys(text.upper().lower()) or not text.isascii()
    assert len(name_keys(text)) <= roster.MOST_WORDS


def test_all_ways_to_write_a_name_are_equal() -> None:
    assert name_keys("Doe, Jane") & name_keys("Jane Doe")
    assert "doejane" in name_keys("Jane Doe")
    assert not name_keys("Jane Doe") & name_keys("Janet Doe")
