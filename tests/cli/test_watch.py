"""referee watch and export, and the pages of referee play."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psutil
import pytest
from commands import MARK
from conftest import play_match
from PIL import Image
from sandboxes import command_of
from serving import PATIENCE
from typer.testing import CliRunner
from websockets.sync.client import connect

import referee.cli.play
import referee.cli.watch  # noqa: F401 - registers the commands
from referee.cli.app import app
from referee.pages.page import held_replay
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commands import Commands
    from commands import Running as Process

    Cli = Callable[..., subprocess.CompletedProcess[str]]
    Start = Callable[..., "Running"]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replays") / "good.replay.jsonl.gz"
    play_match("boxer", "runner", replay=path)
    return path


class Running:
    """A command that goes on, and the first address that it told."""

    def __init__(self, process: Process, told: list[str]) -> None:
        self.process = process
        self.told = told
        self.address = re.findall(r"http://\S+", "".join(told))[0]

    def get(self, path: str = "", **headers: str) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
        connection.request("GET", parts.path + path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


@pytest.fixture
def start(commands: Commands, tmp_path: Path) -> Iterator[Start]:
    running: list[Process] = []

    def started(*arguments: str | Path, until: str = "http://", port: str = "0", **more: str) -> Running:
        # One stream for both, to be read in order.
        process = commands.start(*arguments, "--port", port, "--no-browser", cwd=tmp_path, env=more, is_joined=True)
        running.append(process)
        told: list[str] = []
        while not told or until not in told[-1]:
            line = process.stdout.readline()
            assert line, "".join(told)
            told.append(line)
        return Running(process, told)

    yield started
    for process in running:
        process.kill()
        process.communicate(PATIENCE)


def test_watch_serves_the_viewer_and_ends_with_ctrl_c(good: Path, start: Start) -> None:
    running = start("watch", good)
    status, headers, body = running.get()
    assert status == 200
    assert b"good.replay.jsonl.gz" in body
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert running.get("replay")[2] == good.read_bytes()
    assert json.loads(running.get("check")[2])["status"] == "good"
    asked = json.loads(running.get("question?turn=20&seat=hunter")[2])["question"]
    assert (asked["turn"], asked["state"]["step"]) == (20, 20)
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(PATIENCE) == 0


def test_the_address_is_that_of_the_step(good: Path, start: Start) -> None:
    assert start("watch", good, "--step", "12").address.endswith("/#t=12")


def test_strangers_get_nothing(good: Path, start: Start) -> None:
    running = start("watch", good)
    port = urlsplit(running.address).netloc.rpartition(":")[2]
    for path in ("/", "/x/", "/pages/viewer/app/main.js", "/AAAAAAAAAAAAAAAAAAAAAA/replay"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE)
        assert refused.value.code == 404
        refused.value.close()
    assert running.get(Host="evil.example")[0] == 403
    for path in ("../../../../etc/passwd", "pages/viewer/app/%2e%2e/app.py", "question?turn=x", "question?turn=-1"):
        assert running.get(path)[0] in (400, 403, 404)
    assert running.get("check")[0] == 200
    assert json.loads(running.get("question?turn=99999&seat=hunter")[2]) == {"text": "There is no such step."}
    assert running.get("log?seat=../../../etc/passwd")[2] == b""
    parts = urlsplit(running.address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.request("POST", parts.path + "check", b"x", {"Origin": "http://evil.example"})
    assert connection.getresponse().status == 403
    connection.close()


def test_a_port_in_use_is_said_and_the_next_one_taken(good: Path, start: Start) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        running = start("watch", good, port=str(port))
    told = "".join(running.told)
    assert f"Port {port} is in use; the page is on port " in told
    assert urlsplit(running.address).port != port
    assert running.get()[0] == 200


def test_without_a_display_the_address_is_printed(good: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "watch", str(good), "--port", "0"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    assert "no display" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)


def test_the_browser_s_command_line_hides_the_secret_address(good: Path, tmp_path: Path) -> None:
    browser, temporary = tmp_path / "browser", tmp_path / "temporary"
    temporary.mkdir()
    # What other users of the machine see of the browser, and the file that it gets.
    browser.write_text(f"#!{sys.executable}\nimport os, sys\npath = sys.argv[1].removeprefix('file://')\n"
                       "print(sys.argv[1:], oct(os.stat(path).st_mode), open(path).read(), flush=True)\n")  # fmt: skip
    browser.chmod(0o700)
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "watch", str(good), "--port", "0"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "DISPLAY": ":9", "BROWSER": f"{browser} %s", "TMPDIR": str(temporary), "HOME": str(temporary)},
    )  # fmt: skip
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    arguments, mode, page = process.stdout.readline().split(" ", 2)
    assert arguments.startswith("['file:///")
    assert urlsplit(address).path not in arguments
    assert mode == "0o100600"
    assert f'content="0;url={address}"' in page
    assert list(temporary.iterdir())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert not list(temporary.iterdir())


def test_png_and_gif(good: Path, referee: Cli, tmp_path: Path) -> None:
    assert referee("export", good, "--png", "--step", "50", "--size", "200", "--out", "sub/p.png").returncode == 0
    with Image.open(tmp_path / "sub" / "p.png") as picture:
        assert picture.size[0] == 200
        colors = picture.convert("RGB").getcolors(1 << 20)
    assert colors is not None
    assert len(colors) > 10
    done = referee("export", good, "--gif", "--from", "10", "--to", "30", "--every", "5", "--size", "120", "--json")
    assert json.loads(done.stdout) == {"file": "good.gif", "kind": "gif"}
    with Image.open(tmp_path / "good.gif") as moving:
        # 10, 15, 20, 25 and 30, the last one once more for its end.
        assert getattr(moving, "n_frames", 0) in (5, 6)


@pytest.mark.parametrize("out", [".", "/", "folder", "folder/"])
def test_a_folder_is_no_file_to_export_to(out: str, good: Path, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = referee("export", good, "--html", "--out", out)
    assert done.returncode == 2
    assert "name a file" in " ".join(done.stderr.replace("name the file", "name a file").split())
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


def test_an_export_goes_where_a_link_leads_and_into_a_pipe(good: Path, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.html").symlink_to("sub/target.html")
    assert referee("export", good, "--html", "--out", "link.html").returncode == 0
    assert (tmp_path / "link.html").is_symlink()
    text = (tmp_path / "sub" / "target.html").read_bytes()
    assert text.startswith(b"<!do")
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit((tmp_path / "pipe").read_bytes)
        assert referee("export", good, "--html", "--out", "pipe").returncode == 0
        assert read.result().startswith(b"<!do")
    assert (tmp_path / "pipe").is_fifo()
    assert referee("export", good, "--html", "--out", "/dev/stdout").stdout.encode().startswith(text)


def test_html_is_read_back(good: Path, referee: Cli, tmp_path: Path) -> None:
    assert referee("export", good, "--html").stdout == "good.html\n"
    assert referee("watch", good, "--export", "again.html").stdout == "again.html\n"
    assert referee("export", good, "--html", "--out", "a page.html").stderr.rstrip().endswith("watch 'a page.html'")
    for name in ("good.html", "again.html"):
        assert referee("export", name, "--html", "--out", f"of-{name}").returncode == 0
        assert held_replay(tmp_path / f"of-{name}") == good.read_bytes()


def test_a_cut_replay_is_exported_to_the_cut(good: Path, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(good.read_bytes()[:-400])
    steps = verify(tmp_path / "cut.gz").turns
    done = referee("export", "cut.gz", "--png")
    assert done.returncode == 0
    assert "cut short" in done.stderr
    done = referee("export", "cut.gz", "--png", "--step", str(steps + 1), "--out", "later.png")
    assert done.returncode == 2
    assert f"--step is {steps + 1}, but the replay has {steps} steps" in done.stderr


def test_a_live_match_ends_by_itself_where_nobody_stays(referee: Cli, tmp_path: Path) -> None:
    done = referee("play", "straight", "still", "--live", "--max-steps", "100", "--port", "0", "--out", "r.gz", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["reason"] == "evaded"
    assert "Spectators watch at  http://127.0.0.1:" in done.stderr
    assert verify(tmp_path / "r.gz").problem is None


def test_a_spectator_of_the_real_server(start: Start, tmp_path: Path) -> None:
    running = start("play", "straight", "still", "--live", "--stay", "--max-steps", "60", "--out", "r.gz", until="stays until")
    parts = urlsplit(running.address)
    url = f"ws://{parts.netloc}{parts.path}socket?from=0"
    with connect(url) as socket_:
        data, words = b"", []
        for message in socket_:
            if isinstance(message, bytes):
                data += message
            else:
                words.append(json.loads(message))
                if words[-1]["type"] == "over":
                    break
    lines = gzip.decompress(data).splitlines()
    assert len(lines) == 62
    assert "secret" not in json.loads(lines[0])
    assert gzip.decompress((tmp_path / "r.gz").read_bytes()).splitlines()[1:] == lines[1:]
    for options in ({"origin": "http://evil.example"}, {"additional_headers": {"Host": "evil.example"}}):
        with pytest.raises(Exception, match=r"40[03]"), connect(url, **options):
            pass
    with pytest.raises(Exception, match=r"403|1008"), connect(f"ws://{parts.netloc}/AAAAAAAAAAAAAAAAAAAAAA/socket") as socket_:
        socket_.recv()
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(PATIENCE) == 0


def test_the_server_goes_with_the_match_however_that_ends(start: Start) -> None:
    # Marked, so that the server is a program with a command line of its own.
    running = start("play", "human", "still", until="secret", **{MARK: "1"})
    servers = [
        child
        for child in psutil.Process(running.process.pid).children(recursive=True)
        if "referee.pages.serve" in (command_of(child) or "")
    ]
    assert len(servers) == 1
    assert not any(part in (command_of(servers[0]) or "") for part in urlsplit(running.address).path.split("/") if part)
    running.process.kill()
    psutil.wait_procs(servers, timeout=PATIENCE)
    assert not servers[0].is_running()


def test_interrupted_while_waiting_for_people(start: Start, tmp_path: Path) -> None:
    running = start("play", "human", "human", until="secret")
    running.process.send_signal(signal.SIGINT)
    out, _ = running.process.communicate(timeout=PATIENCE)
    assert running.process.returncode == 130
    assert "Interrupted." in out
    assert not list(tmp_path.rglob("*.gz"))


def test_what_the_pages_need_is_named_where_it_is_missing(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: Callable[..., None]
) -> None:
    monkeypatch.chdir(tmp_path)
    hidden("starlette", "uvicorn", "websockets", "PIL")
    web = "starlette uvicorn websockets"
    for arguments, packages in (
        (("watch", str(good)), web), (("play", "straight", "still", "--live"), web), (("play", "human", "still"), web), (("export", str(good), "--png"), "pillow"),
    ):  # fmt: skip
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 2, done.output
        assert f"-m pip install {packages}" in done.stderr
    assert CliRunner().invoke(app, ["export", str(good), "--html"]).exit_code == 0


def test_a_crowd_of_silent_connections_keeps_nobody_out(good: Path, start: Start) -> None:
    running = start("watch", good)
    parts = urlsplit(running.address)
    crowd = []
    for _ in range(400):
        one = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE)
        one.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        crowd.append(one)
    try:
        assert running.get()[0] == 200
        # The oldest had to make room.
        crowd[0].settimeout(PATIENCE)
        with contextlib.suppress(ConnectionResetError):
            assert crowd[0].recv(1) == b""
    finally:
        for one in crowd:
            one.close()


def test_nobody_without_a_token_keeps_a_connection(good: Path, start: Start) -> None:
    running = start("watch", good)
    parts = urlsplit(running.address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE) as stranger:
        stranger.sendall(f"GET /x/ HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        answer = b""
        while chunk := stranger.recv(4096):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 404")


def test_a_proxy_may_have_a_name_of_its_own(good: Path, start: Start) -> None:
    running = start("watch", good, "--name", "referee.example.org")
    assert running.get(Host="referee.example.org")[0] == 200
    assert running.get(Host="other.example.org")[0] == 403


def test_a_running_match_is_not_handed_out_as_a_file(start: Start) -> None:
    running = start("play", "straight", "still", "--live", "--stay", "--seed", "7", "--max-steps", "60", until="stays until")
    assert running.get("replay")[0] == 403
    verdict = json.loads(running.get("check")[2])
    assert verdict["status"] == "good"
    assert "secret" not in json.dumps(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("human", "human"), ("straight", "slow.py", "--live")], ids=" ".join)
def test_on_a_terminal_the_wait_for_the_start_draws_nothing_and_goes_on(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\ntime.sleep(1.5)\nfrom sdk import PreyBot\nclass Slow(PreyBot):\n    def flee(self, state):\n        pass\nSlow.main()\n"
    )
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "referee", "play", *arguments, "--port", "0", "--no-browser", "--no-stay", "--max-steps", "20"]
    process = subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    told = b""
    # A terminal is drawn on ten times a second. People are waited for as long as they like, so that must be broken off, but not before
    # the referee waits: a busy machine may take longer to start it.
    broken_off = time.monotonic() + PATIENCE
    is_waiting = False
    with contextlib.suppress(OSError):
        while time.monotonic() < broken_off:
            if select.select([ours], [], [], 0.1)[0]:
                told += os.read(ours, 4096)
            if "human" in arguments and not is_waiting and b"http://" in told:
                is_waiting, broken_off = True, time.monotonic() + 2.0
    if "human" in arguments:
        assert process.poll() is None, told.decode()
        process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == (130 if "human" in arguments else 0), told.decode()
    os.close(ours)
    assert b"Traceback" not in told
