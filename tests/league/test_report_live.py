"""The report of a league that is running, as requests see it."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from asgi import asked
from conftest import play_match
from html_tables import tables
from sample_leagues import league

from referee.league.report_live import LiveReport

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from starlette.types import ASGIApp

    from referee.league.report import ReportData

TOKEN = "token"


class Seen(NamedTuple):
    """What a page of the report has: its text, the number of the duels that it asks for next, that of the state, the duels, and their texts."""

    text: str
    next: int
    news: int | None
    duels: list[list[Any]]
    texts: list[str]

    def shows(self, name: str) -> str:
        found = re.search(rf'id="{name}"[^>]*>([^<]*)<', self.text)
        assert found is not None
        return unescape(found[1])


async def state(app: ASGIApp, start: int, news: int | None = None) -> Seen:
    status, headers, body = await asked(app, f"/{TOKEN}/?from={start}&news={news}")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    text = gzip.decompress(body).decode()
    config, bulk = re.search(r'id="page">(.*?)</script>', text), re.search(r'id="bulk">(.*?)</script>', text)
    assert config is not None
    assert bulk is not None
    pack = json.loads(gzip.decompress(base64.b64decode(bulk[1])))
    told = json.loads(config[1])
    return Seen(text, told["next"], told["news"], pack["duels"], pack["texts"])


async def at_last(app: ASGIApp, seen: Seen) -> Seen:
    """What a page lacks when the league is over."""
    found = seen
    while found.news is not None:
        found = await state(app, seen.next, found.news)
    return found


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def live(source: Callable[[], ReportData], folder: Path) -> LiveReport:
    return LiveReport(source, folder, TOKEN, read_seconds=0.0)


def test_only_who_knows_the_address_sees_it(tmp_path: Path) -> None:
    async def work() -> None:
        app = live(lambda: league(4), tmp_path).app()
        for path in ("/", "/other/", "/other/?from=0", "/other/match/0.0/", f"/{TOKEN}x/"):
            assert (await asked(app, path))[0] == 404, path
        for path in ("/", "/?from=0", "/match/0.0/"):
            assert (await asked(app, f"/{TOKEN}{path}", "evil.example"))[0] in (403, 404), path
        status, headers, body = await asked(app, f"/{TOKEN}/")
        assert (status, '"live": true' in gzip.decompress(body).decode()) == (200, True)
        assert "trusted-types 'none'" in headers["content-security-policy"]
        assert (await asked(app, f"/{TOKEN}/pages/league.js"))[0] == 200
        assert (await asked(app, f"/{TOKEN}/pages/../league/report.py"))[0] == 404
        for start in ("?from=", "?from=x", "?from=-1", "?from=99999999999"):
            assert (await asked(app, f"/{TOKEN}/{start}"))[0] == 400

    run(work)


def test_a_page_gets_only_the_duels_that_it_does_not_know(tmp_path: Path) -> None:
    shares = [0.5]

    async def work() -> None:
        site = live(lambda: league(6, finished=shares[0]), tmp_path)
        app = site.app()
        first = await state(app, 0)
        assert (first.next, len(first.duels)) == (8, 8)
        assert (first.shows("state"), first.shows("progress-text").partition(" · ")[0]) == ("running", "16 of 30 matches")
        shares[0] = 1.0
        second = await at_last(app, first)
        assert (second.next, [duel[0] for duel in second.duels]) == (15, list(range(8, 15)))
        assert (second.shows("state"), second.shows("progress-text")) == ("finished", "30 matches")
        # All other parts are whole in each page.
        assert tables(second.text) == tables((await state(app, 0)).text) != tables(first.text)
        assert (await state(app, 999)).duels == []
        assert len((await state(app, 0)).duels) == 15

    run(work)


def test_a_duel_that_changed_is_told_again_to_a_page_that_waits(tmp_path: Path) -> None:
    data = league(3)
    noted = data.duels[1]._replace(note="The results differ between two machines.")

    async def work() -> None:
        known = [data._replace(progress=data.progress._replace(state="running"))]
        app = live(lambda: known[0], tmp_path).app()
        first = await state(app, 0)
        waiting = asyncio.create_task(state(app, first.next, first.news))
        await asyncio.sleep(0)
        known[0] = data._replace(duels=[data.duels[0], noted, data.duels[2]])
        second = await waiting
        assert [duel[0] for duel in second.duels] == [1]
        assert noted.note in second.texts
        assert sorted(duel[0] for duel in (await state(app, 0)).duels) == [0, 1, 2]

    run(work)


def test_a_store_that_can_not_be_read_is_said_and_read_again(tmp_path: Path) -> None:
    answers: list[ReportData | Exception] = [OSError("the disk is gone"), league(3)]

    def source() -> ReportData:
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def work() -> None:
        app = live(source, tmp_path).app()
        first = await state(app, 0)
        assert (first.shows("message"), first.duels) == ("The league could not be read: the disk is gone", [])
        second = await at_last(app, first)
        assert (second.shows("message"), len(second.duels)) == ("", 3)

    run(work)


@pytest.mark.parametrize("replay", ["../outside.gz", "/etc/hostname", "replays/missing.gz", ""])
def test_a_replay_outside_the_folder_is_not_served(replay: str, tmp_path: Path) -> None:
    folder = tmp_path / "league"
    folder.mkdir()
    (tmp_path / "outside.gz").write_bytes(b"secret")

    async def work() -> None:
        app = live(lambda: league(2, replay=replay), folder).app()
        await state(app, 0)
        for path in ("", "replay"):
            assert (await asked(app, f"/{TOKEN}/match/0.0/{path}"))[0] == 404

    run(work)


def test_each_match_opens_in_the_viewer(tmp_path: Path) -> None:
    (tmp_path / "replays").mkdir()
    play_match("straight", "still", replay=tmp_path / "replays" / "one.gz", max_steps=30)

    async def work() -> None:
        site = live(lambda: league(2, replay="replays/one.gz"), tmp_path)
        app = site.app()
        await state(app, 0)
        status, headers, body = await asked(app, f"/{TOKEN}/match/0.1/")
        assert (status, b'"mode": "watch"' in body) == (200, True)
        assert "trusted-types 'none'" in headers["content-security-policy"]
        assert (await asked(app, f"/{TOKEN}/match/0.1/check"))[0] == 200
        assert (await asked(app, f"/{TOKEN}/match/0.1/", "evil.example"))[0] == 403
        for path in ("0.7/", "0/", "x.y/", "1.0/"):
            assert (await asked(app, f"/{TOKEN}/match/{path}"))[0] == 404
        site.close()
        assert (tmp_path / "replays" / "one.gz").exists()

    run(work)


def test_a_duel_that_is_to_be_played_again_is_forgotten(tmp_path: Path) -> None:
    whole = league(4, finished=0.5)
    states = [whole, whole._replace(duels=whole.duels[1:]), league(4)._replace(duels=whole.duels[1:])]

    async def work() -> None:
        site = live(lambda: states.pop(0) if len(states) > 1 else states[0], tmp_path)
        app = site.app()
        first = await state(app, 0)
        second = await at_last(app, first)
        assert second.duels == [[whole.duels[0].number]]

    run(work)
