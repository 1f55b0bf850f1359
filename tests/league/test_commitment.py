"""The commitment to the starts: what decides a start is in its file, and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import re
from typing import TYPE_CHECKING, Any

import gradings
import pytest

from referee import games
from referee.errors import UsageError
from referee.grading.rubric import commitment_of
from referee.league import config
from referee.league.league import begin, open_league
from referee.tournament import commitment
from referee.tournament.commitment import GRADING, LEAGUE, Commitment, StartFamily, committed_starts, is_guessable, new_secret
from referee.wire.seeds import secret_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECRET = "0123456789abcdef0123456789abcdef"
TEST = {"seat": '"hunter"', "against": '"runner"', "need": "{ wins = true }"}
SMALL = "{ width = 60, height = 60 }"
TEAMS = "".join(f'[[teams]]\nname = "{name}"\nprogram = "random"\n' for name in ("Ada Lovelace", "Bob"))


def rubric(folder: Path, *tests: dict[str, str], game: str = "evasion", seed: str = SECRET, rules: str = "") -> Commitment:
    text = "".join(gradings.table(**{"name": f'"{number}"', **TEST, **test}) for number, test in enumerate(tests))
    path = gradings.write(folder, rules + text, game)
    path.write_text(re.sub("seed = .*", f'seed = "{seed}"', path.read_text()))
    from referee.grading.rubric import load

    return commitment_of(load(path))


def league(folder: Path, head: str = "", starts: str = "count = 2", listed: str = "") -> config.League:
    (folder / "class of 2026").mkdir(exist_ok=True)
    (folder / "class of 2026" / "s.jsonl").write_text(listed)
    path = folder / "class of 2026" / "league.toml"
    path.write_text(f"{head}\n[starts]\n{starts}\n{TEAMS}")
    return config.load(path)


def published(value: Commitment) -> str:
    return hashlib.sha256(value.text().encode()).hexdigest()


def test_a_secret_is_drawn_and_never_comes_from_a_number(tmp_path: Path) -> None:
    drawn = {league(tmp_path).seed for _ in range(3)}
    assert len(drawn) == 3
    assert all(isinstance(seed, str) and re.fullmatch("[0-9a-f]{32}", seed) for seed in drawn)
    value = league(tmp_path, "seed = 7").commitment
    first, second = (re.search('secret = "([0-9a-f]{32})"', value.text()) for _ in range(2))
    assert first is not None
    assert second is not None
    assert len({first[1], second[1], secret_of(7).hex()}) == 3
    assert value.is_guessable


def test_what_can_be_guessed() -> None:
    assert not is_guessable(new_secret())
    for seed in (
        7,
        2**62,
        "7",
        "0123456789abcdef",
        "correct horse battery staple, and a long tail",
        "12345678901234567890123456789012",
        "ab" * 16,
    ):
        assert is_guessable(seed), seed


GRADINGS: dict[str, Callable[[Path], Commitment]] = {
    "as it is": lambda folder: rubric(folder, {"starts": "3", "hidden": "1"}, {}),
    "seed": lambda folder: rubric(folder, {"starts": "3", "hidden": "1"}, {}, seed=SECRET[::-1]),
    "game": lambda folder: rubric(folder, {"starts": "3", "hidden": "1", "seat": '"thief"', "against": '"easy"'}, game="maze"),
    "version": lambda folder: rubric(folder, {"starts": "3", "hidden": "1"}, {})._replace(version=99),
    "rules": lambda folder: rubric(folder, {"starts": "3", "hidden": "1"}, {}, rules='rules = "diagonal"\n'),
    "starts": lambda folder: rubric(folder, {"starts": "4", "hidden": "1"}, {}),
    "hidden": lambda folder: rubric(folder, {"starts": "3", "hidden": "2"}, {}),
    "tests": lambda folder: rubric(folder, {"starts": "3", "hidden": "1"}, {}, {}),
    "order": lambda folder: rubric(folder, {}, {"starts": "3", "hidden": "1"}),
    "settings": lambda folder: rubric(folder, {"starts": "3", "hidden": "1", "settings": SMALL}, {}),
    "set start": lambda folder: rubric(folder, {"starts": "3", "hidden": "1"}, {"settings": "{ prey = [230, 200] }"}),
}


def test_each_change_of_what_decides_a_start_of_a_grading_changes_the_hash(tmp_path: Path) -> None:
    hashes = {name: published(make(tmp_path)) for name, make in GRADINGS.items()}
    assert len(set(hashes.values())) == len(hashes)
    assert published(GRADINGS["as it is"](tmp_path)) == hashes["as it is"]


LISTED = '{"prey": [200, 90]}\n{"settings": {"prey": [9, 9]}, "seed": 7}\n'
LEAGUES: dict[str, Callable[[Path], config.League]] = {
    "as it is": league,
    "starts": lambda folder: league(folder, starts="count = 3"),
    "standard": lambda folder: league(folder, starts=""),
    "settings": lambda folder: league(folder, "[settings]\nwidth = 200"),
    "rules": lambda folder: league(folder, 'rules = "diagonal"'),
    "repeat": lambda folder: league(folder, "repeat = 2"),
    "variants": lambda folder: league(folder, "[[variants]]\nwidth = 200\n[[variants]]\n"),
    "file": lambda folder: league(folder, starts='file = "s.jsonl"', listed=LISTED),
    "position in the file": lambda folder: league(folder, starts='file = "s.jsonl"', listed=LISTED.replace("90", "91")),
    "seed in the file": lambda folder: league(folder, starts='file = "s.jsonl"', listed=LISTED.replace("7", "8")),
}


def test_each_change_of_what_decides_a_start_of_a_league_changes_the_hash(tmp_path: Path) -> None:
    def hashed(value: Commitment) -> str:
        # Starts without a seed of their own follow from the secret, which is another one each time.
        listed = tuple(start._replace(seed=start.seed if start.number else 0) for start in value.listed)
        return published(value._replace(source=SECRET, listed=listed))

    hashes = {name: hashed(make(tmp_path).commitment) for name, make in LEAGUES.items()}
    assert len(set(hashes.values())) == len(hashes)
    value = league(tmp_path).commitment
    assert published(value) != published(value._replace(source=new_secret()))


def test_what_decides_no_start_changes_nothing(tmp_path: Path) -> None:
    """So nothing else is in the file: no name of a test, a team or a person, no path, no points, no time."""
    first = rubric(tmp_path, {"starts": "3", "hidden": "1"})
    other = rubric(
        tmp_path, {"starts": "3", "hidden": "1", "name": '"x"', "points": "3", "against": '"still"', "need": "{ finishes = true }"}
    )
    assert first.text() == other.text()


@pytest.mark.parametrize("make", LEAGUES.values(), ids=list(LEAGUES))
def test_the_file_has_no_path_no_name_and_no_address(make: Callable[[Path], config.League], tmp_path: Path) -> None:
    value = make(tmp_path)
    begin(value, tmp_path / "the league").close()
    text = (tmp_path / "the league" / "private" / "commitment.toml").read_text()
    for told in ("Ada", "Bob", "random", value.name, str(tmp_path), "s.jsonl", "://", "token", "league.toml"):
        assert told not in text, told
    words = set(re.findall(r"^(?:\[\[)?([a-z_]+)", text, re.MULTILINE))
    assert words <= {
        "format",
        "kind",
        "game",
        "version",
        "rules",
        "secret",
        "repeat",
        "variants",
        "starts",
        "settings",
        "drawn",
        "hidden",
        "seed",
    }


def test_the_file_of_a_league_in_a_database_has_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.league import league as leagues

    def open_store(*_: object, **__: object) -> Any:
        raise UsageError("there is no such server")

    monkeypatch.setattr(leagues, "open_store", open_store)
    with pytest.raises(UsageError, match="no such server"):
        begin(league(tmp_path), tmp_path / "out", "postgresql://ada:password@db.example/league")
    assert not (tmp_path / "out" / "private").exists()
    commitment.write(league(tmp_path).commitment, tmp_path / "out")
    assert "example" not in (tmp_path / "out" / "private" / "commitment.toml").read_text()


@pytest.mark.parametrize("make", LEAGUES.values(), ids=list(LEAGUES))
def test_a_published_file_gives_the_starts_of_the_league(make: Callable[[Path], config.League], tmp_path: Path) -> None:
    value = make(tmp_path)
    commitment.write(value.commitment, tmp_path)
    path = commitment.private_file(tmp_path)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    found, digest = commitment.read(path, LEAGUE)
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest() == published(value.commitment)
    for number in range(len(value.variants)):
        assert found.starts(number) == value.commitment.starts(number)
        starts = committed_starts(found, number)
        assert [each.settings for each in starts][:: value.repeat] == [
            value.commitment.match_settings(number, start) for start in value.commitment.starts(number)
        ]
        assert len({each.seed for each in starts}) == len(starts)


@pytest.mark.parametrize("seed", [SECRET, "my dog", "17"])
def test_a_published_file_gives_the_starts_of_the_grading(seed: str, tmp_path: Path) -> None:
    value = rubric(tmp_path, {"starts": "3", "hidden": "1", "settings": SMALL}, {"settings": "{ prey = [50, 60] }"}, seed=seed)
    commitment.write(value, tmp_path)
    found, _ = commitment.read(commitment.private_file(tmp_path), GRADING)
    assert [found.starts(number) for number in range(2)] == [value.starts(number) for number in range(2)]
    assert [each.hidden for each in committed_starts(found, 0)] == [False, False, True]
    assert [dict(start.settings) for start in found.starts(1)] == [{}]
    # As the page explains it.
    own = hmac.digest(seed.encode(), b"test/0", "sha256")
    assert found.starts(0)[0].seed == int.from_bytes(hmac.digest(own, b"start/0", "sha256")[:8], "big") >> 11


def test_each_test_has_its_own_starts_and_more_of_them_begin_with_the_same(tmp_path: Path) -> None:
    few, many = (rubric(tmp_path, {"starts": count}, {"starts": count}) for count in ("5", "6"))
    first, other = few.starts(0), few.starts(1)
    assert [start.number for start in first] == [0, 1, 2, 3, 4]
    drawn = [json.dumps(dict(start.settings)) for start in (*first, *other)]
    assert len(set(drawn)) == len({start.seed for start in (*first, *other)}) == 10
    assert many.starts(0)[:5] == first
    assert few._replace(source=SECRET[::-1]).starts(0) != first


@pytest.mark.parametrize(("game", "seat", "against"), [("maze", "thief", "easy"), ("rectangle", "a", "idle")])
def test_other_games_draw_their_starts_from_the_seeds(game: str, seat: str, against: str, tmp_path: Path) -> None:
    value = rubric(tmp_path, {"seat": f'"{seat}"', "against": f'"{against}"', "starts": "4"}, game=game)
    assert len({start.seed for start in value.starts(0)}) == 4
    assert not any(start.settings for start in value.starts(0))
    commitment.write(value, tmp_path)
    assert commitment.read(commitment.private_file(tmp_path), GRADING)[0] == value


def test_any_setting_is_read_as_it_was_written(tmp_path: Path) -> None:
    settings: Any = {"a b": [1, -2.5, 1e-7, True], "ü": 'q"\\\x7f\n\U0001f600', "x": {"y": []}, "none": None, "empty": {}}
    value = Commitment(LEAGUE, "maze", games.get("maze").info.version, "standard", SECRET, (StartFamily(settings, 3),))
    commitment.write(value, tmp_path)
    found, _ = commitment.read(commitment.private_file(tmp_path), LEAGUE)
    del settings["none"]
    assert found.families[0].settings == settings


GOOD = Commitment(LEAGUE, "maze", games.get("maze").info.version, "standard", SECRET, (StartFamily({}, 3),)).text()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (GOOD, "", "is not a commitment: it has no kind"),
        ("format = 1\n", "", "has no key 'format'"),
        ("[[variants]]", "[[tests]]", "needs tables [[variants]] and no others"),
        (GOOD[GOOD.index("[[") :], "", "needs tables [[variants]] and no others"),
        ("hidden = 0", "hidden = 4", "has more hidden starts than starts"),
        (GOOD, "[", "is not TOML"),
        ("format = 1", "format = 2", "format"),
        ('"maze"', '"chess"', "there is no game 'chess'"),
        ("version = 1", "version = 99", "is for version 99 of the rules of maze; this referee has version 1"),
        (SECRET, "7", "a secret has 32 or more of the digits 0-9 and a-f"),
        ("drawn = 3", "drawn = 100001", "drawn"),
        ("repeat = 1", "repeat = 90000", "has more than 100,000 starts"),
        ("drawn = 3", "drawn = 3\nname = 4", "name"),
        ('kind = "league"', 'kind = "grading"', "is the commitment of a grading, not of a league: referee grade check-rubric"),
    ],
)
def test_a_file_that_is_no_commitment_is_one_sentence(old: str, new: str, told: str, tmp_path: Path) -> None:
    assert old in GOOD
    (tmp_path / "c.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(UsageError) as caught:
        commitment.read(tmp_path / "c.toml", LEAGUE)
    assert told in str(caught.value)
    assert str(caught.value).isprintable()


def test_starts_that_can_not_be_drawn_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(GOOD.replace("settings = {}", "settings = { layout = 7 }"))
    found, _ = commitment.read(tmp_path / "c.toml", LEAGUE)
    with pytest.raises(UsageError, match="The starts of variant 1 can't be drawn: "):
        committed_starts(found, 0)


def test_a_commitment_that_stands_there_is_never_replaced(tmp_path: Path) -> None:
    """Its hash may be published, and with it goes the only proof."""
    value = league(tmp_path)
    path = commitment.private_file(tmp_path / "out")
    path.parent.mkdir(parents=True)
    path.write_text("precious")
    with pytest.raises(UsageError, match="is not the commitment of this league: it was changed, or it belongs to another one"):
        begin(value, tmp_path / "out")
    assert path.read_text() == "precious"
    path.unlink()
    begin(value, tmp_path / "out").close()
    other = league(tmp_path)._replace(seed=SECRET[::-1])
    (tmp_path / "out" / "league.sqlite").unlink()
    before = path.read_text()
    with pytest.raises(UsageError, match="is not the commitment of this league"):
        begin(other, tmp_path / "out")
    assert path.read_text() == before


def test_a_commitment_that_is_gone_is_written_again_and_a_changed_one_is_noticed(tmp_path: Path) -> None:
    from referee.league.edit import claimed
    from referee.league.verify import verify_league

    value = league(tmp_path)
    begin(value, tmp_path / "out").close()
    path = commitment.private_file(tmp_path / "out")
    before = path.read_text()
    path.unlink()
    with claimed(tmp_path / "out"):
        assert path.read_text() == before
    path.write_text(before.replace("drawn = 2", "drawn = 3"))
    with pytest.raises(UsageError, match="it was changed"), claimed(tmp_path / "out"):
        pass
    with contextlib.closing(open_league(tmp_path / "out")) as opened:
        assert any("it was changed" in problem for problem in verify_league(opened).problems)


def test_a_secret_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "private").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a link, so nothing secret is written there"):
        begin(league(tmp_path), tmp_path / "out")
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_only_its_owner_reads_the_store_of_a_league(tmp_path: Path) -> None:
    begin(league(tmp_path), tmp_path / "out").close()
    assert not [file for file in (tmp_path / "out").glob("league.sqlite*") if file.suffix != ".lock" and file.stat().st_mode & 0o077]


def test_no_start_of_a_league_is_hidden_also_where_a_file_lists_them(tmp_path: Path) -> None:
    for make in LEAGUES.values():
        value = make(tmp_path).commitment
        assert not any(each.hidden for number in range(len(value.families)) for each in committed_starts(value, number))


def test_a_guessable_seed_has_no_published_hash(tmp_path: Path) -> None:
    value = league(tmp_path).commitment._replace(source=5)
    assert "No hash of it was published" in value.text()
    assert value.text() != value.text()
    commitment.write(value, tmp_path)
    before = commitment.private_file(tmp_path).read_text()
    commitment.write(value, tmp_path)
    assert commitment.private_file(tmp_path).read_text() == before
    with pytest.raises(UsageError, match="is not the commitment"):
        commitment.write(value._replace(source=6), tmp_path)
