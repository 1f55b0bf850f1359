import os
import socket

from _tries import attempt, call
from _wire import play_well, ready


def connect(family, address):
    with socket.socket(family) as there:
        there.settimeout(2)
        there.connect(address)
    return "connected"


def write(path):
    with open(path, "w") as file:
        file.write("for the next match")
    return path


ready()
attempt("loopback listener", lambda: connect(socket.AF_INET, ("127.0.0.1", int("@PORT@"))))
attempt("the internet", lambda: connect(socket.AF_INET, ("1.1.1.1", 53)))
attempt("the internet by its newer address", lambda: connect(socket.AF_INET6, ("::1", 53)))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("raw", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
if "@ARCH@" == "x86_64":
    call("AF_INET plus bit 32", 41, 2 + (1 << 32), 1, 0)
if os.path.exists("/tmp/open/landlock"):
    # Where everybody may write.
    attempt("leave a note", lambda: write("/tmp/open/note"))
    attempt("make a folder", lambda: os.mkdir("/tmp/open/folder") or "made")
    attempt("change a note", lambda: write("/tmp/open/landlock"))
    attempt("abstract socket", lambda: connect(socket.AF_UNIX, "\0@NAME@"))
# What it needs is there.
write("/dev/null")
write(os.environ["TMPDIR"] + "/own")
os.makedirs(os.environ["TMPDIR"] + "/a/b")
os.rename(os.environ["TMPDIR"] + "/own", os.environ["TMPDIR"] + "/a/b/own")
write(f"/dev/shm/note-of-{os.getuid()}")
os.makedirs(f"/dev/shm/folder-of-{os.getuid()}/inner")
socket.socketpair()
play_well(100)
