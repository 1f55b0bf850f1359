"""Bulk downloads: which files belong to which student, by the naming of each platform."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import UsageError
from referee.handins import gradescope
from referee.handins.layouts import AUTO, CANVAS, GRADESCOPE, MOODLE, PLAIN, DownloadedHandIn, is_wrapper, read
from referee.handins.names import stem


def made(top: Path, *names: str) -> Path:
    """Make files, and folders for names that end in a slash."""
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.write_text("")
    return top


def one(found: list[DownloadedHandIn], student: str) -> DownloadedHandIn:
    return next(item for item in found if item.student == student)


def places(item: DownloadedHandIn) -> dict[str, str]:
    return {place: Path(path).name for path, place in item.pieces}


METADATA = """---
submission_11:
  :submitters:
  - :name: Jane Doe
    :sid: '101'
    :email: jane@uni.example
  :created_at: 2024-01-02 03:04:05.000000000 Z
  :score: 3.0
  :history: []
submission_12:
  :submitters:
  - :name: Pair One
    :sid: 102
    :email: one@uni.example
  - :name: Pair Two
    :sid:
    :email: two@uni.example
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2024-01-02 03:04:05 Z
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests: [!ruby/object:Object {}]
submission_13:
  :submitters:
  - :name: Gone Away
    :sid: '104'
"""


def test_a_download_of_gradescope_is_read_by_its_metadata(tmp_path: Path) -> None:
    made(tmp_path, "submission_11/", "submission_12/", "submission_99/", ".DS_Store")
    (tmp_path / "submission_metadata.yml").write_text(METADATA)
    found = read(tmp_path)
    assert [item.student for item in found] == ["101", "102", "two@uni.example", "104", "submission_99"]
    jane = one(found, "101")
    assert jane.full_name == "Jane Doe"
    assert set(jane.identities) == {"101", "jane@uni.example", "submission_11"}
    assert jane.pieces == ((str(tmp_path / "submission_11"), ""),)
    assert jane.attempt is not None
    assert one(found, "104").reason == (
        "The hand-in 'submission_13' is named in submission_metadata.yml, but it is not in the download; download it again."
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "is not valid YAML"),
        ("just text", "has no hand-ins"),
        ("a: \x07", "is not valid YAML"),
        ("x: " + "[" * 5000, "is not valid YAML"),
    ],
)
def test_metadata_that_can_not_be_read(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "submission_metadata.yml").write_text(text)
    with pytest.raises(UsageError, match=words) as caught:
        read(tmp_path)
    assert str(caught.value).isprintable()


def test_metadata_are_never_code(tmp_path: Path) -> None:
    made(tmp_path, "submission_1/")
    text = f"submission_1: !!python/object/apply:os.mkdir ['{tmp_path}/made']\n"
    (tmp_path / "submission_metadata.yml").write_text(text)
    assert [item.student for item in read(tmp_path)] == ["submission_1"]
    assert not (tmp_path / "made").exists()


def test_a_download_of_canvas_is_read_by_its_file_names(tmp_path: Path) -> None:
    made(
        tmp_path,
        "doejane_7001_901_hunter.py",
        "doejane_7001_902_prey.py",
        "smithjohn_LATE_7002_903_bot-2.py",
        "m\u00fcllerkarl_7003_904_hw_1_2_3.zip",
        "LATE_anon_x1y2z_905_bot.py",
        "textonly_7005_text.html",
    )
    found = read(tmp_path)
    assert {item.student for item in found} == {"doejane-7001", "smithjohn-7002", "m\u00fcllerkarl-7003", "anon_x1y2z", "textonly-7005"}
    jane = one(found, "doejane-7001")
    assert places(jane) == {"hunter.py": "doejane_7001_901_hunter.py", "prey.py": "doejane_7001_902_prey.py"}
    assert "7001" in jane.identities
    assert jane.people == ("doejane",)
    assert places(one(found, "smithjohn-7002")) == {"bot.py": "smithjohn_LATE_7002_903_bot-2.py"}
    assert list(places(one(found, "m\u00fcllerkarl-7003"))) == ["hw_1_2_3.zip"]
    assert "is a text or a link, not a file" in one(found, "textonly-7005").reason


def test_the_last_attempt_of_a_file_counts(tmp_path: Path) -> None:
    made(tmp_path, "a_1_10_bot.py", "a_1_12_bot-1.py", "a_1_11_bot-2.py", "a_1_13_map.txt", "a_1_14_level-3.txt")
    assert places(read(tmp_path)[0]) == {
        "bot.py": "a_1_11_bot-2.py",
        "map.txt": "a_1_13_map.txt",
        "level.txt": "a_1_14_level-3.txt",
        "level-3.txt": "a_1_14_level-3.txt",
    }


def test_moodle_in_folders(tmp_path: Path) -> None:
    made(
        tmp_path,
        "Jane Doe_1234567_assignsubmission_file_/",
        "John O'Neil_1234568_assignsubmission_file/",
        "Participant_77_assignsubmission_file_/",
        "Only Text_1234570_assignsubmission_onlinetext_/",
        "Jane Doe_1234567_assignsubmission_onlinetext_/",
    )
    found = read(tmp_path)
    assert {item.student for item in found} == {"Jane Doe-1234567", "John O'Neil-1234568", "Participant-77", "Only Text-1234570"}
    jane = one(found, "Jane Doe-1234567")
    assert jane.full_name == "Jane Doe"
    assert jane.number == "1234567"
    assert places(jane) == {"": "Jane Doe_1234567_assignsubmission_file_"}
    assert jane.reason == ""
    assert "is a text, not a file" in one(found, "Only Text-1234570").reason


def test_a_download_of_moodle_without_folders_is_read_by_its_file_names(tmp_path: Path) -> None:
    made(
        tmp_path,
        "Jane Doe_1_assignsubmission_file_hunter.py",
        "Jane Doe_1_assignsubmission_file_prey.py",
        "Karl_2_assignsubmission_file_assignsubmission.zip",
    )
    found = read(tmp_path)
    assert set(places(one(found, "Jane Doe-1"))) == {"hunter.py", "prey.py"}
    assert set(places(one(found, "Karl-2"))) == {"assignsubmission.zip"}


def test_the_name_of_a_person_in_moodle_is_no_number_of_another_student(tmp_path: Path) -> None:
    made(
        tmp_path,
        "Ada_1_assignsubmission_file_/",
        "Ada_1_assignsubmission_file_x_9_assignsubmission_file_/",
        "Bob_2_assignsubmission_file_bot.py",
    )
    made(tmp_path, "Bob_2_assignsubmission_file_x_9_assignsubmission_file_bot.py")
    found = read(tmp_path)
    assert {item.person: item.reason[:40] for item in found} == {
        "moodle 1": "",
        "moodle 9": "",
        "moodle 2": "",
        "moodle Bob_2_assignsubmission_file_x_9_assignsubmission_file_bot.py": "The hand-in 'Bob_2_assignsubmission_file",
    }


def test_a_repository_in_a_hand_in_changes_no_name(tmp_path: Path) -> None:
    made(tmp_path, "hw3-alan/.git/config", "hw3-alice/.git/config")
    found = read(tmp_path)
    assert [item.student for item in found] == ["hw3-alan", "hw3-alice"]
    assert set(found[0].identities) == {"hw3-alan", "alan"}


def test_a_name_of_digits_is_no_number_of_another_student(tmp_path: Path) -> None:
    """Canvas writes the name, the student's number and the attachment's; students can choose their names."""
    made(tmp_path, "7001_9999_55_bot.py", "ada_7001_901_bot.py")
    assert {item.student for item in read(tmp_path)} == {"7001-9999", "ada-7001"}
    made(tmp_path, "x_7001_9999_56_bot.py")
    unclear = next(item for item in read(tmp_path) if item.student.startswith("x"))
    assert unclear.reason.startswith("The hand-in 'x_7001_9999_56_bot.py' could be that of 7001 or of 9999")
    assert "7001" not in unclear.identities


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["ada_7001_901_x_7002_assignsubmission_file_bot.py", "bob_7002_902_bot.py"], None),
        (["ada_7001_901_x_7002_assignsubmission_file_bot.py"], "as canvas, 1 of 1 are named by it"),
        (["ada_7001_901_bot.py", "bob.py"], "as plain, each is named after its student, such as 'bob.py'"),
        (["Jane Doe_1_assignsubmission_file_/", "bob/"], "add --layout moodle or --layout plain"),
    ],
)
def test_the_end_of_a_name_decides_nothing(names: list[str], told: str | None, tmp_path: Path) -> None:
    made(tmp_path, *names)
    if told is None:
        assert {item.person for item in read(tmp_path)} == {"canvas 7001", "canvas 7002"}
        return
    with pytest.raises(UsageError, match="It isn't certain how the hand-ins are laid out") as caught:
        read(tmp_path)
    assert told in str(caught.value)
    assert {item.person.partition(" ")[0] for item in read(tmp_path, layout=PLAIN)} == {"name"}


def test_a_layout_that_no_name_has_is_refused(tmp_path: Path) -> None:
    made(tmp_path, "bob.py")
    for layout in (MOODLE, CANVAS, GRADESCOPE):
        with pytest.raises(UsageError):
            read(tmp_path, layout=layout)


def test_files_and_folders_of_any_name(tmp_path: Path) -> None:
    made(tmp_path, "alice.py", "bob.tar.gz", "carol/", "dave", ".hidden", "__pycache__/", "roster.csv", "v1.2/", "Prof. X/")
    found = read(tmp_path, left_out=["roster.csv"])
    assert [(item.name, item.student) for item in found] == [
        ("alice.py", "alice"), ("bob.tar.gz", "bob"), ("carol", "carol"), ("dave", "dave"), ("Prof. X", "Prof. X"), ("v1.2", "v1.2"),
    ]  # fmt: skip
    assert places(found[0]) == {"alice.py": "alice.py"}
    assert places(found[2]) == {"": "carol"}


def test_links_and_pipes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    found = read(tmp_path, {"big": "It is too big."})
    assert {item.name: item.reason for item in found} == {
        "big": "It is too big.",
        "link": "The hand-in 'link' is a link; put the file or folder itself there.",
        "pipe": "The hand-in 'pipe' is a FIFO; put the file or folder itself there.",
    }


def test_a_program_whose_name_begins_with_a_dot_is_refused_by_name(tmp_path: Path) -> None:
    made(tmp_path, ".hid.py", "..foo.zip", ".gitignore", ".github/", "alice.py")
    assert {item.name: item.reason for item in read(tmp_path)} == {
        ".hid.py": "The hand-in '.hid.py' has a name that begins with a dot; rename it.",
        "..foo.zip": "The hand-in '..foo.zip' has a name that begins with a dot; rename it.",
        "alice.py": "",
    }


PROGRAMS = ("hunter", "prey", "main", "bot")


def is_class(name: str, inner: list[str], layout: str = AUTO, known: tuple[str, ...] = ()) -> bool:
    return is_wrapper(name, inner, PROGRAMS, layout, lambda text: stem(text) in known)


def test_a_folder_around_a_class_is_known_by_its_own_name() -> None:
    assert is_class("assignment_7_export", ["submission_metadata.yml", "submission_1"])
    assert is_class("any", ["submission_metadata.yml", "submission_1"], GRADESCOPE)
    assert is_class("any", ["a_1_2_bot.py"], CANVAS)
    assert is_class("any", ["Jane_1_assignsubmission_file_"], MOODLE)
    assert not is_class("alice", ["hunter.py", "lib"])
    assert not is_class("alice", ["bot.py"])
    assert not is_class("alice", ["alice.py", "__pycache__", "__MACOSX"])
    assert not is_class("Jane_1_assignsubmission_file_", ["a.py", "b.py"])
    assert not is_class("Jane_1_assignsubmission_file_", ["a.py", "b.py"], MOODLE)
    assert not is_class("submission_1", ["a.py", "b.py"])
    assert not is_class("alice", ["submission_metadata.yml", "bob.py"], known=("alice",))
    assert not is_class("alice", ["submission_metadata.yml", "bob.py"], PLAIN)


@pytest.mark.parametrize("inner", [["submission_metadata.yml"], ["a_1_2_bot.py"], ["alice.py", "bob.zip"], ["bot.py", "ada.py"]])
def test_what_is_in_the_only_folder_never_makes_it_a_class(inner: list[str]) -> None:
    with pytest.raises(UsageError, match=r"there is only the folder 'mallory'\. Read as plain, it is one hand-in, of mallory") as caught:
        is_class("mallory", inner, known=("ada",))
    assert all(f"'{name}' of " in str(caught.value) for name in inner if "." in name and not name.startswith("submission_"))


@given(st.lists(st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=40), max_size=8, unique=True))
def test_any_names_are_read(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    top = tmp_path_factory.mktemp("names")
    for name in names:
        if name not in (".", "..", gradescope.METADATA) and len(name.encode()) < 200:
            (top / name).write_text("")
    # Read as plain: names that only partly look like those of a platform are refused otherwise.
    found = read(top, layout=PLAIN)
    assert len([path for item in found for path, _ in item.pieces]) >= len(found)
    for item in found:
        assert stem(item.name)
        assert all("/" not in place for _, place in item.pieces)


def test_metadata_beside_other_names_decides_nothing(tmp_path: Path) -> None:
    made(tmp_path, "submission_11/", "ada/")
    (tmp_path / "submission_metadata.yml").write_text(METADATA)
    with pytest.raises(UsageError, match=r"It isn't certain .* but 'ada' isn't named as in one \(submission_123456\)"):
        read(tmp_path)
    assert "ada" in {item.student for item in read(tmp_path, layout="plain")}
    assert "101" in {item.student for item in read(tmp_path, layout="gradescope")}
