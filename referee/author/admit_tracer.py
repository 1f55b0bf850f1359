"""Replaces itself by another program, whose memory every process of the same user may read. Linux with Yama needs the program's own consent.

It runs before a bot, for ``referee profile`` alone: ``python admit_tracer.py PROGRAM ARGUMENT...``.
"""

import ctypes
import os
import sys

#: From Linux: ``PR_SET_PTRACER`` of <sys/prctl.h>, and ``PR_SET_PTRACER_ANY``.
_SET_PTRACER, _ANY = 0x59616D61, ctypes.c_ulong(-1)

if __name__ == "__main__":
    # A refusal matters little: py-spy tells it.
    ctypes.CDLL(None).prctl(_SET_PTRACER, _ANY, 0, 0, 0)
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - the program is the user's own bot
