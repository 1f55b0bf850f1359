"""``referee.compare``: a comparison of two bots as one call."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee import api, games
from referee.errors import PlayerError, UsageError
from referee.tournament.compare import STANDARD, BotComparison, SequentialTest
from referee.tournament.comparison_store import open_comparison, stored_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.match.request import MatchRequest
    from referee.tournament.sequential import Compared, Decision

    Program = str | os.PathLike[str]


class Comparison:
    """The result of a comparison of two bots: A and B.

    ``decision`` is "better" (A is), "worse", "no-difference" or "undecided". ``share`` is A's mean score of the duels, from 0 to 1, and
    ``low`` to ``high`` its confidence interval; ``elo``, ``elo_low`` and ``elo_high`` are the same as differences of Elo ratings, infinite
    for the shares 0 and 1. ``duels`` counted, of which A won ``wins`` and lost ``losses``; ``matches`` were played. ``faults`` and
    ``not_started`` count the matches in which a bot failed and in which it did not start, by name. ``text`` is a sentence for people.
    """

    def __init__(self, comparison: BotComparison) -> None:
        state = comparison.compared()
        self._json = comparison.to_json()
        self.a, self.b, self.against = comparison.a, comparison.b, list(comparison.against)
        #: The only role in which they were compared; None for all roles.
        self.seat: Seat | None = comparison.seat
        self.seed: int = comparison.seed
        self.decision: Decision = state.decision
        self.duels, self.wins, self.ties, self.losses = state.duels, state.wins, state.ties, state.losses
        self.share, self.low, self.high = state.share, state.low, state.high
        self.elo, self.elo_low, self.elo_high = state.elo, state.elo_low, state.elo_high
        self.matches: int = comparison.matches
        self.faults: dict[str, int] = self._json["faults"]
        self.not_started: dict[str, int] = self._json["not_started"]
        self.text: str = comparison.sentence(more="duels=")

    def to_json(self) -> dict[str, Json]:
        """The same as ``referee compare --json`` prints."""
        return self._json

    def __repr__(self) -> str:
        return f"<Comparison {self.a} - {self.b}: {self.text}>"


def compare(
    a: Program,
    b: Program,
    *,
    against: Program | Sequence[Program] = (),
    seat: Seat | None = None,
    p0: float = STANDARD.p0,
    p1: float = STANDARD.p1,
    alpha: float = STANDARD.alpha,
    beta: float = STANDARD.beta,
    duels: int = STANDARD.duels,
    slots: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[Compared], None] | None = None,
    **options: Any,
) -> Comparison:
    """Find out whether program A is better than program B, with as few duels as possible: ``referee compare``.

    They play duels from drawn starts until a sequential test decides, at most ``duels`` of them: against each other, or each against the
    programs ``against``. ``seat`` is a role, to compare them in this role only. ``p0`` and ``p1`` are A's share if it is no better and if it
    is better; ``alpha`` and ``beta`` the chances of the two errors. ``slots`` is the number of matches at
    once (None: as many as this machine has cores and memory for). ``out`` is a folder that keeps the duels, so that the same call continues
    them. ``progress`` is called with the state of the comparison after each duel that counts. ``options`` are those of
    ``referee.play``: ``game``, ``rules``, ``seed``, ``time``, ``isolation`` and the settings of the game.

    Raises UsageError, SettingsError or PlayerError where a value is wrong, StartError if an opponent never starts, and MatchVoid if the
    referee fails.
    """
    opponents = [against] if isinstance(against, (str, os.PathLike)) else list(against)
    for program in (a, b, *opponents):
        if not isinstance(program, (str, os.PathLike)):
            raise PlayerError(
                f"{getattr(program, '__name__', repr(program)):.60} is not a program: compare takes files, folders, command lines and names of "
                "example bots, and play_many also takes bot classes."
            )
    folder = api.path_text(out)
    request, _ = api.request((a, b), draws_starts=True, **options)
    names = [str(program) for program in (a, b, *opponents)]
    comparison = begin(request, names, SequentialTest(p0, p1, alpha, beta, duels), slots, seat, None if folder is None else Path(folder))
    with contextlib.closing(duels_of(comparison, None if folder is None else Path(folder))) as states:
        for state in states:
            if progress is not None:
                progress(state)
    return Comparison(comparison)


def begin(
    request: MatchRequest, programs: Sequence[str], test: SequentialTest, slots: int | None, seat: Seat | None, out: Path | None
) -> BotComparison:
    """Return the comparison of A, B and their opponents. It has the seed of the one that the folder ``out`` keeps, unless the request has one."""
    if out is not None and out.is_file():
        raise UsageError(f"--out is {str(out)!r:.200}, a file; a comparison writes several files and needs a folder.")
    if request.seed is None and out is not None:
        request = request.replace(seed=stored_seed(out))
    a, b, *against = programs
    return BotComparison(request, a, b, against, test, slots, seat)


def duels_of(
    comparison: BotComparison,
    out: Path | None,
    on_match: Callable[[], None] = lambda: None,
    on_note: Callable[[str], None] = lambda _: None,
    on_stored: Callable[[int], None] = lambda _: None,
) -> Generator[Compared, None, None]:
    """Play the duels; yield the state after each that counts. ``on_stored`` is called with the number of matches already in ``out``."""
    with contextlib.ExitStack() as stack:
        if out is None:
            folder, store = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="referee-compare-"))), None
        else:
            opened = open_comparison(out, comparison.facts, list(comparison.teams.values()), comparison.number_of)
            folder, store = out, stack.enter_context(opened)
            on_stored(store.counts().done)
        yield from stack.enter_context(contextlib.closing(comparison.run(folder, on_match, on_note, store)))


def first_match(comparison: BotComparison, flags: Mapping[str, Any]) -> list[str]:
    """Return the words of a command that plays on the first start with the same ``flags``: a duel of A and B, or one match where that isn't possible."""
    game, start = comparison.request.game_object, comparison.first_start
    others = {name: value for name, value in flags.items() if name not in (*start, "seed", "game")}
    drawn = {name: ",".join(map(str, value)) for name, value in start.items()}
    which = [] if game.info.name == games.names()[0] else ["--game", game.info.name]
    a, b, *opponents = comparison.programs.values()
    bots = [a, b]
    if comparison.seat is not None:
        bots = [a if seat == comparison.seat else opponents[0] for seat in game.seats(comparison.request.checked_settings)]
    is_duel = game.pairing is not None and comparison.seat is None
    return ["duel" if is_duel else "play", *bots, *which, *_words({**others, **drawn})]


def _words(flags: Mapping[str, Any]) -> list[str]:
    """Return options as words of a command line, from their values by name."""
    texts = []
    for name, value in flags.items():
        dashed = name.replace("_", "-")
        if isinstance(value, bool):
            texts.append(f"--{dashed}" if value else f"--no-{dashed}")
        else:
            texts += [word for each in (value if isinstance(value, list) else [value]) for word in (f"--{dashed}", str(each))]
    return texts
