"""A picture as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from referee.export.sheet import HOLLOW, LEAST_LETTER, RIM, THIN, Sheet, letter_size
from referee.games.picture import BOARD, FAINT, GRID, INK, PAPER, Area, Box, Disc, Label, Letter, Line, Strokes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.picture import Picture, Point, Shape

FONT = 'font-family="system-ui, sans-serif"'


def render(picture: Picture, size: int, title: str, *, is_captioned: bool = True, bold: float = 1.0) -> str:
    """The picture as an SVG document ``size`` pixels wide; ``title`` is for those who can't see it.

    Without ``is_captioned`` the words below and the letters on the board are left out. In a small picture ``bold`` above 1 makes all
    marks larger by this factor.
    """
    sheet = Sheet(picture, size, is_captioned=is_captioned, bold=bold)
    margin, width, height = sheet.margin, picture.width, picture.height
    left, wide = _number(-margin), _number(sheet.width)
    view = f"{left} {left} {wide} {_number(sheet.height)}"
    thin = _number(THIN * sheet.unit)
    taken: list[tuple[float, float, float, float]] = []
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{round(size * sheet.height / sheet.width)}" viewBox="{view}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect x="{left}" y="{left}" width="{wide}" height="{_number(sheet.height)}" fill="{PAPER}"/>',
        f'<rect width="{width}" height="{height}" fill="{BOARD}" stroke="{INK}" stroke-width="{thin}"/>',
        f'<path d="{_path(sheet.grid)}" stroke="{GRID}" stroke-width="{_number(min(sheet.pixel, THIN * sheet.unit))}"/>',
    ]
    for part in picture.parts:
        if isinstance(part, Label):
            lines.append(_label(part, sheet, taken))
        elif not isinstance(part, Letter):
            lines.append(_part(part, sheet.unit))
        elif is_captioned and part.size >= LEAST_LETTER * sheet.pixel:
            lines.append(_letter(part))
    if is_captioned:
        # A drawing of a bot may reach beyond the board.
        lines.append(f'<rect x="{left}" y="{_number(sheet.below)}" width="{wide}" height="{_number(sheet.height)}" fill="{PAPER}"/>')
    for x, y, high, text, is_faint, dot in sheet.words:
        if dot:
            lines.append(
                f'<circle cx="{_number(x - 0.55 * high)}" cy="{_number(y - 0.35 * high)}" r="{_number(0.35 * high)}" fill="{dot}"/>'
            )
        place = f'x="{_number(x)}" y="{_number(y)}" {FONT} font-size="{_number(high)}" fill="{FAINT if is_faint else INK}"'
        lines.append(f"<text {place}>{escape(text)}</text>")
    return "\n".join([*lines, "</svg>"]) + "\n"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _path(lines: Iterable[tuple[Point, Point]]) -> str:
    return "".join(f"M{_number(x)} {_number(y)}L{_number(to_x)} {_number(to_y)}" for (x, y), (to_x, to_y) in lines)


def _letter(letter: Letter) -> str:
    x, y = letter.middle
    place = f'x="{_number(x)}" y="{_number(y + 0.36 * letter.size)}" text-anchor="middle" {FONT} font-size="{_number(letter.size)}"'
    return f'<text {place} font-weight="600" fill="{letter.color}">{escape(letter.text)}</text>'


def _label(label: Label, sheet: Sheet, taken: list[tuple[float, float, float, float]]) -> str:
    unit = sheet.unit
    size = letter_size(label.text, sheet.picture.width, 2.2 * unit)
    font = f'{FONT} font-size="{_number(size)}"'
    if not label.is_boxed:
        x, y = label.place
        return f'<text x="{_number(x)}" y="{_number(y)}" {font} fill="{label.color}">{escape(label.text)}</text>'
    words = 0.55 * size * len(label.text)
    left, top, wide, high = sheet.label_box(label, words, size, taken)
    box = f'x="{_number(left)}" y="{_number(top)}" width="{_number(wide)}" height="{_number(high)}" rx="{_number(0.6 * unit)}"'
    # The text is as wide as the box expects, whatever the font.
    text = f'x="{_number(left + size / 2)}" y="{_number(top + 1.08 * size)}" textLength="{_number(words)}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<rect {box} fill="{PAPER}" fill-opacity="0.95" stroke="{label.color}" stroke-width="{_number(0.2 * unit)}"/>'
        f'<text {text} {font} fill="{INK}">{escape(label.text)}</text>'
    )


def _part(part: Box | Area | Line | Strokes | Shape | Disc, unit: float) -> str:
    if isinstance(part, Box):
        clear = "" if part.opacity == 1 else f' fill-opacity="{part.opacity:g}"'
        more = max(0.0, part.least * unit - min(part.width, part.height)) + 2 * part.grow * unit
        stroke = f' stroke="{part.color}" stroke-width="{_number(more)}"' if more > 0 else ""
        if more > 0 and part.opacity != 1:
            stroke += f' stroke-opacity="{part.opacity:g}"'
        return (
            f'<rect x="{_number(part.x)}" y="{_number(part.y)}" width="{_number(part.width)}" height="{_number(part.height)}" '
            f'fill="{part.color}"{clear}{stroke}/>'
        )
    if isinstance(part, Area):
        path = "".join(f"M{_number(x)} {_number(y)}h{_number(wide)}v{_number(high)}h{_number(-wide)}z" for x, y, wide, high in part.boxes)
        return f'<path d="{path}" fill="{part.color}" fill-opacity="{part.opacity:.3g}"/>'
    if isinstance(part, Strokes):
        width = _number(max(part.least, part.width * unit))
        return f'<path d="{_path(part.lines)}" stroke="{part.color}" stroke-width="{width}" stroke-linecap="square" opacity="{part.opacity:.3g}"/>'
    if isinstance(part, Line):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in part.points)
        dash = f' stroke-dasharray="{" ".join(_number(length * unit) for length in part.dash)}"' if part.dash else ""
        return (
            f'<polyline points="{points}" fill="none" stroke="{part.color}" stroke-width="{_number(part.width * unit)}" '
            f'stroke-linejoin="round" opacity="{part.opacity:.3g}"{dash}/>'
        )
    x, y = part.middle
    if isinstance(part, Disc):
        where = f'circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(max(part.radius, part.least * unit))}"'
        if part.is_ring:
            dash = f"{_number(0.4 * unit)} {_number(0.4 * unit)}"
            return f'<{where} fill="none" stroke="{part.color}" stroke-width="{_number(THIN * unit)}" stroke-dasharray="{dash}"/>'
    else:
        size = max(part.size, part.least * unit)
        points = " ".join(f"{_number(x + dx * size)},{_number(y + dy * size)}" for dx, dy in part.points)
        where = f'polygon points="{points}"'
    if part.is_hollow:
        thick, rim = _number(HOLLOW * unit), _number((HOLLOW + 2 * RIM) * unit)
        return "".join(
            f'<{where} fill="none" stroke="{color}" stroke-width="{width}" stroke-linejoin="round"/>'
            for color, width in ((part.rim, rim), (part.color, thick))
        )
    edge = 0.16 if isinstance(part, Disc) else part.rim_width
    rim = f' stroke="{part.rim}" stroke-width="{_number(edge * unit)}" stroke-linejoin="round"' if part.rim else ""
    return f'<{where} fill="{part.color}"{rim}/>'
