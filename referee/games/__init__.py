"""The rules of the games, one folder each, and how to find them by name."""

from referee.games.registry import (
    all_names,
    conformance_of,
    dialects_of,
    drawing_of,
    folder,
    get,
    info,
    marking_of,
    names,
    samples_of,
    starters_of,
)

__all__ = [
    "all_names",
    "conformance_of",
    "dialects_of",
    "drawing_of",
    "folder",
    "get",
    "info",
    "marking_of",
    "names",
    "samples_of",
    "starters_of",
]
