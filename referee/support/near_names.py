"""Suggests a known name in place of an unknown one, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: object, good: Iterable[str]) -> str:
    """Return the known name that is spelled most like an unknown one; "" if none is similar."""
    # Only messages need it, and the import takes time.
    from difflib import get_close_matches

    return next(iter(get_close_matches(str(name), list(good), n=1)), "")


def did_you_mean(name: object, good: Iterable[str]) -> str:
    """Return "did you mean 'hunter'?" as the end of a sentence about an unknown name; "" if no known name is similar."""
    near = nearest(name, good)
    return f"did you mean {near!r}?" if near else ""


def nearest_or_all(name: object, good: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: a suggestion, or the list of all known names."""
    names = list(good)
    return did_you_mean(name, names) or f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}."
