"""The decorators that compile a function of the kernel when it is first called, and keep the machine code on disk."""

from __future__ import annotations

import pickle
import warnings
from functools import cache
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np
from numba.core.serialize import dumps
from numba.extending import overload

from referee.games.evasion.kernel.state import Diagonal
from referee.support.files import write_whole

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
    """Let a function keep its machine code in files of ours. The names are numba's own; without them, its cache works as usual."""
    cache: Any = getattr(dispatcher, "_cache", None)
    index: Any = getattr(cache, "_cache_file", None)
    base: Any = getattr(getattr(cache, "_impl", None), "filename_base", None)
    if hasattr(index, "_source_stamp") and base is not None:
        stamp = f"{numba.__version__} {_SOURCES} {index._source_stamp}"  # noqa: SLF001 - said above
        cache._cache_file = Files(Path(cache.cache_path), base, stamp)  # noqa: SLF001 - said above
    return dispatcher


class Files:
    """The files with the machine code of one function, in place of numba's own ``IndexDataCacheFile``: one for each signature.

    A file is stale when any module of the kernel has changed, because the machine code of a function holds that of the functions that it
    calls; numba by itself looks only at the function's own module. Each file begins with a checksum. One that is stale or damaged counts as
    missing and is written anew: machine code that has changed could end the process. numba's own files share an index; two processes that
    compile for different signatures at once could exchange their machine code.
    """

    def __init__(self, folder: Path, base: str, stamp: str) -> None:
        self.folder = folder
        self.base = base
        self.stamp = stamp

    def load(self, key: Any) -> Any:
        """Return the machine code of a signature; None if there is none that can be used."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        size = len(self._sum(b""))
        if self._sum(content[size:]) != content[:size]:
            return None
        return pickle.loads(content[size:])  # noqa: S301 - as numba does; this is its own file

    def save(self, key: Any, data: Any) -> None:
        """Write the machine code of a signature. If it can't be written, a warning says so."""
        content: bytes = dumps(data)  # type: ignore[no-untyped-call]  # numba has no types for it
        try:
            write_whole(self._path(key), self._sum(content) + content)
        except OSError as error:
            _warn_once(f"numba can't write its compiled code to {self.folder} ({error.strerror or error})")

    def flush(self) -> None:
        """Forget the machine code of all signatures."""
        for path in self.folder.glob(f"{escape(self.base)}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        # The types, the processor and hashes of the function; all of them have the same text in each process.
        return self.folder / f"{self.base}.{sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def _sum(self, content: bytes) -> bytes:
        return sha256(self.stamp.encode() + content).digest()


@cache
def _warn_once(what: str) -> None:
    warnings.warn(
        f"{what}, so each process compiles the rules of Evasion anew; the environment variable NUMBA_CACHE_DIR can name another folder",
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
        _warn_once("numba finds no folder that it can write")
        return cast("F", numba.njit(**options)(function))


def compiled(function: F) -> F:
    """Compile a function of scalars and arrays. It allocates nothing."""
    return _made(function, _OPTIONS)


def by_rule_set(classic: F, diagonal: F) -> F:
    """Return a function that is ``classic`` or ``diagonal``, by the type of its argument of the type ``Rules``.

    numba takes the choice while it compiles the caller. So the caller's machine code holds the one that it needs, and no test.
    """

    def chosen(*given: Any) -> Any:
        return (diagonal if any(isinstance(value, Diagonal) for value in given) else classic)(*given)

    def choose(*types: Any) -> Any:
        found = diagonal if any(getattr(each, "instance_class", None) is Diagonal for each in types) else classic
        return vars(found).get("py_func", found)

    options: Any = _OPTIONS
    overload(chosen, jit_options=options, strict=False)(choose)
    return cast("F", chosen)


def threaded(function: F) -> F:
    """Compile a function whose loops over ``numba.prange`` run on several threads."""
    return _made(function, _THREADED)
