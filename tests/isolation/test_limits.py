"""Sizes and limits as people write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from referee.isolation.limits import Limits, size
from referee.support.words import size_text

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("65536", 65_536),
        ("512MiB", 512 << 20),
        ("16M", 16 << 20),
        ("1 GiB", 1 << 30),
        ("64k", 65_536),
        ("1.5KiB", 1536),
        ("0", 0),
        ("7b", 7),
    ],
)
def test_a_size_is_read_in_its_unit(text: str, count: int) -> None:
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "much", "-1", "12PB", "1e9", "0x10", "1,000", "9" * 30])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        size(text)


def test_sizes_are_shown_as_they_are_written() -> None:
    assert [size_text(count) for count in (0, 512, 65_536, 16 << 20, 3 << 29)] == ["0 bytes", "512 bytes", "64 KiB", "16 MiB", "1.5 GiB"]


def test_every_limit_has_bounds_and_a_default_within() -> None:
    assert Limits(**dict(Limits())) == Limits()
    for name, field in Limits.model_fields.items():
        (least,) = [bound.ge for bound in field.metadata if hasattr(bound, "ge")]
        (most,) = [bound.le for bound in field.metadata if hasattr(bound, "le")]
        for value in (least - 1, most + 1):
            with pytest.raises(ValueError, match=name):
                Limits(**{name: value})


def test_limits_from_flags_and_a_file(referee: Cli, tmp_path: Path) -> None:
    file = tmp_path / "match.toml"
    file.write_text(
        '[run]\nisolation = "limits"\n[time]\nclock = "cpu"\n[limits]\nmemory_bytes = "300MiB"\nprocesses = 20\nscratch_bytes = 1048576\n'
    )
    done = referee(
        *("play", "straight", "still", "--match", file, "--max-steps", "3", "--limit", "memory=400M", "--limit", "open_files=50", "--json"),
    )
    assert done.returncode == 0, done.stderr
    replay = json.loads(done.stdout)["replay"]
    head = json.loads(referee("show", replay, "--json").stdout)["head"]
    assert head["isolation"] == "limits"
    assert head["clock"]["kind"] == "cpu"
    assert head["limits"] == {
        "memory_bytes": 400 << 20,
        "processes": 20,
        "scratch_bytes": 1 << 20,
        "open_files": 50,
        "line_bytes": 65_536,
        "stderr_bytes": 1 << 20,
        "remarks_bytes": 8 << 20,
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--limit", "memory=much"), "--limit memory is 'much', but must be from 16 MiB to 1 TiB, as in 512MiB."),
        (("--limit", "memory=1k"), "--limit memory is '1k', but must be from 16 MiB to 1 TiB"),
        (("--limit", "processes=many"), "--limit processes is 'many', but must be a whole number from 1 to 30,000."),
        (("--limit", "processes=0"), "--limit processes is '0'"),
        (("--limit", "memory"), "--limit is 'memory', but must be NAME=VALUE, as in memory=1GiB; there are memory, processes, scratch"),
        (("--limit", "memroy=1GiB"), "but must be NAME=VALUE, as in memory=1GiB; did you mean 'memory'?\n"),
        (("--isolation", "total"), "--isolation is 'total', but must be auto, strict, limits or none"),
        (("--clock", "sun"), "--clock is 'sun', but must be auto, fair, cpu or wall"),
    ],
)
def test_bad_limits_are_refused_by_name(arguments: tuple[str, str], sentence: str, referee: Cli) -> None:
    done = referee("play", "straight", "still", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
