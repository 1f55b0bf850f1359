"""A client of the 2010 game server's protocol: joins, and passes or walks until the game is over."""

import re
import socket
import sys


def main() -> None:
    port, name = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "python"
    with socket.create_connection(("127.0.0.1", port)) as sock, sock.makefile("rw", newline="\n") as stream:
        print(f"JOIN {name}", file=stream, flush=True)
        role = stream.readline().split()[1]
        stream.readline()
        for line in stream:
            if line.startswith("GAMEOVER"):
                print(line, end="")
                return
            hx, _hy, px, _py = map(int, re.match(r"YOURTURN \d+ H\((\d+), (\d+), \d+, \w\w\), P\((\d+), (\d+)", line).groups())  # type: ignore[union-attr]
            if role == "PREY":
                print("SE" if px < hx else "E", file=stream, flush=True)
            else:
                print("PASS", file=stream, flush=True)


main()
