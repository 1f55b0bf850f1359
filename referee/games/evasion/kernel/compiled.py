"""The decorators that compile a function of the kernel when it is first called, and keep the machine code on disk."""

from __future__ import annotations

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


def compiled(function: F) -> F:
    """Compile a function of scalars and arrays. It allocates nothing."""
    return cast("F", numba.njit(**_OPTIONS)(function))


def threaded(function: F) -> F:
    """Compile a function whose loops over ``numba.prange`` run on several threads."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy", parallel=True)(function))
