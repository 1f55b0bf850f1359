import socket

from _tries import attempt, call
from _wire import play_well, ready


def connect(family, address):
    with socket.socket(family) as there:
        there.settimeout(2)
        there.connect(address)


ready()
attempt("loopback listener", lambda: connect(socket.AF_INET, ("127.0.0.1", int("@PORT@"))))
attempt("abstract socket", lambda: connect(socket.AF_UNIX, "\0@NAME@"))
attempt("the internet", lambda: connect(socket.AF_INET, ("1.1.1.1", 53)))
for family in (0, 3, 9, 16, 17, 31, 38, 40, 44):
    attempt(
        f"socket of family {family}",
        lambda family=family: socket.socket(family, socket.SOCK_RAW if family in (16, 17) else socket.SOCK_STREAM),
    )
if "@ARCH@" == "x86_64":
    call("AF_VSOCK plus bit 32", 41, 40 + (1 << 32), 1, 0)
    call("AF_NETLINK plus bit 63", 41, 16 + (1 << 63), 3, 0)
play_well(100)
