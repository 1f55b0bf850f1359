"""What flags and a match file ask for is the same match, and flags override the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from referee.match.options import MatchOptions, declared
from referee.match.request import MatchFlags, build, with_file

if TYPE_CHECKING:
    from pathlib import Path

    from referee.match.play import MatchRequest

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


def of_file(tmp_path: Path, text: str, **flags: object) -> MatchRequest:
    path = tmp_path / "match.toml"
    path.write_text(text)
    return build(with_file(MatchFlags.model_validate({"match": path, **flags})))


def test_every_option_with_a_flag_has_a_value_here() -> None:
    assert VALUES.keys() == FLAGGED.keys()


@pytest.mark.parametrize("flag", VALUES)
def test_an_option_is_the_same_as_a_flag_and_in_a_match_file(flag: str, tmp_path: Path) -> None:
    value, line = VALUES[flag]
    by_flag = build(MatchFlags.model_validate({FLAGGED[flag].parameter: value}))
    assert by_flag == of_file(tmp_path, line)
    assert by_flag.options != MatchOptions()


@pytest.mark.parametrize(
    ("line", "flags", "weaker"),
    [
        ('rules = "diagonal"', {"rules": "diagonal"}, 'rules = "classic"'),
        ("seed = 3", {"seed": 3}, "seed = 4"),
        ("settings.max_steps = 9", {"max_steps": 9}, "settings.max_steps = 8"),
        ("settings.max_steps = 9", {"set": ["max_steps=9"]}, "settings.max_steps = 8"),
        ("settings.width = 60\nsettings.height = 50", {"size": "60x50"}, "settings.width = 70"),
        ("settings.prey = [50, 60]", {"prey": "50,60"}, "settings.prey = [5, 6]"),
        ('out = "a.gz"', {"out": "a.gz"}, 'out = "b.gz"'),
        ("limits.memory_bytes = 1073741824", {"limit": ["memory=1GiB"]}, "limits.memory_bytes = 268435456"),
        ("time.bank = 9.0", {"bank": "9"}, "time.bank = 8.0"),
        ('run.isolation = "none"', {"isolation": "none"}, 'run.isolation = "strict"'),
    ],
)
def test_flags_override_the_match_file(line: str, flags: dict[str, object], weaker: str, tmp_path: Path) -> None:
    match = build(MatchFlags.model_validate(flags))
    assert match == of_file(tmp_path, line)
    assert match == of_file(tmp_path, weaker, **flags)
    assert match != of_file(tmp_path, weaker)


def test_what_else_a_match_file_says_joins_the_flags(tmp_path: Path) -> None:
    path = tmp_path / "match.toml"
    path.write_text('game = "rectangle"\nplayers = ["looper", "team"]\nquiet = true\njson = true\n')
    flags = with_file(MatchFlags(match=path))
    assert (flags.game, flags.players, flags.quiet, flags.as_json) == ("rectangle", ["looper", "team"], True, True)
    others = with_file(MatchFlags(match=path, players=["team", "looper"]))
    assert others.players == ["team", "looper"]


def test_the_flags_are_those_that_are_present() -> None:
    flags = MatchFlags.model_validate({"seed": 0, "max_steps": 5, "bank": "none"}).replace(out="x", quiet=None)
    assert flags.flags() == {"seed": 0, "max_steps": 5, "bank": "none"}
    assert (flags.out, flags.quiet) == ("x", False)
