"""The decorators that compile a function of the kernel when it is first called, and keep the machine code on disk."""

from __future__ import annotations

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
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}


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


def compiled(function: F) -> F:
    """Compile a function of scalars and arrays. It allocates nothing."""
    return cast("F", _kept(numba.njit(**_OPTIONS)(function)))


def threaded(function: F) -> F:
    """Compile a function whose loops over ``numba.prange`` run on several threads."""
    return cast("F", _kept(numba.njit(cache=True, nogil=True, error_model="numpy", parallel=True)(function)))
