"""What flags, a match file and Python ask for is the same match, and flags override the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee import api
from referee.match.options import MatchOptions, declared
from referee.match.request import MatchRequest

if TYPE_CHECKING:
    from referee.match.spec import MatchSpec

#: A value of each option that has a flag, other than its default: as text of a flag, and as a line of a match file.
VALUES = {
    "--startup": ("7", "time.startup = 7.0"),
    "--move-time": ("none", 'time.move = "none"'),
    "--bank": ("90.5", "time.bank = 90.5"),
    "--increment": ("2", "time.increment = 2.0"),
    "--clock": ("wall", 'time.clock = "wall"'),
    "--cores": (2, "run.cores = 2"),
    "--idle": ("run", 'run.idle = "run"'),
    "--on-malformed": ("pass", 'run.on_malformed = "pass"'),
    "--isolation": ("none", 'run.isolation = "none"'),
}
FLAGGED = {each.flag: each for each in declared() if each.flag}
#: A part of a match as a line of a match file, as flags, and as arguments of ``referee.play``; then a line that the flags override.
PARTS: list[tuple[str, dict[str, object], dict[str, Any], str]] = [
    ('rules = "diagonal"', {"rules": "diagonal"}, {"rules": "diagonal"}, 'rules = "classic"'),
    ("seed = 3", {"seed": 3}, {"seed": 3}, "seed = 4"),
    ("settings.max_steps = 9", {"max_steps": 9}, {"max_steps": 9}, "settings.max_steps = 8"),
    ("settings.max_steps = 9", {"set": ["max_steps=9"]}, {"max_steps": 9}, "settings.max_steps = 8"),
    ("settings.width = 60\nsettings.height = 50", {"size": "60x50"}, {"width": 60, "height": 50}, "settings.width = 70"),
    ("settings.prey = [50, 60]", {"prey": "50,60"}, {"prey": [50, 60]}, "settings.prey = [5, 6]"),
    ("time.bank = 9.0", {"bank": "9"}, {"time": {"bank": 9.0}}, "time.bank = 8.0"),
    ('time.clock = "cpu"', {"clock": "cpu"}, {"time": {"clock": "cpu"}}, 'time.clock = "wall"'),
    ('run.isolation = "none"', {"isolation": "none"}, {"isolation": "none"}, 'run.isolation = "strict"'),
]
#: Lines of a match file, and the same as flags, of what isn't an argument of ``referee.play``, or not a part of the specification.
OTHERS: list[tuple[str, dict[str, object], str]] = [
    ('out = "a.gz"', {"out": "a.gz"}, 'out = "b.gz"'),
    ("limits.memory_bytes = 1073741824", {"limit": ["memory=1GiB"]}, "limits.memory_bytes = 268435456"),
]


def of_file(tmp_path: Path, text: str, **flags: object) -> MatchRequest:
    path = tmp_path / "match.toml"
    path.write_text(text)
    return MatchRequest.model_validate({"match": path, **flags}).with_file().checked()


def spec_of(request: MatchRequest) -> MatchSpec:
    """The specification of a request with a seed, so that two of the same match are equal."""
    return request.replace(seed=request.seed or 1).spec({}, Path("match.gz"))


def test_every_option_with_a_flag_has_a_value_here() -> None:
    assert VALUES.keys() == FLAGGED.keys()


@pytest.mark.parametrize("flag", VALUES)
def test_an_option_is_the_same_as_a_flag_and_in_a_match_file_and_in_python(flag: str, tmp_path: Path) -> None:
    value, line = VALUES[flag]
    by_flag = MatchRequest.model_validate({FLAGGED[flag].parameter: value}).checked()
    assert spec_of(by_flag) == spec_of(of_file(tmp_path, line))
    assert by_flag.options != MatchOptions()
    section, _, key = FLAGGED[flag].key.partition(".")
    in_python = MatchRequest.model_validate({section: {key: getattr(section_of(by_flag, flag), FLAGGED[flag].name)}})
    assert spec_of(in_python) == spec_of(by_flag)


def section_of(request: MatchRequest, flag: str) -> Any:
    return getattr(request.options, FLAGGED[flag].section) if FLAGGED[flag].section else request.options


@pytest.mark.parametrize(("line", "flags", "arguments", "weaker"), PARTS)
def test_the_three_ways_to_ask_for_a_match_give_the_same_specification(
    line: str, flags: dict[str, object], arguments: dict[str, Any], weaker: str, tmp_path: Path
) -> None:
    spec = spec_of(MatchRequest.model_validate(flags).checked())
    assert spec_of(of_file(tmp_path, line)) == spec
    assert spec_of(api.request(("straight", "runner"), **arguments)[0]) == spec
    assert spec_of(of_file(tmp_path, weaker, **flags)) == spec
    assert spec_of(of_file(tmp_path, weaker)) != spec
    assert spec_of(MatchRequest()) != spec


@pytest.mark.parametrize(("line", "flags", "weaker"), OTHERS)
def test_flags_override_the_match_file(line: str, flags: dict[str, object], weaker: str, tmp_path: Path) -> None:
    def parts(request: MatchRequest) -> tuple[object, str | None]:
        return request.options, request.out

    match = parts(MatchRequest.model_validate(flags).checked())
    assert match == parts(of_file(tmp_path, line))
    assert match == parts(of_file(tmp_path, weaker, **flags))
    assert match != parts(of_file(tmp_path, weaker))


def test_what_else_a_match_file_says_joins_the_flags(tmp_path: Path) -> None:
    path = tmp_path / "match.toml"
    path.write_text('game = "rectangle"\nplayers = ["looper", "team"]\nquiet = true\njson = true\n')
    flags = MatchRequest(match=path).with_file()
    assert (flags.game, flags.players, flags.quiet, flags.as_json) == ("rectangle", ["looper", "team"], True, True)
    others = MatchRequest(match=path, players=["team", "looper"]).with_file()
    assert others.players == ["team", "looper"]


def test_the_flags_are_those_that_are_present() -> None:
    flags = MatchRequest.model_validate({"seed": 0, "max_steps": 5, "bank": "none"}).replace(out="x", quiet=None)
    assert flags.flags() == {"seed": 0, "max_steps": 5, "bank": "none"}
    assert (flags.out, flags.quiet) == ("x", False)


def test_a_copy_with_other_settings_has_its_own_settings_and_options() -> None:
    first = MatchRequest(settings={"max_steps": 9}).checked()
    second = first.replace(settings={"max_steps": 8}, time={"bank": None})
    assert (first.checked_settings.max_steps, second.checked_settings.max_steps) == (9, 8)
    assert (first.options.time.bank, second.options.time.bank) == (120.0, None)
    assert first.replace(seed=4).checked_settings is first.checked_settings
