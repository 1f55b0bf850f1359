"""Collecting the hand-ins of a class: every fault of a hand-in is its own row, and the rest goes on."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from hostile_archives import BOT, HOSTILE, tarred, zipped, zipped_on_windows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.errors import RefereeError, UsageError
from referee.handins.collect import StudentNames, collect, single
from referee.handins.names import file_name
from referee.handins.values import MISSING, OK, REFUSED, HandIn
from referee.players.names import resolve

SEATS = ("hunter", "prey")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    made = tmp_path / "class"
    made.mkdir()
    return made


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out" / "submissions"


def folder(top: Path, name: str, *files: str) -> Path:
    for file in files:
        path = top / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BOT)
    return top / name


def by_student(found: tuple[HandIn, ...]) -> dict[str, HandIn]:
    assert len({file_name(item.student) for item in found}) == len(found)
    for item in found:
        assert item.status in (OK, REFUSED, MISSING)
        assert item.student.isprintable()
        assert item.reason.isprintable()
        assert (item.status == OK) == bool(item.players) == (item.folder is not None)
        for seat, player in item.players.items():
            spec = resolve(player, seat, "evasion")
            assert str(item.folder) in spec.argv[-1], "the program can be found later"
    return {item.student: item for item in found}


def test_a_class_in_many_forms(source: Path, out: Path) -> None:
    (source / "alice.py").write_text(BOT)
    folder(source, "bob", "hunter.py", "prey.py", "maps.py", ".git/config", "__pycache__/a.pyc")
    zipped(source / "carol.zip", {"carol-hw3/main.py": BOT, "carol-hw3/lib/a.py": BOT, "__MACOSX/x": ""})
    tarred(source / "dave.tar.gz", {"bot.py": BOT})
    folder(source, "erin", "submission.txt")
    zipped(source / "erin" / "submission.zip", {"hunter.py": BOT, "prey.py": BOT})
    folder(source, "frank", "my solution.py", "README.md")
    found = collect(source, out, SEATS)
    assert [item.student for item in found] == ["alice", "bob", "carol", "dave", "erin", "frank"]
    assert {item.status for item in found} == {OK}, [item.reason for item in found]
    rows = by_student(found)
    assert dict(rows["alice"].players) == dict.fromkeys(SEATS, str(out / "alice" / "alice.py"))
    assert dict(rows["bob"].players) == dict.fromkeys(SEATS, str(out / "bob"))
    assert sorted(os.listdir(out / "bob")) == ["hunter.py", "maps.py", "prey.py"]
    assert sorted(os.listdir(out / "carol")) == ["lib", "main.py"]
    assert sorted(os.listdir(out / "frank")) == ["README.md", "main.py"]
    assert rows["carol"].name == "carol.zip"
    assert sorted(os.listdir(out)) == ["alice", "bob", "carol", "dave", "erin", "frank"]
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


def test_only_the_seats_of_the_rubric_need_a_program(source: Path, out: Path) -> None:
    folder(source, "alice", "hunter.py", "util.py")
    assert collect(source, out, ("hunter",))[0].status == OK
    found = collect(source, out, SEATS)[0]
    assert (found.status, list(found.players)) == (OK, ["hunter"])


BAD = {
    "nothing": ((), "has no program for the hunter: a file hunter.*, main.* or bot.*; at its top there is nothing."),
    "texts": (("a.txt", "b.md"), "at its top there is 'a.txt' and 'b.md'."),
    "two": (("hunter.py", "hunter.sh", "prey.py"), "has 2 files that could be the hunter: 'hunter.py' and 'hunter.sh'; keep one."),
    "source": (
        ("hunter.cpp", "prey.cpp"),
        'has a file for the hunter that can\'t be run: \'hunter.cpp\' is source in C++, which must be compiled; submit it with a file bot.toml that has the lines build = "g++ -std=c++17 -O2 -o hunter hunter.cpp" and run = "./hunter".',
    ),
    "java": (
        ("Hunter.java",),
        "'Hunter.java' is source in Java, which must be compiled; submit it with a file bot.toml that has the lines build = \"javac Hunter.java\"",
    ),
    "alone": (("eve.rs",), "'eve.rs' is source in Rust, which must be compiled; submit it with a file bot.toml"),
    "script": (
        ("hunter.js",),
        "'hunter.js' is started by node hunter.js; submit it with a file bot.toml that has the line run = \"node hunter.js\".",
    ),
    "folders": (
        ("ex1/bot.py", "ex2/bot.py"),
        "at its top there are only folders, 'ex1' and 'ex2', with 'ex1/bot.py' and 'ex2/bot.py'; submit only the files of one folder.",
    ),
    "notes": (("hunter.txt", "x.py"), "has a file for the hunter that can't be run: 'hunter.txt'"),
    "many": (("a.py", "b.py"), "but several others: 'a.py' and 'b.py'; rename one."),
    "text": (("eve.py.txt",), "rename 'eve.py.txt' to 'eve.py'."),
    "rar": (("a.rar",), "The hand-in 'a.rar' is an archive of the kind .rar; submit a zip or tar.gz file."),
}


@pytest.mark.parametrize("name", BAD)
def test_a_hand_in_without_a_clear_program(name: str, source: Path, out: Path) -> None:
    files, words = BAD[name]
    folder(source, name, *files)
    (source / name).mkdir(exist_ok=True)
    (source / "zoe.py").write_text(BOT)
    rows = by_student(collect(source, out, SEATS))
    assert rows[name].status == REFUSED
    assert words in rows[name].reason
    assert rows["zoe"].status == OK
    assert os.listdir(out) == ["zoe"]


def test_a_program_in_another_encoding(source: Path, out: Path) -> None:
    folder(source, "ada", "bot.py").joinpath("bot.py").write_text(BOT, encoding="utf-16")
    assert "'bot.py', in UTF-16; save it in the encoding UTF-8." in by_student(collect(source, out, SEATS))["ada"].reason


def test_scripts_and_executables(source: Path, out: Path) -> None:
    for name, text in (
        ("sh", "#!/bin/sh\n"),
        ("env", "#!/usr/bin/env -S sh\n"),
        ("gone", "#!/opt/none/node\n"),
        ("dos", "#!/usr/bin/env sh\r\n"),
    ):
        folder(source, name, "main.sh")
        (source / name / "main.sh").write_text(text)
    folder(source, "bin", "notes.txt")
    (source / "bin" / "bot").write_bytes(b"\x7fELF and so on")
    folder(source, "odd", "main.sh")
    (source / "odd" / "main.sh").write_bytes(b"#!/usr/bin/env a\0b\xff\n")
    (source / "odd" / "main.sh").chmod(0o755)
    rows = by_student(collect(source, out, SEATS))
    assert {name for name, item in rows.items() if item.status == OK} == {"sh", "env", "bin", "dos"}
    assert os.access(out / "sh" / "main.sh", os.X_OK)
    assert (
        rows["gone"].reason == "The hand-in 'gone' has a program for the hunter, 'main.sh', whose interpreter isn't here: '/opt/none/node'."
    )
    assert "whose interpreter isn't here" in rows["odd"].reason


def test_a_program_named_after_a_seat_plays_no_other_one(source: Path, out: Path) -> None:
    folder(source, "pia", "prey.py")
    (source / "zip").mkdir()
    zipped(source / "zip" / "hand-in.zip", {"ex1/bot.py": BOT, "ex2/bot.py": BOT})
    rows = by_student(collect(source, out, SEATS))
    assert set(rows["pia"].players) == {"prey"}
    assert "only folders, 'ex1' and 'ex2'" in rows["zip"].reason
    [refused] = collect(folder(source, "pia", "prey.py"), out / "one", ("hunter",), None, ("prey",))
    assert refused.reason.endswith("by its name, 'prey.py' plays only the prey.")


def test_hostile_archives_spoil_only_their_own_rows(source: Path, out: Path) -> None:
    names = [name for name in HOSTILE if "bomb" not in name and "many" not in name]
    for name in names:
        base, _, end = name.partition(".")
        HOSTILE[name][1](source / f"{base}-{end.replace('.', '_')}.{end}")
    (source / "zoe.py").write_text(BOT)
    found = collect(source, out, SEATS)
    assert len(found) == len(names) + 1
    assert [item.student for item in found if item.status == OK] == ["zoe"]
    assert os.listdir(out) == ["zoe"]
    assert sorted(os.listdir(source.parent)) == ["class", "out"]


def test_archives_in_archives(source: Path, out: Path) -> None:
    inner = zipped(source / "inner.zip", {"main.py": BOT}).read_bytes()
    (source / "inner.zip").unlink()
    for level in range(5):
        inner = zipped(source / f"level{level}.zip", {"hw/inner.zip": inner}).read_bytes()
    rows = by_student(collect(source, out, SEATS))
    assert rows["level0"].status == OK
    assert rows["level1"].reason == "The hand-in 'level1.zip' has more than 2 archives in one another; submit one archive of files."
    assert [name for name, item in rows.items() if item.status == OK] == ["level0"]


def test_links_are_never_followed_out(source: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret")
    (source / "top.py").symlink_to(tmp_path / "secret.py")
    (folder(source, "inner", "prey.py") / "hunter.py").symlink_to(tmp_path / "secret.py")
    (folder(source, "good", "src/bot.py") / "main.py").symlink_to("src/bot.py")
    (folder(source, "left-out", ".git/main.py") / "main.py").symlink_to(".git/main.py")
    (folder(source, "beside", "shared/a.txt", "src/x.txt") / "src" / "main.py").symlink_to("../shared/a.txt")
    (folder(source, "above", "src/main.py") / "src" / "all").symlink_to("..")
    os.mkfifo(folder(source, "pipe", "main.py") / "pipe")
    rows = by_student(collect(source, out, SEATS))
    assert {name for name, item in rows.items() if item.status == OK} == {"good"}
    assert "is a link" in rows["top"].reason
    assert "has a link that leaves it: 'hunter.py'" in rows["inner"].reason
    assert "has a link to a file that is left out of the copy" in rows["left-out"].reason
    assert "has a link that leaves the folder of its programs: 'all'" in rows["above"].reason
    assert "has a FIFO: 'pipe'" in rows["pipe"].reason
    assert not [path for path in out.rglob("*") if path.is_file() and "secret" in path.read_text()]


def test_files_with_odd_names_are_collected_apart(source: Path, out: Path) -> None:
    names = ["-rf.py", "two\nlines.py", " spaces in it .py", "\u6587\u5b57.py", "a" * 250 + ".py", "Case.py", "case.py", "=1+1.py", "!!!.py", "@x.py",
             "\x1b[2J.py", "\ufdfa" * 60 + ".py", "boxer (opponent).py"]  # fmt: skip
    for name in names:
        (source / name).write_text(BOT)
    (source / os.fsdecode(b"\xff\xfe.py")).write_text(BOT)
    found = collect(source, out, SEATS)
    rows = by_student(found)
    assert {item.status for item in found} == {OK}
    assert len(rows) == len(names) + 1
    assert {"Case", "case (2)", "two lines", "=1+1", "boxer (opponent) (2)"} <= set(rows)
    assert all(len(item.student) <= 40 and item.name.isprintable() for item in found)
    assert len(os.listdir(out)) == len(found)


def test_two_hand_ins_of_a_student(source: Path, out: Path) -> None:
    (source / "alice.py").write_text(BOT)
    zipped(source / "alice.zip", {"main.py": BOT})
    (source / "bob.py").write_text(BOT)
    with pytest.raises(UsageError, match=r"same student, 'alice': 'alice\.py' and 'alice\.zip'; keep one"):
        collect(source, out, SEATS)
    assert os.listdir(out) == []


def test_the_later_attempt_counts_where_attempts_are_numbered(source: Path, out: Path) -> None:
    folder(source, "submission_9", "main.py")
    folder(source, "submission_10", "bot.py")
    people = "\n  :submitters:\n  - :name: Jane\n    :sid: '1'\n    :email: j@x\n"
    (source / "submission_metadata.yml").write_text(f"submission_9:{people}submission_10:{people}")
    found = collect(source, out, SEATS)
    assert [(item.student, item.name, item.status) for item in found] == [("1", "submission_10", OK)]


def test_a_roster(source: Path, out: Path) -> None:
    (source / "roster.csv").write_text(
        "student,name,email\n3,Carol C,carol@x\n1,Alice A,alice@x\n2,Bob B,bob@x\n4,Twin T,a@x\n5,T Twin,b@x\n"
    )
    (source / "1.py").write_text(BOT)
    (source / "carol.py").write_text(BOT)
    (source / "guest.py").write_text(BOT)
    (source / "late.rar").write_text(BOT)
    (source / "twin t.py").write_text(BOT)
    found = collect(source, out, SEATS, source / "roster.csv")
    assert [(item.student, item.status) for item in found] == [
        ("3", OK), ("1", OK), ("2", MISSING), ("4", MISSING), ("5", MISSING), ("guest", OK), ("late", REFUSED), ("twin t", REFUSED),
    ]  # fmt: skip
    rows = by_student(found)
    assert rows["3"].full_name == "Carol C"
    assert {"carol@x", "3", "carol"} <= set(rows["3"].identities)
    assert (rows["2"].reason, rows["2"].name) == ("Nothing was submitted.", "")
    assert rows["4"].reason == "No hand-in surely belongs to this student; it could be 'twin t.py'."
    assert rows["guest"].reason == "The hand-in 'guest.py' belongs to nobody on the roster."
    assert rows["late"].reason.endswith("; it belongs to nobody on the roster.")
    assert "could belong to several students on the roster: '4' and '5'; name it in a column 'submission'." in rows["twin t"].reason


def test_bulk_downloads_as_archives(source: Path, out: Path) -> None:
    zipped(source / "moodle.zip", {
        "Jane Doe_1_assignsubmission_file_/hw.zip": zipped(source / "x", {"main.py": BOT}).read_bytes(),
        "Karl_2_assignsubmission_file_/bot.py": BOT,
        "Bad_3_assignsubmission_file_/../../../x.py": BOT,
    })  # fmt: skip
    rows = by_student(collect(source / "moodle.zip", out, SEATS))
    assert {name: item.status for name, item in rows.items()} == {"Jane Doe-1": OK, "Karl-2": OK, "Bad-3": REFUSED}
    zipped(source / "canvas.zip", {"doe_1_5_hunter.py": BOT, "doe_1_6_prey.py": BOT, "roe_LATE_2_7_hw-1.zip": (source / "x").read_bytes()})
    rows = by_student(collect(source / "canvas.zip", out, SEATS))
    assert {name: item.status for name, item in rows.items()} == {"doe-1": OK, "roe-2": OK}
    assert sorted(os.listdir(out / "doe-1")) == ["hunter.py", "prey.py"]
    zipped(source / "gradescope.zip", {
        "assignment_1_export/submission_metadata.yml": "submission_5:\n  :submitters:\n  - :name: Jane\n    :sid: '101'\n",
        "assignment_1_export/submission_5/main.py": BOT,
    })  # fmt: skip
    assert by_student(collect(source / "gradescope.zip", out, SEATS))["101"].status == OK


def test_a_source_without_hand_ins_is_a_usage_error(source: Path, out: Path) -> None:
    with pytest.raises(UsageError, match="has no hand-in in it"):
        collect(source, out, SEATS)
    with pytest.raises(UsageError, match="does not exist"):
        collect(source / "none", out, SEATS)
    (source / "class.rar").write_text("")
    with pytest.raises(UsageError, match="a kind that isn't supported"):
        collect(source / "class.rar", out, SEATS)
    folder(source, "alice", "hunter.py", "prey.py", "util.py")
    with pytest.raises(UsageError, match="looks like one hand-in"):
        collect(source / "alice", out, SEATS)
    assert not os.listdir(out)


def test_the_results_may_lie_beside_the_hand_ins(source: Path) -> None:
    (source / "alice.py").write_text(BOT)
    for _ in range(2):
        assert [item.student for item in collect(source, source / "out" / "private", SEATS)] == ["alice"]


def test_one_hand_in_alone(source: Path, out: Path) -> None:
    found = single(folder(source, "submission", "hunter.py", "prey.py"), out, SEATS)
    assert (found.student, found.status, found.folder) == ("submission", OK, out / "submission")
    assert single(folder(source, "other", "x.txt"), out, SEATS).status == REFUSED
    (source / "bob.py").write_text(BOT)
    assert dict(single(source / "bob.py", out, ("hunter",)).players) == {"hunter": str(out / "bob" / "bob.py")}
    assert single(source / "none", out, SEATS).status == REFUSED


def test_a_folder_that_can_not_be_read(source: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(source, "alice", "main.py")
    folder(source, "bob", "main.py", "closed/a.py")
    real = os.open

    def denied(path: object, *args: object, **kwargs: object) -> int:
        if path == "closed" or (path == "alice" and "dir_fd" in kwargs and not int(str(args[0])) & getattr(os, "O_PATH", 0)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, *args, **kwargs)  # type: ignore[arg-type] # as it came

    monkeypatch.setattr(os, "open", denied)
    (source / "zoe.py").write_text(BOT)
    rows = by_student(collect(source, out, SEATS))
    assert rows["alice"].reason == "The hand-in 'alice' can't be copied: alice: Permission denied."
    assert "has a folder that can't be read: 'closed' (Permission denied)" in rows["bob"].reason
    assert rows["zoe"].status == OK


@pytest.mark.parametrize("name", ["alice.py", "alice.zip"])
def test_a_full_disk_marks_nobody(name: str, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zipped(source / "alice.zip", {"main.py": BOT})
    (source / "alice.zip").rename(source / name)
    real = os.open

    def full(path: object, flags: int, *args: object, **kwargs: object) -> int:
        if flags & os.O_CREAT and path != "alice.zip" and not str(path).endswith("alice.zip"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return real(path, flags, *args, **kwargs)  # type: ignore[arg-type] # as it came

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(RefereeError, match="No space left on device") as caught:
        collect(source, out, SEATS)
    assert not isinstance(caught.value, UsageError)


@pytest.mark.soak
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(
        st.sampled_from(["main.py", "bot", "hunter", "hunter.py", "main", "a/b.py", "x.sh", "x.py", "-x.py", "y\n.py", "a.zip", ".h"]),
        st.binary(max_size=30) | st.sampled_from([b"#!", b"#!/usr/bin/env", b"#!/bin/sh\n", b"#!\0\n", b"\x7fELF", b"PK"]),
        max_size=4,
    )
)
def test_any_hand_in_is_a_row(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("any")
    (home / "class").mkdir()
    zipped(home / "class" / "alice.zip", files)
    found = collect(home / "class", home / "out", SEATS)
    assert set(by_student(found)) == {"alice"}
    assert found == collect(home / "class", home / "out", SEATS), "the same files give the same rows"


def test_names_are_different_and_short() -> None:
    names = StudentNames(["Ann"])
    assert [names.new(wish) for wish in ("ann", "Ann!", "", "...", "x" * 99, "x" * 50)] == [
        "ann (2)", "Ann! (3)", "hand-in", "hand-in ... (2)", "x" * 40, "x" * 36 + " (2)",
    ]  # fmt: skip


SCRIPT = "#!/bin/sh\r\nexec python3 bot_impl.py\r\n"
#: Hand-ins made on Windows, each with the files that are programs in the grading's copy, and their content.
ON_WINDOWS: dict[str, tuple[dict[str, bytes | str], tuple[str, ...]]] = {
    "scripts in folders": (
        {"bot.toml": 'build = "./tools/build.sh"\nrun = "./bin/run.sh"\n', "tools/build.sh": SCRIPT, "bin/run.sh": SCRIPT},
        ("tools/build.sh", "bin/run.sh"),
    ),
    "through another script": (
        {"bot.toml": 'run = "sh run"\n', "run": "./inner/go\r\n", "inner/go": SCRIPT},
        ("run", "inner/go"),
    ),
    "backslashes": ({"bot.toml": "run = '.\\\\bin\\\\run.sh'\n".replace("\\\\", "\\"), "bin\\run.sh": SCRIPT}, ("bin/run.sh",)),
    "another case": ({"Bot.toml": 'run = "./run.sh"\n', "run.sh": SCRIPT, "lib/x.py": ""}, ("run.sh",)),
    "hidden ending": ({"hw/bot.toml.txt": 'run = "./run.sh"\n', "hw/run.sh": SCRIPT, "hw/lib/x.py": ""}, ("run.sh",)),
    "mark": ({"bot.toml": '\ufeffrun = "./run.sh"\n', "run.sh": f"\ufeff{SCRIPT}"}, ("run.sh",)),
    "utf-16": ({"bot.toml": 'run = "./run.sh"\n'.encode("utf-16"), "run.sh": SCRIPT.encode("utf-16")}, ("run.sh",)),
    "without bot.toml": ({"hunter": f"\ufeff{SCRIPT}", "prey": SCRIPT}, ("hunter", "prey")),
}


@pytest.mark.parametrize("case", ON_WINDOWS)
def test_what_was_packed_on_windows_can_be_started(case: str, source: Path, out: Path) -> None:
    files, programs = ON_WINDOWS[case]
    zipped_on_windows(source / "ada.zip", files)
    before = (source / "ada.zip").read_bytes()
    (found,) = collect(source, out, SEATS)
    assert (found.status, found.reason) == (OK, "")
    for name in programs:
        path = out / "ada" / name
        assert os.access(path, os.X_OK)
        text = path.read_text()
        assert "\r" not in text
        assert text.startswith("#!/bin/sh\n" if name != "run" else "./inner/go\n")
    assert (source / "ada.zip").read_bytes() == before


def test_a_folder_that_was_handed_in_stays_as_it_is(source: Path, out: Path) -> None:
    files = {"Bot.toml": b'run = "./run.sh"\r\n', "run.sh": SCRIPT.encode()}
    (source / "ada").mkdir()
    for name, data in files.items():
        (source / "ada" / name).write_bytes(data)
        (source / "ada" / name).chmod(0o400)
    assert collect(source, out, SEATS)[0].status == OK
    assert {path.name: path.read_bytes() for path in (source / "ada").iterdir()} == files
    assert {stat.S_IMODE(path.stat().st_mode) for path in (source / "ada").iterdir()} == {0o400}


def test_two_files_that_could_be_the_bot_file_are_named(source: Path, out: Path) -> None:
    zipped(source / "ada.zip", {"Bot.toml": "", "bot.toml.txt": "", "main.py": BOT})
    (row,) = collect(source, out, SEATS)
    assert row.reason == "The hand-in has no bot.toml, but 'Bot.toml' and 'bot.toml.txt'; keep one, and call it bot.toml."


def test_no_refusal_names_a_folder_of_the_grader(source: Path, out: Path) -> None:
    (source / "ada").mkdir()
    (source / "ada" / "main.py").symlink_to(source / "secret.py")
    (source / "bob.zip").write_bytes(b"PK")
    (source / "eve.py").symlink_to("/etc/passwd")
    for row in collect(source, out, SEATS):
        assert row.status == REFUSED
        assert str(source.parent) not in row.reason.replace(f"points to '{source}", "")
