"""A separate program, started in the bot's place, that connects the match's pipes to a program that communicates over TCP.

    python -I -S relay.py PORT COMMAND [ARGUMENT...]

Theory of operation. Old programs connect to a port. A sandbox has only its own loopback interface, so the listening socket must be
inside. Outside, the match needs pipes: it measures, stops and ends every bot in the same way. So this program listens on PORT of
127.0.0.1 (0: any free port). It starts a process that passes bytes between the first connection and its own standard input and
output. Then it executes COMMAND in its own process, with ``{port}`` replaced in its words. So the exit status, signals and limits are those of
COMMAND. All output of COMMAND, on either stream, goes to its log.

The relay copies bytes and doesn't interpret them. It runs without the rest of the package.
"""

import os
import select
import socket
import sys

PORT = "{port}"


def main(argv: list[str]) -> None:
    """Listen, start the process that passes bytes, and execute the program."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", int(argv[1])))
    except OSError as error:
        fail(f"port {argv[1]} isn't available for it ({error.strerror}); pass it another one by {PORT}", 125)
    listener.listen(1)
    port = str(listener.getsockname()[1])
    command = [word.replace(PORT, port) for word in argv[2:]]
    if not os.fork():
        try:
            carry(listener)
        except (OSError, KeyboardInterrupt):
            pass
        os._exit(0)
    listener.close()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    import signal

    # Python ignores SIGPIPE; the program expects the default.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execv(command[0], command)  # noqa: S606 - the person at the keyboard named it
    except OSError as error:
        fail(f"failed to execute {command[0]}: {error.strerror}", 127 if isinstance(error, FileNotFoundError) else 126)


def fail(text: str, status: int) -> None:
    """Print the reason, and exit."""
    os.write(2, f"relay: {text}\n".encode("utf-8", "backslashreplace"))
    os._exit(status)


def carry(listener: socket.socket) -> None:
    """Copy bytes between the first connection and standard input and output until one end is closed."""
    connection, _ = listener.accept()
    listener.close()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    fd = connection.fileno()
    waiting = select.poll()
    waiting.register(fd, select.POLLIN)
    waiting.register(0, select.POLLIN)
    while True:
        for ready, _ in waiting.poll():
            data = os.read(ready, 65536)
            if ready == fd:
                if not data:
                    return
                while data:
                    data = data[os.write(1, data) :]
            elif data:
                connection.sendall(data)
            else:
                # The match is over; the program may still send something.
                waiting.unregister(0)
                connection.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(sys.argv)
