"""The page that shows a match: its files, its security policy, and a version as one file that needs no server.

The modules are plain ES modules, served as they stand. Their addresses mirror the package (``pages/viewer/app/main.js``,
``games/evasion/display.js``), so that relative imports are the same on disk and on the page. For a page in one file the modules
become functions in one script, each called once, those that it imports before it.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import json
import posixpath
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee import games
from referee.errors import ReplayError
from referee.support.files import open_regular
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from referee.games.game import Json

_PACKAGE = Path(__file__).parents[1]
_APP = "pages/viewer/app"
#: The page may load only this package's modules: nothing inline, nothing from elsewhere, no markup from text.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
#: Sources of scripts in a page's folder. A page that is opened from its file has no origin, so its folder isn't 'self' in every browser.
SAME_FOLDER = ("'self'", "file:")
#: The addresses of the viewer's script and style sheet, and of the style sheet of the pages about many matches.
_SCRIPT, _SHEET, TABLES = f"{_APP}/page.js", f"{_APP}/page.css", "pages/style.css"
#: The files of which each style sheet is made, in their order.
_SHEETS = {
    _SHEET: ("viewer/kit/base", *(f"viewer/app/{name}" for name in ("layout", "style", "seat", "story")), "viewer/many/neighbours"),
    TABLES: ("viewer/kit/base", "style"),
}
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8"}

_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)

#: The names of games that can be part of an address.
_ADDRESS = re.compile(r"\w[\w.-]*")


class Asset(NamedTuple):
    """A served file of the page."""

    data: bytes
    media_type: str


def asset(path: str) -> Asset | None:
    """Return a file of a page by its address, None if it doesn't exist.

    The script and the style sheet of a page come with all that they need: on a busy machine each request takes longer than all the reading.
    """
    if path in _scripts() or path in _SHEETS:
        return _joined(path)
    return _modules().get(path) if path.startswith(("pages/viewer/", "games/")) else None


def prepare() -> None:
    """Read and join the files of the viewer, so that the first request for them needn't wait."""
    for path in (_SCRIPT, _SHEET):
        _joined(path)


@cache
def _joined(path: str) -> Asset:
    if path in _SHEETS:
        return Asset(style(path).encode(), _TYPES[".css"])
    return Asset(bundle(_scripts()[path]).encode(), _TYPES[".js"])


@cache
def _scripts() -> dict[str, str]:
    """The addresses of the scripts of whole pages, each with that of its first module. Every other page has a template of its name."""
    templates = (f"pages/{file.stem}.js" for file in (_PACKAGE / "pages/templates").iterdir())
    return {_SCRIPT: f"{_APP}/main.js", **{path: path for path in templates if path in _modules()}}


@cache
def _modules() -> dict[str, Asset]:
    """Every module and style sheet by its address: those of pages, and the drawing code of the games, also of other packages."""
    own = (*(_PACKAGE / "pages").glob("*.js"), *(_PACKAGE / "pages/viewer").glob("*/*"))
    files = {file.relative_to(_PACKAGE).as_posix(): file for file in own if file.suffix in (".js", ".css")}
    rooms = {game.info.name: games.folder(game) for game in games.loadable()}
    for name, folder in rooms.items():
        if folder and _ADDRESS.fullmatch(name):
            files |= {f"games/{name}/{file.name}": file for file in Path(folder).glob("*.js")}
    assets = {path: Asset(file.read_bytes(), _TYPES[file.suffix]) for path, file in files.items()}
    names = [name for name in rooms if f"games/{name}/display.js" in files]
    # A game's name may have a hyphen, so it is a key, not a variable.
    imports = "".join(f'import {{ display as game{at} }} from "../../../games/{name}/display.js";\n' for at, name in enumerate(names))
    keys = ", ".join(f"{json.dumps(name)}: game{at}" for at, name in enumerate(names))
    displays = f"{imports}\nexport const DISPLAYS = {{ {keys} }};\n"
    return {**assets, f"{_APP}/displays.js": Asset(displays.encode(), _TYPES[".js"])}


def page(config: Mapping[str, Json]) -> str:
    """Return the page for a server, with its configuration."""
    # The page is drawn when its script has run: drawn without it, it would be laid out twice.
    head = f'<link rel="stylesheet" href="{_SHEET}"><script defer blocking="render" src="{_SCRIPT}"></script>'
    preload = '<link rel="preload" as="fetch" href="replay" crossorigin="anonymous">' if config.get("mode") == "watch" else ""
    return _configured(_filled(policy=preload, style=head, script=""), config)


def _filled(**parts: str) -> str:
    """Return the page with these parts in the places of their marks."""
    text = (_PACKAGE / _APP / "index.html").read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"<!--{name}-->", part, 1)
    return text


def style(address: str) -> str:
    """Return the files of a style sheet, joined in their order."""
    return "".join((_PACKAGE / "pages" / f"{name}.css").read_text(encoding="utf-8") for name in _SHEETS[address])


def _configured(text: str, config: Mapping[str, Json]) -> str:
    """Insert the configuration into a page, as data. It is escaped so that no text can end the enclosing element."""
    data = json.dumps({"version": __version__, **config}).replace("<", "\\u003c")
    return text.replace('id="page">null<', f'id="page">{data}<')


def single(config: Mapping[str, Json], replay: bytes) -> str:
    """Return the page as one file that contains its replay and makes no requests."""
    return _configured(_viewer().replace("<!--replay-->", _data("replay", replay)), config)


def drawing(script: str, replay: bytes) -> str:
    """Return a page that holds a replay and a script that draws it on a canvas, and nothing else."""
    sheet = style(_SHEET)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">{policy((script,), (sheet,))}<title>Referee</title><style>{sheet}</style>'
        f'<canvas id="board"></canvas>{_data("replay", replay)}<script>{script}</script></html>'
    )


def _data(name: str, data: bytes) -> str:
    """Return an element of a page that holds bytes as base64."""
    return f'<script type="text/plain" id="{name}">{base64.b64encode(data).decode()}</script>'


@cache
def _viewer() -> str:
    """Return the page as one file that lacks only its replay and its configuration."""
    return _inlined(bundle(f"{_APP}/main.js"))


def waiting(loader: str, address: str) -> str:
    """Return the page as one file that waits for its replay: the script ``loader`` gets it and calls ``begin`` of ``waiting.js``.

    The loader may load scripts of the same folder, with addresses that its Trusted Types policy ``address`` makes.
    """
    begin = (_PACKAGE / "pages" / "waiting.js").read_text(encoding="utf-8")
    script = f'"use strict";\nconst viewer = () => {{\n{bundle(f"{_APP}/main.js")}}};\n{begin}{loader}'
    text = _inlined(script, more=SAME_FOLDER, policies=address)
    return _configured(text.replace("<!--replay-->", '<div id="replay" hidden></div>'), {})


def generated(text: str, command: str) -> str:
    """Return a page that says which command wrote it, so that the same one may replace it."""
    return text.replace("<head>", f'<head>\n<meta name="generator" content="{command}">', 1)


class FramedViewer(NamedTuple):
    """The viewer for a frame in another page, which fills in a replay and its configuration: gzip in base64, and what that page's policy must allow."""

    packed: str
    script: str
    sheet: str


@cache
def framed_viewer() -> FramedViewer:
    """Return the viewer for a page that holds many replays. Its text still has the marks in whose places the replay and the configuration go."""
    packed = base64.b64encode(gzip.compress(_configured(_viewer(), {}).encode(), mtime=0)).decode()
    return FramedViewer(packed, bundle(f"{_APP}/main.js"), style(_SHEET))


def _inlined(script: str, more: Iterable[str] = (), policies: str = "'none'") -> str:
    """Return the page with its style and a script in it, and a security policy that allows these; ``more`` and ``policies`` as for ``policy``."""
    assert "</script" not in script.lower()
    sheet = style(_SHEET)
    return _filled(
        policy=policy((script,), (sheet,), more=more, policies=policies),
        style=f"<style>{sheet}</style>",
        script=f"<script>{script}</script>",
    )


_CONNECTS = "connect-src 'self'; "


def policy(
    scripts: Iterable[str], styles: Iterable[str], *, more: Iterable[str] = (), policies: str = "'none'", connects: bool = False
) -> str:
    """Return the element with the security policy of a page without a server: it allows these scripts and styles and nothing else.

    ``more`` are further sources of scripts, ``policies`` the names of the Trusted Types policies that the page may make. With ``connects`` a
    page that is served may ask its server.
    """
    policy = (
        f"default-src 'none'; script-src {' '.join([*map(_source, scripts), *more])}; style-src {' '.join(map(_source, styles))}; img-src data:; "
        f"{_CONNECTS if connects else ''}base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types {policies}"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def _source(text: str) -> str:
    """Return the policy source of an inline script or style: its hash. Source: Content Security Policy Level 3, section "hash-source"."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def bundle(entry: str) -> str:
    """Return the module at an address and all that it imports as one script."""
    done: dict[str, str] = {}
    begun: set[str] = set()
    parts: list[str] = []

    def take(path: str) -> str:
        """Append a module after its imports; return the name of its exports."""
        if path in done:
            return done[path]
        assert path not in begun, f"modules import each other in a circle, {path} among them"
        begun.add(path)
        text = _modules()[path].data.decode()
        imports = []
        for names, source in _IMPORT.findall(text):
            offered = take(posixpath.normpath(posixpath.join(posixpath.dirname(path), source)))
            imports.append(f"const {{ {names.replace(' as ', ': ')} }} = {offered};\n")
        body = _EXPORT.sub(r"\1 \2", _IMPORT.sub("", text))
        offers = ", ".join(word for _, word in _EXPORT.findall(text))
        name = done[path] = f"$module{len(done)}"
        parts.append(f"const {name} = (() => {{\n{''.join(imports)}{body}\nreturn {{ {offers} }};\n}})();\n")
        return name

    take(entry)
    return '"use strict";\n' + "".join(parts)


_HELD = b'<script type="text/plain" id="replay">'
#: How far into a page its replay begins at most, and how long it is at most, in bytes of base64.
_MOST_PAGE = 16 << 20
_MOST_BYTES = 256 << 20


def held_replay(path: Path) -> bytes | None:
    """Return the replay inside an exported page; None if the file isn't one. OSError if it can't be read, ReplayError if it is damaged."""
    with open_regular(path) as file:
        if not file.seekable() or not file.read(15).lower().startswith(b"<!doctype html>"):
            return None
        file.seek(0)
        start = file.read(_MOST_PAGE).find(_HELD)
        if start < 0:
            return None
        file.seek(start + len(_HELD))
        text = file.read(_MOST_BYTES + 1)
    end = text.find(b"</script>")
    if len(text) > _MOST_BYTES and end < 0:
        raise ReplayError(f"{path} holds a replay of more than {_MOST_BYTES >> 20} MiB: no referee wrote it.")
    try:
        return base64.b64decode(text[: end if end >= 0 else None], validate=False)
    except binascii.Error:
        raise ReplayError(f"{path} is damaged: the replay in this page can't be read.") from None
