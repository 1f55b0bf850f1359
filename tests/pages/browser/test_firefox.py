"""The viewer in Firefox, driven by its own protocol, Marionette: playwright can't drive the Firefox of a system."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commands import Commands

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not any(map(shutil.which, ("firefox", "firefox-esr"))), reason="Firefox is not installed (firefox-esr)"),
]
PREFERENCES = {
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
}
START_SECONDS = 120.0
#: Collects what goes wrong on a page, and waits until a condition holds.
WATCH = """
window.wrong = [];
addEventListener("error", ({ message }) => window.wrong.push(message));
addEventListener("unhandledrejection", ({ reason }) => window.wrong.push(String(reason)));
addEventListener("securitypolicyviolation", ({ violatedDirective }) => window.wrong.push(violatedDirective));
"""
UNTIL = """
const done = arguments[arguments.length - 1];
const holds = () => CONDITION;
const look = () => (holds() ? done(holds()) : setTimeout(look, 50));
look();
"""


class Firefox:
    """A Firefox without a window. Source of the protocol: firefox-source-docs.mozilla.org/testing/marionette/Protocol.html."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stream = connection.makefile("rb")
        self._count = 0
        self._receive()
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": {"script": 60_000, "pageLoad": 60_000}}})

    def _receive(self) -> Any:
        size = b""
        while not size.endswith(b":"):
            sign = self._stream.read(1)
            assert sign, "Firefox has closed the connection"
            size += sign
        return json.loads(self._stream.read(int(size[:-1])))

    def call(self, command: str, **given: Any) -> Any:
        """Call a command of Marionette."""
        self._count += 1
        message = json.dumps([0, self._count, command, given]).encode()
        self._connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self._receive()
        assert error is None, error
        return result

    def run(self, script: str) -> Any:
        """Return what a script of a page returns."""
        return self.call("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def until(self, condition: str) -> Any:
        """Wait for a condition, and return its value."""
        return self.call("WebDriver:ExecuteAsyncScript", script=UNTIL.replace("CONDITION", condition), args=[])["value"]

    def visit(self, address: str) -> None:
        """Open a page whose complaints are collected from then on."""
        self.call("WebDriver:Navigate", url=address)
        self.run(WATCH)


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    program = shutil.which("firefox") or shutil.which("firefox-esr")
    assert program
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    profile = tmp_path / "profile"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in {**PREFERENCES, "marionette.port": port}.items()]
    (profile / "user.js").write_text("".join(lines))
    command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile), "--width", "1280", "--height", "800"]
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "HOME": str(profile)}, text=True)
        )
        stack.callback(process.kill)
        assert process.stdout is not None
        # It says so when it listens.
        assert any("Listening on port" in line for line in process.stdout)
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS))
        yield Firefox(connection)


def test_the_viewer_in_firefox(firefox: Firefox, address: str, good: Path, commands: Commands, tmp_path: Path) -> None:
    firefox.visit(f"{address}#t=150")
    assert firefox.until('document.getElementById("check").textContent === "✓ verified" && document.querySelectorAll(".moment").length') > 1
    assert firefox.run('return document.getElementById("step").textContent') == "Step 150"
    firefox.run('document.getElementById("play").click()')
    firefox.until('Number(document.getElementById("step").textContent.slice(5)) > 152')
    firefox.run('document.getElementById("play").click()')
    # The canvas has the pixels that it covers, and there is something on it.
    colors = """
    const canvas = document.getElementById("board"), { left, right, top, bottom } = canvas.getBoundingClientRect();
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const whole = canvas.width === Math.round(right) - Math.round(left) && canvas.height === Math.round(bottom) - Math.round(top);
    return [whole, new Set(new Uint32Array(data.buffer)).size > 20];
    """
    assert firefox.run(colors) == [True, True]
    firefox.run(
        'const scrubber = document.getElementById("scrubber"); scrubber.value = "60"; for (const name of ["input", "change"]) scrubber.dispatchEvent(new Event(name))'
    )
    assert firefox.until('location.hash.startsWith("#t=60&") && document.getElementById("step").textContent') == "Step 60"
    for tab, words in (("turn", "Before step 60"), ("logs", "thinking about"), ("events", "wall built"), ("match", "Players")):
        firefox.run(f'document.getElementById("tab-{tab}").click()')
        firefox.until(f'document.getElementById("panel-{tab}").innerText.includes({json.dumps(words)})')
    assert firefox.run("return window.wrong") == []
    picture = base64.b64decode(firefox.call("WebDriver:TakeScreenshot", full=False)["value"])
    assert picture.startswith(b"\x89PNG")

    exported = tmp_path / "match.html"
    assert commands.run("export", good, "--html", "--out", exported, cwd=tmp_path).returncode == 0
    firefox.visit(exported.as_uri())
    assert firefox.until('document.querySelectorAll(".moment").length') > 1
    assert firefox.run('return [window.wrong, document.getElementById("message").hidden]') == [[], True]
