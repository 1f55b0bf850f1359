"""The least that a bot needs to speak the protocol by hand; the hostile programs go wrong from here."""

import json
import os
import sys


def send(data):
    """Write bytes to stdout, all of them."""
    if isinstance(data, str):
        data = data.encode()
    while data:
        data = data[os.write(1, data) :]


def receive():
    """The next message from the referee; leaves at the end of input."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ready(name="Hostile"):
    """Read the start message and say ready."""
    start = receive()
    send(json.dumps({"type": "ready", "protocol": 1, "name": name}) + "\n")
    return start


def answer(turn, move="{}", more=""):
    """One good answer."""
    send('{"type":"move","turn":%d,"move":%s%s}\n' % (turn, move, more))


def turns(count=None):
    """Yield questions; answer well and go on where the caller doesn't."""
    done = 0
    while count is None or done < count:
        message = receive()
        if message["type"] == "end":
            sys.exit(0)
        yield message
        done += 1


def play_well(count):
    """Answer that many questions well."""
    for message in turns(count):
        answer(message["turn"])


def next_turn():
    """The turn of the next question."""
    for message in turns(1):
        return message["turn"]
