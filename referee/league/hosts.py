"""Finds machines whose results differ from those of the others: a sign of a broken machine or another version of a runtime."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.league.folder import LeagueView
    from referee.league.league import OpenLeague

#: The level of significance over all machines together.
_ERROR = 0.01
#: Machines with fewer matches are not judged.
_LEAST = 30


def strange_hosts(view: LeagueView) -> list[tuple[str, str]]:
    """Return the machines on which matches end differently than on all others, with the reason."""
    endings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for match in view.matches(done=True):
        record = match.record
        assert record is not None
        endings[record.host][" and ".join(sorted(set(record.fault_kinds.values()))) or record.reason] += 1
    return differing(endings)


def differing(endings: Mapping[str, Counter[str]]) -> list[tuple[str, str]]:
    """Compare each machine's endings with those of all others by a chi-squared test; the machine that differs most comes first.

    A machine that differs is left out of "the others" for the next ones. If two machines differ, both are named: nobody can say which of them
    is right. Source: K. Pearson, On the criterion that a given system of deviations..., Philosophical Magazine 50 (1900). The level
    is divided by the number of machines (Bonferroni).
    """
    judged = {host: counts for host, counts in endings.items() if counts.total() >= _LEAST}
    level = _ERROR / max(1, len(judged))
    differing_hosts = []
    while len(judged) > 1:
        tests = {
            host: _test(counts, sum((more for other, more in judged.items() if other != host), Counter()))
            for host, counts in judged.items()
        }
        strange = sorted((p, host) for host, (p, _) in tests.items() if p < level)
        if not strange:
            break
        for _, host in strange if len(judged) == 2 else strange[:1]:
            differing_hosts.append((host, tests[host][1]))
            del judged[host]
    return differing_hosts


def _test(counts: Counter[str], others: Counter[str]) -> tuple[float, str]:
    """Return the p-value of the hypothesis that both have the same endings, and the ending that differs most as a phrase."""
    from scipy.stats import chi2_contingency

    kinds = sorted(set(counts) | set(others))
    if len(kinds) < 2:
        return 1.0, ""
    p = float(chi2_contingency([[counts[kind] for kind in kinds], [others[kind] for kind in kinds]]).pvalue)
    most = max(kinds, key=lambda kind: abs(counts[kind] / counts.total() - others[kind] / others.total()))
    numbers = f"{counts[most]:,} of {counted(counts.total(), 'match')}, elsewhere {others[most]:,} of {others.total():,}"
    return p, f"{most}: {numbers}; chi-squared test, p = {p:.1g}"


def warnings_of_hosts(opened: OpenLeague) -> Iterator[str]:
    """Yield sentences on which machines gave other results than the others, and which matches were played twice with different results."""
    for host, why in strange_hosts(opened.view):
        yield (f"warning: the results of the machine {host} differ from the others' ({why}).")
    disagreements = opened.store.disagreements()
    names = {match.task.key: match.task.names for match in opened.view.matches(done=True)} if disagreements else {}
    for record in disagreements:
        if record.key in names:
            yield (
                f"warning: a match of {' and '.join(names[record.key].values())} was played twice with different results. The first one "
                f"counts; the second one is from {record.host}, replay {opened.folder / record.replay}."
            )
