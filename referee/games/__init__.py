"""The rules of the games, one folder each, and how to find them by name."""

from referee.games.registry import folder, get, info, loadable, names

__all__ = ["folder", "get", "info", "loadable", "names"]
