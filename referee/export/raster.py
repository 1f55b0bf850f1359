"""A picture as pixels, drawn by Pillow: PNG and GIF. Comes with the extra ``export``."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import TYPE_CHECKING

from PIL import Image, ImageColor, ImageDraw, ImageFont

from referee.export.svg import INK, PAPER, label_box, letter_size
from referee.games.picture import Box, Disc, Label, Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from referee.games.picture import Picture, Shape

#: The picture is drawn this many times larger and then scaled down, for smooth edges.
_FINER = 3


def png(picture: Picture, size: int, title: str) -> bytes:
    """The picture as PNG, ``size`` pixels wide; ``title`` stands in its description."""
    from PIL.PngImagePlugin import PngInfo

    about = PngInfo()
    about.add_itxt("Description", title)
    buffer = io.BytesIO()
    image(picture, size).save(buffer, "PNG", optimize=True, pnginfo=about)
    return buffer.getvalue()


def gif(pictures: Sequence[Picture], size: int, milliseconds: int) -> bytes:
    """Pictures one after the other as a GIF that goes on for ever; the last one stays for two seconds."""
    # One palette for all, so that colours don't flicker and only what has changed is kept; the last picture has most on it.
    palette = image(pictures[-1], size).quantize(64)
    images = [image(picture, size).quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    buffer = io.BytesIO()
    durations = [milliseconds] * (len(images) - 1) + [2000]
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=False)
    return buffer.getvalue()


def image(picture: Picture, size: int) -> Image.Image:
    """The picture as pixels, ``size`` wide."""
    scale = size * _FINER / picture.width
    unit = size * _FINER / 100
    strip = 6 * unit
    wide, high = size * _FINER, _FINER * round((picture.height * scale + strip) / _FINER)
    image = Image.new("RGB", (wide, high), "#ffffff")
    # Colours with an opacity are mixed with what is there.
    pen = ImageDraw.Draw(image, "RGBA")
    board = (0, 0, wide - 1, picture.height * scale - 1)
    pen.rectangle(board, fill=PAPER)
    for part in picture.parts:
        if isinstance(part, Label):
            _write(pen, part, scale, unit, (wide, picture.height * scale))
        else:
            _draw(pen, part, scale, unit)
    pen.rectangle(board, outline=INK, width=max(1, round(0.3 * unit)))
    font = ImageFont.load_default(letter_size(picture.caption, wide, 3.2 * unit))
    pen.text((unit, picture.height * scale + unit), picture.caption, fill=INK, font=font)
    return image.reduce(_FINER)


def _rgb(color: str, opacity: float = 1.0) -> tuple[int, int, int, int]:
    """Return a colour that a game or a bot names; grey if there is no such colour."""
    try:
        red, green, blue = ImageColor.getrgb(color)[:3]
    except ValueError:
        red, green, blue = 90, 99, 108
    return red, green, blue, round(255 * opacity)


def _write(pen: ImageDraw.ImageDraw, label: Label, scale: float, unit: float, board: tuple[float, float]) -> None:
    place = (label.place[0] * scale, label.place[1] * scale)
    size = letter_size(label.text, board[0], 2.2 * unit)
    font = ImageFont.load_default(size)
    if not label.is_boxed:
        pen.text(place, label.text, fill=_rgb(label.color), font=font, anchor="ls")
        return
    left, top, wide, high = label_box(label._replace(place=place), pen.textlength(label.text, font), size, *board, unit)
    box = (left, top, left + wide, top + high)
    pen.rounded_rectangle(box, 0.6 * unit, fill="#ffffffea", outline=_rgb(label.color), width=max(1, round(0.2 * unit)))
    pen.text((left + size / 2, top + 1.08 * size), label.text, fill=INK, font=font, anchor="ls")


def _draw(pen: ImageDraw.ImageDraw, part: Box | Line | Shape | Disc, scale: float, unit: float) -> None:
    if isinstance(part, Box):
        x, y = part.x * scale, part.y * scale
        pen.rectangle(
            (x, y, x + max(part.width * scale, _FINER) - 1, y + max(part.height * scale, _FINER) - 1), fill=_rgb(part.color, part.opacity)
        )
    elif isinstance(part, Line):
        points = [(x * scale, y * scale) for x, y in part.points]
        width = max(_FINER, round(part.width * unit))
        for start, end in pairwise(points):
            for piece in _dashed(start, end, [length * unit for length in part.dash]):
                pen.line(piece, fill=_rgb(part.color), width=width)
    elif isinstance(part, Disc):
        x, y = part.middle[0] * scale, part.middle[1] * scale
        radius = max(part.radius * scale, part.least * unit)
        around = (x - radius, y - radius, x + radius, y + radius)
        if part.is_ring:
            pen.ellipse(around, outline=part.color, width=max(1, round(0.25 * unit)))
        else:
            pen.ellipse(around, fill=part.color, outline="#ffffff", width=max(1, round(0.25 * unit)))
    else:
        x, y = part.middle[0] * scale, part.middle[1] * scale
        pen.polygon([(x + dx * unit, y + dy * unit) for dx, dy in part.points], fill=part.color, outline="#ffffff")


def _dashed(
    start: tuple[float, float], end: tuple[float, float], dash: list[float]
) -> Iterable[tuple[tuple[float, float], tuple[float, float]]]:
    if not dash:
        yield start, end
        return
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    at, index = 0.0, 0
    while at < length:
        step = min(dash[index % len(dash)], length - at)
        if index % 2 == 0:
            a, b = at / length, (at + step) / length
            yield (start[0] + dx * a, start[1] + dy * a), (start[0] + dx * b, start[1] + dy * b)
        at += step
        index += 1
