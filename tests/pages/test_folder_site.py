"""The server of a folder, as requests see it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serving import asked

from referee.pages.folder_index import FolderIndex
from referee.pages.folder_listing import ShownStandings
from referee.pages.folder_site import FolderPages

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    import pytest
    from starlette.types import ASGIApp

RECORDED = sorted((Path(__file__).parents[1] / "data" / "replays").glob("*.gz"))
TOKEN = "token"


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


async def listed(app: ASGIApp, start: int = 0) -> dict[str, Any]:
    """All entries by name, those that are gone, and where the next question begins."""
    entries: dict[str, Any] = {}
    gone: list[int] = []
    while True:
        status, _, body = await asked(app, f"/{TOKEN}/list?from={start}")
        assert status == 200
        found = json.loads(body)
        entries |= {entry["name"]: {**entry, "key": key} for key, entry in found["entries"] if entry}
        # An answer may come in the middle of a reading, with the news; the next one then has nothing more.
        gone += [key for key, entry in found["entries"] if entry is None]
        start = found["next"]
        if not found["reading"]:
            return {"entries": entries, "next": start, "gone": gone}


def pages(folder: Path, **options: Any) -> ASGIApp:
    return FolderPages(FolderIndex(folder), TOKEN, folder.name, **options).app()


def test_only_who_knows_the_address_sees_it_and_only_replays_are_served(tmp_path: Path) -> None:
    shutil.copy(RECORDED[0], tmp_path / "good.gz")
    (tmp_path / "secret.gz").symlink_to("/etc/passwd")
    (tmp_path / "good.secret.stderr.log").write_text("secret")

    async def work() -> None:
        app = pages(tmp_path)
        entries = (await listed(app))["entries"]
        good, secret = entries["good.gz"]["key"], entries["secret.gz"]["key"]
        for path in ("/", "/other/", "/other/list?from=0", f"/other/replay/{good}/", f"/other/boards/{good}", f"/{TOKEN}x/"):
            assert (await asked(app, path))[0] == 404, path
        for path in ("/", "/list?from=0", f"/replay/{good}/", f"/boards/{good}", "/projector"):
            assert (await asked(app, f"/{TOKEN}{path}", "evil.example"))[0] in (403, 404), path
        for path in (
            f"/replay/{secret}/", f"/replay/{secret}/replay", f"/boards/{secret}", "/replay/99/", "/replay/-1/", "/replay/../", "/boards/99",
            "/replay/../../etc/passwd", "/replay/good.gz/replay", "/replay/%2e%2e/replay", "/boards/..%2f..%2fetc%2fpasswd", "/good.gz",
            "/web/app.py", "/pages/viewer/many/../../app.py", f"/replay/{good}/good.gz", f"/replay/{good}/../../secret", "/replay/٣/",
        ):  # fmt: skip
            assert (await asked(app, f"/{TOKEN}{path}"))[0] in (403, 404), path
        assert b"secret" not in (await asked(app, f"/{TOKEN}/replay/{good}/log?seat=../good.secret"))[2]
        for start in ("", "?from=x", "?from=-1", "?from=9999999999"):
            assert (await asked(app, f"/{TOKEN}/list{start}"))[0] == 400
        for path, text in (
            ("/", "pages/folder.js"),
            ("/projector", "pages/projector.js"),
            (f"/replay/{good}/", "page.js"),
        ):
            status, headers, body = await asked(app, f"/{TOKEN}{path}")
            assert (status, text in body.decode()) == (200, True)
            assert "trusted-types 'none'" in headers["content-security-policy"]
        assert (await asked(app, f"/{TOKEN}/pages/folder.js"))[0] == 200
        status, headers, body = await asked(app, f"/{TOKEN}/replay/{good}/replay")
        assert (status, body) == (200, RECORDED[0].read_bytes())
        status, headers, body = await asked(app, f"/{TOKEN}/boards/{good}")
        assert (status, headers["content-type"], body) == (200, "application/gzip", RECORDED[0].read_bytes())
        assert json.loads((await asked(app, f"/{TOKEN}/standings"))[2]) == {}

    run(work)


def test_files_that_come_change_and_go_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.pages.folder_index.READ_SECONDS", 0.0)
    monkeypatch.setattr("referee.pages.folder_index.PAUSE_FACTOR", 0.0)
    data = RECORDED[0].read_bytes()
    (tmp_path / "one.gz").write_bytes(data[: len(data) // 2])

    async def later(app: ASGIApp, start: int) -> dict[str, Any]:
        while (found := await listed(app, start))["next"] == start:
            pass
        return found

    async def work() -> None:
        app = pages(tmp_path)
        first = await later(app, 0)
        assert "no result" in first["entries"]["one.gz"]["problem"]
        (tmp_path / "one.gz").write_bytes(data)
        second = await later(app, first["next"])
        assert second["entries"]["one.gz"]["problem"] == ""
        assert second["entries"]["one.gz"]["key"] == first["entries"]["one.gz"]["key"]
        (tmp_path / "two.gz").write_bytes(data)
        third = await later(app, second["next"])
        assert list(third["entries"]) == ["two.gz"]
        (tmp_path / "one.gz").unlink()
        last = await later(app, third["next"])
        assert last["gone"] == [first["entries"]["one.gz"]["key"]]
        assert (await asked(app, f"/{TOKEN}/replay/{last['gone'][0]}/replay"))[0] == 404
        shutil.rmtree(tmp_path)
        assert len((await later(app, last["next"]))["gone"]) == 1

    run(work)


def test_standings_that_fail_are_told_on_the_page(tmp_path: Path) -> None:
    def fail() -> dict[str, Any]:
        raise OSError("the disk is gone")

    async def work() -> None:
        app = pages(tmp_path, standings=fail)
        assert json.loads((await asked(app, f"/{TOKEN}/standings"))[2]) == {"problem": "The standings can't be read: the disk is gone"}
        app = pages(tmp_path, standings=lambda: ShownStandings("a league", 0, 1, []))
        assert json.loads((await asked(app, f"/{TOKEN}/standings"))[2])["rows"] == []

    run(work)


def test_names_of_files_that_are_no_text_are_listed(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\x1b[31m\n.gz"
    with open(name, "wb") as file:
        file.write(RECORDED[0].read_bytes())

    async def work() -> None:
        (entry,) = (await listed(pages(tmp_path)))["entries"].values()
        assert entry["opens"]
        assert "\x1b" not in entry["name"]
        assert "\n" not in entry["name"]

    run(work)
