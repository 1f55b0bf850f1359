"""A picture as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from referee.games.picture import Box, Disc, Label, Line

if TYPE_CHECKING:
    from referee.games.picture import Picture, Shape

PAPER, INK = "#fbfbf8", "#1d2329"
#: The least thickness of a box, in percent of the picture's width: on a large board a wall of one cell would be a hairline.
LEAST = 0.5


def render(picture: Picture, size: int, title: str, *, is_captioned: bool = True, bold: float = 1.0) -> str:
    """The picture as an SVG document ``size`` pixels wide; ``title`` is for those who can't see it.

    Without ``is_captioned`` the caption is left out. In a small picture ``bold`` above 1 makes all marks larger by this factor.
    """
    width, height = picture.width, picture.height
    unit = width / 100 * bold
    line = 4 * unit
    high = _number(height + (1.6 * line if is_captioned else 0.0))
    text = f'x="{_number(unit)}" y="{_number(height + 1.1 * line)}" font-family="system-ui, sans-serif" font-size="{_number(letter_size(picture.caption, width, 0.8 * line))}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{round(size * float(high) / width)}" viewBox="0 0 {width} {high}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{high}" fill="#ffffff"/>',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        *(_label(part, width, height, unit) if isinstance(part, Label) else _part(part, unit, LEAST * unit) for part in picture.parts),
        f'<rect width="{width}" height="{height}" fill="none" stroke="{INK}" stroke-width="{_number(0.3 * unit)}"/>',
        *([f'<text {text} fill="{INK}">{escape(picture.caption)}</text>'] if is_captioned else []),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def letter_size(caption: str, width: float, most: float) -> float:
    """Return the largest font size at which a caption fits. A letter's width is a little more than half its height."""
    return min(most, width / (0.58 * (len(caption) + 1)))


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def label_box(label: Label, words: float, size: float, width: float, height: float, unit: float) -> tuple[float, float, float, float]:
    """Return the box of a boxed label: x and y of its upper left corner, width and height.

    ``words`` is the width of its text in letters of ``size``, ``unit`` one percent of the picture's width, all in the same unit as the picture.
    """
    wide, high = words + size, 1.5 * size
    x, y = label.place
    left = x + 2.2 * unit
    if left + wide > width:
        left = x - 2.2 * unit - wide
    top = y + 2.4 * unit if label.is_below else y - 1.2 * unit - high
    return max(0.0, min(left, width - wide)), max(0.0, min(top, height - high)), wide, high


def _label(label: Label, width: float, height: float, unit: float) -> str:
    size = letter_size(label.text, width, 2.2 * unit)
    font = f'font-family="system-ui, sans-serif" font-size="{_number(size)}"'
    if not label.is_boxed:
        x, y = label.place
        return f'<text x="{_number(x)}" y="{_number(y)}" {font} fill="{label.color}">{escape(label.text)}</text>'
    words = 0.55 * size * len(label.text)
    left, top, wide, high = label_box(label, words, size, width, height, unit)
    box = f'x="{_number(left)}" y="{_number(top)}" width="{_number(wide)}" height="{_number(high)}" rx="{_number(0.6 * unit)}"'
    # The text is as wide as the box expects, whatever the font.
    text = f'x="{_number(left + size / 2)}" y="{_number(top + 1.08 * size)}" textLength="{_number(words)}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<rect {box} fill="#ffffff" fill-opacity="0.92" stroke="{label.color}" stroke-width="{_number(0.2 * unit)}"/>'
        f'<text {text} {font} fill="{INK}">{escape(label.text)}</text>'
    )


def _part(part: Box | Line | Shape | Disc, unit: float, least: float) -> str:
    """Return a part of a picture; boxes are at least ``least`` cells thick."""
    if isinstance(part, Box):
        clear = "" if part.opacity == 1 else f' fill-opacity="{part.opacity:g}"'
        lacking = least - min(part.width, part.height)
        stroke = f' stroke="{part.color}" stroke-width="{_number(lacking)}"' if lacking > 0 else ""
        return (
            f'<rect x="{_number(part.x)}" y="{_number(part.y)}" width="{_number(part.width)}" height="{_number(part.height)}" '
            f'fill="{part.color}"{clear}{stroke}/>'
        )
    if isinstance(part, Line):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in part.points)
        dash = f' stroke-dasharray="{" ".join(_number(length * unit) for length in part.dash)}"' if part.dash else ""
        return (
            f'<polyline points="{points}" fill="none" stroke="{part.color}" stroke-width="{_number(part.width * unit)}" '
            f'stroke-linejoin="round" opacity="{part.opacity:g}"{dash}/>'
        )
    if isinstance(part, Disc):
        x, y = part.middle
        where = f'cx="{_number(x)}" cy="{_number(y)}" r="{_number(max(part.radius, part.least * unit))}"'
        if part.is_ring:
            dash = f"{_number(0.6 * unit)} {_number(0.6 * unit)}"
            return f'<circle {where} fill="none" stroke="{part.color}" stroke-width="{_number(0.25 * unit)}" stroke-dasharray="{dash}"/>'
        return f'<circle {where} fill="{part.color}" stroke="#ffffff" stroke-width="{_number(0.25 * unit)}"/>'
    x, y = part.middle
    points = " ".join(f"{_number(x + dx * unit)},{_number(y + dy * unit)}" for dx, dy in part.points)
    return f'<polygon points="{points}" fill="{part.color}" stroke="#ffffff" stroke-width="{_number(0.25 * unit)}"/>'
