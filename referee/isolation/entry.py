"""Decides how a program enters its sandbox: as which user, and with which files of the machine."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from referee.isolation import bubblewrap, runtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from referee.isolation.program import Program

#: The variants of the sandbox: how it is entered, see ``bubblewrap``.
VARIANTS = ORDINARY, VARIANT_A, VARIANT_B = "own user namespace", "another user, own user namespace", "another user, no user namespace"


def is_own_file(program: Program) -> bool:
    """True if the program is one of the bot's files and not an interpreter of this machine."""
    return bool(program.inside) and program.inside[0].startswith(bubblewrap.HOME + "/")


def normal(path: str) -> str:
    """Return a path without "..", "." and double slashes."""
    return "/" + os.path.normpath(path).lstrip("/")


def is_own_python(words: Sequence[str]) -> bool:
    """True if a first line names Python without a path, or the referee's own Python."""
    if not words:
        return False
    if os.path.basename(words[0]) == "env":
        return len(words) == 2 and words[1].startswith("python")
    return os.path.dirname(normal(words[0])) in (
        os.path.dirname(runtime.OWN_PYTHON),
        os.path.dirname(os.path.realpath(runtime.OWN_PYTHON)),
    )


def needs(program: Program) -> tuple[str, ...]:
    """Return the files of this machine that a program needs, besides the system's files."""
    argv0 = program.inside[0]
    binds: list[str] = []
    if not is_own_file(program):
        binds += runtime.needs(argv0)
        if os.path.dirname(argv0) == os.path.dirname(runtime.OWN_PYTHON):
            binds += _own_packages()
    else:
        words = runtime.first_line(program.argv[0])
        if is_own_python(words):
            binds += [*runtime.needs(runtime.OWN_PYTHON), *_own_packages()]
        elif words and runtime.is_of_system(normal(words[0])):
            binds += runtime.needs(normal(words[0]))
    if program.through:
        binds += [*runtime.needs(runtime.OWN_PYTHON), program.through[0]]
    return tuple(dict.fromkeys(binds))


@cache
def _own_packages() -> tuple[str, ...]:
    """Return the folders of the SDK and its imports in an editable installation, and nothing else, such as replays."""
    own = Path(__file__).resolve().parents[1]
    return tuple(str(own.parent / name) for name in ("referee", "sdk") if (own.parent / name).is_dir())


def variant_for(binds: Iterable[str]) -> str:
    """Return the variant by which this user enters a sandbox that shows these folders."""
    if os.geteuid() != 0:
        return ORDINARY
    return VARIANT_A if all(runtime.is_open_to_all(bind) for bind in binds) and has_user_namespaces() else VARIANT_B


@cache
def has_user_namespaces() -> bool:
    """True if users other than root can make user namespaces here."""
    closed = {"user/max_user_namespaces": "0", "kernel/unprivileged_userns_clone": "0", "kernel/apparmor_restrict_unprivileged_userns": "1"}
    settings = {Path("/proc/sys", name): value for name, value in closed.items()}
    return not any(path.exists() and path.read_text().strip() == value for path, value in settings.items())
