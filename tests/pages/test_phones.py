"""Pages for phones: an address that other machines can open, and its QR code on the terminal and on the projector's page."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from served_pages import ended

from referee.pages import qr, serve

if TYPE_CHECKING:
    from commands import Commands

segno = pytest.importorskip("segno")
GOOD = Path(__file__).parents[1] / "data/replays/evasion-classic-boxer-runner.replay.jsonl.gz"
ADDRESS = "http://192.0.2.7:8300/abcdefghijklmnopqrstuv/"


def own_addresses() -> set[str]:
    """The addresses of this machine, as its own name and a datagram socket give them."""
    found = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found.add(probe.getsockname()[0])
        except OSError:
            pass
    return {str(address) for address in found if not str(address).startswith("127.")}


def test_every_interface_is_shown_by_an_address_of_this_machine() -> None:
    shown = serve.shown_host("0.0.0.0")
    assert shown in (own_addresses() or {socket.gethostname()})
    assert serve.shown_host("127.0.0.1") == "127.0.0.1"
    assert serve.shown_host("2001:db8::5") == "[2001:db8::5]"


def test_a_machine_without_a_network_is_shown_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nowhere(socket.socket):
        def connect(self, address: object) -> None:
            raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket, "socket", Nowhere)
    assert serve.shown_host("0.0.0.0") == socket.gethostname()


def dark_squares(text: str) -> list[list[bool]]:
    """The squares of a code that is made of block characters, dark ones as True."""
    rows = []
    for line in text.splitlines():
        rows += [[char in " ▄" for char in line], [char in " ▀" for char in line]]
    return rows


def test_the_code_on_the_terminal_has_the_squares_of_the_address() -> None:
    wanted = [[bool(square) for square in row] for row in segno.make_qr(ADDRESS, error="m").matrix_iter(border=2)]
    assert dark_squares(qr.for_terminal(ADDRESS))[: len(wanted)] == wanted
    assert qr.picture(ADDRESS).startswith("data:image/svg+xml")


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
@pytest.mark.parametrize("page", ["replay", "folder", "projector"])
def test_addresses_for_other_machines_come_with_a_code(host: str, page: str, commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "good.replay.jsonl.gz").write_bytes(GOOD.read_bytes())
    words = [str(GOOD)] if page == "replay" else ["games", *(["--projector"] if page == "projector" else [])]
    process = commands.start("watch", *words, "--host", host, "--no-browser", cwd=tmp_path)
    code = []
    try:
        address = process.stdout.readline().strip()
        while "Ctrl-C" not in (line := process.stderr.readline()):
            code.append(line.rstrip("\n"))
    finally:
        ended(process)
    code = [line for line in code if "█" in line or "▀" in line]
    assert re.fullmatch(r"http://[^/]+:\d+/[\w-]{22}/(projector)?", address)
    if host == "127.0.0.1":
        assert code == []
    else:
        assert code == qr.for_terminal(address.removesuffix("projector")).splitlines()


@pytest.mark.parametrize("is_for_others", [True, False])
def test_the_projector_has_the_code_of_the_list(is_for_others: bool) -> None:
    found = qr.join(ADDRESS if is_for_others else None)
    assert found == ({"join": {"address": ADDRESS, "picture": qr.picture(ADDRESS)}} if is_for_others else {})
    assert json.loads(json.dumps(found)) == found
