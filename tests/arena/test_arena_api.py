"""The API of an arena: what it answers, its description, and who may ask what."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import json
import re
import shutil
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import jsonschema
import pytest
from arenas import accept_all
from leagues import IDLE
from sandboxes import need
from seasons import FORM, TOKENS, form, play, season
from serving import asked
from sqlalchemy.exc import OperationalError

from referee.arena import intake, uploads
from referee.arena.checker import Checker
from referee.arena.server import ArenaServer
from referee.arena.versions import CHECKER, CHECKING, REFUSED, Version
from referee.replay.reader import verify
from referee.support.times import moment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

from seasons import Answer, Season

JSON = {"content-type": "application/json"}
ADA, BOB, STAFF = TOKENS["Ada"], TOKENS["Bob"], TOKENS[None]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Season]:
    accept_all(monkeypatch)
    with season(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Season]:
    """A season for all tests whose requests change nothing."""
    with season(tmp_path_factory.mktemp("season")) as found:
        yield found


def bot(text: str) -> bytes:
    return f"# {text}\n{IDLE}".encode()


def two_files() -> bytes:
    """The body of a hand-in with two files."""
    return form(b"x")[: -len(b"--B--\r\n")] + form(b"y", "other.py")


def taken(running: Season, text: str, token: str | None = ADA, note: str = "") -> dict[str, Any]:
    """Hand in a bot, and check it."""
    answer = running.hand_in(bot(text), token, note=note)
    assert answer.status == 202, answer.body
    assert answer.json["status"] == "queued"
    assert Checker(running.arena, print).check_next()
    found: dict[str, Any] = running.ask(f"/api/submissions/{answer.json['id']}", token).json
    return found


def test_a_season_by_the_api(running: Season) -> None:
    first = taken(running, "one", note="walls")
    assert {name: first[name] for name in ("team", "version", "status", "note")} == {
        "team": "Ada",
        "version": 1,
        "status": "accepted",
        "note": "walls",
    }
    taken(running, "two", BOB)
    play(running, 3)

    entries = running.ask("/api/standings").json["entries"]
    assert list(entries[0]) == ["rank", "team", "version", "rating", "low", "high", "duels", "is_reference", "submitted"]
    assert {(one["team"], one["is_reference"]) for one in entries} == {("R0", True), ("Ada", False), ("Bob", False)}
    matches = running.ask("/api/matches?team=Ada&limit=1").json
    assert len(matches["matches"]) == 1
    rest = running.ask(f"/api/matches?team=Ada&before={matches['next']}").json["matches"]
    every = [*matches["matches"], *rest]
    assert every == running.ask("/api/matches?team=Ada&version=1").json["matches"]
    assert [one["order"] for one in every] == sorted((one["order"] for one in every), reverse=True)
    assert all("Ada" in {seat["team"] for seat in one["seats"].values()} for one in every)
    against = running.ask("/api/matches?team=Ada&opponent=Bob").json["matches"]
    assert all({seat["team"] for seat in one["seats"].values()} == {"Ada", "Bob"} for one in against)

    team = running.ask("/api/teams/Ada", ADA).json
    assert [(one["version"], one["status"], one["note"], one["is_active"]) for one in team["versions"]] == [(1, "accepted", "walls", True)]
    assert (
        sum(one["duels"] for one in team["against"])
        == team["versions"][0]["duels"]
        == next(one["duels"] for one in entries if one["team"] == "Ada")
    )
    assert {one["version"] for one in team["ratings"]} == {1}

    match = every[0]
    assert running.ask(f"/api/matches/{match['id']}").json == match
    mine, other = sorted(match["seats"], key=lambda seat: match["seats"][seat]["team"] != "Ada")
    assert running.ask(f"/api/matches/{match['id']}/log/{mine}", ADA).status == 200
    assert running.ask(f"/api/matches/{match['id']}/log/{other}", ADA).status == 403
    assert running.ask(f"/api/matches/{match['id']}/log/{other}", STAFF).status == 200
    assert running.ask(f"/api/matches/{match['id']}/log/{mine}").status == 401


def test_a_replay_has_no_secrets_and_can_be_verified(running: Season, tmp_path: Path) -> None:
    taken(running, "one")
    play(running, 1)
    match = running.ask("/api/matches?limit=1").json["matches"][0]
    data = running.ask(f"/api/matches/{match['id']}/replay").body
    file = tmp_path / "players.replay.jsonl.gz"
    file.write_bytes(data)
    head = json.loads(gzip.decompress(data).splitlines()[0])
    assert not {"secret", "seed"} & head.keys()
    assert str(tmp_path) not in gzip.decompress(data).decode()
    read = verify(file)
    assert read.problem is None
    assert read.turns == match["steps"]
    kept = next((running.arena.folder / "replays").glob("*/*.replay.jsonl.gz"))
    assert {"secret", "seed"} <= json.loads(gzip.decompress(kept.read_bytes()).splitlines()[0]).keys()


#: All that the description must tell.
OPERATIONS = {
    "arena": "GET /api/arena",
    "standings": "GET /api/standings",
    "team": "GET /api/teams/{team}",
    "submit": "POST /api/submissions",
    "submission": "GET /api/submissions/{number}",
    "matches": "GET /api/matches",
    "match": "GET /api/matches/{match}",
    "replay": "GET /api/matches/{match}/replay",
    "log": "GET /api/matches/{match}/log/{seat}",
    **{name: f"POST /api/staff/{name}" for name in ("freeze", "thaw", "disqualify", "requeue", "activate")},
    "audit": "GET /api/staff/audit",
}
BYTES = {"replay": "application/gzip", "log": "application/octet-stream"}


def test_the_description_tells_every_address_and_every_answer_fits_it(running: Season) -> None:
    told = running.ask("/api/openapi.json").json
    operations = {
        one["operationId"]: (method.upper(), path, one) for path, methods in told["paths"].items() for method, one in methods.items()
    }
    assert {name: f"{method} {path}" for name, (method, path, _) in operations.items()} == OPERATIONS
    number = taken(running, "one")["id"]
    play(running, 1)
    match = running.ask("/api/matches").json["matches"][0]
    seat = next(iter(match["seats"]))
    values = {"team": "Ada", "number": number, "match": match["id"], "seat": seat}
    bodies = {"disqualify": {"team": "Bob", "reason": "x"}, "requeue": {"id": number}, "activate": {"team": "Ada", "version": 1}}
    for name, (method, path, operation) in operations.items():
        address = path.format(**values)
        if name == "submit":
            answer = running.hand_in(bot("more"))
        elif method == "POST":
            assert ("requestBody" in operation) == (name in bodies)
            answer = running.post(address, bodies.get(name, {}), STAFF)
        else:
            answer = running.ask(address, STAFF)
            assert running.ask(address, STAFF, method="HEAD").status == answer.status
        assert answer.status == (202 if name == "submit" else 200)
        media = BYTES.get(name, "application/json")
        assert answer.headers["content-type"] == media
        schema = operation["responses"][str(answer.status)]["content"][media]["schema"]
        if name not in BYTES:
            assert schema.keys() == {"$ref"}
            jsonschema.validate(answer.json, {**schema, "components": told["components"]})

    # Where a token is needed, the description says so. Every error is one sentence, and told.
    secured = {name for name, (_, _, operation) in operations.items() if operation.get("security") == [{"token": []}]}
    assert secured == OPERATIONS.keys() - {"arena", "standings", "team", "matches", "match", "replay"}
    for name in secured:
        method, path, operation = operations[name]
        answer = running.ask(
            path.format(**values), body=json.dumps(bodies.get(name)).encode(), headers={"content-type": "application/json"}, method=method
        )
        assert answer.status == 401
        error = operation["responses"]["401"]["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json, {**error, "components": told["components"]})
    assert {path: running.ask(path).status for path in ("/docs", "/redoc", "/openapi.json")} == dict.fromkeys(
        ("/docs", "/redoc", "/openapi.json"), 404
    )


@pytest.mark.parametrize(
    ("answer", "status", "sentence"),
    [
        (lambda run: run.hand_in(b"x", None), 401, "This needs a token"),
        (lambda run: run.hand_in(b"x", "tother"), 401, "The token is not valid"),
        *(
            (lambda run, path=path: run.ask(path, "tother"), 401, "The token is not valid")
            for path in ("/api/arena", "/api/standings", "/api/teams/R0", "/api/matches", "/api/matches/0", "/api/nothing")
        ),
        (lambda run: run.hand_in(b"x", STAFF), 403, "The staff has no team"),
        (lambda run: run.hand_in(b""), 422, "The file is empty"),
        (lambda run: run.hand_in(b"x", name=""), 422, "There is no file"),
        (lambda run: run.ask("/api/submissions", ADA, two_files(), FORM), 422, "There is more than one file: put the bot's files into"),
        (lambda run: run.hand_in(b"x", note="n" * 201), 422, "The note has more than 200 characters"),
        (lambda run: run.ask("/api/submissions", ADA, b"{}", {"content-type": "application/json"}), 422, "There is no file"),
        (lambda run: run.ask("/api/submissions", ADA, b"--B\r\nx", {"content-type": "multipart/form-data"}), 422, "not complete multipart"),
        (lambda run: run.ask("/api/submissions/7", ADA), 404, "There is no such submission"),
        (lambda run: run.ask("/api/submissions/../1", ADA), 404, "Unknown address"),
        (lambda run: run.ask("/api/teams/Cy"), 404, "There is no such team"),
        (lambda run: run.ask("/api/matches/abc"), 404, "There is no such match"),
        (lambda run: run.ask("/api/matches?limit=0"), 422, "limit must be at least 1."),
        (lambda run: run.ask("/api/matches?version=x&team=R0"), 422, "version must be a whole number."),
        (lambda run: run.ask("/api/matches?what=1"), 422, "what is unknown; leave it out."),
        (lambda run: run.ask("/api/matches?opponent=Bob"), 422, "Name the team"),
        (lambda run: run.ask("/api/nothing"), 404, "Unknown address"),
        (lambda run: run.post("/api/staff/disqualify", {"team": "Cy"}, STAFF), 404, "There is no such team"),
        (lambda run: run.post("/api/staff/disqualify", {"team": "R0"}, STAFF), 422, "R0 is a reference; to end its play, remove it"),
        (lambda run: run.post("/api/staff/disqualify", [], STAFF), 422, "The request is not a JSON object."),
        (lambda run: run.post("/api/staff/disqualify", {"team": "A\0"}, STAFF), 422, "team must not have the character NUL."),
        (lambda run: run.ask("/api/matches/%00"), 404, "There is no such match"),
        (lambda run: run.ask("/api/staff/disqualify", STAFF, b"{team", JSON), 422, "The request is not a JSON object."),
        (lambda run: run.ask("/api/staff/disqualify", STAFF, b"", JSON, "POST"), 422, "The request is missing."),
        (lambda run: run.post("/api/staff/disqualify", {"team": ""}, STAFF), 422, "team must have at least 1 character."),
        (lambda run: run.ask("/api/nothing", method="PUT"), 404, "Unknown address"),
        (lambda run: run.ask("/api/nothing", method="BREW"), 404, "Unknown address"),
        *(
            (lambda run, method=method, path=path: run.ask(path, method=method), 405, f"This address answers {able}, not {method}.")
            for method in ("PUT", "DELETE", "TRACE", "BREW")
            for path, able in (
                ("/api/arena", "GET and HEAD"),
                ("/api/teams/Ada", "GET and HEAD"),
                ("/api/openapi.json", "GET and HEAD"),
                ("/api/submissions", "POST"),
                ("/api/staff/freeze", "POST"),
            )
        ),
        (lambda run: run.post("/api/staff/activate", {"team": "Ada", "version": 9}, STAFF), 404, "The arena has no team Ada"),
        *(
            (
                lambda run, no=no: run.post("/api/staff/activate", {"team": "R0", "version": no}, STAFF),
                422,
                "version must be a whole number.",
            )
            for no in (True, "1", 1.0, None)
        ),
        (lambda run: run.post("/api/staff/requeue", {"id": True}, STAFF), 422, "id must be a whole number."),
        (
            lambda run: run.post("/api/staff/disqualify", {"team": 201 * "x"}, STAFF),
            422,
            "team must have at most 200 characters, but has 201.",
        ),
        (lambda run: run.post("/api/staff/freeze", {}, ADA), 403, "This is only for the staff"),
        (lambda run: run.ask("/api/staff/audit", BOB), 403, "This is only for the staff"),
    ],
)
def test_what_is_refused_says_why(answer: Any, status: int, sentence: str, untouched: Season) -> None:
    found: Answer = answer(untouched)
    assert found.status == status, found.body
    assert sentence in found.json["error"]
    assert untouched.store.versions.waiting() == 0


def test_a_file_that_is_too_large_is_refused_while_it_comes(tmp_path: Path) -> None:
    with season(tmp_path) as running:
        object.__setattr__(running.arena.config.season, "max_bytes", 300_000)
        sent: list[int] = []

        async def asking() -> int:
            first = form(b"", "bot.py").rpartition(b"\r\n--B--")[0]
            statuses: list[int] = []

            async def receive() -> dict[str, Any]:
                sent.append(len(sent))
                return {"type": "http.request", "body": first if len(sent) == 1 else b"x" * 100_000, "more_body": True}

            async def send(message: Any) -> None:
                statuses.append(message.get("status", 0))

            headers = [
                (b"host", b"127.0.0.1:8300"),
                (b"authorization", f"Bearer {ADA}".encode()),
                (b"content-type", FORM["content-type"].encode()),
            ]
            scope = {
                "type": "http",
                "method": "POST",
                "path": "/api/submissions",
                "root_path": "",
                "scheme": "http",
                "query_string": b"",
                "headers": headers,
            }
            await running.app(scope, receive, send)
            return statuses[0]

        assert asyncio.run(asking()) == 413
        assert len(sent) <= 6
        assert not list((tmp_path / "arena").glob("handed-in/*"))


def test_a_body_that_is_announced_as_too_large_is_refused_before_it_comes(running: Season) -> None:
    for path, token, size in (("/api/submissions", ADA, 30 << 20), ("/api/staff/disqualify", STAFF, 1 << 20), ("/submit", ADA, 10**30)):
        headers = {"authorization": f"Bearer {token}", "content-length": f"{size}", **FORM}
        status, _, _ = asyncio.run(asked(running.app, path, body=None, headers=headers))
        assert status == 413, path


def test_matches_against_a_team_that_there_is_not_name_a_few_teams(running: Season) -> None:
    for number in range(8):
        running.store.versions.put(Version(team=f"T{number}", hash=f"{number}", state=REFUSED), None)
    answer = running.ask("/api/matches?team=R0&opponent=Cy")
    assert (answer.status, answer.json["error"]) == (422, "The arena has no team Cy; there are R0, T0, T1, T2, T3 and 4 more.")


def test_a_slow_hand_in_is_given_up(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_SECONDS", 0.0)
    given = {"authorization": f"Bearer {ADA}", **FORM}
    # Those that were given up take no place of the uploads that come after them.
    for path, token in (*[("/api/submissions", ADA)] * 4, ("/api/staff/disqualify", STAFF)):
        given["authorization"] = f"Bearer {token}"
        status, _, body = asyncio.run(asked(running.app, path, body=None, headers=given))
        assert (status, json.loads(body)["error"]) == (408, "The request comes too slowly; try again.")


def test_a_full_disk_leaves_nothing_half_written(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfileobj", full)
        answer = running.hand_in(bot("one"))
    assert answer.status == 507
    assert "The server's disk is full" in answer.json["error"]
    assert list((running.arena.folder / "handed-in").iterdir()) == []
    assert running.store.versions.waiting() == 0
    assert taken(running, "one")["status"] == "accepted"


@pytest.mark.parametrize(
    ("cause", "status", "told"),
    [
        ("database or disk is full", 507, "The server's disk is full, so nothing was stored"),
        ('could not extend file "base/1": No space left on device', 507, "The server's disk is full, so nothing was stored"),
        ("server closed the connection", 503, "The arena's store can't be read or written now"),
    ],
)
def test_a_store_that_fails_says_whether_the_disk_is_full(
    running: Season, monkeypatch: pytest.MonkeyPatch, cause: str, status: int, told: str
) -> None:
    def fails() -> None:
        raise OperationalError("update", {}, sqlite3.OperationalError(cause))

    monkeypatch.setattr(running.store.database, "_connected", fails)
    answers = [running.post("/api/staff/freeze", {}, STAFF), running.ask("/")]
    assert [answer.status for answer in answers] == [status, status]
    assert answers[0].json["error"].startswith(told)
    # A page is no JSON, and needs nothing from the store.
    assert answers[1].body.decode().startswith(told)


def test_a_disk_that_is_really_full_takes_nothing_until_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    (tmp_path / "arena").mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", tmp_path / "arena"], capture_output=True, check=False)
    need(mounted.returncode == 0, "a file system can't be mounted here")
    try:
        with season(tmp_path) as running:
            filler = tmp_path / "arena" / "filler"
            with pytest.raises(OSError, match="No space left"), filler.open("wb", buffering=0) as file:
                while file.write(b"x" * 4096):
                    pass
            for data in (bot("small"), b"#" * 100_000):
                answer = running.hand_in(data)
                assert (answer.status, answer.json["error"].startswith("The server's disk is full")) == (507, True)
            assert list((running.arena.folder).glob("handed-in/*")) == []
            assert running.store.versions.hand_ins() == []
            filler.unlink()
            assert taken(running, "small")["status"] == "accepted"
    finally:
        subprocess.run(["umount", "-l", tmp_path / "arena"], check=True)


def test_a_full_disk_has_no_room_for_the_copy_of_a_replay(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    taken(running, "one")
    play(running, 1)
    match = running.ask("/api/matches?limit=1").json["matches"][0]["id"]
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_bytes", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
        answer, viewer = running.ask(f"/api/matches/{match}/replay"), running.ask(f"/watch/{match}/")
    assert (answer.status, answer.json["error"][:26]) == (507, "The server's disk is full,")
    assert (viewer.status, "The server&#39;s disk is full," in viewer.body.decode()) == (507, True)
    assert running.ask(f"/watch/{match}/").status == 200
    # The description tells of it wherever something is written.
    paths = running.ask("/api/openapi.json").json["paths"]
    writes = [path["post"] for path in paths.values() if "post" in path]
    assert all("507" in one["responses"] for one in (*writes, paths["/api/matches/{match}/replay"]["get"]))
    assert len(writes) == 6
    assert running.ask(f"/api/matches/{match}/replay").status == 200


def test_a_team_hands_in_so_many_versions_within_a_day(running: Season) -> None:
    for number in range(10):
        assert running.hand_in(bot(str(number))).status == 202
    answer = running.hand_in(bot("more"))
    assert answer.status == 429
    assert 86_000 < int(answer.headers["retry-after"]) <= 86_401
    assert re.search(r"10 versions within a day, which is the limit; try again at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.", answer.json["error"])
    assert running.hand_in(bot("other"), BOB).status == 202
    # The first of them is a day old: there is room for one.
    running.store.versions.times("Ada", 0)
    with running.store.database.write() as connection:
        connection.exec_driver_sql(f"update hand_ins set submitted = {time.time() - 86_401} where number = 1")
    assert running.hand_in(bot("more")).status == 202
    assert running.hand_in(bot("yet more")).status == 429


def test_the_staff_freezes_disqualifies_requeues_and_activates(running: Season) -> None:
    first, second = taken(running, "one"), taken(running, "two")
    assert running.post("/api/staff/freeze", {}, STAFF).json == {"done": "Submissions are closed."}
    frozen = running.hand_in(bot("three"))
    assert (frozen.status, frozen.json["error"]) == (409, "Submissions are closed.")
    assert running.ask("/api/arena").json["frozen"] == "Submissions are closed."
    assert running.post("/api/staff/thaw", {}, STAFF).status == 200
    # What was handed in before a freeze is checked.
    waiting = running.hand_in(bot("three")).json["id"]
    assert running.post("/api/staff/freeze", {}, STAFF).status == 200
    assert Checker(running.arena, print).check_next()
    assert running.ask(f"/api/submissions/{waiting}", ADA).json["version"] == 3
    assert running.post("/api/staff/thaw", {}, STAFF).status == 200

    assert running.post("/api/staff/activate", {"team": "Ada", "version": first["version"]}, STAFF).status == 200
    assert [one["is_active"] for one in running.ask("/api/teams/Ada").json["versions"]] == [True, False, False]

    assert running.post("/api/staff/disqualify", {"team": "Ada", "reason": "copied"}, STAFF).status == 200
    refused = running.hand_in(bot("four"))
    assert (refused.status, refused.json["error"]) == (403, "Your team is disqualified: copied")
    requeued = running.post("/api/staff/requeue", {"id": second["id"]}, STAFF)
    assert (requeued.status, requeued.json["error"][:20]) == (422, "Ada is disqualified.")
    running.arena.plan()
    assert [version.team for version in running.arena.choice.playing()] == ["R0"]
    assert "Ada" not in {one["team"] for one in running.ask("/api/standings").json["entries"]}
    assert running.post("/api/staff/activate", {"team": "Ada", "version": second["version"]}, STAFF).status == 200
    running.arena.plan()
    assert "Ada" in {version.team for version in running.arena.choice.playing()}

    assert running.post("/api/staff/requeue", {"id": second["id"]}, STAFF).status == 200
    assert running.ask(f"/api/submissions/{second['id']}", ADA).json["status"] == "queued"
    # A second look at what was accepted changes neither the verdict nor which version is active.
    assert running.post("/api/staff/activate", {"team": "Ada", "version": first["version"]}, STAFF).status == 200
    assert Checker(running.arena, print).check_next()
    again = running.ask(f"/api/submissions/{second['id']}", ADA).json
    assert (again["status"], again["version"], again["report"]) == ("accepted", 2, second["report"])
    assert [one["is_active"] for one in running.ask("/api/teams/Ada").json["versions"]] == [True, False, False]
    actions = [one["action"] for one in running.ask("/api/staff/audit", STAFF).json["actions"]]
    assert actions == ["activate", "requeue", "activate", "disqualify", "activate", "thaw", "freeze", "thaw", "freeze"]


def test_a_version_was_submitted_when_it_was_handed_in_whenever_its_check_ends(running: Season) -> None:
    times = {"Ada": time.time() - 3600, "Bob": time.time() - 7200}
    for number, (team, when) in enumerate(times.items(), 1):
        assert running.hand_in(bot(team), TOKENS[team]).status == 202
        with running.store.database.write() as connection:
            connection.exec_driver_sql(f"update hand_ins set submitted = {when} where number = {number}")
        assert Checker(running.arena, print).check_next()
    entries = {one["team"]: one["submitted"] for one in running.ask("/api/standings").json["entries"]}
    for team, when in times.items():
        told = [running.ask(f"/api/teams/{team}").json["versions"][0], running.ask(f"/api/submissions/{1 + (team == 'Bob')}", STAFF).json]
        assert {entries[team], *(one["submitted"] for one in told)} == {moment(when)}
    # Duels know versions by their places, which are in the order of the verdicts.
    assert [version.name for version in running.store.versions.all()] == ["R0 v1", "Ada v1", "Bob v1"]


def test_a_second_verdict_on_the_same_files_is_seen(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    for reason in ("It fails.", "It ended."):
        monkeypatch.setattr(intake, "check", lambda *_, reason=reason: intake.CheckVerdict(reason, {}))
        number = running.hand_in(bot("one")).json["id"] if reason == "It fails." else 1
        assert running.post("/api/staff/requeue", {"id": number}, STAFF).status == 200
        assert Checker(running.arena, print).check_next()
        assert [one["report"]["reason"] for one in running.ask("/api/teams/Ada", ADA).json["versions"]] == [reason]


@pytest.mark.parametrize("is_known", [False, True])
def test_a_team_that_is_disqualified_during_its_check_plays_no_more(
    running: Season, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    taken(running, "one")
    taken(running, "two")
    real = intake.take

    def disqualified(*args: Any) -> Any:
        found = real(*args)
        assert running.post("/api/staff/disqualify", {"team": "Ada", "reason": "copied"}, STAFF).status == 200
        return found

    monkeypatch.setattr(intake, "take", disqualified)
    number = running.hand_in(bot("one" if is_known else "three")).json["id"]
    assert Checker(running.arena, print).check_next()
    told = running.ask(f"/api/submissions/{number}", STAFF).json
    assert (told["status"], "Ada is disqualified (copied)" in told["report"]["reason"]) == ("refused", True)
    found = running.ask("/api/teams/Ada").json
    assert (found["disqualified"], [one["is_active"] for one in found["versions"]]) == ("copied", [False, False])
    running.arena.plan()
    assert [version.team for version in running.arena.choice.playing()] == ["R0"]


def test_no_disqualification_is_lost_among_others(running: Season) -> None:
    teams = [f"team {number}" for number in range(8)]
    running.store.tokens.put((f"t{team}", team) for team in teams)
    with ThreadPoolExecutor(len(teams)) as pool:
        told = pool.map(lambda team: running.post("/api/staff/disqualify", {"team": team, "reason": "copied"}, STAFF).status, teams)
    assert set(told) == {200}
    assert running.store.versions.disqualified() == dict.fromkeys(teams, "copied")


def test_a_team_without_an_accepted_version_can_be_admitted_again(running: Season) -> None:
    assert running.post("/api/staff/disqualify", {"team": "Bob", "reason": "copied"}, STAFF).status == 200
    assert running.hand_in(bot("one"), BOB).status == 403
    admitted = running.post("/api/staff/activate", {"team": "Bob", "version": 1}, STAFF)
    assert (admitted.status, admitted.json) == (200, {"done": "Bob is reinstated; it has no accepted version yet."})
    assert taken(running, "one", BOB)["status"] == "accepted"
    assert running.ask("/api/staff/audit", STAFF).json["actions"][0]["action"] == "activate"


def test_a_check_that_was_killed_is_taken_up_again(running: Season) -> None:
    number = running.hand_in(bot("one")).json["id"]
    hand_in = running.store.versions.next()
    assert hand_in is not None
    assert running.store.versions.move(CHECKER, hand_in, CHECKING, {"progress": "3 of 9"}) is not None
    assert running.ask(f"/api/submissions/{number}", ADA).json["report"] == {"progress": "3 of 9"}
    checker = Checker(running.arena, print)
    assert checker.check_next()
    assert running.ask(f"/api/submissions/{number}", ADA).json["status"] == "accepted"
    assert not checker.check_next()


def test_a_refused_bot_says_why_to_its_team_alone_and_names_no_folder_of_the_server(tmp_path: Path) -> None:
    with season(tmp_path) as running:
        found = taken(running, "one\nsyntax error(")
        assert found["status"] == "refused"
        assert "SyntaxError" in found["report"]["reason"]
        assert found["report"]["failed"][0]["remedy"]
        assert str(tmp_path) not in json.dumps(found)
        number = found["id"]
        assert running.ask(f"/api/submissions/{number}", BOB).status == 403
        assert running.ask(f"/api/submissions/{number}").status == 401
        assert running.ask(f"/api/submissions/{number}", STAFF).json == found
        assert [one["report"]["reason"] for one in running.ask("/api/teams/Ada", ADA).json["versions"]] == [found["report"]["reason"]]
        assert running.ask("/api/teams/Ada", BOB).json["versions"] == []


def test_replays_and_logs_can_be_kept_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with season(tmp_path) as running:
        taken(running, "one")
        play(running, 1)
        config = running.arena.config
        running.arena.config = config._replace(visibility=config.visibility.replace(replays="own", logs="staff"))
        match = running.ask("/api/matches").json["matches"][0]
        seat = next(seat for seat, one in match["seats"].items() if one["team"] == "Ada")
        path = f"/api/matches/{match['id']}"
        assert [running.ask(f"{path}/replay", token).status for token in (None, BOB, ADA, STAFF)] == [401, 403, 200, 200]
        assert [running.ask(f"{path}/log/{seat}", token).status for token in (None, BOB, ADA, STAFF)] == [401, 403, 403, 200]


def test_what_the_server_takes_in_is_logged_in_a_line(running: Season) -> None:
    lines: list[str] = []
    with contextlib.closing(ArenaServer(running.arena, lines.append)) as server:
        logging = running._replace(app=server.app())
        assert logging.hand_in(b"x", None).status == 401
        taken = logging.hand_in(IDLE.encode(), name="../my bot.py")
    assert taken.status == 202, taken.body
    assert len(lines) == 1
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\d \d\d:\d\d UTC  Ada hands in .*bot\.py: submission {taken.json['id']}", lines[0]), lines
