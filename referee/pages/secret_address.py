"""Leads the browser of this machine to a page whose address is secret."""

from __future__ import annotations

import atexit
import html
import os
import tempfile
from pathlib import Path


def way_to(address: str) -> Path:
    """Return a file that leads a browser to an address. Everybody on the machine can read a command line, but not this file.

    It is removed when this process ends, and its address leads nowhere then.
    """
    # Browsers from snaps see the home folder, but not the folder of temporary files.
    folder = Path.home() if Path("/snap/bin").is_dir() else None
    descriptor, name = tempfile.mkstemp(".html", "referee-page-", folder)
    os.close(descriptor)
    path = Path(name)
    atexit.register(path.unlink, missing_ok=True)
    redirect = f'<meta http-equiv="refresh" content="0;url={html.escape(address)}">\n'
    path.write_text(f'<!doctype html><meta name="referrer" content="no-referrer">{redirect}', "utf-8")
    return path
