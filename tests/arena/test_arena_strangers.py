"""What strangers try: two teams and somebody without a token ask for what is not theirs, in every way that we know of."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import pytest
from leagues import IDLE
from seasons import FORM, TOKENS, form, play, season

from referee.arena import intake
from referee.arena.checker import Checker
from referee.arena.uploads import plain_name
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from seasons import Season

ADA, BOB, STAFF = TOKENS["Ada"], TOKENS["Bob"], TOKENS[None]
#: What Ada alone, and the staff, may read: it is in her files, her report, and her bot's log.
SECRET = "hush-hush-4711"
OURS = "http://127.0.0.1:8300"
#: The end of a bot that fails in the seventh turn.
CRASHES = f"        if message['turn'] > 5:\n            raise RuntimeError('{SECRET}')\n"
JSON = {"content-type": "application/json"}
PLAIN = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Season]:
    """Ada has an accepted version whose log has the secret, and a refused one whose report has it."""
    with pytest.MonkeyPatch.context() as patch, season(tmp_path_factory.mktemp("season")) as found:
        for number, (token, reason) in enumerate(((ADA, ""), (ADA, SECRET), (BOB, ""))):
            patch.setattr(intake, "check", lambda *_, reason=reason: intake.CheckVerdict(reason, {"failed": []}))
            text = f"# {number}{SECRET if token == ADA else ''}\nimport sys\nprint({SECRET if token == ADA else 'bob'!r}, file=sys.stderr)\n{IDLE}"
            text += CRASHES if token == ADA else ""
            assert found.hand_in(text.encode(), token).status == 202
            assert Checker(found.arena, print).check_next()
        play(found, 2)
        match = next(one for one in found.ask("/api/matches?team=Ada").json["matches"])
        found.names["match"] = match["id"]
        found.names["seat"] = next(seat for seat, who in match["seats"].items() if who["team"] == "Ada")
        found.names["hash"] = next(version.hash for version in found.store.versions.all() if version.team == "Ada")
        found.names["file"] = next(one.file for one in found.store.versions.hand_ins("Ada"))
        yield found


#: Who asks, method, address, status. Of "{match}" and the like the season has the values.
READS = [
    *((token, "GET", path, status) for path, status in [("/api/submissions/1", 403), ("/api/submissions/2", 403), ("/submissions/1", 403), ("/submissions/2", 403)] for token in [BOB]),
    *((None, "GET", path, 401) for path in ("/api/submissions/1", "/submissions/2", "/submit", "/staff", "/api/staff/audit")),
    (BOB, "GET", "/staff", 403),
    (BOB, "GET", "/api/staff/audit", 403),
    (BOB, "GET", "/api/matches/{match}/log/{seat}", 403),
    (None, "GET", "/api/matches/{match}/log/{seat}", 401),
    (BOB, "GET", "/watch/{match}/log?seat={seat}", 200),
    (BOB, "GET", "/api/teams/Ada", 200),
    (BOB, "GET", "/teams/Ada", 200),
    (None, "GET", "/api/teams/Ada", 200),
    (BOB, "GET", "/api/matches/{match}", 200),
    (BOB, "GET", "/matches/{match}", 200),
    # Other numbers.
    *((BOB, "GET", f"/api/submissions/{number}", 404) for number in ("0", "-1", "01", "1.0", "1e0", "999", "9" * 40, "\u0661", "1%00", "1;2", "%31%30", "x")),
    # Ways out of a folder.
    *(
        (BOB, "GET", path, 404)
        for path in (
            "/../arena.sqlite", "/arena.sqlite", "/%2e%2e/arena.sqlite", "/pages/../../arena.sqlite", "/pages/%2e%2e/%2e%2e/arena.toml", "//etc/passwd",
            "/pages//etc/passwd", "/{file}", "/handed-in/", "/versions/{hash}/bot.py", "/api/../{file}", "/api/matches/..%2f..%2farena.sqlite/replay",
            "/api/matches/%2fetc%2fpasswd/replay", "/watch/..%2f..%2f{file}/replay", "/watch/{match}/../../../arena.sqlite", "/watch/{match}/%2e%2e/arena.toml",
            "/watch/{match}/files/1/check", "/api/teams/..", "/teams/%2e%2e%2f", "/api/matches/{match}/log/..%2f{seat}", "/pages/viewer/app/../../../../arena.toml",
        )
    ),
    (BOB, "GET", "/api/matches/{match}/log/..", 404),
    (BOB, "GET", "/api/matches/{match}/log/nobody", 404),
]  # fmt: skip


@pytest.mark.parametrize(("token", "method", "path", "status"), READS)
def test_nobody_reads_what_is_another_teams(token: str | None, method: str, path: str, status: int, running: Season) -> None:
    path = path.format(**running.names)
    for headers in ({"authorization": f"Bearer {token}"}, {"cookie": f"arena={token}"}) if token else ({},):
        answer = running.ask(path, None, headers=headers, method=method)
        # The viewer hides what it doesn't have.
        assert answer.status in ({status, 403} if path.startswith("/watch/") and status == 404 else {status}), answer.body
        assert SECRET.encode() not in answer.body
        assert str(running.arena.folder).encode() not in answer.body


FORGED = ["", "x", "Ada", "t", "null", "None", ADA[:-1], f"{ADA}x", ADA.upper(), f"{ADA}\u00e9", "' or 1=1 --", "%", "*", "a" * 5_000]


@pytest.mark.parametrize("token", FORGED)
def test_a_forged_token_is_no_token(token: str, running: Season) -> None:
    for headers, status in (
        ({"authorization": f"Bearer {token}"}, 401),
        ({"authorization": f"Basic {ADA}"}, 401),
        ({"cookie": f"arena={token}"}, 401),
        ({"cookie": f"other={ADA}"}, 401),
    ):
        assert running.ask("/api/submissions/1", headers=headers).status == status
        assert running.ask("/submissions/1", headers=headers).status == status
    browser = {**PLAIN, "origin": "http://127.0.0.1:8300"}
    assert running.ask("/sign-in", None, urlencode({"token": token}, errors="replace").encode(), browser, "POST").status == 401
    assert running.store.tokens.holder(token) is None


@pytest.mark.parametrize("token", [None, BOB, ADA, STAFF])
def test_a_replay_has_nothing_of_a_log(token: str | None, running: Season, tmp_path: Path) -> None:
    headers = {} if token is None else {"authorization": f"Bearer {token}", "cookie": f"arena={token}"}
    for path in ("/api/matches/{match}/replay", "/watch/{match}/replay"):
        data = running.ask(path.format(**running.names), None, headers=headers).body
        text = gzip.decompress(data).decode()
        assert '"type":"fault"' in text
        assert SECRET not in text
        assert f"The {running.names['seat']} has failed (crashed). Its own people find more in its log." in text
        file = tmp_path / "players.replay.jsonl.gz"
        file.write_bytes(data)
        assert verify(file).problem is None
    kept = [gzip.decompress(path.read_bytes()).decode() for path in running.arena.replays.glob(f"*/{running.names['match']}*.gz")]
    assert [SECRET in text for text in kept] == [True]


def test_the_secret_is_there_for_its_own_people(running: Season) -> None:
    for token in (ADA, STAFF):
        assert SECRET in running.ask("/api/submissions/2", token).json["report"]["reason"]
        assert SECRET.encode() in running.ask("/submissions/2", headers={"cookie": f"arena={token}"}).body
        assert SECRET.encode() in running.ask("/api/matches/{match}/log/{seat}".format(**running.names), token).body


FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": OURS, "sec-fetch-site": "cross-site"},
    {"origin": f"{OURS}.evil.example"},
    {"sec-fetch-site": "same-site"},
]
WRITES: list[tuple[str, bytes, dict[str, str]]] = [
    ("/submit", form(b"x"), FORM),
    ("/teams/Ada/activate", b"version=1", PLAIN),
    ("/staff/freeze", b"", PLAIN),
    ("/sign-out", b"", PLAIN),
    ("/api/submissions", form(b"x"), FORM),
    ("/api/staff/freeze", b"{}", JSON),
    ("/api/staff/disqualify", b'{"team": "Bob"}', JSON),
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize(("path", "body", "kind"), WRITES)
def test_another_page_changes_nothing(path: str, body: bytes, kind: dict[str, str], headers: dict[str, str], running: Season) -> None:
    token = STAFF if "staff" in path else ADA
    before = (running.store.versions.hand_ins(), running.store.audit.last(), running.store.season.now.is_frozen)
    answer = running.ask(path, None, body, {"cookie": f"arena={token}", **kind, **headers}, "POST")
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert (running.store.versions.hand_ins(), running.store.audit.last(), running.store.season.now.is_frozen) == before


@pytest.mark.parametrize("action", ["freeze", "thaw", "disqualify", "requeue", "activate"])
@pytest.mark.parametrize(("token", "status"), [(BOB, 403), (None, 401)])
def test_the_staffs_actions_are_the_staffs(action: str, token: str | None, status: int, running: Season) -> None:
    body = {"team": "Ada", "version": 1, "id": 1, "reason": "x"}
    assert running.post(f"/api/staff/{action}", body, token).status == status
    headers = {**PLAIN, **({"cookie": f"arena={token}"} if token else {})}
    assert running.ask(f"/staff/{action}", None, b"team=Ada&version=1&id=1", headers, "POST").status == status
    assert running.store.audit.last() == []
    assert not running.store.versions.disqualified()


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/staff/disqualify", b"[" * 50_000, 422),
        ("/api/staff/disqualify", b'{"team": "' + b"x" * 100_000 + b'"}', 413),
        ("/api/staff/disqualify", b'{"team": NaN}', 422),
        ("/api/staff/disqualify", b"\xff\xfe", 422),
        ("/api/staff/disqualify", b'{"team": "Ada", "is_staff": true}', 422),
        ("/api/staff/requeue", b'{"id": 1e999}', 422),
        ("/api/staff/requeue", b'{"id": -1}', 422),
        ("/api/staff/activate", b'{"team": "Ada", "version": 10000000000000000000000000}', 422),
        ("/api/staff/activate", b'{"team": "\\ud800", "version": 1}', 422),
        ("/api/submissions", b"x" * 100_000, 403),
    ],
)
def test_a_hostile_body_is_refused_in_one_sentence(path: str, body: bytes, status: int, running: Season) -> None:
    answer = running.ask(path, STAFF, body, JSON, "POST")
    assert answer.status == status
    assert list(answer.json) == ["error"]
    assert running.store.audit.last() == []


NAMES = [
    "../../../x.py",
    "..\\..\\x.py",
    "/etc/passwd",
    "a/b/../c.py",
    "..",
    ".",
    ".hidden",
    "-rf",
    "x\x00.py",
    "x\r\nX: y.py",
    "\u202egpj.py",
    "=cmd.py",
    "a" * 300 + ".py",
    "\ud800",
]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_file_leads_nowhere(name: str) -> None:
    found = plain_name(name)
    assert found.isascii()
    assert not set(found) & set("/\\\0\r\n=")
    assert 1 <= len(found) <= 100
    assert found[0] not in ".-"


def test_markup_and_formulas_in_names_and_notes_stay_text(tmp_path: Path) -> None:
    with season(tmp_path) as running, pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "check", lambda *_: intake.CheckVerdict("", {}))
        team, note = "=Cy <i>+1</i>", "<script>alert(1)</script> \"' =cmd()"
        running.store.tokens.put([("tcy", team)])
        assert running.hand_in(IDLE.encode(), "tcy", note=note).status == 202
        assert Checker(running.arena, print).check_next()
        play(running, 1)
        address = quote(team, safe="")
        match = running.ask("/api/matches").json["matches"][0]["id"]
        for path in ("/", f"/teams/{address}", f"/matches/{match}", "/submit", "/submissions/1"):
            answer = running.ask(path, headers={"cookie": "arena=tcy"})
            assert answer.status == 200, path
            assert b"<i>" not in answer.body
            assert b"<script>alert" not in answer.body
        found = running.ask(f"/api/teams/{address}", "tcy")
        assert (found.json["team"], found.json["versions"][0]["note"]) == (team, note)
        assert found.headers["content-type"] == "application/json"
        assert json.loads(found.body) == found.json
        assert running.ask("/", headers={"cookie": "arena=tcy"}).headers["x-content-type-options"] == "nosniff"
