"""Certificates of leagues and gradings: what they cover, and hostile ones."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pytest
import rubrics
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from leagues import write_league

from referee.errors import UsageError
from referee.grading import certificate, signing
from referee.grading.family import seed_hash
from referee.grading.grading import open_grading
from referee.grading.reveal import check_reveal
from referee.league import address
from referee.league.keys import canonical
from referee.league.store import Store
from referee.league.values import Team
from referee.support.files import open_whole

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from commands import Commands

    Cli = Callable[..., subprocess.CompletedProcess[str]]


#: What version 1.0.0 has written.
DATA = Path(__file__).parents[1] / "data" / "trust"


@pytest.fixture(scope="module")
def played(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a league of three teams in ``out``, and a key."""
    folder = tmp_path_factory.mktemp("league")
    done = commands.run("league", "run", str(write_league(folder / "in", 3)), "--out", "out", "--slots", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    signing.make(folder / "key.pem")
    return folder


@pytest.fixture
def league(played: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(played, tmp_path / "league")
    return tmp_path / "league"


@pytest.fixture
def grading(league: Path) -> Path:
    """The folder of a grading, with the replays of a league."""
    folder = league / "graded"
    private = folder / "private"
    shutil.copytree(league / "out" / "replays", private / "replays")
    for name, text in {
        "private/submissions/ada/bot 100%.py": "pass\n",
        "grades.csv": "student,points\nada,5\n",
        "report.html": "<p>5 points\n",
        "students/ada/report.md": "5 points\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (private / "submissions/ada" / os.fsdecode(b"n\xffme.py")).write_text("pass\n")
    (private / "submissions/ada/link.py").symlink_to("/etc/passwd")
    tests = rubrics.table(seat='"hunter"', against='"runner"', need="{ wins = true }")
    with open_grading(folder, rubrics.load(league, tests)) as opened:
        opened.store.add_teams([Team("ada", {"hunter": "x"}, "aa")], {})
    return folder


def _fingerprint(public: Path) -> str:
    """What a public key's file says, by the library alone."""
    key = load_pem_public_key(public.read_bytes())
    assert isinstance(key, Ed25519PublicKey)
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()


def test_a_league(referee: Cli, league: Path) -> None:
    fingerprint = _fingerprint(league / "key.pub.pem")
    done = referee("certificate", "sign", "out", "--key", "key.pem", cwd=league)
    assert done.returncode == 0, done.stderr
    assert f"fingerprint {fingerprint}" in done.stdout
    found = json.loads((league / "out/certificate.json").read_text())
    assert found["kind"] == "league"
    assert found["matches"] == {"done": 6, "planned": 0, "stopped": 0}
    assert found["isolation"] == {"none": 6}
    assert {name for name in found["files"] if "/" not in name} == {"league.id", "league.sqlite"}
    assert sum(name.endswith(".replay.jsonl.gz") for name in found["files"]) == 6
    number = len(found["files"])
    assert found["submissions"].keys() == {"T0", "T1", "T2"}
    assert [row["team"] for row in found["standings"]] == ["T0", "T1", "T2"]
    assert found["referee"]["code"] == certificate.code()
    for words in (["--key", "key.pub.pem", "out"], ["out", "--key", fingerprint]):
        good = referee("certificate", "check", "out/certificate.json", *words, cwd=league)
        assert good.returncode == 0, good.stdout
        assert f"Good: signed by the given key. {number} files compared, as certified." in good.stdout
        assert "left out    certificate.json" in good.stdout
    unknown = referee("certificate", "check", "out/certificate.json", cwd=league)
    assert unknown.returncode == 0
    assert "nothing has changed since somebody with this fingerprint signed it" in unknown.stdout
    assert "No folder was given" in unknown.stdout
    as_json = json.loads(referee("certificate", "check", "out/certificate.json", "out", "--json", cwd=league).stdout)
    assert (as_json["ok"], as_json["files"], as_json["is_by_key"], as_json["notes"]) == (True, number, None, [])
    assert "certificate.json" in as_json["left_out"]
    referee("certificate", "new-key", "--out", "other.pem", cwd=league)
    other = referee("certificate", "check", "out/certificate.json", "--key", "other.pub.pem", cwd=league)
    assert other.returncode == 1
    assert "It is signed by another key than the given one" in other.stdout


def test_the_same_folder_elsewhere_is_as_certified(league: Path) -> None:
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    shutil.copytree(league / "out", league / "copy")
    assert certificate.check(path, None, league / "copy").problems == ()


def _edit_store(folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(folder / "league.sqlite")) as store, store:
        store.execute('UPDATE matches SET result = replace(result, \'"winner":"prey"\', \'"winner":"hunter"\')')


CHANGES: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "changed": (lambda folder: _first(folder).write_bytes(b"x"), ("replay.jsonl.gz: it has changed.",)),
    "missing": (lambda folder: _first(folder).unlink(), ("replay.jsonl.gz: it is missing.",)),
    "linked": (lambda folder: _linked(_first(folder)), ("replay.jsonl.gz: there is a link in its place.",)),
    "piped": (lambda folder: _piped(_first(folder)), ("replay.jsonl.gz: it can't be read",)),
    "behind a link": (
        lambda folder: _linked(folder / "replays"),
        ("replay.jsonl.gz: it is missing.", "replays: it is not in the certificate."),
    ),
    "more": (lambda folder: (folder / "replays/x.replay.jsonl.gz").write_bytes(b""), ("x.replay.jsonl.gz: it is not in the certificate.",)),
    "a page": (lambda folder: (folder / "final-grades.xlsx").write_bytes(b""), ("final-grades.xlsx: it is not in the certificate.",)),
    "a log of the store": (
        lambda folder: (folder / "league.sqlite-wal").write_bytes(b"x"),
        ("league.sqlite-wal: it is not in the certificate; a program that has the store open makes it.",),
    ),
    "an index of the store": (
        lambda folder: (folder / "league.sqlite-shm").write_bytes(b"marks"),
        ("league.sqlite-shm: it is not in the certificate; a program that has the store open makes it.",),
    ),
    "a cache": (
        lambda folder: shutil.copytree(folder / "replays", folder / "replays/__pycache__"),
        ("replay.jsonl.gz: it is not in the certificate.",),
    ),
    "store": (
        _edit_store,
        ("league.sqlite: it has changed.",),
    ),
}


def _first(folder: Path) -> Path:
    return min(folder.rglob("*.replay.jsonl.gz"))


def _linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def _piped(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_named(name: str, league: Path) -> None:
    change, told = CHANGES[name]
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    change(league / "out")
    found = certificate.check(path, None, league / "out")
    assert not found.ok
    for text in told:
        assert any(text in problem for problem in found.problems), found.problems


def test_a_grading(grading: Path) -> None:
    path, *_ = certificate.certify(grading, grading.parent / "key.pem")
    body = json.loads(path.read_text())
    assert (body["kind"], body["name"], body["game"], body["submissions"]) == ("grading", "Homework", "evasion", {"ada": "aa"})
    assert list(body["opponents"]) == ["runner (opponent)"]
    assert body["rubric_sha256"] == body["files"]["private/rubric.toml"]
    assert body["seed_sha256"] == seed_hash("0123456789abcdef")
    assert "0123456789abcdef" not in path.read_text()
    assert {name for name in body["files"] if "replays/" not in name} == {
        "grades.csv",
        "report.html",
        "students/ada/report.md",
        "private/league.sqlite",
        "private/rubric.toml",
        "private/submissions/ada/bot 100%25.py",
        "private/submissions/ada/n%FFme.py",
        "private/submissions/ada/link.py",
    }
    assert certificate.check(path, None, grading).problems == ()
    (grading / "grades.csv").write_text("student,points\nada,6\n")
    (grading / "report.html").write_text("<p>6 points\n")
    (grading / "students/ada/marks.md").write_text("6 points\n")
    (grading / "private/submissions/ada/link.py").unlink()
    assert certificate.check(path, None, grading).problems == (
        "grades.csv: it has changed.",
        "private/submissions/ada/link.py: it is missing.",
        "report.html: it has changed.",
        "students/ada/marks.md: it is not in the certificate.",
    )


def test_a_student_checks_a_part(referee: Cli, grading: Path) -> None:
    certificate.certify(grading, grading.parent / "key.pem")
    part = grading.parent / "mine"
    (grading / "students/ada").rename(part)
    words = ("certificate", "check", str(grading / "certificate.json"), str(part), "--part", "students/ada")
    good = referee(*words)
    assert good.returncode == 0, good.stdout
    assert "Only students/ada was compared, not the rest of the certified folder." in good.stdout
    (part / "report.md").write_text("6 points\n")
    changed = referee(*words)
    assert (changed.returncode, "report.md: it has changed." in changed.stdout) == (1, True)
    assert changed.stdout.endswith("\n1 problem.\nAsk the signer for the files as they were signed.\n")
    for more in (["--part", "students/eve"], ["--part", "/students/eve"], ["--part", "../x"]):
        assert referee(*words[:3], *more).returncode == 2
    assert referee(*words[:2], "--part", "students/ada").returncode == 2


def test_a_certificate_of_an_earlier_version_says_what_it_does_not_cover(league: Path) -> None:
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    body = json.loads(path.read_text())
    covered = {name: digest for name, digest in body["files"].items() if name.endswith(".replay.jsonl.gz")}
    path.write_text(signed({**body, "format": 1, "files": covered, "records_sha256": "0" * 64}))
    found = certificate.check(path, None, league / "out")
    assert (found.problems, found.facts["files"]) == ((), len(covered))
    assert {"league.id", "league.sqlite", "certificate.json"} <= set(found.facts["left_out"])
    assert "It covers only the files that it names" in found.facts["notes"][0]
    _first(league / "out").write_bytes(b"x")
    assert len(certificate.check(path, None, league / "out").problems) == 1
    path.write_text(path.read_text().replace('"format":1', '"format":2'))
    assert "The signature is wrong" in certificate.check(path).problems[0]


def test_a_new_key_is_private_and_never_replaces_another_one(referee: Cli, tmp_path: Path) -> None:
    done = referee("certificate", "new-key", "--out", "k.pem")
    assert done.returncode == 0, done.stderr
    private, public = tmp_path / "k.pem", tmp_path / "k.pub.pem"
    assert private.stat().st_mode & 0o777 == 0o600
    assert b"PRIVATE KEY" in private.read_bytes()
    assert _fingerprint(public) in done.stdout
    before = private.read_bytes(), public.read_bytes()
    again = referee("certificate", "new-key", "--out", "k.pem")
    assert again.returncode == 2
    assert "is there already, and a key is never overwritten" in again.stderr
    public.unlink()
    assert referee("certificate", "new-key", "--out", "k.pem").returncode == 2
    assert private.read_bytes() == before[0]
    assert not public.exists()
    (tmp_path / "to.pem").symlink_to("target")
    assert referee("certificate", "new-key", "--out", "to.pem").returncode == 2
    assert not (tmp_path / "target").exists()
    for name in ("missing/k.pem", "a\tb/c.pem"):
        assert referee("certificate", "new-key", "--out", name).returncode == 2
    assert json.loads(referee("certificate", "new-key", "--json").stdout)["private"] == "referee-key.pem"


def test_wrong_keys_are_one_sentence(league: Path) -> None:
    for name, text in {
        "long": "x" * ((1 << 20) + 1),
        "empty": "",
        "text": "-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----\n",
    }.items():
        (league / name).write_text(text)
    for key, told in {
        "key.pub.pem": "it holds a public key",
        "missing": "can't be read",
        "long": "more than 1 MiB",
        "empty": "no private key",
        "text": "no private key",
        "in": "folder",
    }.items():
        with pytest.raises(UsageError, match=told):
            certificate.certify(league / "out", league / key)
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    for key in ("missing", "0" * 63, f"{'0' * 63}g"):
        with pytest.raises(UsageError, match="is neither a fingerprint, which has 64 hexadecimal digits, nor the file"):
            certificate.check(path, key)
    for key in ("empty", "in"):
        with pytest.raises(UsageError):
            certificate.check(path, str(league / key))
    # A key that can't be read without a password is told of, too.
    for key in ("key.pem", "text"):
        with pytest.raises(UsageError, match="it holds a private key: name"):
            certificate.check(path, str(league / key))
    for folder in ("in", "missing", "key.pem"):
        with pytest.raises(UsageError, match="folder"):
            certificate.certify(league / folder, league / "key.pem")
    with pytest.raises(UsageError, match="is not a folder"):
        certificate.check(path, None, league / "key.pem")


def test_the_mode_of_a_public_key_is_no_matter(referee: Cli, league: Path) -> None:
    done = referee("certificate", "sign", str(league / "out"), "--key", str(league / "key.pub.pem"))
    assert done.returncode == 2
    assert "it holds a public key" in done.stderr
    assert "warning" not in done.stderr


def test_a_league_that_is_played_now_is_not_certified(league: Path) -> None:
    with Store.open(league / "out") as store, store.claim(), pytest.raises(UsageError, match="is in use"):
        certificate.certify(league / "out", league / "key.pem")


def signed(body: dict[str, Any]) -> str:
    """A certificate with any content, and a signature that is true."""
    key = Ed25519PrivateKey.generate()
    body = {**body, "public_key": key.public_key().public_bytes_raw().hex()}
    body.pop("signature", None)
    body["signature"] = key.sign(certificate.signed_bytes(body)).hex()
    return canonical(body)


PATHS = [
    "../secret",
    "/etc/passwd",
    "a/../../secret",
    "",
    ".",
    "a//b",
    "%2E%2E/secret",
    "a%00b",
    "x" * 100_000,
    "a/" * 5_000 + "b",
    "\x1b[31mred",
    "dev",
]


@pytest.mark.parametrize("name", PATHS, ids=range(len(PATHS)))
def test_no_path_leads_out_of_the_folder(name: str, league: Path) -> None:
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    (league / "secret").write_text("secret")
    (league / "out" / "dev").symlink_to("/dev/zero")
    body = json.loads(path.read_text())
    body["files"] = {name: certificate.hash_of(league / "secret")}
    path.write_text(signed(body))
    found = certificate.check(path, None, league / "out")
    assert not found.ok
    assert all(len(problem) < 500 for problem in found.problems)
    assert len(found.problems) == 9 + (name != "dev"), found.problems


@pytest.mark.parametrize(
    "field", ["type", "format", "kind", "files", "submissions", "isolation", "referee", "public_key", "signature", "time"]
)
@pytest.mark.parametrize("value", [None, 7, "x", ["x"], {"x": []}, {"x": {"y": 1}}, "\x1b[31m", "0" * 200])
def test_wrong_types_are_a_sentence(field: str, value: Any, tmp_path: Path) -> None:
    if (field, value) == ("kind", "x") or (field == "time" and isinstance(value, str)):
        return
    (tmp_path / "c.json").write_text(_certificate(**{field: value}))
    with pytest.raises(UsageError) as caught:
        certificate.check(tmp_path / "c.json", None, tmp_path)
    assert str(caught.value).isprintable()


def _certificate(**changes: Any) -> str:
    body = {
        "type": "certificate",
        "format": 2,
        "kind": "league",
        "name": "n",
        "time": "t",
        "files": {},
        "submissions": {},
        "opponents": {},
        "matches": {},
        "isolation": {},
        "referee": {"version": "0", "code": "0" * 64},
        "python": "3",
        "public_key": "0" * 64,
        "signature": "0" * 128,
        **changes,
    }
    return json.dumps(body)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "7",
        '{"type":"certificate"}',
        "[" * 100_000,
        '{"a":1,"a":2}',
        '{"type":"certificate","format":2,"x":1e999}',
        "\ufeff{}",
        "\ud800",
    ],
    ids=range(11),
)
def test_what_is_no_certificate(text: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    done = referee("certificate", "check", "c.json")
    assert done.returncode == 2
    assert done.stderr.startswith("referee: ")
    assert done.stderr.count("\n") == 1


def test_a_huge_file_and_no_file(tmp_path: Path) -> None:
    with (tmp_path / "c.json").open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(UsageError, match="more than 128 MiB"):
        certificate.check(tmp_path / "c.json")
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "missing", ".", "c.json/x"):
        with pytest.raises(UsageError, match="can't be read"):
            certificate.check(tmp_path / name)


def test_a_file_with_a_hole_without_end_is_not_hashed(league: Path) -> None:
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    os.truncate(league / "out" / "league.sqlite", 8 << 40)
    (problem,) = certificate.check(path, None, league / "out").problems
    assert problem.startswith("league.sqlite: it can't be read (")
    assert "MiB of holes" in problem
    with pytest.raises(UsageError, match="MiB of holes"):
        certificate.certify(league / "out", league / "key.pem")


def test_a_check_opens_only_what_it_finds_in_the_folder(league: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of a certificate come from strangers."""
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    body = json.loads(path.read_text())
    body["files"] = {**body["files"], **dict.fromkeys(PATHS, "0" * 64)}
    path.write_text(signed(body))
    opened: list[Path] = []

    def noted(file: Path) -> BinaryIO:
        opened.append(file)
        return open_whole(file)

    monkeypatch.setattr(certificate, "open_whole", noted)
    assert len(certificate.check(path, None, league / "out").problems) == len(PATHS)
    assert len(opened) == 8
    assert all((league / "out").resolve() in file.resolve().parents for file in opened)


def test_one_file_is_hashed_under_one_name_only(league: Path) -> None:
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    body = json.loads(path.read_text())
    body["files"] = {**body["files"], "league%2Esqlite": body["files"]["league.sqlite"]}
    path.write_text(signed(body))
    (problem,) = certificate.check(path, None, league / "out").problems
    assert problem == "league%2Esqlite: it is missing."


def test_an_edited_certificate_is_found(league: Path) -> None:
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    text = path.read_text()
    for old, new in (
        ('"done":6', '"done":7'),
        ('"name":"test"', '"name":"best"'),
        ('"type":"certificate"', '"more":1,"type":"certificate"'),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        assert certificate.check(path).problems == ("The signature is wrong: the certificate was changed after it was signed.",)
    # The form of the text doesn't matter.
    path.write_text(json.dumps(json.loads(text), indent=2))
    assert certificate.check(path).ok


ENDLESS = "WITH RECURSIVE more AS (SELECT * FROM kept UNION ALL SELECT * FROM more) SELECT * FROM more"
STRANGE = {
    "view": f"ALTER TABLE matches RENAME TO kept; CREATE VIEW matches AS {ENDLESS}",
    "trigger": "CREATE TRIGGER matches_done AFTER UPDATE ON matches BEGIN DELETE FROM teams; END",
    "virtual table": "ALTER TABLE hosts RENAME TO kept; CREATE VIRTUAL TABLE hosts USING fts5(name)",
    "computed column": "ALTER TABLE hosts ADD COLUMN more TEXT AS (hex(zeroblob(500000000)))",
    "view that says that it is a table": f"ALTER TABLE matches RENAME TO kept; CREATE VIEW matches AS {ENDLESS}; PRAGMA writable_schema=ON;"
    "UPDATE sqlite_master SET type = 'table' WHERE name = 'matches'",
    "missing table": "DROP TABLE teams",
    "huge text": "UPDATE facts SET value = hex(zeroblob(34000000))",
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_store_that_no_referee_wrote(name: str, referee: Cli, league: Path) -> None:
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    with contextlib.closing(sqlite3.connect(league / "out/league.sqlite")) as opened, opened:
        opened.executescript(STRANGE[name])
    assert certificate.check(path, None, league / "out").problems == ("league.sqlite: it has changed.",)
    done = referee("certificate", "sign", "out", "--key", "key.pem", cwd=league)
    assert done.returncode in (2, 4), done.stderr
    assert (done.stderr.startswith("referee: "), done.stderr.count("\n")) == (True, 1), done.stderr


def test_reading_leaves_a_certified_league_as_it_is(referee: Cli, league: Path) -> None:
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    for words in (("standings",), ("verify",), ("export", "--csv")):
        assert referee("league", words[0], "out", *words[1:], cwd=league).returncode == 0
    assert certificate.check(path, None, league / "out").problems == ()


def test_a_league_whose_store_is_open_is_not_certified(league: Path) -> None:
    with contextlib.closing(sqlite3.connect(league / "out/league.sqlite")) as other, other:
        other.execute("INSERT INTO facts VALUES ('more', '1')")
        other.commit()
        for _ in range(2):
            with pytest.raises(UsageError, match="another program has the store open"):
                certificate.certify(league / "out", league / "key.pem")
            # Then its log is empty, and only its index shows that it is open.
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_a_folder_can_name_no_database_to_ask(league: Path) -> None:
    """Its address would be that of any host."""
    path, *_ = certificate.certify(league / "out", league / "key.pem")
    (league / "out/league.sqlite").unlink()
    address.write(league / "out", address.Address("postgresql://referee@192.0.2.1/league", "0" * 32))
    assert certificate.check(path, None, league / "out").problems == (
        "database.url: it is not in the certificate.",
        "league.sqlite: it is missing.",
    )


def test_a_certificate_and_a_reveal_of_version_1_0_are_still_read(tmp_path: Path) -> None:
    found = certificate.check(DATA / "certificate.json", "b0ac7aeff6fab2e17a8d2cac2dd3dff1af58dddf1f44ab225e9e1fbf7217d563", tmp_path)
    # The signature and the key are good; the certified files aren't in this folder.
    assert [(row.where, row.what) for row in found.findings if not row.where.startswith("replays/")] == [
        ("league.id", "it is missing."),
        ("league.sqlite", "it is missing."),
    ]
    assert (found.facts["is_by_key"], found.facts["files"], len(found.findings)) == (True, 4, 4)
    assert certificate.check(DATA / "certificate.json").ok
    revealed = check_reveal(DATA / "reveal.json", json.loads((DATA / "reveal.json").read_text())["commitment"])
    assert (revealed.ok, revealed.facts["hash_covers"], revealed.facts["starts"]) == (True, "starts", 2)
