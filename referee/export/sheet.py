"""The layout of a picture, the same for SVG and for pixels: margin, grid, labels and the texts below the board."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from referee.games.picture import Label, Picture, Point

#: The room around the board, in percent of its width: a mark at its edge is seen as a whole.
MARGIN = 2.8
#: The width of a hollow mark's line, of its rim on each side, and of a thin line, in percent.
HOLLOW, RIM, THIN = 0.36, 0.14, 0.15
#: Letters below this height, in pixels, are left out.
LEAST_LETTER = 6.5
#: The width of a letter, in heights of its font.
WIDE = 0.56
#: The height of the words below in percent of the sheet's width, and of the names' discs.
_WORDS, _LINE = 2.6, 1.5
#: How many lines the caption and the words of the end may take.
_CAPTION_LINES, _ENDING_LINES = 2, 3
#: How many lines the players may take, and the room for a disc and around each player, in heights of the font.
_NAME_LINES, _GAP = 3, 2.0


class Word(NamedTuple):
    """A text below the board: its place (left end of the base line), its size, and a disc of this colour before it."""

    x: float
    y: float
    size: float
    text: str
    is_faint: bool
    dot: str = ""


class Sheet:
    """The measures of one picture, in cells. ``size`` is its width in pixels; ``bold`` makes all marks larger by this factor.

    ``measure`` returns the width of a text in heights of its font; without it, it is estimated: SVG doesn't know its font.
    """

    def __init__(
        self,
        picture: Picture,
        size: int,
        *,
        is_captioned: bool = True,
        bold: float = 1.0,
        lines: int = 0,
        measure: Callable[[str], float] = lambda text: WIDE * len(text),
    ) -> None:
        self.picture = picture
        #: One percent, for marks.
        self.unit = picture.width / 100 * bold
        self.margin = MARGIN * self.unit
        self.width = picture.width + 2 * self.margin
        #: One pixel of the picture.
        self.pixel = self.width / size
        #: The first row below the board and its margin.
        self.below = picture.height + self.margin
        self.words: list[Word] = []
        self.lines = 0
        self._measure = measure
        if is_captioned:
            self._write(max(_WORDS * self.width / 100, min(11 * self.pixel, 0.06 * self.width)))
        self.height = self.below + self.margin
        if is_captioned:
            self.height += max(self.lines, lines) * _LINE * self._size

    def _write(self, size: float) -> None:
        self._size = size
        picture = self.picture
        room = self.width - 2 * self.margin
        for row in self._rows(picture.names, room / size) if picture.names else ():
            x, y = 0.0, self._line()
            for color, text in row:
                self.words.append(Word(x + 0.95 * size, y, size, text, is_faint=False, dot=color))
                x += (_GAP + self._measure(text)) * size
        caption = picture.caption[:1].upper() + picture.caption[1:]
        for words, most in ((caption, _CAPTION_LINES), (picture.ending, _ENDING_LINES)):
            letter = self._measure(words) / max(1, len(words))
            for text in wrapped(words, int(room / (letter * size)) if letter else 1, most):
                self.words.append(Word(0, self._line(), size, text, is_faint=bool(picture.names)))

    def _rows(self, names: Sequence[tuple[str, str, str]], room: float) -> list[list[tuple[str, str]]]:
        """Return the players' colours and texts in the fewest lines in which no name is cut, else in the most lines that there may be."""
        rows: list[list[tuple[str, str]]] = []
        for lines in range(1, min(_NAME_LINES, len(names)) + 1):
            each = -(-len(names) // lines)
            rows, is_whole = [], True
            for first in range(0, len(names), each):
                part = names[first : first + each]
                fixed = sum(_GAP + self._measure(f" {rest}") for _, _, rest in part)
                cut = shared([name for _, name, _ in part], room - fixed, self._measure)
                is_whole = is_whole and cut == [name for _, name, _ in part]
                rows.append([(color, f"{name} {rest}".strip()) for name, (color, _, rest) in zip(cut, part, strict=True)])
            if is_whole:
                break
        return rows

    def _line(self) -> float:
        """Begin a line below the board and return its base line."""
        self.lines += 1
        return self.below + (self.lines * _LINE - 0.6) * self._size

    @property
    def grid(self) -> Iterator[tuple[Point, Point]]:
        """The lines of the board's grid, as many as there is room for."""
        width, height = self.picture.width, self.picture.height
        every = 1 if self.pixel < 0.12 else 10 if self.pixel < 0.6 else 50
        for x in range(every, width, every):
            yield (x, 0), (x, height)
        for y in range(every, height, every):
            yield (0, height - y), (width, height - y)

    def label_box(
        self, label: Label, words: float, size: float, taken: list[tuple[float, float, float, float]]
    ) -> tuple[float, float, float, float]:
        """Return the box of a boxed label: x and y of its upper left corner, width and height; and remember that it is taken.

        ``words`` is the width of its text in letters of ``size``. Of the places around it, the box has the first that covers the fewest
        players and other labels.
        """
        unit, (x, y) = self.unit, label.place
        wide, high = min(words + size, self.picture.width + 2 * self.margin), 1.5 * size
        above, below = y - 1.2 * unit - high, y + 2.0 * unit
        tops = (below, above) if label.is_below else (above, below)
        lefts = (x + 2.2 * unit, x - 2.2 * unit - wide)
        places = [(left, top) for top in tops for left in lefts]
        places += [(x - wide / 2, top) for far in (2.6, 6.0, 10.0) for top in (y - far * unit - high, y + far * unit)]
        low, right, bottom = -self.margin / 2, self.picture.width + self.margin / 2 - wide, self.picture.height + self.margin / 2 - high
        boxes = [(max(low, min(left, right)), max(low, min(top, bottom)), wide, high) for left, top in places]
        marks = [label.place, *self.picture.marks]
        best = min(boxes, key=lambda box: 100 * _covered(box, marks, 1.6 * unit) + sum(_overlap(box, other) for other in taken))
        taken.append(best)
        return best


def _covered(box: tuple[float, float, float, float], marks: Sequence[Point], near: float) -> int:
    left, top, wide, high = box
    return sum(left - near < x < left + wide + near and top - near < y < top + high + near for x, y in marks)


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[0] + other[2] and other[0] < one[0] + one[2] and one[1] < other[1] + other[3] and other[1] < one[1] + one[3]


def letter_size(text: str, width: float, most: float) -> float:
    """Return the largest font size at which a text fits. A letter's width is a little more than half its height."""
    return min(most, width / (WIDE * (len(text) + 1)))


def shared(texts: Sequence[str], room: float, measure: Callable[[str], float] = len) -> list[str]:
    """Return texts cut so that together they are at most ``room`` wide: the longest are cut first, to the same number of characters."""
    most = max(map(len, texts), default=0)
    found = list(texts)
    while most > 2 and sum(map(measure, found)) > room:
        most -= 1
        found = [text if len(text) <= most else text[: most - 1] + "…" for text in texts]
    return found


def wrapped(text: str, letters: int, most: int) -> list[str]:
    """Return a text in at most ``most`` lines of at most ``letters`` characters."""
    import textwrap

    return textwrap.wrap(text, max(8, letters), max_lines=most, placeholder="…")
