"""Links and other things in place of the files of a folder, which other people may have made: none is followed, whatever shows the folder."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from served_pages import served
from serving import PATIENCE, asked

from referee.pages.folder_index import FolderIndex
from referee.pages.folder_listing import scan
from referee.pages.folder_site import FolderPages
from referee.pages.replay_scripts import write_pages
from referee.replay.paths import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

GOOD = Path(__file__).parents[1] / "data" / "replays" / "evasion-classic-boxer-runner.replay.jsonl.gz"
SECRET = "the instructor's private key"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a replay whose hunter's log is a link to a private file, and whose prey's log is one of a device."""
    (tmp_path / "private").write_text(SECRET)
    place = tmp_path / "handed in"
    place.mkdir()
    shutil.copy(GOOD, place / f"a{SUFFIX}")
    (place / "a.hunter.stderr.log").symlink_to(tmp_path / "private")
    (place / "a.prey.stderr.log").symlink_to("/dev/zero")
    return place


def read(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        data: bytes = answer.read()
        return data


def test_no_page_shows_the_target_of_a_log_that_is_a_link(folder: Path, tmp_path: Path) -> None:
    for what, below in ((folder, "replay/0/"), (folder / f"a{SUFFIX}", "")):
        with served(tmp_path, "watch", str(what)) as (_, (address, *_)):
            if what is folder:
                assert json.loads(read(f"{address}list?from=0"))["entries"]
            assert read(f"{address}{below}replay") == GOOD.read_bytes()
            for seat in ("hunter", "prey"):
                assert read(f"{address}{below}log?seat={seat}") == b""


def test_no_exported_page_holds_the_target_of_a_log_that_is_a_link(folder: Path, referee: Cli) -> None:
    page = folder / "a.html"
    done = referee("export", folder / f"a{SUFFIX}", "--html", "--out", page)
    assert done.returncode == 0, done.stderr
    assert '"logs": {}' in page.read_text()
    (folder / "a.hunter.stderr.log").unlink()
    os.mkfifo(folder / "a.hunter.stderr.log")
    assert referee("export", folder / f"a{SUFFIX}", "--html", "--out", page).returncode == 0


async def _listed(app: Any) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    found: dict[str, Any] = {"next": 0, "reading": True}
    while found["reading"]:
        found = json.loads((await asked(app, f"/token/list?from={found['next']}"))[2])
        entries |= {entry["name"]: (key, entry) for key, entry in found["entries"] if entry}
    return entries


def test_a_listed_replay_that_is_swapped_for_a_link_is_not_shown(folder: Path, tmp_path: Path) -> None:
    (folder / "team").mkdir()
    shutil.copy(GOOD, folder / "team" / f"b{SUFFIX}")
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("a", "b"):
        shutil.copy(GOOD, other / f"{name}{SUFFIX}")
    (other / "b.hunter.stderr.log").write_text(SECRET)

    async def work() -> None:
        app = FolderPages(FolderIndex(folder), "token", "replays").app()
        entries = await _listed(app)
        one, two = (entries[name][0] for name in (f"a{SUFFIX}", f"team/b{SUFFIX}"))
        # Both are open when they are swapped: the file itself, and the folder on the way to it.
        for key in (one, two):
            assert (await asked(app, f"/token/replay/{key}/"))[0] == 200
        (folder / f"a{SUFFIX}").unlink()
        (folder / f"a{SUFFIX}").symlink_to(other / f"a{SUFFIX}")
        shutil.rmtree(folder / "team")
        (folder / "team").symlink_to(other)
        for key in (one, two):
            for path in ("", "replay", "check", "commands"):
                assert (await asked(app, f"/token/replay/{key}/{path}"))[0] == 404, path
            assert SECRET.encode() not in (await asked(app, f"/token/replay/{key}/log?seat=hunter"))[2]
            assert (await asked(app, f"/token/boards/{key}"))[0] == 404

    asyncio.run(work())


def test_a_link_to_a_replay_is_listed_as_a_link_without_facts_of_its_target(folder: Path, tmp_path: Path) -> None:
    (folder / "link.gz").symlink_to(GOOD)
    (found,) = (file for file in scan(folder)[0] if file.path.name == "link.gz")
    assert found.size != GOOD.stat().st_size

    async def work() -> None:
        entries = await _listed(FolderPages(FolderIndex(folder), "token", "replays").app())
        assert entries["link.gz"][1]["problem"] == "can't be read: it is a link, and links are not followed here."
        assert not entries["link.gz"][1]["opens"]

    asyncio.run(work())


def test_the_folder_itself_may_be_a_link_because_its_user_names_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)

    async def work() -> None:
        entries = await _listed(FolderPages(FolderIndex(tmp_path / "link"), "token", "replays").app())
        assert entries[f"a{SUFFIX}"][1]["opens"]

    asyncio.run(work())


def test_the_pages_of_a_league_hold_no_replay_that_is_a_link(folder: Path) -> None:
    (folder / f"b{SUFFIX}").symlink_to(GOOD)
    assert write_pages([f"a{SUFFIX}", f"b{SUFFIX}"], folder) == {f"a{SUFFIX}"}
