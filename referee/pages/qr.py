"""Addresses as QR codes, for phones: on the terminal and on the projector's page. The package ``segno`` of the extra ``web`` makes them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import segno

#: The white frame that a camera needs around the code, in its smallest squares.
_BORDER = 2


def for_terminal(address: str) -> str:
    """Return the lines of a QR code made of block characters; "" without segno. Light squares are drawn, so it suits dark terminals."""
    code = _code(address)
    if code is None:
        return ""
    text = io.StringIO()
    code.terminal(text, compact=True, border=_BORDER)
    return text.getvalue().rstrip("\n")


def picture(address: str) -> str:
    """Return a QR code as the address of an SVG picture (``data:``) for a page; "" without segno."""
    code = _code(address)
    return "" if code is None else str(code.svg_data_uri(border=_BORDER, scale=4, light="white"))


def join(address: str | None) -> dict[str, dict[str, str]]:
    """Return what the configuration of the projector's page has of the address for phones; empty for None, or without segno."""
    code = "" if address is None else picture(address)
    return {"join": {"address": address, "picture": code}} if code and address is not None else {}


def _code(address: str) -> segno.QRCode | None:
    try:
        import segno
    except ImportError:
        return None
    return segno.make_qr(address, error="m")
