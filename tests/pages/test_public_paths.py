"""What spectators of a running match read names no folder of the machine."""

from __future__ import annotations

import contextlib
import sys
import urllib.request
import zlib
from pathlib import Path

import pytest
from sandboxes import missing
from served_pages import Socket, served

ROOT = str(Path(__file__).parents[2])
#: It names its own path, that of the SDK and those of Python in its log, in what it says, and in the error that ends it.
TELLER = """
import sys, sdk
from sdk import HunterBot

class Teller(HunterBot):
    def hunt(self, state):
        self.say(__file__ + sdk.__file__)
        print(__file__, sys.path, file=sys.stderr)
        if self.turn == 3:
            raise ValueError("lost in " + __file__)

Teller.main()
"""


@pytest.mark.parametrize("level", ["none", "strict"])
def test_spectators_read_no_path_of_the_machine(level: str, tmp_path: Path) -> None:
    if level == "strict" and (why := missing()):
        pytest.skip(why)
    here, elsewhere = tmp_path / "secret-home" / "here", tmp_path / "secret-share" / "bots"
    for folder in (here, elsewhere):
        folder.mkdir(parents=True)
    (elsewhere / "teller.py").write_text(TELLER)
    command = ("play", str(elsewhere / "teller.py"), "still", "--isolation", level, "--live", "--pace", "4", "--stay")
    with served(here, *command) as (_, (address,)), contextlib.closing(Socket(address)) as socket:
        data = b""
        while b"ValueError" not in (told := zlib.decompressobj(31).decompress(data)):
            kind, part = socket.frame()
            assert kind != 8, told
            data += part if kind == 2 else b""
        with urllib.request.urlopen(f"{address}log?seat=hunter") as answer:
            told += answer.read()
    assert b"teller.py:10 in hunt" in told
    for secret in ("secret-home", "secret-share", ROOT, sys.prefix):
        at = told.find(secret.encode())
        assert at < 0, told[max(0, at - 150) : at + 100]
