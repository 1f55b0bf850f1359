"""The report of a league that is running, as requests see it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from leagues import league
from serving import PATIENCE, asked

from referee.league import report_folder
from referee.league.report_live import LiveReport

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from pathlib import Path

TOKEN = "token"


def run(work: Callable[[], Coroutine[object, object, None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), PATIENCE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A league that is running, with its report."""
    place = tmp_path / "league"
    (place / "replays").mkdir(parents=True)
    play_match("straight", "still", replay=place / "replays" / "one.replay.jsonl.gz", max_steps=30)
    report_folder.write(league(2, replay="replays/one.replay.jsonl.gz", finished=0.9), place)
    return place


def test_only_who_knows_the_address_sees_it_and_only_the_report_is_served(folder: Path) -> None:
    (folder / "pages" / "mine.js").write_text("secret")
    (folder / "pages" / "link.js").symlink_to(folder / "league.toml")
    (folder / "league.toml").write_text("secret")
    (folder.parent / "outside.js").write_text('replay("secret","");\n')

    async def work() -> None:
        site = LiveReport(lambda: True, folder, TOKEN)
        app = site.app()
        for path in ("report.html", "viewer.html", "pages/replays/one.js"):
            status, headers, _ = await asked(app, f"/{TOKEN}/{path}")
            assert (status, headers["content-security-policy"]) == (200, "frame-ancestors 'none'"), path
            assert (await asked(app, f"/other/{path}"))[0] == 404
            assert (await asked(app, f"/{TOKEN}/{path}", "evil.example"))[0] == 403
        for path in (
            "", "pages/mine.js", "pages/link.js", "league.toml", "replays/one.replay.jsonl.gz", "pages/../league.toml", "pages/../../outside.js",
            "/etc/passwd", "../outside.js", "pages/replays/one.js/", "pages/replays", "pages/missing.js",
        ):  # fmt: skip
            assert (await asked(app, f"/{TOKEN}/{path}"))[0] == 404, path
        site.close()

    run(work)


def test_it_is_written_again_until_the_league_is_over(folder: Path) -> None:
    states: Iterator[bool] = iter((True, True, False))
    written: list[bool] = []

    async def work() -> None:
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def write() -> bool:
            written.append(next(states))
            if not written[-1]:
                loop.call_soon_threadsafe(done.set)
            return written[-1]

        site = LiveReport(write, folder, TOKEN, write_seconds=0.0)
        await done.wait()
        assert written == [True, True, False]
        site.close()

    run(work)


@pytest.mark.parametrize("finished", [0.5, 1.0])
def test_only_a_running_league_has_a_page_that_asks_again(finished: float, tmp_path: Path) -> None:
    report_folder.write(league(4, finished=finished), tmp_path)
    text = (tmp_path / "report.html").read_text()
    assert ('"live": true' in text, "connect-src 'self'" in text) == (finished < 1, finished < 1)


def test_scripts_get_their_verdicts_when_the_league_is_over(tmp_path: Path) -> None:
    (tmp_path / "replays").mkdir()
    play_match("straight", "still", replay=tmp_path / "replays" / "one.replay.jsonl.gz", max_steps=30)
    script = tmp_path / "pages" / "replays" / "one.js"
    for finished, has_verdicts in ((0.5, False), (1.0, True)):
        report_folder.write(league(4, finished=finished, replay="replays/one.replay.jsonl.gz"), tmp_path)
        assert ('"status":"good"' in script.read_text()) == has_verdicts
