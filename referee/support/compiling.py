"""Hints for the compiler of wheels about a class. In pure Python they change nothing, and they need no package."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import mypyc_attr as mypyc_attr  # noqa: PLC0414 - mypy takes it for exported
else:

    def mypyc_attr(**_: bool) -> Callable[[type], type]:
        """Return a decorator that leaves its class as it is. The compiler reads the arguments from the source."""
        return lambda cls: cls
