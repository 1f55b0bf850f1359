"""A picture as a card for messages: the board on the left; the players, the result and how the match ended on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from referee.export import svg
from referee.export.sheet import WIDE, Sheet, Word, shared, wrapped
from referee.games.picture import FAINT, INK, PAPER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.games.picture import Picture

#: The size that messages and previews of pages expect, in pixels; and the room around the board and the words.
WIDTH, HEIGHT = 1200, 630
_EDGE = 36
#: The widest board, so that the words keep two fifths of the card.
_WIDEST = 680
#: The most players that are named, and how many of them have a line of their own for their seat and score.
_MOST_NAMES, _MOST_DETAILED = 7, 3
#: The height of the result's letters and of the lesser words.
_RESULT, _LESSER = 31, 24


class _Card(NamedTuple):
    """A board without words, its place and width, and the words beside it."""

    board: Picture
    left: float
    top: float
    wide: int
    words: list[Word]


def _laid_out(picture: Picture, measure: Callable[[str], float]) -> _Card:
    """Return the places of everything on a card. ``measure`` returns the width of a text in heights of its font."""
    board = picture._replace(names=(), caption="", ending="")
    sheet = Sheet(board, WIDTH)
    wide = min(_WIDEST, int((HEIGHT - 2 * _EDGE) * sheet.width / sheet.height))
    high = wide * sheet.height / sheet.width
    left = _EDGE + wide + _EDGE
    room = WIDTH - left - _EDGE
    words: list[Word] = []
    y = 0.0

    def write(texts: list[str], size: float, *, is_faint: bool, dot: str = "", space: float = 0.0) -> None:
        nonlocal y
        y += space
        for text in texts:
            y += 1.3 * size
            words.append(Word(left + (0.95 * size if dot else 0), y, size, text, is_faint, dot))

    def lines(text: str, size: float, most: int) -> list[str]:
        letter = measure(text) / max(1, len(text))
        return wrapped(text, int(0.95 * room / (letter * size)) if letter else 1, most)

    named = picture.names[:_MOST_NAMES]
    large = 48 if len(named) <= _MOST_DETAILED else 30
    for color, name, rest in named:
        write(shared([name], room / large - 0.95, measure), large, is_faint=False, dot=color, space=6)
        if rest and len(named) <= _MOST_DETAILED:
            write(lines(rest, _LESSER, 1), _LESSER, is_faint=True)
    if len(named) < len(picture.names):
        write([f"and {len(picture.names) - len(named)} more"], _LESSER, is_faint=True, space=6)
    write(lines(picture.caption[:1].upper() + picture.caption[1:], _RESULT, 5), _RESULT, is_faint=False, space=30)
    write(lines(picture.ending, _LESSER, 3), _LESSER, is_faint=True, space=10)
    down = max(float(_EDGE), (HEIGHT - y) / 2 - 8)
    return _Card(board, _EDGE, (HEIGHT - high) / 2, wide, [word._replace(y=word.y + down) for word in words])


def as_svg(picture: Picture, size: int, title: str) -> str:
    """Return the card as an SVG document ``size`` pixels wide; ``title`` is for those who can't see it."""
    card = _laid_out(picture, lambda text: WIDE * len(text))
    board = svg.render(card.board, card.wide, title).replace("<svg ", f'<svg x="{card.left:.0f}" y="{card.top:.0f}" ', 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{_height(size)}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f'<title>{escape(title)}</title>\n<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>\n{board.rstrip()}',
    ]
    for x, y, high, text, is_faint, dot in card.words:
        if dot:
            lines.append(f'<circle cx="{x - 0.55 * high:.1f}" cy="{y - 0.35 * high:.1f}" r="{0.35 * high:.1f}" fill="{escape(dot)}"/>')
        place = f'x="{x:.1f}" y="{y:.1f}" {svg.FONT} font-size="{high:g}" fill="{FAINT if is_faint else INK}"'
        lines.append(f"<text {place}>{escape(text)}</text>")
    return "\n".join([*lines, "</svg>"]) + "\n"


def as_png(picture: Picture, size: int, title: str) -> bytes:
    """Return the card as PNG, ``size`` pixels wide; ``title`` becomes its description."""
    from PIL import Image

    from referee.export import raster

    card, scale = _laid_out(picture, raster.measured), size / WIDTH
    image = Image.new("RGB", (size, _height(size)), PAPER)
    image.paste(raster.image(card.board, max(1, round(card.wide * scale))), (round(card.left * scale), round(card.top * scale)))
    raster.write(image, [word._replace(x=word.x * scale, y=word.y * scale, size=word.size * scale) for word in card.words])
    return raster.encoded(image, title)


def table_png(title: str, about: str, rows: Sequence[tuple[str, str, str]]) -> bytes:
    """Return the card of a table as PNG: its title, a line about it, and its first rows, each a rank, a name and a value."""
    from PIL import Image

    from referee.export import raster

    large, size = 60, 36
    end, place = WIDTH - 2 * _EDGE, 3.5 * _EDGE
    words = [
        Word(2 * _EDGE, 100, large, shared([title], (end - 2 * _EDGE) / large, raster.measured)[0], is_faint=False),
        Word(2 * _EDGE, 150, _LESSER, about, is_faint=True),
    ]
    for number, (rank, name, value) in enumerate(rows):
        y, wide = 215 + 1.4 * size * number, raster.measured(value)
        words.append(Word(2 * _EDGE, y, size, rank, is_faint=True))
        words.append(Word(place, y, size, shared([name], (end - place) / size - wide - 1, raster.measured)[0], is_faint=False))
        words.append(Word(end - wide * size, y, size, value, is_faint=False))
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    raster.write(image, words)
    return raster.encoded(image, title)


def _height(size: int) -> int:
    return round(size * HEIGHT / WIDTH)
