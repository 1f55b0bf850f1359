"""Pages from the templates in ``templates/``. Texts are escaped by Jinja2, and their invisible characters are replaced.

A page is either one file that makes no requests, or a page of a server that loads its style sheet and its script. Both come from the same
template. Jinja2 is loaded here alone, so import this module where a page is made.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from referee.pages import page
from referee.support import times
from referee.support.times import shown_age, shown_span, shown_time
from referee.support.words import counted, size_text
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.games.game import Json

_FOLDER = Path(__file__).parent
#: Stands for a value that isn't there.
NONE = "\N{EN DASH}"
#: Characters that can't be seen, that turn the text around them, or that UTF-8 doesn't have.
_UNSEEN = re.compile("[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")


def single(name: str, config: Mapping[str, Json], bulk: object = None, viewer: page.FramedViewer | None = None, **values: object) -> str:
    """Return the page ``name`` as one file. ``config`` and ``bulk`` are for its script; ``values`` are what its template shows.

    If ``config`` says that it is live, a server may serve the file, and the page may ask that server for it again. If it says that there are
    boards, the page may load the scripts of replays beside it. A page with a ``viewer`` shows it in a frame, which is bound by the page's
    policy, too.
    """
    script, style = page.bundle(_script(name)), page.style(page.TABLES)
    more, policies = (page.SAME_FOLDER, "pages") if config.get("boards") else ((), "'none'")
    scripts, styles = [script], [style]
    inline = {"style": style, "script": script}
    if viewer is not None:
        scripts, styles, policies = [script, viewer.script], [style, viewer.sheet], "viewer"
        inline["viewer"] = viewer.packed
    inline["policy"] = page.policy(scripts, styles, more=more, policies=policies, connects=bool(config.get("live")))
    return _rendered(name, config, bulk, {"is_inline": True, **inline, **values})


def served(name: str, config: Mapping[str, Json], bulk: object = None, *, base: str = "", script: str = "", **values: object) -> str:
    """Return the page ``name`` for a server, which answers requests for ``page.asset`` too. The other parameters are those of ``single``.

    ``base`` stands before the addresses of its files. ``script`` is the page whose script it has, if it has none of its own.
    """
    files = {"style": base + page.TABLES, "script": base + _script(script or name)}
    return _rendered(name, config, bulk, {"is_inline": False, **files, **values})


def part(name: str, **values: object) -> Markup:
    """Return a part of a page, which many pages may show, from its template."""
    return escape(_environment().get_template(f"{name}.html").make_module(values))


def macro(name: str, of: str) -> Callable[..., Markup]:
    """Return a macro of a template, for parts that are made many at a time."""
    macro_function: Callable[..., Markup] = getattr(_environment().get_template(f"{name}.html").module, of)
    return macro_function


def _script(name: str) -> str:
    return f"pages/{name}.js"


def _rendered(name: str, config: Mapping[str, Json], bulk: object, values: Mapping[str, object]) -> str:
    packed = gzip.compress(json.dumps(bulk, separators=(",", ":"), allow_nan=False).encode(), 6, mtime=0) if bulk is not None else b""
    template = _environment().get_template(f"{name}.html")
    return template.render(version=__version__, config=config, bulk=base64.b64encode(packed).decode(), **values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=lambda value: _UNSEEN.sub("\ufffd", value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )
    made.globals |= {"address": address}
    made.filters |= {
        "counted": counted,
        "duration": duration,
        "number": number,
        "points": points,
        "rating": rating,
        "segment": segment,
        "size": size_text,
        "span": shown_span,
        "when": when,
    }
    return made


def well_formed(text: str) -> str:
    """Return a text that an address and UTF-8 can hold: a lone surrogate is replaced."""
    return _LONE.sub("\ufffd", text)


def address(**parameters: object) -> str:
    """Return the part of an address, from ``#`` on, that asks a page for something."""
    return "#" + "&".join(f"{name}={quote(well_formed(str(value)), safe='')}" for name, value in parameters.items())


@lru_cache(maxsize=1024)
def segment(text: str) -> str:
    """Return a text as one segment of an address's path: its slashes are escaped, too."""
    return quote(well_formed(text), safe="")


def number(value: float, digits: int = 0) -> str:
    """Return a number with separators."""
    return f"{value:,.{digits}f}"


def points(value: float | None) -> str:
    """Return points: halves as fractions, a dash for none."""
    if value is None or not math.isfinite(value):
        return NONE
    whole, rest = divmod(value + 1e-6, 1)
    if rest < 1e-3:
        return f"{whole:.0f}"
    return f"{int(whole) or ''}½" if abs(rest - 0.5) < 1e-3 else number(value, 2)


def duration(seconds: float | None) -> str:
    """Return a time with two or three digits, a dash for none."""
    if seconds is None or not math.isfinite(seconds):
        return NONE
    if 0 < seconds < 0.0000995:
        return f"{seconds * 1e6:.{int(seconds < 0.00000995)}f} µs"
    if seconds < 0.0995:
        return f"{seconds * 1000:.{2 if seconds < 0.000995 else int(seconds < 0.00995)}f} ms"
    if seconds < 99.5:
        return f"{seconds:.{2 if seconds < 9.95 else 1}f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def when(moment: float | str | None) -> str:
    """Return how long ago a time was, as an element that also has the time itself; a dash for none. ``moment`` is as for ``shown_time``."""
    if moment is None:
        return NONE
    exact = moment if isinstance(moment, str) else times.moment(moment)
    # A page has many: to format markup takes several times as long.
    made = f'<time datetime="{escape(exact)}" title="{shown_time(moment)}">{shown_age(moment)}</time>'
    return Markup(made)  # noqa: S704 - its parts are escaped, or made here


def ticks(low: float, wide: float) -> list[float]:
    """Return about five round numbers for an axis that begins at ``low`` and is ``wide``."""
    power = 10.0 ** math.floor(math.log10(wide / 5))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wide / 5)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor((low + wide) / step) + 1)]


def rating(elo: float | None) -> str:
    """Return a rating, or a bound of one, with its sign; a dash for none."""
    if elo is None or not math.isfinite(elo):
        return NONE
    whole = round(elo)
    return f"+{whole}" if whole > 0 else f"\N{MINUS SIGN}{-whole}" if whole < 0 else "0"
