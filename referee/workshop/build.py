"""Builds the site of the workshop: a folder of files that any web server can serve."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from base64 import b64encode
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import example_bots
from referee import games
from referee.author.starters.compose import choose_team, compose
from referee.errors import UsageError
from referee.pages import page
from referee.players.languages import named
from referee.support.files import write_whole
from referee.version import __version__
from referee.workshop import pyodide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.game import Json

_ROOT = Path(__file__).parents[2]
_SITE = Path(__file__).with_name("site")
#: The folder of Pyodide's files in the site. Its name changes with the version, so that browsers may keep the files.
PYODIDE = f"pyodide-{pyodide.VERSION}"
#: The files of the browser's Python by name. The page unpacks them itself, so that no server has to be told of compressed files.
_PYTHON = {name: f"{PYODIDE}/{name}.gz" for name in pyodide.FILES}
#: The file by which a folder of the workshop is recognized, and what it begins with.
MARK, _MARK_BYTES = "workshop.json", b'{"generator":"referee workshop"'
#: Files of the page as they stand in this package.
_STATIC = ("workshop.js", "editor.js", "editor.LICENSE.txt", "worker.js")
#: All files of the site that browsers ask for.
NAMES = {*_STATIC, "workshop.css", "index.html", "frame.html", "viewer.html", "referee.zip", MARK, f"{PYODIDE}/LICENSE.txt"}
NAMES |= {*_PYTHON.values()}
#: What runs in the browser of this package: whole folders, and single modules of folders that need what a browser lacks.
_FOLDERS = ("referee/games", "referee/replay", "referee/wire", "referee/support", "example_bots")
_MODULES = (
    *("referee/__init__", "referee/errors", "referee/version"),
    *(f"referee/match/{name}" for name in ("__init__", "asking", "course", "judge")),
    *(f"referee/players/{name}" for name in ("__init__", "crash_report", "function", "player")),
    *(f"referee/isolation/{name}" for name in ("__init__", "bot", "file_names", "log")),
    *(f"referee/workshop/{name}" for name in ("__init__", "loop", "run")),
)
#: The modules of the SDK that bots don't import: they run matches.
_NOT_OF_BOTS = ("testing", "env")
#: The names that typing_extensions offers to older Pythons; the Python of the browser has them itself.
_TYPING = "from typing import *\n"
#: What stands before the text of the licence.
_LICENCE = f"""The files in this folder are those of npm's pyodide@{pyodide.VERSION}. Their source is at https://github.com/pyodide/pyodide, their licence below.
They contain Python, whose licence is at https://docs.python.org/3/license.html.

"""
#: With these headers a page may share memory with its workers, so that a bot can be interrupted.
HEADERS = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}


def build(folder: Path, archive: Path | None = None) -> None:
    """Write the site into a folder. ``archive`` is Pyodide's package; without it npm fetches that.

    UsageError if the folder has files that this function did not write, or if Pyodide can't be had. Files of the site are replaced.
    """
    if folder.exists() and not is_site(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists, and this command did not write it. Name a new folder.")
    files = {_PYTHON[name]: gzip.compress(data, 6, mtime=0) for name, data in pyodide.read(archive).items()}
    files |= {name: data.encode() for name, data in _pages().items()}
    files |= {name: (_SITE / name).read_bytes() for name in _STATIC}
    licence = gzip.decompress((_SITE / "pyodide.LICENSE.txt.gz").read_bytes())
    files |= {"referee.zip": packed().getvalue(), MARK: data_of_page(), f"{PYODIDE}/LICENSE.txt": _LICENCE.encode() + licence}
    files |= {name: text.encode() for name, text in _examples_of_headers().items()}
    (folder / PYODIDE).mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_whole(folder / name, data)


def is_site(folder: Path) -> bool:
    """True if a folder was written by ``build``."""
    try:
        return (folder / MARK).read_bytes().startswith(_MARK_BYTES)
    except OSError:
        return False


def _pages() -> dict[str, str]:
    """Return the pages by name. The frame and the viewer hold their scripts, which their policies name by a hash."""
    script = (_SITE / "frame.js").read_text(encoding="utf-8")
    source = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{source}' blob: 'wasm-unsafe-eval'; worker-src blob:; connect-src blob:"
    frame = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>Python</title></head><body><script>{script}</script></body></html>\n"
    )
    viewer = page.waiting((_SITE / "viewer.js").read_text(encoding="utf-8"), "'none'")
    texts = {name: (_SITE / name).read_text(encoding="utf-8") for name in ("index.html", "workshop.css")}
    return {**texts, "workshop.css": page.style(page.TABLES) + texts["workshop.css"], "frame.html": frame, "viewer.html": viewer}


def packed() -> io.BytesIO:
    """Return what Python imports in the browser, as one archive."""
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _sources():
            # The same bytes for the same files, whenever it is built.
            info = zipfile.ZipInfo(path.relative_to(_ROOT).as_posix())
            archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("typing_extensions.py"), _TYPING, zipfile.ZIP_DEFLATED)
    return archived


def _sources() -> Iterator[Path]:
    for name in _FOLDERS:
        yield from sorted((_ROOT / name).rglob("*.py"))
    yield from sorted(path for path in (_ROOT / "sdk").glob("*.py") if path.stem not in _NOT_OF_BOTS)
    yield from (_ROOT / f"{name}.py" for name in _MODULES)


def data_of_page() -> bytes:
    """Return what the page knows of the games, as JSON."""
    own = [game for game in games.loadable() if any(bot.game == game.info.name for bot in example_bots.BOTS)]
    record = {
        "generator": "referee workshop",
        "version": __version__,
        "files": {"worker.js": "worker.js", "referee.zip": "referee.zip", **_PYTHON},
        "first": (_SITE / "first_bot.txt").read_text(encoding="utf-8"),
        "games": [_game(game) for game in own],
    }
    return json.dumps(record, separators=(",", ":")).encode()


def _game(game: Any) -> dict[str, Json]:
    info = game.info
    rules = {name: [*game.seats(game.codec.settings(name, {}))] for name in info.rule_sets}
    seats = list(dict.fromkeys(chain.from_iterable(rules.values())))
    bots = [bot for bot in example_bots.BOTS if bot.game == info.name]
    python, name = named("python"), "my_bot.py"
    return {
        "name": info.name,
        "rules": rules,
        "limits": "max_steps" in [option.name for option in info.options],
        "bots": [
            {"name": bot.name, "seats": [*filter(bot.plays, seats)], "rules": [*(bot.rules or rules)], "idea": bot.idea} for bot in bots
        ],
        "starters": {chosen.role: compose(chosen, python, name, name)[0] for chosen in choose_team(info.name)} if game.starters else {},
    }


def _examples_of_headers() -> dict[str, str]:
    """Return files that show how web servers send the two headers with which a bot can be interrupted. The workshop runs without them, too."""
    lines = [f"{name} {json.dumps(value)}" for name, value in HEADERS.items()]
    return {
        "_headers": "/*\n" + "".join(f"  {name}: {value}\n" for name, value in HEADERS.items()),
        "headers.caddy": "header {\n" + "".join(f"\t{line}\n" for line in lines) + "}\n",
        "headers.nginx": "".join(f"add_header {line};\n" for line in lines),
    }
