"""Where many matches are played: in slots of this machine, or on the workers of a cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from referee.handins.values import Entry
    from referee.match.options import MatchOptions
    from referee.tournament.local import Pool
    from referee.tournament.worker import Terms

#: The address of a Dask scheduler, or a number of workers of this machine.
_ADDRESS = re.compile(r"local:[1-9][0-9]{0,2}|(?!local:)([a-z]+://)?[^/\s]+:[0-9]{1,5}")


class Workers(NamedTuple):
    """Where to play: in a number of slots on this machine (None: as many as fit) or on a cluster."""

    slots: int | None = None
    cluster: str | None = None

    @property
    def is_here(self) -> bool:
        """True if this machine plays."""
        return self.cluster is None or self.cluster.startswith("local")

    def check_machine(self, options: MatchOptions) -> None:
        """Raise UsageError if this machine certainly can't give the bots what the options promise."""
        from referee.isolation import machine
        from referee.tournament.local import checked_slots

        if self.cluster is None:
            bots = machine.BOTS_OF_A_MATCH * checked_slots(self.slots, options.limits)
            machine.refuse(options.isolation, options.limits, bots, options.time.cpu_seconds)

    def or_slots(self, slots: int | None) -> Workers:
        """Return these workers; if the user chose none, this number of matches at once on this machine."""
        return self._replace(slots=slots) if self.slots is None and self.cluster is None else self


def check_place(slots: int | None, cluster: str | None) -> None:
    """Raise UsageError unless these are a valid number of slots and address of a cluster."""
    if slots is not None:
        from referee.isolation.limits import Limits
        from referee.tournament.local import checked_slots

        checked_slots(slots, Limits())
        if cluster is not None:
            raise UsageError("--slots is for this machine; a cluster has as many slots as its workers have threads.")
    if cluster is not None and _ADDRESS.fullmatch(cluster) is None:
        raise UsageError(
            f"--cluster is {cluster!r:.80}, but must be an address such as tcp://HOST:8786, or local:N with a number from 1 to 999."
        )


def open_pool(
    terms: Terms,
    teams: Mapping[str, Entry],
    replays: Path,
    workers: Workers,
    on_note: Callable[[str], None],
    on_level: Callable[[str], None] = lambda _: None,
) -> Pool:
    """The workers for many matches: those of this machine, or of a cluster.

    ``on_note`` gets notes on them. ``on_level`` is called with each level of isolation.
    """
    from referee.tournament.local import LocalPool, checked_slots

    if workers.cluster is not None:
        from referee.tournament.cluster import ClusterPool

        if workers.is_here:
            on_note(
                "note: While local:N plays, every user of this machine can run programs as you; use it only on a machine that nobody else uses."
            )
        return ClusterPool(terms, teams, replays, workers.cluster, on_level=on_level, on_note=on_note)
    from referee.isolation.launcher import open_launcher

    workers.check_machine(terms.options)
    level = open_launcher(terms.options.isolation, terms.options.limits).level
    for text in level.notes:
        on_note(f"note: {text}")
    on_level(level.name)
    return LocalPool(terms, teams, replays, checked_slots(workers.slots, terms.options.limits))
