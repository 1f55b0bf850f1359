"""Pictures of a replay: one position as PNG, or several as a GIF. A headless Chromium draws them with the viewer's own modules.

Pillow marks them as the referee's and joins the frames. Both come with the extra ``export``.
"""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from referee.errors import UsageError
from referee.pages import page
from referee.pages.browser import browser
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Route

#: The address of the page in its browser, which asks nobody for it.
_ADDRESS = "http://replay.invalid/"
_SCRIPT = "pages/stills.js"
#: How a picture begins that the browser made.
_PNG = "data:image/png;base64,"
#: How long a frame of a GIF is shown, and the last one, in milliseconds; and the colours of all.
_FRAME_MS, _LAST_MS, _COLORS = 50, 2000, 128


def png(path: Path, turn: int, size: int) -> bytes:
    """Return a picture of the position before a step, ``size`` pixels wide. UsageError if there is no browser, or it can't draw the replay."""
    (picture,) = _drawn(path, [turn], size)
    buffer, about = io.BytesIO(), PngInfo()
    about.add_text("Software", "referee")
    Image.open(io.BytesIO(picture)).convert("RGB").save(buffer, "PNG", optimize=True, pnginfo=about)
    return buffer.getvalue()


def gif(path: Path, turns: Sequence[int], size: int) -> bytes:
    """Return pictures of several positions as a GIF that repeats for ever; otherwise as ``png``."""
    pictures = list(_drawn(path, turns, size))
    # One palette for all, so that colours don't flicker and only what has changed is kept; the last picture has most on it.
    palette = _pixels(pictures[-1]).quantize(_COLORS)
    first, *others = [_pixels(picture).quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    durations = [*[_FRAME_MS] * len(others), _LAST_MS]
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=durations, loop=0, optimize=False, comment=b"referee")
    return buffer.getvalue()


def _pixels(picture: bytes) -> Image.Image:
    return Image.open(io.BytesIO(picture)).convert("RGB")


def _drawn(path: Path, turns: Sequence[int], size: int) -> Iterator[bytes]:
    """Yield a picture of each position, as PNG. All have the same size."""
    with open_regular(path) as file:
        text = page.drawing(page.bundle(_SCRIPT), file.read())

    def answer(route: Route) -> None:
        if route.request.url == _ADDRESS:
            route.fulfill(body=text, content_type="text/html; charset=utf-8")
        else:
            route.abort()

    with browser(offline=True, color_scheme="light", service_workers="block", accept_downloads=False) as context:
        context.route("**/*", answer)
        tab = context.new_page()
        tab.goto(_ADDRESS)
        if problem := tab.evaluate("([last, size]) => stills.begin(last, size)", [max(turns), size]):
            raise UsageError(f"{path.name} can't be drawn: {problem}")
        for turn in turns:
            picture = str(tab.evaluate("turn => stills.draw(turn)", turn))
            if not picture.startswith(_PNG):
                raise UsageError("The browser can't draw so large a picture; choose a smaller --size.")
            yield base64.b64decode(picture[len(_PNG) :])
