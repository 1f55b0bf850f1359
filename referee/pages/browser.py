"""A headless Chromium that draws pages: the system's own, else Playwright's. It has no network, and its own sandbox is always on.

Theory of operation. Chromium's sandbox needs a user that isn't root. So where root runs the referee, a script between Playwright and
Chromium gives up all rights for good: it becomes a user ID that no other process has, as bots of root do. Its profile is a new folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import UsageError
from referee.isolation import runtime, users
from referee.isolation.submission import open_temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import BrowserContext

#: The programs of the system that are tried, in this order, and where macOS has them.
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MACOS = ("/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
#: The longest wait for the browser's start on a busy machine, in milliseconds.
_START_MS = 180_000


def of_system() -> str | None:
    """Return the path of the system's own Chromium or Chrome; None if there is none."""
    return next((path for name in (*_NAMES, *_MACOS) if (path := shutil.which(name))), None)


@contextlib.contextmanager
def browser(**options: Any) -> Iterator[BrowserContext]:
    """Start the browser, and end it after use. ``options`` are Playwright's for a new context. UsageError if there is no browser."""
    from playwright.sync_api import Error, sync_playwright

    with contextlib.ExitStack() as stack:
        chromium = stack.enter_context(sync_playwright()).chromium
        program = of_system() or chromium.executable_path
        if not Path(program).exists():
            install = f"{shlex.quote(sys.executable)} -m playwright install chromium"
            raise UsageError(f"This machine has no Chromium or Chrome, which draws the pictures; install one, or run: {install}")
        top = stack.enter_context(tempfile.TemporaryDirectory(dir=open_temporary_folder(), ignore_cleanup_errors=True))
        profile = Path(top, "profile")
        profile.mkdir(0o700)
        start = program
        if users.are_needed():
            start, options["env"] = _as_other_user(program, Path(top), profile, stack)
        try:
            context = chromium.launch_persistent_context(
                profile, executable_path=start, chromium_sandbox=True, timeout=_START_MS, **options
            )
        except Error as error:
            raise UsageError(_refusal(program, str(error))) from None
        stack.callback(context.close)
        yield context


def _as_other_user(program: str, top: Path, profile: Path, stack: contextlib.ExitStack) -> tuple[str, dict[str, str | float | bool]]:
    """Return a script that starts the browser as a user of its own, and its environment. UsageError if that user can't run it."""
    if not runtime.is_open_to_all(program):
        raise UsageError(f"Root's browser runs as a user of its own, which can't read {program}; install Chromium or Chrome for all users.")
    user = stack.enter_context(users.other_user())
    os.chown(profile, user, user)
    top.chmod(0o711)
    start = top / "start"
    start.write_text(f'#!/bin/sh\nexec {shlex.join(users.become(user, gains_none=False))} {shlex.quote(program)} "$@"\n')
    start.chmod(0o700)
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return str(start), {**environment, "HOME": str(profile), "TMPDIR": str(profile)}


def _refusal(program: str, text: str) -> str:
    """Return why the browser doesn't start, from Playwright's words."""
    if "No usable sandbox" in text:
        return f"{program} can't start its sandbox here, and it never runs without: allow user namespaces, or export on another machine."
    said = re.findall(r"\[err\] (.+)", text)
    return f"{program} can't be started{': ' + said[-1].strip() if said else ''}"
