"""The decorators that compile a function of the kernel when it is first called, and keep the machine code on disk."""

from __future__ import annotations

import warnings
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    F = TypeVar("F", bound=Callable[..., Any])

#: Makes a number of an array as wide as plain numbers. Otherwise numba compiles a function once more for each kind of argument.
wide = cast("Callable[[Any], int]", np.int64)
#: ``_nrt`` is numba's own name: without it, compiled code counts references to arrays that it only borrows, which takes five times as long
#: as the rules.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_THREADED: dict[str, Any] = {"nogil": True, "error_model": "numpy", "parallel": True}


def sources(folder: Path) -> str:
    """A hash of all modules of a folder."""
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()


_SOURCES = sources(Path(__file__).parent)


def _kept(dispatcher: Any) -> Any:
    """Let numba forget the machine code of a function when any module of the kernel changes.

    By itself it looks only at the function's own module, but the machine code holds that of the functions that it calls. The names are
    numba's own; without them, the cache works as usual.
    """
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = _SOURCES  # noqa: SLF001 - said above
    return dispatcher


@cache
def _warn_once() -> None:
    warnings.warn(
        "numba finds no folder that it can write, so each process compiles the rules of Evasion anew; "
        "the environment variable NUMBA_CACHE_DIR can name one",
        RuntimeWarning,
        stacklevel=2,
    )


def _made(function: F, options: dict[str, Any]) -> F:
    """Return the function that compiles itself when it is first called. Where no folder for machine code can be written, it keeps none."""
    try:
        return cast("F", _kept(numba.njit(cache=True, **options)(function)))
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _warn_once()
        return cast("F", numba.njit(**options)(function))


def compiled(function: F) -> F:
    """Compile a function of scalars and arrays. It allocates nothing."""
    return _made(function, _OPTIONS)


def threaded(function: F) -> F:
    """Compile a function whose loops over ``numba.prange`` run on several threads."""
    return _made(function, _THREADED)
