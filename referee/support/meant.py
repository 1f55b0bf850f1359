"""The known name that an unknown name may mean, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: object, good: Iterable[str]) -> str:
    """Return the name that is nearest to an unknown one; "" if none is near."""
    # Only messages need it, and the import takes time.
    from difflib import get_close_matches

    return next(iter(get_close_matches(str(name), list(good), n=1)), "")


def meant(name: object, good: Iterable[str]) -> str:
    """Return a question about the nearest name, "did you mean 'hunter'?"; "" if none is near. It ends a sentence, in place of a list of all names."""
    near = nearest(name, good)
    return f"did you mean {near!r}?" if near else ""


def near_one(name: object, good: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the nearest known name, or the list of all known names."""
    names = list(good)
    return meant(name, names) or f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}."
