"""A referee for matches between bot programs.

The Python API (docs/python.md): ``play``, ``duel``, ``play_many``, ``compare``, ``open_replay``, ``ask`` and what they return. Each is loaded when it
is first used, so that bots, which import the rules from here, pay nothing for it.
"""

from referee.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from referee.api import Result as Result
    from referee.api import play as play
    from referee.author.debugger import BotAnswer as BotAnswer
    from referee.author.debugger import ask as ask
    from referee.replay_view import Replay as Replay
    from referee.replay_view import open_replay as open_replay
    from referee.tournament.comparison import Comparison as Comparison
    from referee.tournament.comparison import compare as compare
    from referee.tournament.duel import Duel as Duel
    from referee.tournament.duel import duel as duel
    from referee.tournament.many import ManyGame as ManyGame
    from referee.tournament.many import play_many as play_many

__all__ = ["BotAnswer", "Comparison", "Duel", "ManyGame", "Replay", "Result", "ask", "compare", "duel", "open_replay", "play", "play_many"]

_HOMES = {
    "BotAnswer": "author.debugger",
    "Comparison": "tournament.comparison",
    "Duel": "tournament.duel",
    "ManyGame": "tournament.many",
    "Replay": "replay_view",
    "Result": "api",
    "ask": "author.debugger",
    "compare": "tournament.comparison",
    "duel": "tournament.duel",
    "open_replay": "replay_view",
    "play": "api",
    "play_many": "tournament.many",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"referee.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
