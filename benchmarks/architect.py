"""A tick of the 2017 architect beside its floor, with two instant Python clients, pinned to one core and not.

    python benchmarks/architect.py [ROUNDS] [TICKS]

The floor is a server that does nothing but send a line to both clients and read a line of each. Both are measured by the second
client, from its first state line to its last, in turns; the machine's noise falls on both alike. Medians of all rounds are printed.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

CLIENT = """
import socket, sys, time
sock = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
stream = sock.makefile("rb")
role, begun, ticks = b"", 0.0, 0
for line in stream:
    words = line.split()
    if len(words) < 5:
        if words[0] == b"sendname":
            sock.sendall(b"client\\n")
        elif words[0] == b"done":
            break
        elif not role:
            role = words[0]
        continue
    if words[1] == b"0":
        begun = begun or time.perf_counter()
        ended = time.perf_counter()
        ticks += 1
        sock.sendall(b"0 " + words[2] + (b" 0\\n" if role == b"hunter" else b" 0 0\\n"))
    else:
        sock.sendall(b"1 " + words[2] + (b" 0 0\\n" if role == b"hunter" else b" 0\\n"))
print((ended - begun) / (ticks - 1) * 1e6)
"""


def floor(socks: list[socket.socket], ticks: int) -> None:
    """The bare exchange."""
    callers = [sock.accept()[0] for sock in socks]
    pollers = []
    for caller, role in zip(callers, (b"hunter", b"prey"), strict=True):
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poller = select.poll()
        poller.register(caller, select.POLLIN)
        pollers.append(poller)
        caller.sendall(b"sendname\n")
        caller.recv(100)
        caller.sendall(role + b"\n")
    for tick in range(ticks):
        line = b"119999 0 %d 8 20 300 300 0 %d %d 1 1 230 200 0\n" % (tick, tick % 300, tick % 300)
        for caller in callers:
            caller.send(line)
        for caller, poller in zip(callers, pollers, strict=True):
            poller.poll(1000)
            caller.recv(65_536)
    for caller in callers:
        caller.sendall(b"done\n")


def one(ticks: int, *, is_floor: bool, pinned: bool) -> float:
    """Microseconds a tick."""
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [sock.getsockname()[1] for sock in socks]
    allowed = os.sched_getaffinity(0)
    if pinned:
        os.sched_setaffinity(0, {max(allowed)})
    server = None
    with tempfile.TemporaryDirectory() as folder:
        if not is_floor:
            for sock in socks:
                sock.close()
            command = [sys.executable, "-m", "referee", "architect", *map(str, ports), "8", "20", "--games", "1", "--max-steps", str(ticks)]
            server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            assert server.stderr is not None
            server.stderr.readline()
        clients = []
        for port in ports:
            clients.append(subprocess.Popen([sys.executable, "-c", CLIENT, str(port)], stdout=subprocess.PIPE, text=True))
        if is_floor:
            floor(socks, ticks)
        result = float(clients[1].communicate()[0])
        clients[0].communicate()
        if server is not None:
            server.communicate()
    os.sched_setaffinity(0, allowed)
    return result


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    ticks = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000
    print(f"{rounds} rounds of {ticks:,} ticks, {Path(sys.executable).name} {sys.version.split()[0]}, {len(os.sched_getaffinity(0))} cores")
    for pinned in (True, False):
        pairs = []
        for _ in range(rounds):
            pairs.append((one(ticks, is_floor=True, pinned=pinned), one(ticks, is_floor=False, pinned=pinned)))
        bare, ours = (median(values) for values in zip(*pairs, strict=True))
        ratio = median(mine / least for least, mine in pairs)
        print(f"{'pinned to one core' if pinned else 'not pinned':<20} floor {bare:6.1f} us   architect {ours:6.1f} us   {ratio:.2f} times")


main()
