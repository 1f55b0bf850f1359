"""Decides who is to blame for void matches in which nobody can see that: the supervisor was killed, or the machine was too busy to judge.

Theory of operation. One such match proves nothing against either team, and neither do repeats of it: the other team may do it each time. It is
a team's fault once it has happened to it against two different opponents of whom none is to blame already. Programs of the organizers are
never to blame, so against these the first repeat is the fault of the other team. If two teams come to that by the same match, it is
nobody's fault yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Dispute(NamedTuple):
    """A void match: its ``teams`` without those of the organizers, and those of them that can be to blame, the ``suspects``."""

    teams: frozenset[str]
    suspects: frozenset[str]


def blamed(disputes: Iterable[Dispute]) -> set[str]:
    """Return the teams that are to blame for void matches, by all these in the order in which they ended."""
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
