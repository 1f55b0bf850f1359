"""Arenas with bots that need no check, and workers that only pretend to play."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from arenas import accept_all, add, all_duels, begin, done, duel_results, run, write_arena
from leagues import IDLE, PretendPool, play, record

from example_bots.evasion import evader
from referee import games
from referee.arena import config
from referee.arena.arena import OpenArena, new, open_arena
from referee.arena.plan import ArenaMatches
from referee.arena.verify import contradicted
from referee.arena.versions import REFUSED, Version
from referee.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.author.check.run import CheckRequest
    from referee.tournament.values import Record, Task


def by_strength(strengths: dict[str, int]) -> Callable[[Task], Record]:
    """Matches in which a stronger hunter needs fewer steps, and a stronger prey makes it need more."""

    def play_match(task: Task) -> Record:
        hunter, prey = (strengths.get(task.names[seat], 5) for seat in ("hunter", "prey"))
        return record(task, 20 - hunter + prey)

    return play_match


def seen(arena: OpenArena) -> list[object]:
    """Everything that the matches of an arena were."""
    return [(match.duel, match.game_number, match.task) for match in done(arena)]


def test_a_new_arena_has_example_bots_as_references_and_overwrites_nothing(tmp_path: Path) -> None:
    for name in games.names():
        with_game = new(tmp_path / name, name, None)
        assert with_game.config.game.info.name == name
        assert len(with_game.config.references) == 3
        assert [version.is_reference for version in with_game.versions] == [True] * 3
        with_game.close()
    text = (tmp_path / "maze" / config.FILE).read_text()
    with pytest.raises(UsageError, match=r"maze has an arena already"):
        new(tmp_path / "maze", None, None)
    assert (tmp_path / "maze" / config.FILE).read_text() == text


@pytest.mark.parametrize("rules", games.info("evasion").rule_sets)
def test_references_play_the_rules(rules: str, tmp_path: Path) -> None:
    new(tmp_path / "arena", None, rules).close()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("colour = 1", "unknown key 'colour'"),
        ('versions = "some"', "versions"),
        ('roles = "hunter"', 'roles is "hunter"; name in against the references'),
        ('roles = "thief"', "roles is 'thief'"),
        ('against = ["R0"]', "against is for one role; remove against"),
        ('roles = "hunter"\nagainst = ["R7"]', "against names 'R7', which is not a reference"),
        ("[season]\nopens = 2030-01-01T00:00:00Z\ncloses = 2029-01-01T00:00:00Z", "season.closes is not after season.opens"),
        (
            "[season]\nopens = 2030-01-01",
            "'season.opens', 2030-01-01: must be a time with its offset from UTC, such as 2030-09-01T08:00:00+02:00.",
        ),
        (
            "[season]\ncloses = 2030-01-01T08:00:00",
            "'season.closes', 2030-01-01 08:00:00: must be a time with its offset from UTC, such as",
        ),
        ("[season]\nfrozen = [{ begins = 2030-01-02T00:00:00Z, ends = 2030-01-01T00:00:00Z }]", "ends before it begins"),
        ("[season]\nsubmissions_per_day = 0", "season.submissions_per_day"),
        ('[visibility]\nlogs = "all"', "visibility.logs"),
        ("[[references]]\nprogram = 'boxer'", "references, table 2: the key 'name' is missing"),
        ("[[references]]\nname = 'r0'\nprogram = 'reference0.py'", "have the same name"),
        ("[[references]]\nname = 'other'\nprogram = 'nowhere.py'", "other"),
    ],
)
def test_a_wrong_file_is_told_in_a_sentence(more: str, told: str, tmp_path: Path) -> None:
    folder = write_arena(tmp_path / "arena")
    file = folder / config.FILE
    text = file.read_text()
    section = more.partition("\n")[0]
    if section in ("[season]", "[visibility]", "[[references]]"):
        text = text.replace("[season]\nplacement = 3\n", "") if section == "[season]" else text
        file.write_text(f"{text}\n{more}\n")
    else:
        rest = text.replace('versions = "all"', "") if more.startswith("versions") else text
        file.write_text(f"{more}\n{rest}")
    with pytest.raises(UsageError) as error:
        new(folder, None, None)
    assert told in str(error.value), str(error.value)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_that_is_no_arena_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is not the folder of an arena\. Begin one: referee arena new"):
        open_arena(tmp_path)


def test_versions_are_numbered_copies_that_never_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    arena = begin(tmp_path / "arena")
    versions = [add(arena, text) for text in ("one", "two", "one")]
    assert [(version.number, version.note) for version in versions] == [(1, "one"), (2, "two"), (1, "one")]
    # The files of version 1 again: it is the active one.
    assert [version.name for version in arena.versions if version.is_active and not version.is_reference] == ["mine v1"]
    assert arena.activate("mine", 2).is_active
    with pytest.raises(UsageError, match="mine has no accepted version 3; it has 1, 2"):
        arena.activate("mine", 3)
    with pytest.raises(UsageError, match="The arena has no team other; there are R0, mine"):
        arena.activate("other", 1)
    copies = Path(arena.entries["mine v2"].players["hunter"])
    assert [path.read_text() for path in copies.iterdir()] == [f"# two\n{IDLE}"]
    arena.close()


def test_a_bot_named_relative_to_any_folder_is_taken_and_the_arena_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    begin(tmp_path / "arena").close()
    (tmp_path / "work" / "bot").mkdir(parents=True)
    for name in ("hunter.py", "prey.py"):
        (tmp_path / "work" / "bot" / name).write_text(IDLE)
    monkeypatch.chdir(tmp_path / "work")
    arena = open_arena(Path("../arena"))
    assert arena.add(Path("bot"), "mine")[0].name == "mine v1"
    arena.close()
    (tmp_path / "arena").rename(tmp_path / "moved")
    monkeypatch.chdir("/")
    moved = open_arena(tmp_path / "moved")
    assert all(Path(path).exists() and "moved" in path for path in moved.entries["mine v1"].players.values())
    assert moved.versions == moved.store.versions.all()
    moved.close()


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"hunter.py": IDLE}, "no program for the prey"),
        ({"notes.txt": "hello"}, "has no program"),
        ({}, "has no program"),
    ],
)
def test_a_bot_without_a_program_is_refused(files: dict[str, str], told: str, tmp_path: Path) -> None:
    arena = begin(tmp_path / "arena")
    folder = tmp_path / "bot"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    version, _ = arena.add(folder, "mine")
    assert version.status == REFUSED
    assert told in version.report["reason"]
    assert list(arena.folder.glob(".incoming*")) == []
    arena.close()


@pytest.mark.parametrize(
    ("team", "told"),
    [("R0", "is a reference"), ("r0", "have the same name"), ("", "is empty"), ("x" * 33, "the limit is 32"), ("a\nb", "control")],
)
def test_a_team_needs_a_name_of_its_own(team: str, told: str, tmp_path: Path) -> None:
    arena = begin(tmp_path / "arena")
    with pytest.raises(UsageError, match=told):
        arena.add(tmp_path, team)
    arena.close()


def test_a_machine_without_the_isolation_is_no_fault_of_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise UsageError("No sandbox here.")

    monkeypatch.setattr("referee.isolation.launcher.choose", refuses)
    arena = begin(tmp_path / "arena")
    with pytest.raises(UsageError, match="No sandbox here"):
        add(arena, "one")
    assert [version.team for version in arena.store.versions.all()] == ["R0"]
    arena.close()


def test_the_references_that_versions_play_against_stay_the_same(tmp_path: Path) -> None:
    arena = begin(tmp_path / "arena", 3, 'roles = "hunter"\nagainst = ["R0"]')
    run(arena, 8)
    arena.close()
    (tmp_path / "arena" / "reference0.py").write_text(f"# changed\n{IDLE}")
    with pytest.raises(UsageError, match=r"differs from .* in: against"):
        open_arena(tmp_path / "arena")


def test_out_of_season_no_version_is_taken(tmp_path: Path) -> None:
    folder = write_arena(tmp_path / "arena")
    file = folder / config.FILE
    text = file.read_text()
    for line, told in (
        ("opens = 2999-01-01T00:00:00Z", "The season opens at 2999-01-01 00:00 UTC."),
        ("closes = 1999-01-01T00:00:00Z", "The season closed at 1999-01-01 00:00 UTC."),
        ("frozen = [{ begins = 1999-01-01T00:00:00Z, ends = 2999-01-01T00:00:00Z }]", "Submissions are closed until 2999-01-01 00:00 UTC."),
    ):
        file.write_text(text.replace("[season]\n", f"[season]\n{line}\n"))
        arena = open_arena(folder) if (folder / "arena.sqlite").exists() else new(folder, None, None)
        with pytest.raises(UsageError, match=told):
            arena.add(tmp_path, "mine")
        arena.close()


def test_versions_that_are_equal_so_far_are_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with contextlib.closing(begin(tmp_path / "arena", 2)) as arena:
        for text in ("one", "two", "three"):
            add(arena, text)
        run(arena, 6, PretendPool(by_strength({})))
        told = "None of 3 versions leads: after 6 duels all pairs are even."
        assert arena.sentence() == told


def test_the_standings_name_the_best_version_and_how_certain_that_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    arena = begin(tmp_path / "arena", 2)
    for text in ("one", "two", "three"):
        add(arena, text)
    assert "It is not known yet" in arena.sentence()
    run(arena, 60, PretendPool(by_strength({"mine v1": 5, "mine v2": 3, "mine v3": 9})))
    results = duel_results(arena)
    assert len(results) == 60
    places = arena.standings()
    assert [place.rank for place in places] == [1, 2, 3, 4, 5]
    assert places[0].version.name == "mine v3"
    assert places[-1].version.name == "mine v2"
    assert sum(place.duels for place in places) == 120
    assert min(place.duels for place in places) >= 3
    assert "The best of 3 versions is version 3 of mine; that is 9" in arena.sentence()
    # Its rating is there over time.
    points = arena.store.ratings.of(["mine v3"])
    assert points[-1].duels == 60
    assert [point.duels for point in points] == sorted({point.duels for point in points})
    assert points[-1].elo == pytest.approx(places[0].rating.elo)
    arena.close()


def test_only_the_active_version_of_each_team_plays_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    arena = begin(tmp_path / "arena", 3, 'versions = "active"')
    for text in ("one", "two"):
        add(arena, text)
    run(arena, 80)
    counts = Counter(name for duel in all_duels(arena) for name in (duel.a, duel.b))
    # Its placement alone.
    assert counts["mine v1"] == 3
    assert counts["mine v2"] > 20
    assert {place.version.name for place in arena.standings()} == {"mine v2", "R0 v1", "R1 v1", "R2 v1"}
    arena.close()


def test_an_arena_that_was_stopped_at_any_match_goes_on_with_the_same_duels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    found = []
    for name, stops in (("whole", ()), ("stopped", (1, 2, 3, 5, 8, 13))):
        arena = begin(tmp_path / name, 2)
        for text in ("one", "two"):
            add(arena, text)
        for most in stops:
            count = itertools.count()

            def dies(task: Task, count: itertools.count[int] = count, most: int = most) -> Record:
                if next(count) == most:
                    raise KeyboardInterrupt
                return play(task)

            with pytest.raises(KeyboardInterrupt):
                run(arena, None, PretendPool(dies))
            arena.close()
            arena = open_arena(tmp_path / name)
        run(arena, 40 - len(duel_results(arena)))
        while len(duel_results(arena)) < 40:
            run(arena, 40 - len(duel_results(arena)))
        found.append(seen(arena)[:64])
        arena.close()
    assert found[0] == found[1]


def test_an_arena_of_before_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "arena"
    begin(folder, 2).close()
    with contextlib.closing(sqlite3.connect(folder / "arena.sqlite")) as store, store:
        store.execute("drop table about")
        store.execute("create table facts (name text, value text)")
    for opens in (open_arena, partial(new, game=None, rules=None)):
        with pytest.raises(UsageError) as caught:
            opens(folder)
        assert str(caught.value).startswith(f"{folder} was written by an earlier version of the referee, and this is version ")
        assert str(caught.value).endswith(": go on with the version that wrote it, or begin anew in another folder.")


def test_a_check_of_an_arena_that_plays_on_finds_no_contradiction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratings that were recorded after the replays were read are of results that the check doesn't know."""
    accept_all(monkeypatch)
    playing = begin(tmp_path / "arena", 2)
    add(playing, "one")
    run(playing, 4)
    checked = open_arena(tmp_path / "arena")
    results = duel_results(checked)
    run(playing, 4)
    assert max(point.duels for point in playing.store.ratings.of([version.name for version in playing.versions])) > len(results)
    assert contradicted(checked, results) == []
    # What was recorded before is compared.
    assert contradicted(checked, results[:-1]) != []
    checked.close()
    playing.close()


def test_a_report_names_no_folder_of_the_arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arena = begin(tmp_path / "arena")
    told = "as in: referee play {0} boxer, or referee play {0}/bot.py boxer"

    def checks(request: CheckRequest, _: object) -> object:
        why = told.format(request.bot)
        return SimpleNamespace(results=[], seats=(), isolation="none", not_checked={"hunter": why}, refused="")

    monkeypatch.setattr("referee.author.check.run.run", checks)
    version = add(arena, "one")
    assert str(version.report["reason"]).startswith(
        "It doesn't play hunter: as in: referee play . boxer, or referee play bot.py boxer Versions"
    )
    arena.close()


def test_a_team_whose_bot_cannot_start_learns_no_folder_of_the_arena(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.mkdir()
    (bot / "bot.toml").write_text('run = "./nothing"\n')
    with contextlib.closing(begin(tmp_path / "arena")) as arena:
        version, _ = arena.add(bot, "mine")
    assert version.status == REFUSED
    reason = str(version.report["reason"])
    assert str(tmp_path) not in reason
    assert "The hunter 'mine' has a bot.toml whose 'run' starts with './nothing', which is no file in the folder." in reason


def test_a_bot_of_one_role_is_refused_without_an_option_that_an_arena_has_not(tmp_path: Path) -> None:
    with contextlib.closing(begin(tmp_path / "arena")) as arena:
        version, _ = arena.add(Path(evader.__file__), "mine", "")
    assert (version.status, version.report["reason"]) == (
        REFUSED,
        (
            "It doesn't play hunter: It exits before it is ready: Evader plays prey, but was asked to play hunter. "
            "Versions of this arena play hunter and prey; for one of a single seat: referee arena new DIR --seat prey"
        ),
    )


def test_a_version_that_joins_while_versions_are_read_makes_the_plan_an_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with contextlib.closing(begin(tmp_path / "arena", 2)) as arena, contextlib.closing(open_arena(tmp_path / "arena")) as other:
        reads = arena.store.versions.all

        def joined() -> list[Version]:
            found = reads()
            add(other, "late")
            return found

        assert arena.plan().mark == arena.store.season.changes()
        monkeypatch.setattr(arena.store.versions, "all", joined)
        assert arena.plan().mark != arena.store.season.changes()


def test_two_who_add_the_same_files_at_once_add_one_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    with contextlib.closing(begin(tmp_path / "arena", 1)) as first, contextlib.closing(open_arena(tmp_path / "arena")) as second:
        add(first, "zero")
        made = add(first, "one")
        first.activate("mine", 1)
        # It has read no versions since it was opened.
        assert add(second, "one") == made
        assert [(one.name, one.is_active) for one in first.store.versions.all("mine")] == [("mine v1", False), ("mine v2", True)]


def test_a_version_that_joins_while_others_play_ends_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    arena = begin(tmp_path / "arena", 2)
    other = open_arena(tmp_path / "arena")
    count = itertools.count()

    def joins(task: Task) -> Record:
        if next(count) == 5:
            add(other, "late")
        return play(task)

    run(arena, 30, PretendPool(joins))
    assert arena.choice.left
    assert arena.choice.left > 0
    assert not arena.choice.ending
    assert arena.versions != arena.store.versions.all()
    run(arena, arena.choice.left)
    assert any("mine v1" in (duel.a, duel.b) for duel in all_duels(arena))
    other.close()
    arena.close()


def test_until_decided_ends_when_the_best_is_certain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    arena = begin(tmp_path / "arena", 1)
    for text in ("one", "two"):
        add(arena, text)
    run(arena, None, PretendPool(by_strength({"mine v1": 1, "mine v2": 9})), until_decided=True)
    assert arena.choice.ending.startswith("mine v2 is certainly the best of 2 after ")
    assert len(duel_results(arena)) < 300
    arena.close()


def test_versions_that_have_met_on_every_start_meet_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    folder = write_arena(tmp_path / "arena", 2)
    (folder / config.FILE).write_text((folder / config.FILE).read_text().replace("[season]", "[starts]\ncount = 4\n[season]"))
    arena = new(folder, None, None)
    run(arena, None)
    assert arena.choice.ending == "Every pairing has been played on every start position."
    assert sorted(duel.start for duel in all_duels(arena)) == [0, 1, 2, 3]
    arena.close()


def test_in_one_role_both_meet_the_same_reference_on_the_same_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    for seat in ("hunter", "prey"):
        arena = begin(tmp_path / seat, 3, f'roles = "{seat}"\nagainst = ["R0", "R1"]')
        assert arena.config.seats == (seat,)
        assert arena.config.name == seat, "the name of its folder, not that of a reference"
        for text in ("one", "two"):
            add(arena, text)
        run(arena, 30, PretendPool(by_strength({"mine v1": 3, "mine v2": 9})))
        duels, matches = all_duels(arena), ArenaMatches(arena.config, arena.entries)
        other = "prey" if seat == "hunter" else "hunter"
        for duel in duels:
            tasks = matches.tasks(duel.planned)
            assert {task.names[seat] for task in tasks} == {duel.a, duel.b}
            assert {task.names[other] for task in tasks} == {f"R{duel.variant}"}
            assert tasks[0].settings == tasks[1].settings
        assert {duel.variant for duel in duels} == {0, 1}
        names = [place.version.name for place in arena.standings()]
        assert names == ["mine v2", "R2 v1", "mine v1"]
        arena.close()


def test_another_game_in_the_file_is_refused_once_matches_were_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(monkeypatch)
    arena = begin(tmp_path / "arena", 2)
    arena.close()
    file = tmp_path / "arena" / config.FILE
    file.write_text(file.read_text().replace("max_steps = 40", "max_steps = 41"))
    arena = open_arena(tmp_path / "arena")
    run(arena, 8)
    arena.close()
    file.write_text(file.read_text().replace("max_steps = 41", "max_steps = 42"))
    with pytest.raises(UsageError, match=r"differs from .* in: settings\. Change it back"):
        open_arena(tmp_path / "arena")
    file.write_text(file.read_text().replace("max_steps = 42", "max_steps = 41").replace("placement = 3", "placement = 4"))
    open_arena(tmp_path / "arena").close()


def test_a_reference_whose_files_change_is_a_new_version(tmp_path: Path) -> None:
    arena = begin(tmp_path / "arena", 2)
    run(arena, 8)
    arena.close()
    (tmp_path / "arena" / "reference0.py").write_text(f"# changed\n{IDLE}")
    arena = open_arena(tmp_path / "arena")
    assert [version.name for version in arena.versions if version.is_active] == ["R1 v1", "R0 v2"]
    arena.close()
    file = tmp_path / "arena" / config.FILE
    file.write_text(file.read_text().partition('[[references]]\nname = "R1"')[0])
    arena = open_arena(tmp_path / "arena")
    assert [version.name for version in arena.versions if version.is_active] == ["R0 v2"]
    arena.close()
