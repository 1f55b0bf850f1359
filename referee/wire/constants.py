"""Numbers of protocol 1. They are not in the module of the message models, which takes long to import."""

from typing import Final

PROTOCOL = 1
#: The kind of clock that bills processor time.
CPU: Final = "cpu"
#: The longest name of a player, in characters; a longer one is cut.
NAME_LENGTH = 40
#: The longest ``say``, in characters; a longer one is cut.
SAY_LENGTH = 500
#: The most shapes of a ``draw``, and its largest size in a replay, in bytes of JSON; a larger one is dropped.
MOST_SHAPES = 500
DRAW_BYTES = 20_000
