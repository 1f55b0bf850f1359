"""A client of the 2017 architect's protocol, as students wrote them: connects to a port, reads lines, answers lines."""

import socket
import sys


def main() -> None:
    port, name = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "python"
    with socket.create_connection(("127.0.0.1", port)) as sock, sock.makefile("rw", newline="\n") as stream:
        role = ""
        for line in stream:
            words = line.split()
            if words == ["done"]:
                return
            if words == ["sendname"]:
                answer = name
            elif words in (["hunter"], ["prey"]):
                role = words[0]
                continue
            else:
                game, tick, timer, walls = words[1], words[2], int(words[7]), int(words[14])
                if role == "prey":
                    answer = f"{game} {tick} {-1 if int(tick) % 40 < 20 else 1} 1"
                else:
                    build = 1 + int(tick) // 20 % 2 if not timer and walls < int(words[3]) else 0
                    answer = f"{game} {tick} {build}" + (" 0" if walls == int(words[3]) and not timer else "")
            stream.write(answer + "\n")
            stream.flush()


main()
