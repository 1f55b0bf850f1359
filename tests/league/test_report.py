"""The report as a file: what it holds, what stays text, and its folder."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradings import tables
from leagues import HOSTILE, NAMES, league

from referee.league import report_folder, report_page
from referee.league.report import LeagueProgress
from referee.pages import render
from referee.pages.page import asset
from referee.replay.replay_index import ReplayIndex

if TYPE_CHECKING:
    from referee.league.report import ReportData

RECORDED = Path(__file__).parents[1] / "data" / "replays" / "evasion-classic-boxer-runner.replay.jsonl.gz"


def held(page: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The configuration and the duels of a page."""
    config = re.search(r'id="page">(.*?)</script>', page)
    bulk = re.search(r'id="bulk">(.*?)</script>', page)
    assert config is not None
    assert bulk is not None
    return json.loads(config[1]), json.loads(gzip.decompress(base64.b64decode(bulk[1])))


@pytest.mark.parametrize("teams", [6, 20])
def test_every_duel_and_match_is_in_the_page(teams: int) -> None:
    data = league(teams, starts=2)
    page = report_page.html(data)
    config, pack = held(page)
    found = tables(page)
    assert config["teams"] == [place.row.team for place in data.standings]
    assert [(row[0], row[1], row[2]) for row in found["standings-table"]] == [
        (str(row.place), row.team, render.points(row.points)) for row, *_ in data.standings
    ]
    texts, (prefix, suffix) = pack["texts"], pack["replay"]
    assert len(pack["duels"]) == len(data.duels)
    for duel, (number, details, names, points, best, matches, note) in zip(data.duels, pack["duels"], strict=True):
        assert (number, texts[details], texts[note]) == (duel.number, f"round {duel.round + 1} · start {duel.start + 1}", "")
        assert {texts[name]: texts[value] for name, value in zip(names, points, strict=True)} == {
            team: render.points(value) for team, value in duel.points.items()
        }
        assert [texts[names[at]] for at in best] == [team for team, value in duel.points.items() if value == 1]
        for (game_number, of_seats, match), row in zip(duel.matches, matches, strict=True):
            game, seats, players, winner, reason, text, facts, faults, replay, has_page = row
            sentence = match.text
            for seat, team in of_seats.items():
                sentence = sentence.replace(f"The {seat}", team).replace(f"the {seat}", team)
            assert (game, texts[reason], texts[text]) == (game_number, match.reason, sentence)
            assert {texts[seat]: texts[team] for seat, team in zip(seats, players, strict=True)} == of_seats
            assert (texts[seats[winner]] if winner >= 0 else None) == match.winner
            times = [", ".join(map(render.duration, values.values())) for values in (match.seconds, match.slowest)]
            assert facts == f"{match.steps:,} step{'s' * (match.steps != 1)} · time {times[0]} · slowest {times[1]}"
            assert {texts[seats[seat]]: texts[fault] for seat, fault in faults} == match.faults
            assert (prefix + replay + suffix, has_page) == (match.replay, 0)


def test_the_tables_are_those_of_the_duels() -> None:
    """Crosstable, endings and time, counted here once more from the duels."""
    data = league(6, starts=3)
    found = tables(report_page.html(data))
    rows = [place.row for place in data.standings]
    for row, cross, endings, times in zip(rows, found["cross"], found["endings-table"], found["time-table"], strict=True):
        assert cross[0] == f"{row.place} {row.team}"
        for other, shown in zip(rows, cross[1:], strict=True):
            both = [duel.points[row.team] for duel in data.duels if {row.team, other.team} == set(duel.teams)]
            assert shown == ("" if row == other else render.points(sum(both)))
        played = [
            (seat, match) for duel in data.duels for _, seats, match in duel.matches for seat, team in seats.items() if team == row.team
        ]
        hunts = [match for seat, match in played if seat == "hunter"]
        assert endings[:2] == [row.team, f"{sum(match.winner == 'hunter' for match in hunts)}/{len(hunts)}"]
        assert sum(int(count) for count in endings[2:-1] if count.isdigit()) == len(played)
        assert times[3] == render.duration(sum(match.seconds[seat] for seat, match in played) / sum(match.steps for _, match in played))
        assert times[4] == render.duration(max(match.slowest[seat] for seat, match in played))


def test_without_its_duels_a_crosstable_is_open() -> None:
    data = league(4, finished=0)
    rows = [place.row for place in data.standings]
    assert tables(report_page.html(data))["cross"] == [
        [f"{row.place} {row.team}", *("" if row == other else "·" for other in rows)] for row in rows
    ]


@pytest.mark.soak
def test_a_league_of_200_teams_stays_small() -> None:
    data = league(200)
    page = report_page.html(data)
    matches = sum(len(duel.matches) for duel in data.duels)
    assert matches == 39_800
    # A match has a random name of 32 hexadecimal digits, which alone are 21 bytes in base64. Two matches have two cells of the crosstable.
    assert len(page) < 100 * matches


def test_texts_of_teams_never_become_markup() -> None:
    harmless, hostile = league(6, remark="A remark."), league(HOSTILE, remark=HOSTILE[0])
    harmless = harmless._replace(notes=["A note."] * len(HOSTILE), settings={"cooldown": 3})
    hostile = hostile._replace(name=HOSTILE[1], notes=HOSTILE, settings={HOSTILE[0]: HOSTILE[1]})
    before, after = report_page.html(harmless), report_page.html(hostile)
    assert after.count("<") == before.count("<")
    assert after.count(">") == before.count(">")
    assert "alert(2)" in after
    assert "\u202e" not in after
    assert held(after)[0]["teams"][0] in HOSTILE


def test_the_policy_allows_the_page_and_nothing_else() -> None:
    page = report_page.html(league(6))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    for part in ("default-src 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'", "form-action 'none'"):
        assert part in policy[1]
    for kind, text in (
        ("script-src", re.search(r"<script>(.*?)</script>", page, re.DOTALL)),
        ("style-src", re.search(r"<style>(.*?)</style>", page, re.DOTALL)),
    ):
        assert text is not None
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}';" in policy[1]
    assert "innerHTML" not in page
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page.replace('href="${', ""))


def test_the_served_page_needs_only_files_that_are_served() -> None:
    page = render.served("folder", {}, title="a folder")
    found = [path for path in re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"#]+)"', page) if not path.startswith("data:")]
    assert len(found) == 2
    for path in found:
        assert asset(path) is not None
    for path in (
        "pages/render.py",
        "pages/../league/report.py",
        "pages/",
        "pages/templates/league.html",
        "pages/base.js",
        "pages/common.js",
    ):
        assert asset(path) is None


def test_numbers_that_json_does_not_have_are_left_out() -> None:
    data = league(3)
    line = data.duels[0].matches[0]
    match = line.record._replace(seconds={"hunter": float("nan")}, slowest={})
    data = data._replace(duels=[data.duels[0]._replace(matches=(line._replace(record=match),))])
    page = report_page.html(data)
    assert held(page)[1]["duels"][0][5][0][6] == f"{match.steps} steps · time {render.NONE}, {render.NONE}"


def test_a_shared_place_has_a_sign_wherever_it_stands() -> None:
    data = league(6)
    shared = [place._replace(row=place.row._replace(place=1, shared=True)) for place in data.standings[:2]]
    page = report_page.html(data._replace(standings=[*shared, *data.standings[2:]]))
    assert [row[0] for row in tables(page)["standings-table"][:3]] == ["1=", "1=", "3"]
    assert page.count('<span class="rank">1= </span>') == 2
    assert page.count("<dt>place</dt><dd>1=") == 2


def test_a_seed_is_shown_only_if_it_is_public() -> None:
    data = league(6)
    assert "6 teams · seed 7</p>" in report_page.html(data)
    assert "seed" not in report_page.html(data._replace(seed=None)).partition("<main>")[0].partition("<body")[2]


@pytest.mark.parametrize(
    "data",
    [
        league(0)._replace(progress=LeagueProgress("running", 0, 0)),
        league(1),
        league(4, finished=0),
        league(4, replay=""),
        league(4, replay="{key}.replay.jsonl.gz"),
        league(4, replay="elsewhere/{key}"),
    ],
    ids=["no team", "one team", "nothing played", "no replays", "no folder", "other names"],
)
def test_odd_leagues_have_a_report(data: ReportData) -> None:
    _, pack = held(report_page.html(data))
    assert len(pack["duels"]) == len(data.duels)
    suffix = pack["replay"][1]
    for duel, row in zip(data.duels, pack["duels"], strict=True):
        for (_, _, match), packed in zip(duel.matches, row[5], strict=True):
            assert match.replay == ("" if packed[8] is None else pack["replay"][0] + packed[8] + suffix)


def put_replays(data: ReportData, folder: Path, duels: int) -> list[str]:
    """Files in place of the replays of the first duels."""
    replays = [match.record.replay for duel in data.duels[:duels] for match in duel.matches]
    for number, replay in enumerate(replays):
        (folder / replay).parent.mkdir(parents=True, exist_ok=True)
        (folder / replay).write_bytes(bytes([number]) * 300)
    return replays


def script_of(folder: Path, replay: str) -> Path:
    return folder / "pages" / replay.replace(".replay.jsonl.gz", ".js")


def test_replays_are_handed_to_the_viewer_by_scripts(tmp_path: Path) -> None:
    data = league(4)
    replays = put_replays(data, tmp_path, 2)
    written = report_folder.write(data, tmp_path)
    assert written == (tmp_path / "report.html", 4, 8)
    for number, replay in enumerate(replays):
        found = re.fullmatch(r'replay\("(\S+?)","(\S+?)",\{.*\}\);\n', script_of(tmp_path, replay).read_text())
        assert found is not None
        assert f"{found[1]}.replay.jsonl.gz" == replay
        assert base64.b64decode(found[2]) == bytes([number]) * 300
    _, pack = held((tmp_path / "report.html").read_text())
    assert [match[9] for duel in pack["duels"] for match in duel[5]] == [1] * 4 + [0] * 8
    assert "script-src 'sha256-" in (tmp_path / "viewer.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pages", "replays", "report.html", "viewer.html"]


def test_scripts_are_written_again_only_for_newer_replays(tmp_path: Path) -> None:
    data = league(4)
    first, second = put_replays(data, tmp_path, 1)
    report_folder.write(data, tmp_path)
    for replay in (first, second):
        script_of(tmp_path, replay).write_text('replay("marked","",{});\n')
    later = script_of(tmp_path, second).stat().st_mtime_ns + 10**9
    os.utime(tmp_path / second, ns=(later, later))
    report_folder.write(data, tmp_path)
    assert script_of(tmp_path, first).read_text() == 'replay("marked","",{});\n'
    assert script_of(tmp_path, second).read_text().startswith('replay("replays')


def test_scripts_have_what_an_exported_page_has(tmp_path: Path) -> None:
    """The check and the verdicts. No path of this machine is in them."""
    data = league(4)
    first, second, *_ = put_replays(data, tmp_path, 2)
    shutil.copy(RECORDED, tmp_path / first)
    report_folder.write(data, tmp_path)
    found = re.fullmatch(r'replay\("\S+?","\S+?",(\{.*\})\);\n', script_of(tmp_path, first).read_text())
    assert found is not None
    exported = ReplayIndex.of(RECORDED).findings()
    assert (json.loads(found[1]), exported["check"]["status"], bool(exported["judged"])) == (json.loads(json.dumps(exported)), "good", True)
    assert str(tmp_path) not in script_of(tmp_path, second).read_text()


def test_scripts_of_matches_that_left_the_league_are_removed(tmp_path: Path) -> None:
    data = league(4)
    put_replays(data, tmp_path, 2)
    report_folder.write(data, tmp_path)
    (tmp_path / "pages" / "mine.js").write_text("let mine;")
    fewer = data._replace(duels=data.duels[1:])
    report_folder.write(fewer, tmp_path)
    kept = {script_of(tmp_path, match.record.replay).name for match in data.duels[1].matches}
    assert {path.name for path in (tmp_path / "pages").rglob("*.js")} == {"mine.js", *kept}


def test_scripts_end_where_the_space_does(tmp_path: Path) -> None:
    data = league(4)
    put_replays(data, tmp_path, 6)
    assert report_folder.write(data, tmp_path, most_bytes=1000)[1:] == (2, 10)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert report_folder.write(data, empty)[1:] == (0, 12)
    assert [path.name for path in empty.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    "replay", ["../{key}.replay.jsonl.gz", "/tmp/{key}.replay.jsonl.gz", "a b/{key}.replay.jsonl.gz", "replays/{key}.gz"]
)
def test_a_path_that_the_viewer_would_not_take_gets_no_script(replay: str, tmp_path: Path) -> None:
    data = league(NAMES[:2], replay=replay)
    folder = tmp_path / "league"
    folder.mkdir()
    for _, _, match in data.duels[0].matches:
        if not match.replay.startswith("/"):
            (folder / match.replay).parent.mkdir(exist_ok=True)
            (folder / match.replay).write_bytes(b"replay")
    assert report_folder.write(data, folder)[1:] == (0, 2)
    assert not (folder / "pages").exists()
