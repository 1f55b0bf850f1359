"""Numbers with their nouns."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number with its noun in the singular or the plural: "1 match", "2,000 matches"."""
    ending = "" if count == 1 else "es" if noun.endswith(("ch", "sh", "s", "x")) else "s"
    return f"{count:,} {noun}{ending}"
