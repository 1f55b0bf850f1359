"""What the intruders share: trying something and saying on stderr whether it could be done."""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)


def tell(got, what):
    """One line for the log: GOT what must not be had, or no."""
    print("GOT" if got else "no", what, file=sys.stderr, flush=True)


def attempt(what, function):
    """Try something that must fail with an error of the system."""
    try:
        seen = function()
    except (OSError, ValueError, RuntimeError) as error:
        tell(False, f"{what}: {type(error).__name__} {getattr(error, 'errno', '')}")
        return None
    tell(True, f"{what}: {str(seen)[:80]}")
    return seen


def must_fail(function, *arguments):
    """Call a function of the C library that must fail, and raise its OSError."""
    result = getattr(libc, function)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), function)
    return result


def call(what, number, *arguments):
    """Try a system call by its number, which must fail."""
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(argument) for argument in arguments))
    tell(result != -1, f"{what}: errno {ctypes.get_errno()}")


def signal():
    """Change what a machine counts: processes, open files, names in memory, used memory, processor time."""
    for _ in range(100):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    pages = bytearray(32 << 20)
    pages[:: 1 << 12] = b"x" * len(pages[:: 1 << 12])
    kept = []
    for number in range(40):
        with open(f"/tmp/{number}", "wb") as file:
            file.write(b"x" * 10_000)
        kept.append(os.open(f"/tmp/{number}", os.O_RDONLY))
    for fd in kept:
        os.close(fd)
    for number in range(40):
        os.unlink(f"/tmp/{number}")
