"""The options of a match: one declaration for the flags, the files, the API and the documentation."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import referee as package
from referee.errors import UsageError
from referee.grading.rubric import RubricFile
from referee.isolation.limits import Limits
from referee.league.config import LeagueFile
from referee.match import settings_file
from referee.match.options import Declaration, MatchOptions, RunOptions, TimeControl, checked, declared
from referee.match.request import MatchRequest
from referee.match.settings_file import MatchFile

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

DECLARED = list(declared())
IDS = [each.key for each in DECLARED]
PAGE = Path(__file__).parents[2] / "docs/match-files.md"


def row(each: Declaration) -> str:
    """The line of the documentation about an option."""
    flag = f"`{each.flag}`" if each.flag else f"`--limit {each.name.removesuffix('_bytes')}=`" if each.section == "limits" else ""
    return f"| `{each.key}` | {flag} | {each.shown_default} | {each.requirement} | {each.field.description} |"


def data(each: Declaration, value: Any) -> dict[str, Any]:
    """A value as data of ``MatchOptions``."""
    return {each.section: {each.name: value}} if each.section else {each.name: value}


def test_the_table_of_the_documentation_is_that_of_the_model() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [row(each) for each in DECLARED]


def test_the_help_has_every_flag_with_its_default(referee: Cli) -> None:
    shown = " ".join(referee("play", "--help").stdout.split())
    flagged = [each for each in DECLARED if each.flag]
    assert len(flagged) >= 9
    for each in flagged:
        assert f"{each.flag} " in shown
        assert f"{each.field.description} (default: {each.shown_default})" in shown


@pytest.mark.parametrize("each", DECLARED, ids=IDS)
def test_a_match_file_has_every_option(each: Declaration) -> None:
    section, _, key = each.key.partition(".")
    assert key in settings_file.keys(MatchFile, [section])
    table = getattr(MatchFile.model_validate({section: {key: each.field.default}}), section).given
    assert table == {key: each.field.default}
    assert MatchRequest.model_validate({section: table}).options == MatchOptions()


def test_leagues_and_rubrics_have_the_same_options() -> None:
    for model in (LeagueFile, RubricFile):
        known = {
            *settings_file.keys(model),
            *(f"{section}.{key}" for section in ("time", "run", "limits") for key in settings_file.keys(model, [section])),
        }
        renamed = {"time.clock": "clock", "run.isolation": "isolation"}
        assert {renamed.get(each.key, each.key) for each in DECLARED} <= known


@pytest.mark.parametrize("each", DECLARED, ids=IDS)
@pytest.mark.parametrize("value", ["", "x", True, None, -1, 10**30, float("nan"), [], {}], ids=repr)
def test_a_wrong_value_is_named_with_what_is_allowed(each: Declaration, value: Any) -> None:
    if value is None and each.name in ("startup", "move", "bank"):
        assert dict(checked(data(each, value), str).time)[each.name] is None
        return
    with pytest.raises(UsageError) as caught:
        checked(data(each, value), lambda key: f"<{key}>")
    assert str(caught.value).startswith(f"<{each.key}> is ")
    assert str(caught.value).endswith(f", but must be {each.requirement}.")


@pytest.mark.parametrize(
    ("each", "text", "value"),
    [
        ("time.move", "none", None),
        ("time.bank", "2.5", 2.5),
        ("time.increment", "1", 1.0),
        ("time.clock", "cpu", "cpu"),
        ("run.cores", "2", 2),
        ("run.isolation", "none", "none"),
        ("limits.memory_bytes", "64MiB", 64 << 20),
        ("limits.processes", "8", 8),
    ],
)
def test_values_of_flags_are_texts(each: str, text: str, value: object) -> None:
    (option,) = [one for one in DECLARED if one.key == each]
    found = checked(data(option, text), str, converts=True)
    section: Any = dict(found)[option.section] if option.section else found
    assert dict(section)[option.name] == value


def test_an_option_that_is_not_given_is_the_default() -> None:
    options = checked({"time": {"move": 2.0}, "run": {"idle": "run"}}, str)
    assert options.time == TimeControl(move=2.0)
    assert (options.run.given, options.limits) == ({"idle": "run"}, Limits())
    with pytest.raises(ValueError, match="frozen"):
        options.isolation = "none"


def test_what_a_store_keeps_gives_the_same_options() -> None:
    options = MatchOptions(
        time=TimeControl(bank=None, kind="cpu"), run=RunOptions(idle="run"), isolation="strict", limits=Limits(processes=8)
    )
    kept = options.to_json()
    assert kept["run"] == {"idle": "run"}
    assert MatchOptions.model_validate(kept) == options


def test_the_api_names_the_wrong_option() -> None:
    with pytest.raises(UsageError, match=r"^time\.bank is 0, but must be above 0 and at most 1,000,000 seconds, or none for no limit\.$"):
        package.play("straight", "still", time={"bank": 0})
    with pytest.raises(UsageError, match=r"^isolation is 'total', but must be auto, strict, limits or none\.$"):
        package.play("straight", "still", isolation="total")
