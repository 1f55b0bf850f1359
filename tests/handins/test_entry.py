"""Teams: programs for every seat, their hashes, and what has changed in their files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import example_bots
from referee import games
from referee.errors import PlayerError, UsageError
from referee.handins.entry import absolute
from referee.handins.entry import read as team
from referee.handins.hashes import PROGRAM, changed
from referee.handins.names import check_different, check_name, file_name
from referee.handins.values import Entry
from referee.match.options import MatchOptions
from referee.players.names import resolve
from referee.tournament.keys import new_task, terms_hash

EVASION = games.get("evasion")
STANDARD = EVASION.codec.settings(None, {})


def made(name: str, spec: str | dict[str, str], home: Path) -> Entry:
    return team(name, spec, EVASION, STANDARD, home)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a program, a folder of programs and a command's files."""
    (tmp_path / "bot.py").write_text("print(1)")
    pair = tmp_path / "pair"
    pair.mkdir()
    (pair / "hunter.py").write_text("import maps")
    (pair / "prey.py").write_text("import maps")
    (pair / "maps.py").write_text("")
    return tmp_path


def test_a_program_plays_every_seat(home: Path) -> None:
    found = made("One", "bot.py", home)
    assert dict(found.players) == dict.fromkeys(("hunter", "prey"), str(home / "bot.py"))
    assert found.files["hunter"].keys() == {"bot.py", PROGRAM}


def test_a_folder_has_one_program_a_seat(home: Path) -> None:
    found = made("Two", "pair", home)
    assert found.files["prey"].keys() == {"hunter.py", "prey.py", "maps.py", PROGRAM}
    (home / "pair" / "prey.py").unlink()
    with pytest.raises(UsageError, match=r"The team 'Two' can't play: The prey '.*pair' is a folder without a program for it"):
        made("Two", "pair", home)


def test_each_seat_may_have_its_own_program(home: Path) -> None:
    found = made("Mixed", {"hunter": "boxer", "prey": "bot.py"}, home)
    assert dict(found.players) == {"hunter": "boxer", "prey": str(home / "bot.py")}
    assert found.files["hunter"].keys() == {"boxer.py", PROGRAM}


def test_a_missing_role_is_named(home: Path) -> None:
    with pytest.raises(UsageError, match="The team 'Half' has no program for prey"):
        made("Half", {"hunter": "boxer"}, home)
    with pytest.raises(UsageError, match=r"The team 'Boxer' can't play: The prey 'boxer' is an example that plays hunter, not prey"):
        made("Boxer", {"hunter": "boxer", "prey": "boxer"}, home)
    with pytest.raises(UsageError, match="only programs play"):
        made("Me", "human", home)
    with pytest.raises(UsageError, match=r"The hunter 'none\.py' does not exist"):
        made("None", "none.py", home)


def test_a_program_of_an_older_protocol(home: Path) -> None:
    settings = EVASION.codec.settings("diagonal", {})
    found = team("Old", "architect: python bot.py {port}", EVASION, settings, home)
    assert found.players["hunter"] == f"architect: python {home}/bot.py {{port}}"
    assert found.hash != team("New", "python bot.py {port}", EVASION, settings, home).hash
    with pytest.raises(UsageError, match="dialect is for"):
        team("Old", "architect: python bot.py {port}", EVASION, EVASION.codec.settings("gameserver", {}), home)


def test_the_hash_is_that_of_the_files_wherever_they_are(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = home / "elsewhere" / "deep"
    other.mkdir(parents=True)
    shutil.copy(home / "bot.py", other)
    shutil.copytree(home / "pair", other / "renamed")
    commands = "bot.py", "python bot.py --fast", "python3 bot.py bot.py"
    here = [made("A", spec, home).hash for spec in (*commands, "pair")]
    assert len(set(here)) == 4
    assert here == [made("B", spec, other).hash for spec in (*commands, "renamed")]
    monkeypatch.chdir(home)
    assert here == [made("C", spec, other).hash for spec in (*commands, "renamed")]


@pytest.mark.parametrize("spec", ["bot.py", "pair", "random", "python bot.py pair", "architect: python bot.py {port}"])
def test_a_teams_players_resolve_from_any_folder(spec: str, home: Path) -> None:
    settings = EVASION.codec.settings("diagonal", {})
    found = team("A", spec, EVASION, settings, home)
    again = team("A", dict(found.players), EVASION, settings, Path("/"))
    assert (again.players, again.hash, again.files) == (found.players, found.hash, found.files)
    assert changed(again, found) == ()


def test_what_has_changed_is_named(home: Path) -> None:
    before = made("A", "pair", home)
    folder = home / "pair"
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "maps.pyc").write_text("by python")
    assert changed(made("A", "pair", home), before) == ()
    (folder / "prey.py").write_text("import maps, sys")
    (folder / "maps.py").unlink()
    (folder / "plans.py").write_text("")
    after = made("A", "pair", home)
    assert after.hash != before.hash
    phrases = changed(after, before)
    assert [phrase for phrase in phrases if phrase.startswith("prey")] == [
        "prey: 'prey.py' has changed",
        "prey: 'plans.py' is new",
        "prey: 'maps.py' is gone",
    ]
    assert changed(made("A", "python bot.py -O", home), made("A", "python bot.py", home)) == ("its command line has changed",)


def test_odd_files_are_refused_at_once(home: Path) -> None:
    os.mkfifo(home / "pair" / "pipe")
    with pytest.raises(UsageError, match=r"Its file '.*pipe' can't be read: it is not an ordinary file"):
        made("A", "pair", home)
    (home / "pair" / "pipe").unlink()
    (home / "pair" / "up").symlink_to("..")
    assert made("A", "pair", home).files["prey"]["up"] == "link to .."


def test_an_example_is_not_mixed_up_with_a_file_of_the_current_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = home / "here"
    here.mkdir()
    (here / "random").mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(UsageError, match="'random' is a file in the current folder, but there is none in"):
        made("A", "random", home)
    (home / "random.py").write_text("")
    assert absolute("random.py", "evasion", home) == str(home / "random.py")


def test_a_file_beside_the_league_wins_over_an_example(home: Path) -> None:
    shutil.copytree(home / "pair", home / "random")
    assert made("A", "random", home).players["prey"] == str(home / "random")


@pytest.mark.parametrize("text", ["", " ", "a'b", "~/none.py", "python 'open", "\0", "~nobody-has-this-name/x"])
def test_odd_descriptions_are_left_to_the_message_of_players(text: str, home: Path) -> None:
    with pytest.raises(PlayerError):
        resolve(absolute(text, "evasion", home), "prey", "evasion")


def test_every_example_makes_a_team() -> None:
    for bot in example_bots.BOTS:
        game = games.get(bot.game)
        settings = game.codec.settings(bot.rules[0] if bot.rules else None, {})
        found = team("A", bot.name, game, settings)
        for seat in game.seats(settings):
            assert (found.players[seat] == bot.name) == bot.plays(seat)
            assert not bot.plays(seat) or found.files[seat].keys() == {bot.file, PROGRAM}


def test_an_example_of_one_role_gets_a_middling_partner() -> None:
    game = games.get("evasion")
    settings = game.codec.settings("classic", {})
    assert dict(team("A", "searcher", game, settings).players) == {"hunter": "searcher", "prey": "evader"}
    assert dict(team("A", "ghost", game, settings).players) == {"hunter": "searcher", "prey": "ghost"}


NAMES = [
    ("", "is empty"),
    ("  ", "is empty"),
    ("\u200b", "is empty"),
    ("a\x1b[2J", "has a control character"),
    ("a\u202eb", "has a control character"),
    (" a", "begins or ends with a space"),
    ("x" * 41, "has 41 characters; the limit is 40"),
    ("!?", "has no letter and no digit"),
    ("..", "has no letter and no digit"),
]


@pytest.mark.parametrize(("name", "sentence"), NAMES, ids=[sentence for _, sentence in NAMES])
def test_a_bad_name_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_name(name, "The name of team 3")
    assert str(caught.value).startswith("The name of team 3")
    assert sentence in str(caught.value)
    assert str(caught.value).isprintable()


def test_equal_names_are_refused() -> None:
    check_different(
        ["Alpha", "Beta", "\u00c4pfel", "Apfel", "\u65e5\u672c", "\u4e2d\u56fd", "a b", "a-b", "Ada", "\u0410da", "Modern", "Modem"]
    )
    for one, other in (
        ("A", "A"),
        ("Box", "bOX"),
        ("\uff21", "a"),
        ("STRASSE", "stra\u00dfe"),
        ("\ufb01n", "Fin"),
        ("\u0410da", "\u0430DA"),
    ):
        with pytest.raises(UsageError, match=f"Two teams have the same name, '{one}' and '{other}'; give one of them another name"):
            check_different([one, "x", other])
    assert file_name("../Big Team_1!") == "big-team-1"


def test_the_key_of_a_task_changes_with_all_that_decides_its_result() -> None:
    a, b = Entry("A", {}, "hash"), Entry("B", {}, "hash")
    settings, options = EVASION.codec.settings_json(STANDARD), MatchOptions()
    terms = terms_hash(EVASION, "classic", options)
    key = new_task(terms, {"hunter": a, "prey": b}, settings, 7).key
    assert len(key) == 32
    assert key == new_task(terms, {"prey": b, "hunter": a}, dict(reversed(settings.items())), 7, repeat=0).key
    others = {
        new_task(terms_hash(EVASION, "diagonal", options), {"hunter": a, "prey": b}, settings, 7).key,
        new_task(terms_hash(games.get("maze"), "classic", options), {"hunter": a, "prey": b}, settings, 7).key,
        new_task(terms_hash(EVASION, "classic", options.replace(isolation="none")), {"hunter": a, "prey": b}, settings, 7).key,
        new_task(terms, {"hunter": b, "prey": a}, settings, 7).key,
        new_task(terms, {"hunter": a._replace(hash="new"), "prey": b}, settings, 7).key,
        new_task(terms, {"hunter": a, "prey": b}, {**settings, "max_steps": 1}, 7).key,
        new_task(terms, {"hunter": a, "prey": b}, settings, 8).key,
        new_task(terms, {"hunter": a, "prey": b}, settings, 7, repeat=1).key,
        new_task(terms, {"hunter": a, "prey": b}, settings, 7, blamed=("A",)).key,
    }
    assert len(others | {key}) == 10
