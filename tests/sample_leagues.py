"""Leagues that were never played, of any size, as the report takes them."""

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import TYPE_CHECKING

from referee.league.league import Standing
from referee.league.report import DuelLine, LeagueProgress, MatchLine, ReportData
from referee.league.standings import StandingsRow
from referee.tournament.ratings import Rating
from referee.tournament.values import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

SEATS = ("hunter", "prey")
NAMES = (
    "Boxer", "Searcher", "Runner", "Lasso", "Straight", "Evader", "Corner Pocket", "Zugzwang", "Fermat's Last Hunter", "Null Pointers",
    "Segfault & Sons", "The Greedy Walk", "A*", "Minotaur", "Dijkstra Ultras", "Off By One", "Walls and Peace", "Heisenbug", "Busy Beavers",
    "Löwenzahn",
)  # fmt: skip
HOSTILE = (
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(2)</script>",
    "\"'&lt;`${alert(3)}`",
    "\u202eright to left\u0007\x1b[31m",
    "__proto__",
    "W" * 120,
)


def league(
    teams: int | Sequence[str],
    *,
    seed: int = 1,
    starts: int = 1,
    finished: float = 1.0,
    remark: str = "",
    replay: str = "replays/{key}.replay.jsonl.gz",
) -> ReportData:
    """A round-robin of teams of random strength; ``finished`` is the share of its duels that are over."""
    rng = random.Random(seed)
    if isinstance(teams, int):
        teams = [NAMES[number] if number < len(NAMES) else f"Team {number + 1}" for number in range(teams)]
    strength = {team: rng.gauss(0, 1) for team in teams}
    pairs = [(a, b, start) for a, b in combinations(teams, 2) for start in range(starts)]
    done = round(len(pairs) * finished)
    duels = []
    for number, (a, b, start) in enumerate(pairs[:done]):
        matches = tuple(_match(rng, game, seats, strength, remark, replay) for game, seats in enumerate(((a, b), (b, a))))
        steps = [match.record.steps if match.record.reason == "caught" else math.inf for match in matches]
        first = 0.5 if steps[0] == steps[1] else float(steps[0] < steps[1])
        duels.append(DuelLine(number, number % max(1, len(teams) - 1), (a, b), {a: first, b: 1 - first}, matches, start, note=remark))
    return ReportData(
        name=remark or "Autumn league",
        game="evasion",
        rules="classic",
        format="round-robin",
        settings={"cooldown": 20, "max_steps": 3000},
        progress=LeagueProgress("finished", 2 * done, 2 * done)
        if finished == 1
        else LeagueProgress("running", 2 * done, 2 * len(pairs), 412.0, 1260.0),
        standings=_standings(teams, duels, strength),
        duels=duels,
        seed=7,
        notes=[remark] if remark else [],
        written="22 November 2026, 10:00",
    )


def _match(rng: random.Random, number: int, teams: tuple[str, str], strength: dict[str, float], remark: str, replay: str) -> MatchLine:
    hunter, prey = teams
    lead = strength[hunter] - strength[prey]
    steps = max(20, round(rng.lognormvariate(6 - lead / 2, 0.4)))
    used = {seat: steps * rng.uniform(0.0002, 0.004) for seat in SEATS}
    slowest = {seat: rng.uniform(0.002, 0.6) for seat in SEATS}
    key = f"{rng.getrandbits(128):032x}"
    record = Record(key, None, "", "", {}, steps, {}, {}, used, slowest, replay.format(key=key), "")
    chance = rng.random()
    if chance < 0.02:
        fault = remark or f"{prey} answered after 1.20 s; the limit for a move is 1 s."
        record = record._replace(reason="late", text=f"The prey was late in step {steps}.", winner="hunter", faults={"prey": fault})
    elif chance < 0.03:
        fault = remark or "stdout line 1 is not JSON: 'debug 3' - print to stderr"
        record = record._replace(
            reason="malformed", text="The hunter's answer was malformed.", steps=1, winner="prey", faults={"hunter": fault}
        )
    elif steps > 1200:
        record = record._replace(reason="step-limit", text="The prey evades for 3,000 steps.", steps=3000, winner="prey")
    else:
        record = record._replace(reason="caught", text=f"The hunter catches the prey after {steps} steps.", winner="hunter")
    return MatchLine(number, dict(zip(SEATS, teams, strict=True)), record)


def _standings(teams: Sequence[str], duels: Sequence[DuelLine], strength: dict[str, float]) -> list[Standing]:
    points = dict.fromkeys(teams, 0.0)
    won, tied, lost, total = (dict.fromkeys(teams, 0) for _ in range(4))
    for duel in duels:
        for team in duel.teams:
            points[team] += duel.points[team]
            counts = {1.0: won, 0.5: tied, 0.0: lost}[duel.points[team]]
            counts[team] += 1
        for match in duel.matches:
            total[match.seats["hunter"]] += match.record.steps
    ranked = sorted(teams, key=lambda team: (-points[team], total[team]))
    width = 240 / math.sqrt(max(1, len(duels) * 2 / max(1, len(teams))))
    reach = max(1, round(len(teams) / 30))
    rows = []
    for place, team in enumerate(ranked, 1):
        is_first = place == 1
        places = (1, 1) if is_first else (max(2, place - reach), min(len(teams), place + reach))
        elo = 170 * (strength[team] - sum(strength.values()) / len(teams))
        played = won[team] + tied[team] + lost[team]
        row = StandingsRow(place, False, team, played, won[team], tied[team], lost[team], 0, 0, points[team], float(total[team]), 0)
        rated = (elo, elo - width, elo + width * 1.1) if played else (math.nan, -math.inf, math.inf)
        rows.append(Standing(row, Rating(team, *rated, *places), is_first, None))
    return rows
