#!/usr/bin/env python3
"""A known good bot: it allocates everything that bots are promised, prints "held", and keeps it until its input ends.

Arguments: bytes of memory, processes, open files, and bytes of scratch space. If it can't get one of them, it prints a code of
``isolation.machine`` and the error. It imports next to nothing, to start fast and on every Python.
"""

import _thread
import os
import sys
import tempfile

#: Memory that this interpreter needs itself, and each of its threads, in bytes.
_OWN, _THREAD = 32 << 20, 96 << 10
#: Open files of this interpreter, and scratch space that folders may take, in bytes.
_OWN_FILES, _OWN_SCRATCH = 8, 64 << 10
_PIECE = 1 << 20


def _files(count: int) -> object:
    return [os.open(os.devnull, os.O_RDONLY) for _ in range(count - _OWN_FILES)]


def _processes(count: int) -> object:
    """Start threads, which count as processes and need little memory."""
    lock = _thread.allocate_lock()
    lock.acquire()
    _thread.stack_size(64 << 10)
    for _ in range(count - 1):
        _thread.start_new_thread(lock.acquire, ())
    return lock


def _scratch(size: int) -> object:
    fd, path = tempfile.mkstemp()
    os.unlink(path)
    for begin in range(0, size, _PIECE):
        os.write(fd, bytes(min(_PIECE, size - begin)))
    return fd


def _memory(size: int) -> object:
    block = bytearray(size)
    block[::4096] = b"x" * len(range(0, len(block), 4096))
    return block


def main() -> None:
    """Take everything and hold it."""
    memory, processes, files, scratch = map(int, sys.argv[1:])
    # In a sandbox, scratch space and the kernel's data about processes are memory, too: not everything is available at once.
    room = max(0, memory - _OWN)
    scratch, processes = max(0, min(scratch - _OWN_SCRATCH, room // 3)), min(processes, room // 3 // _THREAD)
    try:
        # If memory runs out, the kernel should end this process first.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass
    held, code = [], "limit"
    try:
        held += [_files(files), _processes(processes)]
        code = "disk"
        held.append(_scratch(scratch))
        code = "memory"
        held.append(_memory(room - scratch - processes * _THREAD))
        sys.stdout.write("held\n")
    except (OSError, RuntimeError, MemoryError) as error:
        sys.stdout.write(f"{code} {type(error).__name__}: {error}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
