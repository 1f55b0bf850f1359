"""A picture as pixels, drawn by Pillow: PNG and GIF. Comes with the extra ``export``."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import TYPE_CHECKING

from PIL import Image, ImageColor, ImageDraw, ImageFont

from referee.export.sheet import HOLLOW, LEAST_LETTER, RIM, THIN, Sheet, letter_size
from referee.games.picture import BOARD, FAINT, GRID, INK, PAPER, Area, Box, Disc, Label, Letter, Line, Strokes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from referee.export.sheet import Word
    from referee.games.picture import Picture, Point, Shape

#: The picture is drawn this many times larger and then scaled down, for smooth edges.
_FINER = 3


def png(picture: Picture, size: int, title: str) -> bytes:
    """Return the picture as PNG, ``size`` pixels wide; ``title`` becomes its description."""
    return encoded(image(picture, size), title)


def encoded(pixels: Image.Image, title: str) -> bytes:
    """Return pixels as PNG with a description."""
    from PIL.PngImagePlugin import PngInfo

    about = PngInfo()
    about.add_text("Software", "referee")
    about.add_itxt("Description", title)
    buffer = io.BytesIO()
    pixels.save(buffer, "PNG", optimize=True, pnginfo=about)
    return buffer.getvalue()


def write(pixels: Image.Image, words: Iterable[Word]) -> None:
    """Write words on pixels, with their discs. Their places and sizes are in pixels."""
    pen = ImageDraw.Draw(pixels)
    for x, y, size, text, is_faint, dot in words:
        if dot:
            pen.ellipse(_around((x - 0.55 * size, y - 0.35 * size), 0.35 * size), fill=_rgb(dot))
        pen.text((x, y), text, fill=_rgb(FAINT if is_faint else INK), font=ImageFont.load_default(max(1.0, size)), anchor="ls")


def gif(pictures: Sequence[Picture], size: int, milliseconds: int) -> bytes:
    """Return pictures one after the other as a GIF that repeats for ever; the last picture is shown for two seconds."""
    # All have room for the words of the one with most.
    lines = max(Sheet(picture, size, measure=measured).lines for picture in pictures)
    # One palette for all, so that colours don't flicker and only what has changed is kept; the last picture has most on it.
    palette = image(pictures[-1], size, lines).quantize(128)
    images = [image(picture, size, lines).quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    buffer = io.BytesIO()
    durations = [milliseconds] * (len(images) - 1) + [2000]
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=False, comment=b"referee")
    return buffer.getvalue()


def image(picture: Picture, size: int, lines: int = 0) -> Image.Image:
    """The picture as pixels, ``size`` wide, with room for a number of lines of text below the board."""
    return _Canvas(Sheet(picture, size, lines=lines, measure=measured), size).drawn()


def measured(text: str) -> float:
    """Return the width of a text in heights of its font."""
    return ImageFont.load_default(100).getlength(text) / 100


def _rgb(color: str, opacity: float = 1.0) -> tuple[int, int, int, int]:
    """Return a colour that a game or a bot names; grey if there is no such colour."""
    try:
        red, green, blue = ImageColor.getrgb(color)[:3]
    except ValueError:
        red, green, blue = 90, 99, 108
    return red, green, blue, round(255 * opacity)


class _Canvas:
    """The pixels of one picture while they are drawn."""

    def __init__(self, sheet: Sheet, size: int) -> None:
        self.sheet = sheet
        #: Pixels of the canvas to a cell, and to a percent.
        self.scale = size * _FINER / sheet.width
        self.unit = sheet.unit * self.scale
        self.image = Image.new("RGB", (size * _FINER, max(1, round(sheet.height * self.scale / _FINER)) * _FINER), PAPER)
        # Colours with an opacity are mixed with what is there.
        self.pen = ImageDraw.Draw(self.image, "RGBA")
        self.taken: list[tuple[float, float, float, float]] = []

    def drawn(self) -> Image.Image:
        sheet, pen = self.sheet, self.pen
        picture = sheet.picture
        thin = self._thick(THIN)
        left, top = self._at((0, 0))
        right, bottom = self._at((picture.width, picture.height))
        pen.rectangle((left - thin / 2, top - thin / 2, right + thin / 2, bottom + thin / 2), fill=BOARD, outline=INK, width=thin)
        for start, end in sheet.grid:
            pen.line((self._at(start), self._at(end)), fill=GRID, width=_FINER)
        for part in picture.parts:
            self._draw(part)
        # A drawing of a bot may reach beyond the board. The board of a card has nothing below it.
        wide, high = self.image.size
        if (below := self._at((0, sheet.below))[1]) < high:
            pen.rectangle((0, below, wide, high), fill=PAPER)
        for x, y, size, text, is_faint, dot in sheet.words:
            if dot:
                self._disc(self._at((x - 0.55 * size, y - 0.35 * size)), 0.35 * size * self.scale, dot)
            self._write((x, y), text, size, FAINT if is_faint else INK)
        return self.image.reduce(_FINER)

    def _at(self, point: Point) -> Point:
        """Return the place of a point in pixels."""
        return (point[0] + self.sheet.margin) * self.scale, (point[1] + self.sheet.margin) * self.scale

    def _thick(self, percent: float, cells: float = 0.0) -> int:
        return max(_FINER, round(max(percent * self.unit, cells * self.scale)))

    def _draw(self, part: Box | Area | Line | Strokes | Shape | Disc | Letter | Label) -> None:
        if isinstance(part, (Box, Area)):
            self._fill(part)
        elif isinstance(part, Line):
            self._line([self._at(point) for point in part.points], part.color, self._thick(part.width), part.dash, part.opacity)
        elif isinstance(part, Strokes):
            width, color = self._thick(part.width, part.least), _rgb(part.color, part.opacity)
            for start, end in part.lines:
                self.pen.line((self._at(start), self._at(end)), fill=color, width=width)
        elif isinstance(part, (Letter, Label)):
            self._words(part)
        elif isinstance(part, Disc):
            self._circle(part)
        else:
            self._shape(part)

    def _words(self, part: Letter | Label) -> None:
        if isinstance(part, Label):
            self._label(part)
        elif part.size >= LEAST_LETTER * self.sheet.pixel:
            self._write(part.middle, part.text, part.size, part.color, "mm")

    def _fill(self, part: Box | Area) -> None:
        color = _rgb(part.color, part.opacity)
        if isinstance(part, Area):
            for box in part.boxes:
                self._box(*box, color)
            return
        more = max(0.0, part.least * self.sheet.unit - min(part.width, part.height)) / 2 + part.grow * self.sheet.unit
        self._box(part.x - more, part.y - more, part.width + 2 * more, part.height + 2 * more, color)

    def _box(self, x: float, y: float, width: float, height: float, color: tuple[int, int, int, int]) -> None:
        """Fill a rectangle. Those that touch in the picture touch in pixels, too."""
        (left, top), (right, bottom) = self._at((x, y)), self._at((x + width, y + height))
        left, top, right, bottom = round(left), round(top), round(right), round(bottom)
        self.pen.rectangle((left, top, max(right - 1, left), max(bottom - 1, top)), fill=color)

    def _line(self, points: list[Point], color: str, width: int, dash: tuple[float, ...], opacity: float) -> None:
        strokes = [points] if not dash else [list(piece) for piece in _dashed(points, [max(1.0, length * self.unit) for length in dash])]
        if opacity == 1:
            for stroke in strokes:
                self.pen.line(stroke, fill=_rgb(color), width=width, joint="curve")
            return
        # Drawn aside, so that the joints of a clear line are as clear as the rest.
        left, top = (int(min(point[axis] for point in points) - width) for axis in (0, 1))
        right, bottom = (int(max(point[axis] for point in points) + width) + 1 for axis in (0, 1))
        left, top, right, bottom = max(0, left), max(0, top), min(self.image.width, right), min(self.image.height, bottom)
        if left >= right or top >= bottom:
            return
        mask = Image.new("L", (right - left, bottom - top))
        pen = ImageDraw.Draw(mask)
        for stroke in strokes:
            pen.line([(x - left, y - top) for x, y in stroke], fill=round(255 * opacity), width=width, joint="curve")
        self.image.paste(_rgb(color)[:3], (left, top, right, bottom), mask)

    def _circle(self, part: Disc) -> None:
        middle, radius = self._at(part.middle), max(part.radius * self.scale, part.least * self.unit)
        if part.is_ring:
            thin, turn = self._thick(THIN), max(2.0, 57.3 * 0.4 * self.unit / max(radius, 1.0))
            for at in range(int(180 / turn)):
                self.pen.arc(_around(middle, radius), 2 * at * turn, (2 * at + 1) * turn, fill=_rgb(part.color), width=thin)
        elif part.is_hollow:
            for color, width in ((part.rim, self._thick(HOLLOW + 2 * RIM)), (part.color, self._thick(HOLLOW))):
                self.pen.ellipse(_around(middle, radius + width / 2), outline=_rgb(color), width=width)
        else:
            self._disc(middle, radius, part.color, part.rim)

    def _disc(self, middle: Point, radius: float, color: str, rim: str = "") -> None:
        if rim:
            self.pen.ellipse(_around(middle, radius + 0.08 * self.unit), fill=_rgb(rim))
            radius -= 0.08 * self.unit
        self.pen.ellipse(_around(middle, radius), fill=_rgb(color))

    def _shape(self, part: Shape) -> None:
        x, y = self._at(part.middle)
        size = max(part.size * self.scale, part.least * self.unit)
        points = [(x + dx * size, y + dy * size) for dx, dy in part.points]
        # Twice round the first corner, so that it is as round as the others.
        around = [*points, *points[:2]]
        if part.is_hollow:
            for color, width in ((part.rim, self._thick(HOLLOW + 2 * RIM)), (part.color, self._thick(HOLLOW))):
                self.pen.line(around, fill=_rgb(color), width=width, joint="curve")
            return
        if part.rim:
            self.pen.line(around, fill=_rgb(part.rim), width=max(1, round(part.rim_width * self.unit)), joint="curve")
        self.pen.polygon(points, fill=_rgb(part.color))

    def _write(self, place: Point, text: str, size: float, color: str, anchor: str = "ls") -> None:
        font = ImageFont.load_default(max(1.0, size * self.scale))
        self.pen.text(self._at(place), text, fill=_rgb(color), font=font, anchor=anchor)

    def _label(self, label: Label) -> None:
        sheet = self.sheet
        size = letter_size(label.text, sheet.picture.width, 2.2 * sheet.unit)
        if not label.is_boxed:
            self._write(label.place, label.text, size, label.color)
            return
        words = self.pen.textlength(label.text, ImageFont.load_default(max(1.0, size * self.scale))) / self.scale
        left, top, wide, high = sheet.label_box(label, words, size, self.taken)
        box = (*self._at((left, top)), *self._at((left + wide, top + high)))
        self.pen.rounded_rectangle(box, 0.6 * self.unit, fill="#fffffff2", outline=_rgb(label.color), width=max(1, round(0.2 * self.unit)))
        self._write((left + size / 2, top + 1.08 * size), label.text, size, INK)


def _around(middle: Point, radius: float) -> tuple[float, float, float, float]:
    return middle[0] - radius, middle[1] - radius, middle[0] + radius, middle[1] + radius


def _dashed(points: Iterable[Point], dash: list[float]) -> Iterator[tuple[Point, Point]]:
    """Yield the strokes of a dashed line through points. The dashes go on around corners."""
    index, left = 0, dash[0]
    for (x, y), (to_x, to_y) in pairwise(points):
        length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
        at = 0.0
        while at < length:
            step = min(left, length - at)
            if index % 2 == 0:
                a, b = at / length, (at + step) / length
                yield (x + (to_x - x) * a, y + (to_y - y) * a), (x + (to_x - x) * b, y + (to_y - y) * b)
            at += step
            left -= step
            if left <= 0:
                index += 1
                left = dash[index % len(dash)]
