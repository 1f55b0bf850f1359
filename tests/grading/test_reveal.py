"""The seed of a rubric is published after the deadline, and anybody checks it."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import rubrics

from referee.cli.reveal import reveal_grading
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.grading import family
from referee.grading.grading import open_grading
from referee.grading.reveal import check_reveal, reveal

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
    found = check_reveal(path, family.seed_hash(SEED))
    assert found.ok
    assert found.starts == sum(len(test["starts"]) for test in body["tests"])
    assert found.hidden == sum(test.hidden for test in rubric.tests)


def rubrics_game(name: str) -> Any:
    from referee import games

    return games.get(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return reveal(rubrics.load(tmp_path, TESTS["evasion"]), tmp_path)


def test_each_change_is_named(file: Path) -> None:
    text = file.read_text()
    body = json.loads(text)
    seed = body["tests"][0]["starts"][2]["seed"]
    hunter = body["tests"][0]["starts"][1]["settings"]["hunter"][0]
    assert check_reveal(file, "0" * 64).problems[0].startswith("The seed is not the one whose hash was published: its own hash is ")
    for path, value, told in (
        (("seed",), "another seed, longer", "The file's hash is not that of its seed."),
        (("tests", 0, "secret"), "00", "Test 'catches a runner': its secret is not the one that the seed gives."),
        (("tests", 0, "name"), "x", "Test 'x': its secret is not the one that the seed gives."),
        (("tests", 0, "starts", 2, "seed"), seed + 1, "Test 'catches a runner': start 2 is not the one that the seed gives."),
        (
            ("tests", 0, "starts", 1, "settings", "hunter", 0),
            hunter + 1,
            "Test 'catches a runner': start 1 is not the one that the seed gives.",
        ),
        (("tests", 0, "starts", 0, "hidden"), True, "Test 'catches a runner': start 0 is not the one that the seed gives."),
        (("tests", 0, "settings", "width"), -5, "Test 'catches a runner': its starts can't be drawn: "),
        (("tests",), [], "The file has no test."),
        (("tests", 1, "starts"), [], "Test 'Ünïcode': it has no start."),
        (("tests", 0, "has_set_start"), True, "Test 'catches a runner': it has 4 starts; "),
    ):
        changed = json.loads(text)
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        file.write_text(json.dumps(changed))
        (problem,) = check_reveal(file).problems
        assert problem.startswith(told), problem


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"type":"reveal"}', '{"type":"reveal","format":2}', '{"type":"reveal","format":1}', "[" * 100_000],
    ids=range(7),
)
def test_what_reveals_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(UsageError) as caught:
        check_reveal(tmp_path / "r.json")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("key", "value"), [("game", "chess"), ("version", 99), ("tests", 7), ("tests", [{}]), ("seed", 7), ("seed", None), ("rules", "x")]
)
def test_wrong_values_are_a_sentence(key: str, value: Any, file: Path) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    try:
        assert not check_reveal(file).ok
    except (UsageError, SettingsError) as error:
        assert str(error).isprintable()


def test_the_commands(referee: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    with open_grading(out, rubrics.load(tmp_path, TESTS["evasion"])):
        pass
    reveal_grading(out, as_json=False)
    told = capsys.readouterr().out
    digest = family.seed_hash(SEED)
    assert f"check-reveal reveal.json --hash {digest}" in told
    reveal_grading(out, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"file": str(out / "reveal.json"), "seed_sha256": digest}
    shutil.copy(out / "reveal.json", tmp_path)
    good = referee("check-reveal", "reveal.json", "--hash", digest)
    assert good.returncode == 0, good.stderr
    assert "Good. The seed is the one whose hash was published, and it gives every start in the file." in good.stdout
    alone = referee("check-reveal", "reveal.json")
    assert alone.returncode == 0
    assert "Compare the hash above" in alone.stdout
    wrong = referee("check-reveal", "reveal.json", "--hash", "0" * 64, "--json")
    assert wrong.returncode == 1
    assert json.loads(wrong.stdout)["ok"] is False
    assert referee("check-reveal", "missing.json").returncode == 2
    with pytest.raises(UsageError, match="not the folder of a grading"):
        reveal_grading(tmp_path, as_json=False)
