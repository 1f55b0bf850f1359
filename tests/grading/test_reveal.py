"""The seed of a rubric is published after the deadline, and anybody checks it."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import rubrics

from referee.cli.certificate import reveal_grading
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.grading import family
from referee.grading.grading import open_grading
from referee.grading.reveal import check_reveal, reveal
from referee.league.keys import canonical

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

SEED = "0123456789abcdef"
TESTS = {
    "evasion": rubrics.table(name='"catches a runner"', seat='"hunter"', against='"runner"', starts="4", hidden="2", need="{ wins = true }")
    + rubrics.table(
        name='"Ünïcode"', seat='"prey"', against='"boxer"', need="{ wins = true }", settings="{ hunter = [0, 0, 1, 1], prey = [200, 200] }"
    ),
    "maze": rubrics.table(seat='"thief"', against='"hard"', starts="3", hidden="1", need="{ wins = true }"),
    "rectangle": rubrics.table(against='"random"', starts="2", hidden="2", need="{ wins = true }"),
}


@pytest.mark.parametrize("game", TESTS)
def test_what_is_revealed_is_what_was_played(game: str, tmp_path: Path) -> None:
    rubric = rubrics.load(tmp_path, TESTS[game], game)
    path = reveal(rubric, tmp_path)
    body = json.loads(path.read_text())
    assert body["seed"] == SEED
    assert body["seed_sha256"] == hashlib.sha256(SEED.encode()).hexdigest()
    assert body["rubric_sha256"] == hashlib.sha256((tmp_path / "rubric.toml").read_bytes()).hexdigest()
    for test, given in zip(rubric.tests, body["tests"], strict=True):
        starts = family.starts(rubrics_game(game), rubric, test)
        assert [(start["seed"], start["settings"]) for start in given["starts"]] == [(start.seed, dict(start.settings)) for start in starts]
        assert [start["hidden"] for start in given["starts"]] == [number >= test.starts - test.hidden for number in range(len(starts))]
        # As the page and the file explain it.
        secret = hmac.digest(SEED.encode(), f"family/{test.name}".encode(), "sha256")
        assert given["secret"] == secret.hex()
        first = int.from_bytes(hmac.digest(secret, b"start/0", "sha256")[:8], "big") >> 11
        assert given["starts"][0]["seed"] == first
    assert body["commitment"] == family.committed(rubric)
    found = check_reveal(path, family.committed(rubric))
    assert found.ok
    assert found.facts["hash_covers"] == "starts"
    assert found.facts["starts"] == sum(len(test["starts"]) for test in body["tests"])
    assert found.facts["hidden"] == sum(test.hidden for test in rubric.tests)


def rubrics_game(name: str) -> Any:
    from referee import games

    return games.get(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return reveal(rubrics.load(tmp_path, TESTS["evasion"]), tmp_path)


def put(text: str, path: tuple[str | int, ...], value: Any) -> str:
    """A file's text with another value in one place."""
    changed = json.loads(text)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(changed)


def test_each_changed_start_is_named(file: Path) -> None:
    text = file.read_text()
    body = json.loads(text)
    seed = body["tests"][0]["starts"][2]["seed"]
    hunter = body["tests"][0]["starts"][1]["settings"]["hunter"][0]
    for path, value, told in (
        (("seed_sha256",), "0", "The file's hash of the seed is not that of its seed."),
        (("tests", 0, "secret"), "00", "Test 'catches a runner': its secret is not the one that the seed gives."),
        (("tests", 0, "starts", 2, "seed"), seed + 1, "Test 'catches a runner': start 2 is not the one that the seed gives."),
        (
            ("tests", 0, "starts", 1, "settings", "hunter", 0),
            hunter + 1,
            "Test 'catches a runner': start 1 is not the one that the seed gives.",
        ),
    ):
        file.write_text(put(text, path, value))
        (problem,) = check_reveal(file).problems
        assert problem.startswith(told), problem


#: A change of what decides a start, and what is named.
CHANGES: tuple[tuple[tuple[str | int, ...], Any, str], ...] = (
    (("seed",), "another seed, longer", "the seed has changed."),
    (("game",), "maze", "the game has changed."),
    (("game",), "chess", "the game has changed."),
    (("version",), 99, "the version of the game has changed."),
    (("rules",), "diagonal", "the rules have changed."),
    (("tests", 0, "name"), "x", "the names of the tests have changed."),
    (("tests", 0, "starts", 0, "hidden"), True, "the numbers of starts have changed."),
    (("tests", 1, "starts"), [], "the numbers of starts have changed."),
    (("tests", 0, "settings", "width"), 250, "the settings have changed."),
    (("tests", 0, "has_set_start"), True, "the settings have changed."),
    (("tests",), [], "the names of the tests, the numbers of starts, the settings have changed."),
)


@pytest.mark.parametrize("given", ["whole", "digits", "none"])
def test_each_change_of_what_decides_a_start_is_named(given: str, file: Path) -> None:
    text = file.read_text()
    whole = json.loads(text)["commitment"]
    published = {"whole": whole, "digits": whole[:64], "none": None}[given]
    for path, value, told in CHANGES:
        file.write_text(put(text, path, value))
        problems = check_reveal(file, published).problems
        assert any(problem.endswith(told) for problem in problems), (path, problems)


SET = "hunter = [0, 0, 1, 1], prey = [200, 200]"
ONE = {"name": '"catches"', "seat": '"hunter"', "against": '"runner"', "need": "{ wins = true }"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": '"catches 2,417"'}, "the names of the tests"),
        ({"starts": "5"}, "the numbers of starts"),
        ({"hidden": "2"}, "the numbers of starts"),
        ({"settings": f"{{ {SET} }}", "starts": "1", "hidden": "1"}, "the numbers of starts, the settings"),
        ({"settings": "{ width = 250 }"}, "the settings"),
    ],
)
def test_a_rubric_that_was_changed_after_the_deadline_is_not_the_published_one(change: dict[str, str], told: str, tmp_path: Path) -> None:
    """The grader makes the whole file anew, with a commitment of its own."""
    table = {**ONE, "starts": "4", "hidden": "1"}
    published = family.committed(rubrics.load(tmp_path, rubrics.table(**table)))
    path = reveal(rubrics.load(tmp_path, rubrics.table(**{**table, **change})), tmp_path)
    (problem,) = check_reveal(path, published).problems
    assert problem == f"The file is not what was published: {told} have changed."
    (problem,) = check_reveal(path, published[:64]).problems
    assert "one or more of these have changed: the seed, the game, the version of the game, the rules, the names" in problem
    assert check_reveal(path).ok


def test_a_file_and_a_hash_of_the_earlier_format_show_that_only_the_seed_is_covered(file: Path) -> None:
    body = json.loads(file.read_text())
    seed_hash = family.seed_hash(SEED)
    # The hash was published before an update of the referee, the file was written after it.
    assert check_reveal(file, seed_hash).facts["hash_covers"] == "seed"
    new = body.pop("commitment")
    file.write_text(json.dumps({**body, "format": 1}))
    found = check_reveal(file, seed_hash)
    assert (found.ok, found.facts["hash_covers"]) == (True, "seed")
    assert (check_reveal(file, new).ok, check_reveal(file, new).facts["hash_covers"]) == (True, "starts")
    assert check_reveal(file).ok
    assert not check_reveal(file, "0" * 64).ok
    # What the earlier hash covers is checked as before.
    for path, value, told in (
        (("seed",), "another seed, longer", "The file's hash of the seed is not that of its seed."),
        (("tests", 0, "name"), "x", "Test 'x': its secret is not the one that the seed gives."),
        (("tests", 0, "starts", 0, "hidden"), True, "Test 'catches a runner': start 0 is not the one that the seed gives."),
        (("tests", 0, "settings", "width"), -5, "Test 'catches a runner': its starts can't be drawn: "),
        (("tests",), [], "The file has no test."),
        (("tests", 1, "starts"), [], "Test 'Ünïcode': it has no start."),
        (("tests", 0, "has_set_start"), True, "Test 'catches a runner': start 0 is not the one that the seed gives."),
    ):
        file.write_text(put(json.dumps({**body, "format": 1}), path, value))
        (problem,) = check_reveal(file).problems
        assert problem.startswith(told), problem


def test_no_seed_passes_for_what_was_published(file: Path) -> None:
    """A grader can't show the text whose hash was published as a seed, to which an earlier version would have committed alone."""
    rubric = rubrics.load(file.parent, TESTS["evasion"])
    published = family.committed(rubric)[:64]
    text = f"{family.COMMITTED}\n{canonical(family.deciding(rubric))}"
    assert family.seed_hash(text) == published
    body = {**json.loads(file.read_text()), "format": 1, "seed": text, "seed_sha256": published}
    file.write_text(json.dumps(body))
    assert "The seed is none that a rubric can have: it has an invisible character." in check_reveal(file, published).problems


@pytest.mark.parametrize("text", ["", "x", "0" * 63, "0" * 64 + "-", "0" * 64 + "-12ab", "0" * 99])
def test_what_is_no_published_hash_is_said(text: str, file: Path) -> None:
    with pytest.raises(UsageError, match="is not a published hash: that has 64 hexadecimal digits"):
        check_reveal(file, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"type":"reveal"}',
        '{"type":"reveal","format":2}',
        '{"type":"reveal","format":3}',
        '{"type":"reveal","format":1}',
        "[" * 100_000,
    ],
    ids=range(8),
)
def test_what_reveals_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(UsageError) as caught:
        check_reveal(tmp_path / "r.json")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("game", "chess"),
        ("version", 99),
        ("tests", 7),
        ("tests", [{}]),
        ("seed", 7),
        ("seed", None),
        ("rules", "x"),
        ("seed", "\ud800"),
        ("name", "\ud800"),
        ("commitment", ""),
    ],
)
def test_wrong_values_are_a_sentence(key: str, value: Any, file: Path) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    try:
        assert not check_reveal(file).ok
    except (UsageError, SettingsError) as error:
        assert str(error).isprintable()


def test_starts_of_other_rules_are_not_drawn_again(file: Path) -> None:
    """A file of a referee with another version of the game: it is whole, but this referee can't check its starts."""
    rubric = rubrics.load(file.parent, TESTS["evasion"])
    other = family.commitment(family.deciding(rubric, 99))
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 99, "commitment": other}))
    with pytest.raises(UsageError, match="The starts are for version 99 of the rules of evasion; this referee has version"):
        check_reveal(file, other)


def test_a_reveal_is_written_and_checked_by_the_told_command(referee: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    rubric = rubrics.load(tmp_path, TESTS["evasion"])
    with open_grading(out, rubric):
        pass
    reveal_grading(out, as_json=False)
    told = capsys.readouterr().out
    digest = family.committed(rubric)
    assert f"grade --check-reveal reveal.json --hash {digest}" in told
    reveal_grading(out, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"file": str(out / "reveal.json"), "hash": digest}
    shutil.copy(out / "reveal.json", tmp_path)
    good = referee("grade", "--check-reveal", "reveal.json", "--hash", digest)
    assert good.returncode == 0, good.stderr
    assert "Good. Everything that decides a start is as it was when the hash was published" in good.stdout
    old = referee("grade", "--check-reveal", "reveal.json", "--hash", family.seed_hash(SEED))
    assert old.returncode == 0, old.stderr
    verdict = old.stdout.splitlines()[2:]
    assert verdict[0].startswith("Only the seed is proved")
    assert verdict[1].startswith("Not proved: the game and its version, the rules, the settings, and the names and numbers")
    assert "Good" not in old.stdout
    alone = referee("grade", "--check-reveal", "reveal.json")
    assert alone.returncode == 0
    assert "Compare the hash above" in alone.stdout
    assert "Good" not in alone.stdout
    wrong = referee("grade", "--check-reveal", "reveal.json", "--hash", "0" * 64, "--json")
    assert wrong.returncode == 1
    assert json.loads(wrong.stdout)["ok"] is False
    assert referee("grade", "--check-reveal", "reveal.json", "--hash", "0").returncode == 2
    assert "Name the published file" in referee("grade", "--check-reveal").stderr
    assert "Without --check-reveal there is no --hash" in referee("grade", "x", "--hash", digest).stderr
    assert referee("grade", "--check-reveal", "missing.json").returncode == 2
    with pytest.raises(UsageError, match="not the folder of a grading"):
        reveal_grading(tmp_path, as_json=False)
