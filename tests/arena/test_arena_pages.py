"""The pages of an arena: sessions, forms, and what they show; and all of them in a real Chromium."""

from __future__ import annotations

import contextlib
import re
import time
from html import unescape
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

import pytest
from arenas import accept_all
from leagues import IDLE, PretendPool, task_of
from leagues import play as pretended
from seasons import FORM, TOKENS, copied, form, play, season
from served_pages import DESKTOP, HAS_BOARDS, PHONE, axe, launched, resize, visiting
from sqlalchemy import text

from referee.arena import checker, intake, versions, views
from referee.arena.arena import open_arena
from referee.arena.blame import DisputedMatch
from referee.arena.checker import Checker
from referee.arena.player import PlayingNotes
from referee.arena.ratings import RatingPoint
from referee.arena.verify import verify_arena
from referee.arena.versions import QUEUED, REFUSED, Version
from referee.arena.views import ArenaViews, SeatTotal
from referee.author.check.run import CHECKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commands import Commands
    from playwright.sync_api import Page
    from seasons import Answer, Season

    from referee.arena.api_models import TeamAnswer

ADA, BOB, STAFF = TOKENS["Ada"], TOKENS["Bob"], TOKENS[None]
PNG = b"\x89PNG\r\n\x1a\n"
MARKUP = "<b>walls</b> & =1+1"


#: Drops a file on the form.
DROP = """
() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["# dropped"], "dropped.py"));
    document.getElementById("hand-in").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}
"""


#: Where the leaderboard's last cells end, in pixels.
RIGHTMOST = """
() => Math.max(...[...document.querySelectorAll("#standings-table :is(th, td)")].map((cell) => cell.getBoundingClientRect().right))
"""


def with_cookie(token: str, **more: str) -> dict[str, str]:
    return {"cookie": f"arena={token}", **more}


def sent(running: Season, path: str, by: str, /, **fields: str) -> Answer:
    """Send a form as a browser does."""
    kind = {"content-type": "application/x-www-form-urlencoded", "origin": "http://127.0.0.1:8300", "sec-fetch-site": "same-origin"}
    return running.ask(path, None, urlencode(fields).encode(), with_cookie(by, **kind), "POST")


def sign_in(running: Season, token: str, **fields: str) -> Answer:
    """Send the form that signs in."""
    return sent(running, "/sign-in", "", **{"token": token, **fields})


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as patch, season(folder) as found:
        accept_all(patch)
        for line, token in (("one", ADA), ("two", ADA), ("three", BOB)):
            assert found.hand_in(f"# {line}\n{IDLE}".encode(), token, note=MARKUP).status == 202
            assert Checker(found.arena, print).check_next()
        play(found, 2)
    return folder


@pytest.fixture
def running(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Season]:
    accept_all(monkeypatch)
    with copied(played, tmp_path) as found:
        yield found


def test_a_link_opens_a_session_whose_cookie_no_script_and_no_other_site_gets(running: Season) -> None:
    path, origin = "/sign-in", {"origin": "http://127.0.0.1:8300"}
    page = running.ask(path)
    assert (page.status, "Your team's token" in page.body.decode(), "set-cookie" in page.headers) == (200, True, False)
    assert "form-action 'self'" in page.headers["content-security-policy"]
    # The link of an invitation asks first whose it is.
    asked = sign_in(running, ADA, link="1")
    assert (asked.status, "Sign in as Ada" in asked.body.decode(), "set-cookie" in asked.headers) == (200, True, False)
    opened = sign_in(running, ADA)
    assert (opened.status, opened.headers["location"]) == (303, "/submit")
    cookie = opened.headers["set-cookie"].lower()
    assert cookie.startswith(f"arena={ADA}; ")
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
    assert "secure" not in cookie
    fields, kind = urlencode({"token": ADA}).encode(), {"content-type": "application/x-www-form-urlencoded"}
    secure = {**kind, **origin, "x-forwarded-proto": "https"}
    assert "; secure" in running.ask(path, None, fields, secure, "POST").headers["set-cookie"].lower()
    assert sign_in(running, STAFF).headers["location"] == "/staff"
    wrong = sign_in(running, "tother")
    assert (wrong.status, "This token is not valid" in wrong.body.decode(), "tother" in wrong.body.decode()) == (401, True, False)
    # Only a form of this server signs in.
    for foreign in (
        {},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        refused = running.ask(path, None, fields, {**kind, **foreign}, "POST")
        assert (refused.status, "set-cookie" in refused.headers) == (403, False), foreign
    # Revoking ends the session.
    assert running.ask("/submit", headers=with_cookie(ADA)).status == 200
    running.store.tokens.revoke("Ada")
    assert running.ask("/submit", headers=with_cookie(ADA)).status == 401
    assert 'arena=""' in sent(running, "/sign-out", BOB).headers["set-cookie"]


def test_a_foreign_page_signs_nobody_in(commands: Commands, tmp_path: Path) -> None:
    """In a browser: it sends no strict cookie with a link of another site, so the server can't see there that somebody is signed in."""
    with season(tmp_path):
        pass
    server = commands.start("arena", "serve", "arena", "--isolation", "none", "--port", "0", "--slots", "1", cwd=tmp_path)
    try:
        top = server.stdout.readline().strip()
        link = f"{top}sign-in#{BOB}"
        fields = f'<input type="hidden" name="token" value="{BOB}"><button>dogs</button>'
        foreign = f'<a href="{link}">cats</a><form method="post" action="{top}sign-in">{fields}</form>'
        # A refusal is a complaint of the console, so none is counted here.
        with launched() as browser, contextlib.closing(browser.new_context()) as context:
            page = context.new_page()
            context.route("http://evil.example/", lambda route: route.fulfill(body=foreign, content_type="text/html"))

            def follow(role: Literal["link", "button"], name: str) -> None:
                page.goto("http://evil.example/")
                page.get_by_role(role, name=name).click()

            def team() -> str:
                page.goto(f"{top}submit")
                return str(page.locator("h2").first.text_content())

            asked_for: list[str] = []
            page.on("request", lambda request: asked_for.append(request.url))
            page.goto(f"{top}sign-in#{ADA}")
            page.get_by_role("button", name="Sign in as Ada").click()
            page.get_by_text("A new version of Ada").wait_for()
            # The token is in no address that a server or a proxy sees, and the browser's history doesn't keep it.
            assert not [address for address in asked_for if ADA in address]
            page.go_back()
            page.wait_for_load_state()
            assert ADA not in page.url
            follow("button", "dogs")
            page.get_by_text("Another page can't ask this.").wait_for()
            assert team() == "A new version of Ada"
            # Who is signed in stays who they are until they sign out.
            follow("link", "cats")
            page.get_by_text("You are signed in as Ada. Sign out, and open the link again.").wait_for()
            assert team() == "A new version of Ada"
            page.get_by_role("button", name="Sign out").click()
            follow("link", "cats")
            page.get_by_role("button", name="Sign in as Bob").click()
            page.get_by_text("A new version of Bob").wait_for()
            assert BOB not in page.evaluate("document.referrer")
    finally:
        server.terminate()
        server.communicate(60)


def test_the_staff_sees_what_waits_first(running: Season) -> None:
    done = running.store.versions.hand_ins()
    running.store.versions.move(versions.STAFF, done[-1], QUEUED, {})
    assert [one.number for one in running.store.versions.hand_ins()] == [1, 3, 2]


def test_a_form_hands_in_and_names_and_notes_are_no_markup(running: Season) -> None:
    answer = running.ask("/submit", None, form(f"# four\n{IDLE}".encode(), note=MARKUP), with_cookie(ADA, **FORM), "POST")
    assert (answer.status, answer.headers["location"]) == (303, "/submissions/4")
    waiting = running.ask("/submissions/4", headers=with_cookie(ADA)).body.decode()
    assert 'data-every="1000"' in waiting
    assert Checker(running.arena, print).check_next()
    shown = running.ask("/submissions/4", headers=with_cookie(ADA)).body.decode()
    assert "The version is accepted, and active" in shown
    team = running.ask("/teams/Ada", headers=with_cookie(ADA)).body.decode()
    assert "&lt;b&gt;walls&lt;/b&gt; &amp; =1+1" in team
    assert "<b>" not in team + shown
    assert [running.ask("/submissions/4", headers=with_cookie(token)).status for token in (BOB, STAFF)] == [403, 200]


def test_own_people_activate_their_versions(running: Season) -> None:
    assert re.findall(r'name="version" value="(\d)"', running.ask("/teams/Ada", headers=with_cookie(ADA)).body.decode()) == ["1"]
    assert 'action="/teams/Ada/activate"' not in running.ask("/teams/Ada", headers=with_cookie(BOB)).body.decode()
    assert sent(running, "/teams/Ada/activate", ADA, version="1").status == 303
    assert [version.number for version in running.store.versions.all() if version.team == "Ada" and version.is_active] == [1]
    assert sent(running, "/teams/Ada/activate", BOB, version="2").status == 403
    assert [sent(running, "/teams/Ada/activate", ADA, version=number).status for number in ("9", "x", "")] == [404, 422, 422]
    assert running.store.audit.last() == []
    # What was active at the freeze plays the final; only the staff changes it then.
    running.store.season.change(is_frozen=True)
    assert 'action="/teams/Ada/activate"' not in running.ask("/teams/Ada", headers=with_cookie(ADA)).body.decode()
    refused = sent(running, "/teams/Ada/activate", ADA, version="2")
    assert (refused.status, "Submissions are closed. The active version stays." in refused.body.decode()) == (409, True)
    assert sent(running, "/teams/Ada/activate", STAFF, version="0").status == 422
    assert sent(running, "/teams/Ada/activate", STAFF, version="2").status == 303
    assert [dict(entry.details) for entry in running.store.audit.last()] == [{"team": "Ada", "version": 2, "before": 1}]


def test_who_can_hand_in_nothing_is_told_before_the_upload(running: Season) -> None:
    def shown() -> tuple[bool, str]:
        body = running.ask("/submit", headers=with_cookie(ADA)).body.decode()
        return 'type="file"' in body, " ".join(re.findall('<p class="note">(.*?)</p>', body))

    assert shown()[0]
    for number in range(8):
        assert running.hand_in(f"# {number}".encode(), ADA).status == 202
    is_open, note = shown()
    assert (is_open, note[:70]) == (False, "Your team handed in 10 versions within a day, which is the limit; try ")
    running.store.season.change(is_frozen=True)
    assert shown() == (False, "Submissions are closed.")
    running.store.versions.disqualify("Ada", "copied")
    assert shown() == (False, "Your team is disqualified: copied")


def test_a_submission_tells_what_plays_and_what_can_be_done(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(number: int) -> str:
        return running.ask(f"/submissions/{number}", headers=with_cookie(STAFF)).body.decode()

    assert "accepted. Version 2 is the active one." in shown(1)
    assert "accepted, and active: it plays from now on." in shown(2)
    monkeypatch.setattr(intake, "check", lambda *_: intake.CheckVerdict("It fails.", {}))
    running.store.tokens.put([("tcleo", "Cleo")])
    for token in (ADA, "tcleo"):
        running.hand_in(f"# {token}\n{IDLE}".encode(), token)
        Checker(running.arena, print).check_next()
    assert "hand in again</a>. Version 2 plays on." in shown(4)
    assert "hand in again</a>.</p>" in shown(5)
    running.store.versions.disqualify("Ada", "copied")
    assert "accepted, but the team is disqualified." in shown(2)
    assert "What to do: ask the staff" in shown(4)


def test_a_link_to_a_team_leads_to_no_other(running: Season) -> None:
    running.store.tokens.put([("tzoe", "Zoë/../Ada")])
    assert 'href="/teams/Zo%C3%AB%2F..%2FAda"' in running.ask("/", headers=with_cookie("tzoe")).body.decode()


def test_a_disqualified_team_is_no_contradiction_to_its_replays(running: Season) -> None:
    play(running, 4)
    running.store.versions.disqualify("Ada", "copied")
    with contextlib.closing(open_arena(running.arena.folder)) as opened:
        report = verify_arena(opened)
    assert report.replays >= 8
    assert report.problems == []


def test_the_staff_acts_by_forms(running: Season) -> None:
    assert sent(running, "/staff/freeze", STAFF).headers["location"] == "/staff"
    assert "Open hand-ins" in running.ask("/staff", headers=with_cookie(STAFF)).body.decode()
    assert "Submissions are closed." in running.ask("/submit", headers=with_cookie(ADA)).body.decode()
    assert sent(running, "/staff/thaw", STAFF).status == 303
    assert sent(running, "/staff/disqualify", STAFF, team="Bob", reason="copied").status == 303
    assert "The team is disqualified: copied" in running.ask("/teams/Bob").body.decode()
    assert sent(running, "/staff/requeue", STAFF, id="1").status == 303
    assert sent(running, "/staff/requeue", STAFF, id="x").status == 422
    assert sent(running, "/staff/nothing", STAFF).status == 404
    assert [entry.action for entry in running.store.audit.last()] == ["requeue", "disqualify", "thaw", "freeze"]


def test_the_front_page_says_what_this_is_and_how_to_take_part(tmp_path: Path) -> None:
    with season(tmp_path) as running:
        empty = running.ask("/").body.decode()
        assert 'id="now"' in empty
        assert "data-replay" not in empty
    file = tmp_path / "arena" / "arena.toml"
    opens = "opens = 2020-01-02T08:00:00Z\ncloses = 2090-03-04T18:00:00Z\nfrozen = [{begins = 2080-01-01T00:00:00Z, ends = 2080-01-02T00:00:00Z}]"
    file.write_text(file.read_text().replace("[season]", f"[season]\n{opens}"))
    (tmp_path / "again").mkdir()
    with copied(tmp_path, tmp_path / "again") as running:
        words = unescape(running.ask("/").body.decode())
        for expected in (
            "A hunter flies over a board and can't steer, but it builds walls.",
            "<dd>2020-01-02 08:00 UTC</dd>",
            "<dd>2090-03-04 18:00 UTC</dd>",
            "<dd>2080-01-01 00:00 UTC to 2080-01-02 00:00 UTC</dd>",
            "<dd>10 within 24 hours, each up to 20 MiB</dd>",
            "referee submit http://127.0.0.1:8300 my_bot",
            '<form method="post" action="/sign-in"',
        ):
            assert expected in words
        rules = running.ask("/rules").body.decode()
        assert {"The board", "The end"} <= set(re.findall("<h2>(.*?)</h2>", rules))
        assert "<dt>The step limit</dt><dd>40</dd>" in rules
        assert "<a href=" not in rules.partition('class="prose"')[2].partition("</main>")[0]
        described = running.ask("/api/openapi.json").json["paths"]
        shown = re.findall(r"<code>(/api/[^<]*)</code>", running.ask("/api").body.decode())
        assert shown == [path for path, methods in described.items() for _ in methods]


def test_the_staff_undoes_what_it_did(running: Season) -> None:
    def state() -> tuple[object, ...]:
        active = {version.name for version in running.store.versions.all() if version.is_active}
        return active, running.store.versions.disqualified(), running.store.season.now.is_frozen

    def undo() -> str:
        """Send the form beside the last action; return what the page says about that."""
        part = running.ask("/staff", STAFF).body.decode().partition('id="last"')[2].partition("</section>")[0]
        (action,) = re.findall(r'action="(/staff/\w+)"', part)
        assert sent(running, action, STAFF, **dict(re.findall(r'name="(\w+)" value="(.*?)"', part))).status == 303
        return part

    first = state()
    for action, fields, words in (
        ("disqualify", {"team": "Ada", "reason": "copied"}, "Ada is disqualified: copied"),
        ("activate", {"team": "Ada", "version": "1"}, "Version 1 of Ada is active."),
        ("freeze", {}, "Hand-ins are frozen; matches go on."),
    ):
        assert sent(running, f"/staff/{action}", STAFF, **fields).status == 303
        changed = state()
        assert changed != first
        assert words in undo()
        assert state() == first
    # To admit a team is undone with the reason of before, and a team without a version is admitted, too.
    running.store.tokens.put([("tcleo", "Cleo")])
    running.store.versions.disqualify("Bob", "slept")
    running.store.versions.disqualify("Cleo", "slept")
    before = state()
    assert sent(running, "/staff/activate", STAFF, team="Bob", version="1").status == 303
    undo()
    assert state() == before
    shown = running.ask("/staff", STAFF).body.decode()
    assert shown.count("Admit again") == 2
    assert sent(running, "/staff/activate", STAFF, team="Cleo", version="1").status == 303
    assert "Cleo" not in running.store.versions.disqualified()
    assert sent(running, "/staff/requeue", STAFF, id="1").status == 303
    assert ">Undo<" not in running.ask("/staff", STAFF).body.decode()


def test_only_the_match_page_of_the_server_may_hold_the_viewer(running: Season) -> None:
    match = running.ask("/api/matches").json["matches"][0]["id"]
    page, viewer = running.ask(f"/matches/{match}"), running.ask(f"/watch/{match}/")
    assert f'<iframe class="viewer" src="/watch/{match}/"' in page.body.decode()
    policies = [answer.headers["content-security-policy"] for answer in (page, viewer)]
    assert ["frame-src 'self'" in policy for policy in policies] == [True, False]
    assert [policy.partition("frame-ancestors ")[2].partition(";")[0] for policy in policies] == ["'none'", "'self'"]
    assert [answer.headers["x-frame-options"] for answer in (page, viewer)] == ["DENY", "SAMEORIGIN"]


def test_matches_of_a_team_are_shown_by_opponent(running: Season) -> None:
    matches = running.ask("/api/matches?team=Ada&opponent=Bob").json["matches"]
    shown = running.ask("/teams/Ada?opponent=Bob").body.decode()
    assert set(re.findall(r'href="/matches/(\w+)"', shown)) == {one["id"] for one in matches}
    assert running.ask("/teams/Ada?version=x").status == 422
    match = running.ask("/api/matches").json["matches"][0]
    page = running.ask(f"/matches/{match['id']}").body.decode()
    assert f'href="/watch/{match["id"]}/"' in page
    assert "its log" not in page
    assert running.ask(f"/watch/{match['id']}/").status == 200
    assert running.ask(f"/watch/{match['id']}/log?seat=hunter").body == b""
    assert running.ask(f"/watch/{match['id']}/files", None, b"x").status == 405
    assert "This address answers GET and HEAD, not BREW." in running.ask("/", method="BREW").body.decode()


def test_no_page_shows_a_time_as_files_have_it(running: Season) -> None:
    match = running.ask("/api/matches").json["matches"][0]["id"]
    assert sent(running, "/staff/freeze", STAFF).status == 303
    for path in ("/", "/live", "/teams/Ada", f"/matches/{match}", "/submissions/1", "/staff"):
        shown = running.ask(path, STAFF).body.decode()
        assert re.search("(just now|ago)</time>", shown) or path == "/live"
        assert not re.search(r"\d{4}-\d\d-\d\dT", re.sub(r'datetime="[^"]*"', "", shown)), path
    assert "freeze</li>" in shown


def test_the_trend_is_since_a_day_ago_or_since_the_version_before(running: Season) -> None:
    now = {one["team"]: one["rating"] for one in running.ask("/api/standings").json["entries"]}
    running.store.ratings.put([RatingPoint(name="Bob v1", duels=0, time=time.time() - 2 * 86_400, elo=now["Bob"] - 100, low=0.0, high=0.0)])
    trends = ArenaViews(running.store).trends()
    first = next(one["rating"] for one in running.ask("/api/teams/Ada").json["versions"] if one["version"] == 1)
    assert trends == {"Bob": pytest.approx(100, abs=0.1), "Ada": pytest.approx(now["Ada"] - first, abs=0.1)}
    assert '+100<span class="unseen"> better</span>' in running.ask("/").body.decode()


def test_empty_and_unknown_words_of_an_address_say_nothing(running: Season) -> None:
    every = running.ask("/api/matches").json
    assert every["matches"]
    for words in ("team=", "opponent=&version=&before=", "limit="):
        assert running.ask(f"/api/matches?{words}").json == every, words
    shown = [
        re.findall("/matches/[0-9a-f]+", running.ask(f"/teams/Ada{words}").body.decode())
        for words in ("", "?foo=1", "?team=Bob", "?limit=x")
    ]
    assert shown[0]
    assert shown == 4 * [shown[0]]


def test_a_record_is_by_opponent_and_seat(running: Season) -> None:
    play(running, 6)
    expected: dict[tuple[str, str], SeatTotal] = {}
    matches = running.ask("/api/matches?team=Ada&limit=200").json["matches"]
    # Its own versions play each other, too: a team is no opponent of its own.
    assert any({who["team"] for who in one["seats"].values()} == {"Ada"} for one in matches)
    assert {one["team"] for one in running.ask("/api/teams/Ada").json["against"]} == {"Bob", "R0"}
    for one in matches:
        for seat, who in one["seats"].items():
            for other in one["seats"].values():
                if who["team"] == "Ada" != other["team"]:
                    won, played = expected.get((other["team"], seat), (0, 0))
                    expected[other["team"], seat] = SeatTotal(won + (one["winner"] == seat), played + 1)
    assert ArenaViews(running.store).by_seat("Ada") == expected
    won, played = expected["Bob", "prey"]
    assert f">{won} of {played}<" in running.ask("/teams/Ada").body.decode()


def test_the_lines_of_ratings_have_the_numbers_of_their_versions(running: Season) -> None:
    points = [
        RatingPoint(name=f"Ada v{number}", duels=duels, time=0.0, elo=10.0 * number, low=0.0, high=50.0)
        for duels in (7, 8)
        for number in (1, 2)
    ]
    running.store.ratings.put(points)
    chart = running.ask("/teams/Ada").body.decode().partition("</svg>")[0]
    assert (chart.count("<polyline"), re.findall(r">(v\d[^<]*)</text>", chart)) == (2, ["v1", "v2 ●"])
    # Both axes have numbers, and the strong line is the active version.
    assert len(re.findall(r">(?:0|[+\N{MINUS SIGN}]\d+)</text>", chart)) >= 3
    assert re.search(r">\d+</text><text [^>]*>\d+ duels</text>", chart)
    assert re.search(r'<g class="active"><title>Version 2, the active one</title>', chart)


def test_a_record_has_no_seats_where_versions_play_one_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with season(tmp_path, 'roles = "hunter"\nagainst = ["R0"]') as one_role:
        for token in (ADA, BOB):
            one_role.hand_in(f"# {token}\n{IDLE}".encode(), token)
            Checker(one_role.arena, print).check_next()
        play(one_role, 2)
        shown = one_role.ask("/teams/Ada").body.decode()
    assert 'href="?opponent=Bob#matches"' in shown
    assert "Record against each opponent" in shown
    assert ">As " not in shown


def test_a_record_is_made_once_for_all_visitors_until_there_are_new_results(running: Season) -> None:
    seen = ArenaViews(running.store)
    made: list[int] = []

    def record() -> int:
        made.append(sum(one.duels for one in seen.against("Ada")))
        return made[-1]

    def asked() -> int:
        return seen.of_results("record", "Ada", record)

    assert [asked() for _ in range(3)] == made * 3
    # A version that has played nothing changes no record.
    running.store.versions.put(Version(team="Ada", hash="new", state=REFUSED), None)
    assert asked() == made[0]
    assert len(made) == 1
    play(running, 6)
    assert asked() > made[0]
    assert len(made) == 2
    seen.renew()
    asked()
    assert made[1:] == [made[1]] * 2


def test_the_staff_sees_who_plays_and_whose_faults_there_are(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "_TOLD_SECONDS", 3600.0)
    assert "Nobody plays now" in running.ask("/staff", STAFF).body.decode()
    with running.store.database.write() as connection:
        connection.execute(text("UPDATE records SET result = json_set(result, '$.fault_kinds.hunter', 'late')"))
    matches = running.ask("/api/matches").json["matches"]
    hunter = matches[0]["seats"]["hunter"]["team"]
    count = sum(one["seats"]["hunter"]["team"] == hunter for one in matches)
    PlayingNotes(running.store, PretendPool(pretended, slots=2), print).tick([task_of("ab", {"hunter": "Ada v1", "prey": "Bob v1"}, {})])
    shown = running.ask("/staff", STAFF).body.decode()
    assert re.search(rf">{hunter}</a></th>.*?data-label=\"Faults\">{count} late<", shown, re.DOTALL)
    assert "plays with 2 slots" in shown
    PlayingNotes(running.store, PretendPool(pretended, slots=2), print).tick(None)
    assert "The cluster has no workers: " in running.ask("/staff", STAFF).body.decode()
    running.store.audit.put("final", {"teams": ["Ada", "Bob"]})
    assert re.search("final teams Ada, Bob</li>", running.ask("/staff", STAFF).body.decode())
    assert re.search("Ada as hunter . Bob as prey", shown)
    assert "who is to blame" not in shown
    for number, names in enumerate((["Ada v1", "Bob v1"], ["Ada v1", "Bob v1"], ["Ada v1", "R0 v1"])):
        running.store.disputed.put(DisputedMatch(number=number, versions=names, suspects=names))
    assert "nobody can see who is to blame: Ada v1 and Bob v1; Ada v1 and R0 v1." in running.ask("/staff", STAFF).body.decode()
    assert "to blame" not in running.ask("/", None).body.decode()


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ((110, 90, 130), (30, 10, 50), "Version 1 is rated 80 higher than the active version 2, which is certain at 95 %."),
        (
            (60, -90, 210),
            (30, -120, 180),
            "Version 1 is rated 30 higher than the active version 2; their intervals overlap, so that may be chance.",
        ),
        ((30, 10, 50), (110, 90, 130), None),
        ((None, None, None), (30, 10, 50), None),
    ],
)
def test_an_earlier_version_that_is_rated_higher_is_named(
    running: Season, monkeypatch: pytest.MonkeyPatch, first: tuple[float, ...], second: tuple[float, ...], told: str | None
) -> None:
    found = ArenaViews.team

    def rated(self: ArenaViews, name: str, **options: bool) -> TeamAnswer:
        team = found(self, name, **options)
        names = ("rating", "low", "high")
        pairs = zip(team.versions, (first, second), strict=True)
        versions = [version.model_copy(update=dict(zip(names, values, strict=True))) for version, values in pairs]
        return team.model_copy(update={"versions": versions})

    monkeypatch.setattr(ArenaViews, "team", rated)
    shown = running.ask("/teams/Ada", None).body.decode()
    assert (re.findall("<p>(Version 1 is rated .*?)</p>", shown) or [None]) == [told]


def test_the_lines_of_a_check_are_shown_as_they_come(running: Season, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, clock = [], [0.0]
    monkeypatch.setattr(checker, "time", SimpleNamespace(monotonic=lambda: clock[0], time=time.time))

    def check(snapshot: object, config: object, on_progress: Callable[[str, str, int, int], None]) -> intake.CheckVerdict:
        for done in (0, 2):
            on_progress("hunter", CHECKS[done].name, done, 10)
            shown.append(running.ask("/submissions/4", ADA).body.decode())
            clock[0] += 20
        return intake.CheckVerdict("It is wrong.", {"failed": []})

    monkeypatch.setattr(intake, "check", check)
    running.hand_in(f"# four\n{IDLE}".encode(), ADA)
    # A page that is open before the check begins has the part in which the check appears.
    assert re.search(r'<section id="groups"[^>]* hidden>', running.ask("/submissions/4", ADA).body.decode())
    assert Checker(running.arena, print).check_next()
    assert re.search(
        r"start <span class=\"faint\">0 of 5, running</span>.*<strong>starts</strong>.*The program starts", shown[0], re.DOTALL
    )
    assert 'data-every="1000"' in shown[0]
    # Two of ten checks took 20 s.
    assert [re.findall(r"about (.*?) left", text) for text in shown] == [[], ["1 min 20 s"]]
    after = running.ask("/submissions/4", ADA).body.decode()
    assert ("It is wrong." in after, "hand in again" in after, "data-every" in after) == (True, True, False)
    assert "Why it is refused" in running.ask("/teams/Ada", ADA).body.decode()
    assert "Why it is refused" not in running.ask("/teams/Ada", BOB).body.decode()


def staff_acts(page: Page) -> None:
    """What the staff does with its page."""
    # What ends a team's play is asked for twice, and undone with one button.
    bob = page.locator("#teams-table tr", has_text="Bob")
    assert not bob.get_by_role("button", name="Disqualify Bob").is_visible()
    bob.get_by_text("Change").click()
    bob.get_by_label("Why").fill("copied")
    bob.get_by_role("button", name="Disqualify Bob").click()
    bob.get_by_text("disqualified").wait_for()
    page.locator("#last").get_by_text("Bob is disqualified: copied").first.wait_for()
    assert axe(page) == []
    page.get_by_role("button", name="Undo").click()
    bob.get_by_text("active").wait_for()
    # A heading sorts its table.
    first = page.locator("#queue-table tbody th").first
    assert first.inner_text() == "3"
    for _ in range(2):
        page.locator("#queue-table thead th", has_text="Number").click()
    assert first.inner_text() == "1"


@pytest.mark.slow
def test_all_pages_in_a_browser(commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with season(tmp_path) as made:
        for line, token, note in (("one", ADA, MARKUP), ("two", ADA, MARKUP), ("three", BOB, 200 * "n")):
            made.hand_in(f"# {line}\n{IDLE}".encode(), token, note=note)
            Checker(made.arena, print).check_next()
        play(made, 9)
        match = made.ask("/api/matches").json["matches"][0]["id"]
    server = commands.start("arena", "serve", "arena", "--isolation", "none", "--port", "0", "--slots", "1", cwd=tmp_path)
    try:
        top = server.stdout.readline().strip()
        with launched() as browser, visiting(browser) as opened:
            page = opened(f"{top}sign-in#{STAFF}", DESKTOP)
            page.get_by_role("button", name="Sign in as the staff").wait_for()
            assert axe(page) == []
            page.get_by_role("button", name="Sign in as the staff").click()
            page.get_by_role("heading", name="Audit log").wait_for()
            staff_acts(page)
            for path in (
                "",
                "rules",
                "api",
                "sign-in",
                "live",
                "teams/Ada",
                f"matches/{match}",
                "submissions/1",
                "submissions/3",
                "teams/Bob",
                "staff",
            ):
                page.goto(f"{top}{path}")
                for size in (DESKTOP, PHONE):
                    resize(page, size["width"], size["height"])
                    assert axe(page) == [], path
                    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
                    if not path:
                        # What is further to the right is cut.
                        assert page.evaluate(RIGHTMOST) <= size["width"]
                        for cell in (".chart", ".age"):
                            assert page.locator(f"#standings-table tbody {cell}").first.is_visible()
                    if path == "staff":
                        assert page.locator("#teams-table thead").is_visible() == (size is DESKTOP)
                    if path == "api":
                        page.locator("details.endpoint").first.evaluate("part => { part.open = true; }")
                    if path.startswith("matches"):
                        page.frame_locator("iframe.viewer").get_by_text("verified").first.wait_for()
            for path in ("", "live"):
                page.goto(f"{top}{path}")
                page.wait_for_function(HAS_BOARDS, arg=1)
            page.goto(f"{top}watch/{match}/")
            page.get_by_text("verified").wait_for()

            # A team hands in without a script; with one, it sees the check as it runs.
            bot = tmp_path / "wrong.py"
            bot.write_text("syntax error(\n")
            plain = opened(f"{top}matches/{match}", PHONE, java_script_enabled=False)
            assert [plain.locator(part).is_visible() for part in ("#result-title", ".viewer")] == [True, False]
            plain.goto(f"{top}sign-in")
            plain.locator("#token").fill(ADA)
            plain.get_by_role("button", name="Sign in").click()
            plain.locator("#file").set_input_files(bot)
            plain.get_by_role("button", name="Hand in").click()
            plain.wait_for_url("**/submissions/4")
            page = opened(f"{top}sign-in#{ADA}", PHONE)
            page.get_by_role("button", name="Sign in as Ada").click()
            page.goto(f"{top}submissions/4")
            page.get_by_text("SyntaxError").first.wait_for()
            page.locator("details.check-group[open]", has_text="It starts, is ready in time").first.get_by_text(
                "The program starts"
            ).wait_for()
            assert axe(page) == []
            page.goto(f"{top}submissions/2")
            page.get_by_text(re.compile(r"Placement: \d of 10 duels|Rated .* after")).wait_for()
            page.goto(f"{top}submit")
            assert axe(page) == []
            assert "20 MiB, 7 of 10 left" in page.locator("#drop").inner_text()
            page.get_by_role("button", name="Copy").click()
            page.get_by_text(re.compile("Copied|Selected")).wait_for()
            assert page.locator(".command code").inner_text() == f"referee submit {top[:-1]} my_bot --wait"
            page.evaluate(DROP)
            page.get_by_role("button", name="Hand in").click()
            page.wait_for_url("**/submissions/5")
            page.goto(f"{top}projector")
            page.get_by_text(re.compile("steps? survived|Step")).first.wait_for()
            assert axe(page) == []
    finally:
        server.terminate()
        told = "".join(server.communicate(60))
    assert "hands in" in told
    assert not [token for token in (ADA, BOB, STAFF) if re.search(rf"\b{token}\b", told)]
