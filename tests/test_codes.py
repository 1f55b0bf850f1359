"""Every code that the program emits has an explanation in codes.md."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import typing
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hatchling.builders.wheel import WheelBuilder
from recorded_games import steps_of

from referee import codes as table
from referee import games
from referee.codes import meaning_lines
from referee.games import registry
from referee.grading import values as grading
from referee.isolation import limits
from referee.replay import faults as players
from referee.replay.answers import AnswerWarning, WarningCode
from referee.replay.reader import verify
from referee.tournament import sequential
from referee.wire import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[1]
#: Functions of the games' rules whose first argument is a code.
_EMITTERS = {"Notice", "note", "Blocked", "Outcome"}
#: A line of a bot can be wrong for these reasons; that list is in the type's own module.
_LINE_REASONS = {reason for part in typing.get_args(decode.LineReason) for reason in (typing.get_args(part) or (part,))}


def codes(kind: str) -> set[str]:
    """The codes of the referee itself of one kind."""
    return {meaning.code for meaning in table.meanings() if (meaning.game, meaning.kind) == (None, kind)}


def codes_of_game(game: str) -> set[str]:
    return {meaning.code for meaning in table.meanings() if meaning.game == game}


def words(node: ast.AST, seats: tuple[str, ...]) -> set[str]:
    """Every text that an expression can be, as far as its source shows it; a name ``seat`` stands for any seat."""
    if isinstance(node, ast.Constant):
        return {node.value} if isinstance(node.value, str) else set()
    if isinstance(node, ast.IfExp):
        return words(node.body, seats) | words(node.orelse, seats)
    if isinstance(node, ast.FormattedValue):
        return words(node.value, seats)
    if isinstance(node, ast.Name) and node.id == "seat":
        return set(seats)
    if isinstance(node, ast.JoinedStr):
        return {"".join(parts) for parts in product(*(words(part, seats) for part in node.values))}
    return set()


@cache
def emitted(game: str) -> set[str]:
    """The codes of notices, refusals and outcomes that the source of a game names."""
    folder = registry.folder(registry.get(game))
    assert folder is not None
    room = games.get(game)
    seats = room.seats(room.codec.settings(None, {}))
    found: set[str] = set()
    for path in Path(folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in _EMITTERS and node.args:
                    found |= words(node.args[0], seats)
                for keyword in node.keywords:
                    if keyword.arg == "ended":
                        found |= words(keyword.value, seats)
            elif isinstance(node, ast.Assign) and any(_is_end(target) for target in node.targets):
                found |= words(node.value, seats)
                if isinstance(node.value, ast.Dict):
                    found |= {word for key in node.value.keys if key is not None for word in words(key, seats)}
    return found - {""}


def _is_end(target: ast.AST) -> bool:
    return (isinstance(target, ast.Attribute) and target.attr == "ended") or (
        isinstance(target, ast.Name) and target.id in ("ended", "_ENDS")
    )


@pytest.mark.parametrize("game", games.names())
def test_each_code_in_the_source_of_a_game_is_explained(game: str) -> None:
    found = emitted(game)
    assert len(found) >= 5
    assert found <= codes_of_game(game), found - codes_of_game(game)


def test_the_check_finds_codes_in_the_ways_in_which_games_write_them() -> None:
    assert {"hunter-bounced", "prey-bounced", "wall-refused", "prey-fault", "hunter-timeout", "cooldown"} <= emitted("evasion")
    assert {"stagnation", "cap", "rectangle"} <= emitted("rectangle")
    assert {"illegal-order", "move-limit", "thief-fault"} <= emitted("maze")


@pytest.mark.parametrize("game", games.names())
def test_the_codes_of_recorded_matches_are_explained(game: str) -> None:
    known = codes_of_game(game)
    found: set[str] = set()
    replays = sorted((ROOT / "tests/data/replays").glob(f"{game}-*.gz"))
    assert replays
    for path in replays:
        found.update(notice.code for step in steps_of(path) for notice in step.notices)
        replay = verify(path)
        assert replay.result is not None
        found.add(replay.result["reason"])
    assert found <= known, found - known


def _names(union: object) -> set[str]:
    """All names of a union of literals."""
    return {name for part in typing.get_args(union) for name in (_names(part) or {part})}


def test_each_code_of_a_fault_has_a_sentence() -> None:
    names = _names(players.FaultCode)
    assert {"silent", "not-json", "other-turn", "ended", "illegal-move"} <= names
    assert players._SENTENCES.keys() == names


def test_each_code_of_the_referee_is_explained() -> None:
    assert codes("fault") == set(players.KINDS)
    assert codes("wrong line") == _LINE_REASONS
    assert codes("missing answer") == set(typing.get_args(players.FailureReason))
    assert codes("isolation level") == {*limits.LEVELS, limits.LIMITS_USER, "auto", "strict"}
    assert codes("decision") == set(typing.get_args(sequential.Decision))
    assert codes("student's status") == set(grading.STATUSES)


def _first_text(call: ast.Call) -> str:
    return next((arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)), "")


def _literals() -> Iterator[tuple[str, str]]:
    """Each (key, text) of a dict that is written in the source of the generic code, or given by a keyword."""
    for path in (ROOT / "referee").rglob("*.py"):
        if path.is_relative_to(ROOT / "referee/games") and path.parent != ROOT / "referee/games":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                        yield str(key.value), value.value
            elif (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_wrong") or (
                isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ReplayProblem"
            ):
                yield "wrong", _first_text(node)


def test_each_code_in_the_source_of_the_referee_is_explained() -> None:
    found = list(_literals())
    warnings = {AnswerWarning(code, "").notice_code for code in typing.get_args(WarningCode)}
    assert {text for key, text in found if key == "code"} | warnings == codes("notice")
    assert {text for key, text in found if key == "wrong"} - {""} | {"cut"} == codes("replay problem")
    causes = {text for key, text in found if key == "cause"} | set(players.CAUSES.values()) | {"processes", "disk", "refusal"}
    assert causes == codes("cause")


def test_each_text_is_whole() -> None:
    for meaning in table.meanings():
        for sentence in (meaning.text, meaning.remedy, *(cause for _, cause in meaning.causes)):
            assert sentence.endswith((".", "?")), (meaning.code, sentence)
        if meaning.kind == "fault":
            languages = {language for language, _ in meaning.causes}
            assert meaning.code == "illegal" or {None, "Python", "JavaScript", "Java", "C and C++", "Rust", "Go"} <= languages


def test_the_file_is_part_of_a_wheel() -> None:
    files = {str(file.distribution_path) for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert "referee/codes.md" in files


def test_a_text_is_read_with_its_causes_and_languages() -> None:
    text = "# Exit statuses\n\n## 5\nA meaning\nof two lines.\n\n- One **cause:**\n  here.\n- **C and C++:** Another.\n\n**What\nto do:** This."
    (meaning,) = table.read(text, "toy")
    causes = ((None, "One **cause:** here."), ("C and C++", "Another."))
    assert meaning == table.Meaning("toy", "Exit statuses", "5", "A meaning of two lines.", causes, "This.")
    assert meaning.title == "5: exit status of toy"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Words.\n# Notices\n", "must begin with a section"),
        ("## late\nLate. **What to do:** Hurry.", "'late' stands above the first section"),
        ("# Notices\nWords.\n## late\nLate. **What to do:** Hurry.", 'below "# Notices" must come a code'),
        (
            "# Notices\n## late\nLate. **What to do:** Hurry.\n## late\nLate. **What to do:** Hurry.",
            "'late' is explained twice in 'Notices'",
        ),
        ("# Notices\n## late\nLate.", "below 'late' must come its meaning"),
        ("# Notices\n## late\nLate. **What to do:**", "below 'late'"),
        ("# Notices\n## late\n**What to do:** Hurry.", "below 'late'"),
        ("# Notices\n## late\nLate.\n\n- \n\n**What to do:** Hurry.", "below 'late'"),
        ("# Notices\n## late\nLate.\n\n- Slow.\n**What to do:** Hurry.", "below 'late'"),
        ("# Notices\n## late\nLate. **What to do:** Hurry. **What to do:** Run.", "below 'late'"),
        ("# Notices\n## late\nLate. **What to do:** Hurry.\n##early\nEarly.", "below 'late'"),
    ],
)
def test_a_wrong_text_is_refused_with_its_code(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        table.read(text)


@pytest.mark.parametrize("wide", [60, 100, 110])
def test_no_line_is_wider_than_the_terminal(wide: int) -> None:
    for meaning in table.meanings():
        assert max(map(len, meaning_lines([meaning], wide))) <= wide, meaning.code


def test_a_code_is_explained_with_causes_and_advice(referee: Cli) -> None:
    shown = referee("explain", "late").stdout
    assert shown.startswith("late: fault\n")
    assert shown.index("Usual causes") < shown.index("fflush(stdout)") < shown.index("What to do")
    both = referee("explain", "caught").stdout
    assert "caught: outcome of evasion" in both
    assert "caught: outcome of maze" in both


def test_all_codes_are_listed(referee: Cli) -> None:
    listed = referee("explain").stdout
    for meaning in table.meanings():
        assert f"\n  {meaning.code} " in listed
    assert listed.rstrip().endswith("explain late")
    as_data = json.loads(referee("explain", "--json").stdout)
    assert [one["code"] for one in as_data] == list(dict.fromkeys(meaning.code for meaning in table.meanings()))


def test_data_has_every_meaning(referee: Cli) -> None:
    told = json.loads(referee("explain", "malformed", "--json").stdout)
    assert told["code"] == "malformed"
    assert [(one["game"], one["kind"]) for one in told["meanings"]] == [(None, "fault"), (None, "notice")]
    assert {cause["language"] for cause in told["meanings"][0]["causes"]} >= {None, "Python", "Rust"}


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("lat", "did you mean 'late'?"),
        ("Wall_Refused", "did you mean 'wall-refused'?"),
        ("zzzzzz", "`referee explain` lists all codes."),
        ("\x1b[31m" + "x" * 500, "lists all codes."),
        ("", "lists all codes."),
    ],
)
def test_an_unknown_code_is_refused_with_the_closest(code: str, hint: str, referee: Cli) -> None:
    refused = referee("explain", code)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert hint in refused.stderr
    assert "\x1b" not in refused.stderr
    assert json.loads(referee("explain", code, "--json").stdout)["exit_code"] == 2


def explain_with_toy(tmp_path: Path, code: str, change: tuple[str, str] = ("", "")) -> subprocess.CompletedProcess[str]:
    """Explain a code where the toy game is installed, after a change of its text."""
    home = tmp_path / "counting"
    home.mkdir()
    toy = (ROOT / "tests/games/toy/counting.py").read_text()
    assert change[0] in toy
    (home / "__init__.py").write_text(toy.replace(*change) if change[0] else toy)
    about = tmp_path / "counting-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text("[referee.games]\ncounting = counting:GAME\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    return subprocess.run([sys.executable, "-m", "referee", "explain", code], env=env, capture_output=True, text=True, timeout=60)


def test_a_game_of_another_package_explains_its_codes(tmp_path: Path) -> None:
    done = explain_with_toy(tmp_path, "said")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("said: outcome of counting")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("**What to do:**", "Do:"), "below 'said' must come its meaning"),
        (
            ('codes = "', 'codes = property(lambda self: open("/nowhere/codes.md").read()) #"'),
            "No such file or directory: '/nowhere/codes.md'",
        ),
        (('codes = "', 'codes = 7 #"'), "expected string"),
    ],
)
def test_a_game_with_a_wrong_text_is_named_and_hides_no_other_code(change: tuple[str, str], reason: str, tmp_path: Path) -> None:
    done = explain_with_toy(tmp_path, "late", change)
    assert done.returncode == 0
    assert done.stdout.startswith("late: fault")
    assert done.stderr.startswith("note: the codes of the game 'counting' can't be read: ")
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_match_with_a_fault_leads_to_its_explanation(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("")
    done = referee("play", "ends.py", "still", "--isolation", "none")
    assert done.returncode == 3
    assert next(line.split()[-2:] for line in done.stdout.splitlines() if line.startswith("Next:")) == ["explain", "crashed"]
    assert "explain" not in referee("play", "straight", "still", "--isolation", "none", "--max-steps", "5").stdout
