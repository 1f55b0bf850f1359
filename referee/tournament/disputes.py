"""Decides who is to blame for void matches without a visible culprit: the supervisor was killed, or the machine was too busy to judge.

Theory of operation. One such match proves nothing against either team, and neither do repeats: the other team may cause it each time. It is
a team's fault once it has happened to it against two different opponents who are not to blame already. Programs of the organizers are
never to blame, so against these the first repeat is the fault of the other team. If the same match would convict two teams, it is
nobody's fault yet.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import DISPUTED
from referee.tournament.plan import MOST_VOIDS, after_three

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.tournament.plan import GivesUp
    from referee.tournament.values import Record, Task

    #: Returns the owner of a program; None for the organizers, who are never to blame.
    Owner = Callable[[str], str | None]


class Dispute(NamedTuple):
    """A void match: its ``teams`` without those of the organizers, and the ``suspects`` among them."""

    teams: frozenset[str]
    suspects: frozenset[str]


def blamed(disputes: Iterable[Dispute]) -> set[str]:
    """Return the teams to blame for these void matches, which are in the order of their ends."""
    culprits: set[str] = set()
    unexplained: list[Dispute] = []
    for dispute in disputes:
        if culprits.isdisjoint(dispute.teams):
            unexplained.append(dispute)
            new = [team for team in dispute.suspects if _has_two_opponents(team, unexplained)]
            culprits.update(new if len(new) == 1 else ())
            unexplained = [earlier for earlier in unexplained if culprits.isdisjoint(earlier.teams)]
    return culprits


def _has_two_opponents(team: str, disputes: Iterable[Dispute]) -> bool:
    """True if two of these matches, of which the team can be to blame, have no other team in common."""
    others = [dispute.teams - {team} for dispute in disputes if team in dispute.suspects]
    return any(others[a].isdisjoint(others[b]) for b in range(len(others)) for a in range(b))


def dispute_of(names: Iterable[str], suspects: Iterable[str], owner: Owner) -> Dispute:
    """Return the dispute of a match of entries with these suspects."""
    return Dispute(*(frozenset(filter(None, map(owner, each))) for each in (names, suspects)))


def patience(owner: Owner) -> GivesUp:
    """Return what decides when a match is given up: after three void attempts.

    One without a visible culprit is given up with the third such match of its entries, or once it shows the culprit.
    """
    disputes, pairs, gives_up_after_three = list[Dispute](), Counter[frozenset[str]](), after_three()

    def gives_up(task: Task, record: Record) -> bool:
        if record.cause not in DISPUTED or task.blamed:
            return gives_up_after_three(task, record)
        names = tuple(task.names.values())
        dispute = dispute_of(names, record.hit or names, owner)
        disputes.append(dispute)
        pairs[frozenset(names)] += 1
        return pairs[frozenset(names)] >= MOST_VOIDS or not dispute.teams.isdisjoint(blamed(disputes))

    return gives_up
