"""Draws a flame graph: stacks of functions as an SVG picture, the outermost function at the top."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WIDTH, _ROW, _TOP, _CHARACTER = 1200.0, 18, 30, 6.6
#: Parts that are narrower than this many pixels are left out, and stacks deeper than this many functions are cut.
_NARROWEST, _DEEPEST = 0.5, 120


class _Node:
    """A function below those that called it, with the number of samples in it."""

    def __init__(self) -> None:
        self.count = 0
        self.calls: dict[str, _Node] = {}


def svg(stacks: Mapping[tuple[str, ...], int], title: str) -> str:
    """Return the picture. A part's width is its share of all samples; a browser shows its name and share under the pointer."""
    root = _Node()
    for frames, count in stacks.items():
        root.count += count
        node = root
        for name in frames[:_DEEPEST]:
            node = node.calls.setdefault(name, _Node())
            node.count += count
    parts = list(_parts(root, 0.0, 0, root.count or 1))
    height = _TOP + _ROW * (1 + max((depth for depth, _ in parts), default=0)) + 8
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH:.0f}" height="{height}" font-family="monospace" font-size="11">',
            f'<rect width="100%" height="100%" fill="#fff"/><text x="6" y="19" font-size="13">{escape(title)}</text>',
            *(text for _, text in parts),
            "</svg>\n",
        ]
    )


def _parts(node: _Node, left: float, depth: int, whole: int) -> Iterator[tuple[int, str]]:
    """Yield the depth and the drawing of each function below a node, widest first."""
    for name, below in sorted(node.calls.items(), key=lambda item: (-item[1].count, item[0])):
        width = _WIDTH * below.count / whole
        if width < _NARROWEST:
            continue
        room = int((width - 6) / _CHARACTER)
        shown = name if len(name) <= room else f"{name[: room - 2]}.." if room > 4 else ""
        # The same function has the same colour in every picture.
        hue = crc32(name.encode()) % 50
        top = _TOP + depth * _ROW
        drawn = (
            f"<g><title>{escape(name)}: {below.count:,} samples, {below.count / whole:.1%}</title>"
            f'<rect x="{left:.2f}" y="{top}" width="{max(0.3, width - 0.5):.2f}" height="{_ROW - 1}" fill="hsl({hue},75%,68%)"/>'
            f'<text x="{left + 3:.2f}" y="{top + 13}">{escape(shown)}</text></g>'
        )
        yield depth, drawn
        yield from _parts(below, left, depth + 1, whole)
        left += width
