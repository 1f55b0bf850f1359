"""The starts of a league: drawn from its secret, or listed in a file. The same starts serve both roles and all pairs.

A game with the capability ``starts`` draws positions, which become settings. Other games draw their start from the match's seed: there
only the seeds of the starts differ.
"""

from __future__ import annotations

import hmac
from itertools import count as count_from
from itertools import islice
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.games.values import is_whole
from referee.replay.faults import predicate
from referee.replay.paths import content
from referee.support.canonical import canonical
from referee.support.plain_text import plain
from referee.tournament.values import MatchStart
from referee.wire import strict_json
from referee.wire.seeds import secret_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import AnyGame, Json, Settings

#: The most starts of a league.
MOST = 100_000
_MOST_BYTES = 64 << 20
#: The number of draws of known positions in a row after which a new position is unlikely.
_MOST_DRAWS = 1_000
_SEEDS = range(-(2**63), 2**63)
#: The starts of the last call, and its arguments.
_last: dict[tuple[str, str, str, bytes, int], tuple[MatchStart, ...]] = {}


def starts(game: AnyGame, settings: Settings, secret: bytes, count: int) -> tuple[MatchStart, ...]:
    """Return the first starts that the secret draws for these settings. Raises SettingsError as ``drawn`` does.

    Those of the last call are cached: opening an arena needs its thousand starts five times, to check its file, to compare and to play.
    """
    key = (game.info.name, settings.rules, canonical(game.codec.settings_json(settings)), secret, count)
    drawn_starts = _last.get(key)
    if drawn_starts is None:
        drawn_starts = tuple(islice(drawn(game, settings, secret), count))
        _last.clear()
        _last[key] = drawn_starts
    return drawn_starts


def standard(secret: bytes) -> tuple[MatchStart, ...]:
    """Return the only start of a league whose file doesn't mention starts: the start of its settings."""
    return (MatchStart(0, {}, _seed(secret, 0)),)


def drawn(game: AnyGame, settings: Settings, secret: bytes) -> Iterator[MatchStart]:
    """Draw start after start, none twice. Start number n depends only on the settings, the secret and n.

    Raises SettingsError if the settings allow no fair start, or no further one.
    """
    source = game.starts
    if source is None:
        yield from (MatchStart(number, {}, _seed(secret, number)) for number in count_from())
        return
    positions: set[str] = set()
    for number in count_from():
        for attempt in range(_MOST_DRAWS):
            seed = _seed(secret, number, attempt)
            position = source.draw(settings, secret_of(seed))
            text = canonical(dict(position))
            if text not in positions:
                break
        else:
            raise SettingsError(f"these settings have hardly more than {len(positions):,} different starts; ask for fewer.")
        positions.add(text)
        yield MatchStart(number, position, seed)


def match_seed(start: MatchStart, repeat: int = 0) -> int:
    """Return the seed of the matches on a start: that of the start, and others for its repetitions. Bots never see it.

    All pairs and both games of a duel have the same seed, because a game may draw its start from it.
    """
    if not repeat:
        return start.seed
    return _number(secret_of(start.seed), f"repeat/{repeat}")


def read(path: Path, game: AnyGame, variants: Sequence[tuple[str, Settings]], secret: bytes) -> tuple[MatchStart, ...]:
    """Return the starts of a file with one JSON object a line. ``variants`` are names and settings.

    A line is ``{"settings": {...}, "seed": 7}``, each part optional, or only the settings. A start without a seed gets one from the
    secret. Each start is tried in all variants. The UsageError names the file, the line and what is wrong.
    """
    where = f"The starts file {path}"
    text = plain(content(path, where, _MOST_BYTES))
    listed: list[MatchStart] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            settings, seed = _read_line(line)
            for name, base in variants:
                _check(game, name, base, settings)
        except (SettingsError, strict_json.NotJson) as error:
            raise UsageError(f"{where}, line {number}: {_sentence(error)}") from None
        before = lines.setdefault(canonical([settings, seed]), number)
        if before != number:
            raise UsageError(f"{where}, line {number}: this is the same start as in line {before}; remove one of them.")
        if len(listed) == MOST:
            raise UsageError(f"{where} has more than {MOST:,} starts, the limit.")
        listed.append(MatchStart(len(listed), settings, _seed(secret, len(listed)) if seed is None else seed))
    if not listed:
        raise UsageError(f'{where} has no start; write one JSON object a line, such as {{"settings": {{}}, "seed": 7}}.')
    return tuple(listed)


def _read_line(line: bytes) -> tuple[Mapping[str, Json], int | None]:
    """Return the settings and the seed of a line. Raises SettingsError or NotJson."""
    value = strict_json.read(line)
    if not isinstance(value, dict):
        raise SettingsError("this is not a JSON object; write the settings of a start in braces.")
    if not {"settings", "seed"} & value.keys():
        return value, None
    unknown = next((key for key in value if key not in ("settings", "seed")), None)
    if unknown is not None:
        raise SettingsError(f"{unknown!r:.60} stands beside 'settings' or 'seed'; put it into 'settings'.")
    settings, seed = value.get("settings", {}), value.get("seed")
    if not isinstance(settings, dict):
        raise SettingsError("'settings' must be an object.")
    if seed is not None and (not is_whole(seed) or seed not in _SEEDS):
        raise SettingsError("'seed' must be a whole number from -2**63 to 2**63 - 1.")
    return settings, seed


def _check(game: AnyGame, name: str, settings: Settings, start_settings: Mapping[str, Json]) -> None:
    """Raise SettingsError unless a game can begin with these settings in the variant of that name, with the same seats."""
    try:
        if game.seats(placed(game, settings, start_settings)) != game.seats(settings):
            raise SettingsError("a start can't change the number of players.")
    except SettingsError as error:
        raise SettingsError(f"{_sentence(error)[:-1]} (in the variant '{name}')." if name else str(error)) from None


def placed(game: AnyGame, settings: Settings, start: Mapping[str, Json]) -> Settings:
    """Return the checked settings of a match: a variant's, with those of a start. Raises SettingsError."""
    if not start:
        return settings
    return game.codec.settings(settings.rules, {**game.codec.settings_json(settings), **start})


def is_placed(game: AnyGame, settings: Settings, start: Mapping[str, Json]) -> bool:
    """True if a start names everything that the game would draw, so that nothing is left to the settings."""
    source = game.starts
    return source is not None and source.draw(settings, b"").keys() <= start.keys()


def _sentence(error: Exception) -> str:
    text = f"this line {predicate(error)}" if isinstance(error, strict_json.NotJson) else str(error)
    return text if text.endswith(".") else f"{text}."


def _seed(secret: bytes, number: int, attempt: int = 0) -> int:
    return _number(secret, f"start/{number}/{attempt}" if attempt else f"start/{number}")


def _number(secret: bytes, what: str) -> int:
    """Return a number from 0 to 2**53 - 1 that reveals nothing about the secret."""
    return int.from_bytes(hmac.digest(secret, what.encode(), "sha256")[:8], "big") >> 11
