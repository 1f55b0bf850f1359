"""Machines whose results differ from those of the others: a sign of a broken machine or another version of a runtime."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.league.store import Store

#: The level of significance over all machines together.
_ERROR = 0.01
#: Machines with fewer matches are not judged.
_LEAST = 30


def strange_hosts(store: Store) -> list[tuple[str, str]]:
    """The machines whose endings differ from those of all others, with the reason."""
    endings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for stored in store.matches(done=True):
        record = stored.record
        assert record is not None
        kinds = sorted(set(record.fault_kinds.values()))
        endings[record.host][" and ".join(kinds) if kinds else record.reason] += 1
    return differing(endings)


def differing(endings: Mapping[str, Counter[str]]) -> list[tuple[str, str]]:
    """Compare each machine's endings with those of all others by a chi-squared test.

    Source: K. Pearson, On the criterion that a given system of deviations..., Philosophical Magazine 50 (1900). The level is divided by the
    number of machines (Bonferroni).
    """
    judged = {host: counts for host, counts in endings.items() if counts.total() >= _LEAST}
    if len(judged) < 2:
        return []
    from scipy.stats import chi2_contingency

    found = []
    for host, counts in judged.items():
        others: Counter[str] = Counter()
        for other, more in judged.items():
            if other != host:
                others.update(more)
        kinds = sorted(set(counts) | set(others))
        if len(kinds) < 2:
            continue
        table = [[counts[kind] for kind in kinds], [others[kind] for kind in kinds]]
        p = float(chi2_contingency(table).pvalue)
        if p < _ERROR / len(judged):
            most = max(kinds, key=lambda kind: abs(counts[kind] / counts.total() - others[kind] / others.total()))
            found.append(
                (
                    host,
                    f"{most}: {counts[most]:,} of {counts.total():,} matches, elsewhere {others[most]:,} of {others.total():,}; chi-squared test, p = {p:.1g}",
                )
            )
    return found
