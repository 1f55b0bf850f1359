"""What each format shows: its order and the sentence about it, ties and the bracket of an elimination, Buchholz, points a duel, and CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from leagues import Notes, PretendPool, all_tied, beats, open_new, play, played, ties
from served_pages import axe, launched, visiting

from referee.league import report_page, schedule
from referee.league.playing import LeaguePlay
from referee.league.report import of_league
from referee.league.schedule import FixturePlan
from referee.league.standings import FIXTURE_RULE, rule, table
from referee.league.standings_text import table as text_table

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from referee.league.league import OpenLeague
    from referee.tournament.values import Record, Task

    Referee = Callable[..., subprocess.CompletedProcess[str]]

DOCS = Path(__file__).parents[2] / "docs"


def begun(folder: Path, kind: str, done: int = 1000, extra: str = "") -> OpenLeague:
    """A league of five teams, of which so many matches are done."""
    opened = open_new(folder, teams=5, extra=f'format = "{kind}"\n{extra}[starts]\ncount = 2\n', settings="width = 30\nheight = 30\n")
    left = iter(range(done))

    def play_some(task: Task) -> Record:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return play(task)

    try:
        LeaguePlay(opened, PretendPool(play_some)).run(Notes())
    except KeyboardInterrupt:
        assert done < 1000
    return opened


def test_a_live_table_is_ordered_by_points_a_duel() -> None:
    results = [beats(0, "A", "B"), beats(1, "A", "C"), beats(2, "D", "A"), beats(3, "D", "C")]
    assert [row.team for row in table(results, "ABCD")][:2] == ["D", "A"]
    # A has more points than D, from more duels.
    more = [*results, beats(4, "A", "B")]
    assert next((row.team, row.points, row.played) for row in table(more, "ABCD")) == ("A", 3.0, 4)
    assert next((row.team, row.points, row.played) for row in table(more, "ABCD", is_live=True)) == ("D", 2.0, 2)


def test_buchholz_is_the_points_of_all_opponents_and_decides_after_points() -> None:
    # A and B have a point each. A met C, which has 2; B met D, which has none.
    results = [beats(0, "C", "A"), beats(1, "B", "D"), beats(2, "A", "D", round_=1), beats(3, "C", "B", (1, 1), round_=1)]
    rows = {row.team: row for row in table(results, "BADC", has_buchholz=True)}
    assert {team: row.buchholz for team, row in rows.items()} == {"A": 2.0, "B": 2.0, "C": 2.0, "D": 2.0}
    assert {row.buchholz for row in table(results, "ABCD")} == {None}
    uneven = [beats(0, "C", "A"), beats(1, "B", "D"), beats(2, "C", "D", round_=1)]
    order = [(row.team, row.points, row.buchholz) for row in table(uneven, "ABCD", has_buchholz=True, byes={"A": 1}, duels_each=1)]
    # The bye of A counts as an opponent with A's own point.
    assert order == [("C", 2.0, 1.0), ("A", 1.0, 3.0), ("B", 1.0, 0.0), ("D", 0.0, 3.0)]


def test_ties_of_an_elimination_are_explained() -> None:
    plan = FixturePlan("elimination", ("A", "B", "C", "D"), duels_each=2)
    results = [ties(0, "A", "D"), ties(1, "A", "D"), beats(2, "B", "C", (100, 90)), beats(3, "C", "B", (110, 80))]
    lines = schedule.bracket(plan, results)
    assert [(line.teams, line.points, line.winner) for line in lines] == [
        (("A", "D"), (1.0, 1.0), "A"),
        (("B", "C"), (1.0, 1.0), "B"),
        (("A", "B"), (0.0, 0.0), None),
    ]
    assert [line.tie for line in lines] == [
        "Round 1: A and D have 1 point each; A goes on because it stands before the other in the list of teams.",
        "Round 1: B and C have 1 point each; B goes on because its total is better, 180 to 200.",
        "",
    ]
    _, all_results = played(FixturePlan("elimination", tuple("ABCDE")), all_tied)
    assert [line.winner for line in schedule.bracket(FixturePlan("elimination", tuple("ABCDE")), all_results)][-1] == "A"


@pytest.mark.parametrize("kind", schedule.FORMATS[:3])
@pytest.mark.parametrize("done", [7, 1000])
def test_tables_pages_and_sentences_say_the_same_rule(kind: str, done: int, tmp_path: Path) -> None:
    opened = begun(tmp_path, kind, done)
    data = of_league(opened)
    is_live = done < 1000
    assert (data.order, data.is_live, opened.view.state().is_live) == (rule(kind, is_live=is_live), is_live, is_live)
    text = (DOCS / "leagues.md").read_text(encoding="utf-8")
    assert any(f"`{kind}`" in line and line.endswith(f"| {rule(kind, is_live=False)} |") for line in text.splitlines())
    assert FIXTURE_RULE in " ".join(text.split())
    assert (f'<p class="note">{FIXTURE_RULE}</p>' in report_page.html(data)) == (kind == "elimination")
    rows = [place.row for place in data.standings]
    first = [row.points / max(1, row.played + 2 * row.byes) if kind != "elimination" else row.stage for row in rows]
    if kind == "elimination" or is_live:
        assert first == sorted(first, reverse=True)
    else:
        assert [row.points for row in rows] == sorted((row.points for row in rows), reverse=True)
    assert (len(data.bracket) > 0) == (kind == "elimination")
    assert ("rounds survived" in report_page.html(data)) == (kind == "elimination")
    assert (rows[0].buchholz is not None) == (kind == "swiss")
    heading = text_table(opened.standings(opened.view.state(), resamples=50), 120, is_live=is_live, kind=kind)[0]
    assert ("rounds" in heading, "Buchholz" in heading) == (kind == "elimination", kind == "swiss")
    assert ("a duel" in heading) == (is_live and kind != "elimination")
    assert heading.split()[:2] == ["place", "team"]
    assert "duels" in heading
    assert heading.endswith("possible places")


def test_standings_for_a_spreadsheet(referee: Referee, tmp_path: Path) -> None:
    opened = begun(tmp_path, "swiss", extra="rounds = 2\n")
    opened.close()
    done = referee("league", "standings", tmp_path / "out", "--csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines()))
    known = json.loads(referee("league", "standings", tmp_path / "out", "--json").stdout)["standings"]
    assert list(rows[0]) == list(known[0])
    assert [(row["team"], float(row["points"]), float(row["buchholz"])) for row in rows] == [
        (row["team"], row["points"], row["buchholz"]) for row in known
    ]
    both = referee("league", "standings", tmp_path / "out", "--csv", "--json")
    assert (both.returncode, "--csv and --json" in both.stderr) == (2, True)


@pytest.mark.slow
def test_the_page_has_a_bracket_and_names_the_time_of_the_processor(tmp_path: Path) -> None:
    opened = begun(tmp_path / "one", "elimination", extra='clock = "cpu"\n')
    (tmp_path / "page.html").write_text(report_page.html(of_league(opened)))
    swiss = begun(tmp_path / "two", "swiss", 9)
    (tmp_path / "swiss.html").write_text(report_page.html(of_league(swiss)))
    with launched() as chromium, visiting(chromium) as visit:
        page = visit(f"file://{tmp_path}/page.html", {"width": 1280, "height": 800})
        page.locator("#duels .duels").wait_for()
        assert page.locator("#bracket h3").all_inner_texts() == ["Quarterfinals", "Semifinals", "Final"]
        assert page.locator("#bracket .round:last-child .best").count() == 1
        assert page.locator("#bracket .faint", has_text="bye").count() == 3
        assert page.locator("#bracket .note").inner_text() == FIXTURE_RULE
        assert page.locator("#time-title").inner_text() == "CPU time"
        assert "CPU time 0.10 s" in (page.locator(".match").first.get_attribute("title") or "")
        assert page.locator("#standings .note").inner_text().startswith(rule("elimination", is_live=False))
        assert axe(page) == []
        other = visit(f"file://{tmp_path}/swiss.html", {"width": 1280, "height": 800})
        other.locator("#duels .duels").wait_for()
        headings = other.locator("#standings thead th").all_inner_texts()
        assert headings[:6] == ["Place", "Team", "Points", "A duel", "Duels", "Buchholz"]
        assert "Possible places" not in headings, "so few duels allow every place"
        assert other.locator("#bracket").is_hidden()
        assert other.locator("#time-title").inner_text() == "Time"
