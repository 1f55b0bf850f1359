"""Scripts that Windows has spoilt: repaired in copies, refused where they can't."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from referee.errors import PlayerError
from referee.isolation import scripts
from referee.players.names import resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("player", ["bot.js", "./bot.js --fast", "folder"])
def test_a_script_that_its_first_line_starts_is_refused(player: str, tmp_path: Path, referee: Cli) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bot.toml").write_text('run = "./bot.js"\n')
    for file in (tmp_path / "bot.js", tmp_path / "folder" / "bot.js"):
        file.write_bytes(b"#!/usr/bin/env node\r\nconsole.log(1)\r\n")
        file.chmod(0o755)
    done = referee("play", player, "still", "--json")
    assert done.returncode == 2
    assert "Windows line ends (CRLF)" in json.loads(done.stdout)["error"]


MARK = "\ufeff"
#: A file, whether a shell reads it, its content, and what the content should be; None if it is good.
FILES = {
    "crlf": ("run", False, b"#!/bin/sh\r\ntrue\r\n", b"#!/bin/sh\ntrue\n"),
    "crlf of another interpreter": ("run", False, b"#!/usr/bin/env node\r\n1\r\n", b"#!/usr/bin/env node\n1\n"),
    "later lines of a shell": ("run", False, b"#! /usr/bin/env bash\ntrue\r\n", b"#! /usr/bin/env bash\ntrue\n"),
    "later lines of another": ("run", False, b"#!/usr/bin/env node\n1\r\n", None),
    "mark": ("run", False, f"{MARK}#!/bin/sh\ntrue\n".encode(), b"#!/bin/sh\ntrue\n"),
    "mark and crlf": ("run.sh", False, f"{MARK}#!/bin/sh\r\ntrue\r\n".encode(), b"#!/bin/sh\ntrue\n"),
    "utf-16": ("run", False, "#!/bin/sh\r\ntrue\r\n".encode("utf-16"), b"#!/bin/sh\ntrue\n"),
    "name of a shell's file": ("build.sh", False, b"true\r\n", b"true\n"),
    "named after a shell": ("build", True, b"true\r\n", b"true\n"),
    "makefile": ("Makefile", False, b"all:\r\n\ttrue\r\n", b"all:\n\ttrue\n"),
    "no script": ("data", False, b"1\r\n2\r\n", None),
    "source with a mark": ("main.c", False, f"{MARK}int x;\r\n".encode(), None),
    "no text": ("bot", False, b"\xff\xfe\x00", None),
    "empty": ("empty.sh", False, b"", None),
    "good": ("run.sh", False, "#!/bin/sh\necho é\n".encode(), None),
}


@pytest.mark.parametrize("case", FILES)
def test_a_script_of_a_copy_is_repaired_and_executable(case: str, tmp_path: Path) -> None:
    name, is_for_shell, data, good = FILES[case]
    path = tmp_path / "in" / name
    path.parent.mkdir()
    path.write_bytes(data)
    path.chmod(0o400)
    assert bool(scripts.fault(path, name, is_for_shell=is_for_shell)) is (good is not None)
    assert path.read_bytes() == data
    for _ in range(2):
        scripts.repair(str(tmp_path), ("/bin/sh", f"./in/{name}") if is_for_shell else ("node", f"in/{name}"))
        assert path.read_bytes() == (data if good is None else good)
        assert path.stat().st_mode & 0o777 == 0o500
        assert not scripts.fault(path, name, is_for_shell=is_for_shell)


@pytest.mark.parametrize("case", [case for case in FILES if FILES[case][3] is not None and case != "makefile"])
def test_an_author_learns_which_script_is_spoilt_and_how_to_repair_it(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, _, data, good = FILES[case]
    os.mkdir("my")
    path = tmp_path / "my" / name
    path.write_bytes(data)
    path.chmod(0o755)
    (tmp_path / "my" / "bot.toml").write_text(f'run = "./{name}"\n' if data.startswith(b"#!") else f'run = "sh ./{name}"\n')
    with pytest.raises(PlayerError) as caught:
        resolve("my", "prey", "evasion")
    assert f"my/{name}" in str(caught.value)
    assert any(cause in str(caught.value) for cause in ("Windows line ends (CRLF)", "byte order mark", "UTF-16"))
    assert path.read_bytes() == data
    remedy = str(caught.value).partition("try: ")[2]
    if remedy:
        subprocess.run(["/bin/sh", "-c", remedy], check=True)
        assert path.read_bytes() == good
        resolve("my", "prey", "evasion")


def test_links_and_folders_of_a_copy_stay_as_they_are(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"#!/bin/sh\r\n")
    (tmp_path / "copy" / "folder.sh").mkdir(parents=True)
    (tmp_path / "copy" / "link.sh").symlink_to(outside)
    (tmp_path / "copy" / "broken.sh").symlink_to("nothing")
    scripts.repair(str(tmp_path / "copy"))
    assert outside.read_bytes() == b"#!/bin/sh\r\n"
    assert (tmp_path / "copy" / "link.sh").is_symlink()
