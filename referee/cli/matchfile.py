"""Match files: the options of ``referee play`` as TOML, checked key by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from referee.api import settings_file
from referee.api.settings_file import Clock, Isolation, LimitsSection, RunOptions, Section, Seed, TimeLimits

if TYPE_CHECKING:
    from pathlib import Path


class TimeSection(TimeLimits):
    """Limits in seconds, or "none", and the time that they count."""

    clock: Clock | None = None


class RunSection(RunOptions):
    """Options of the match loop and the isolation level."""

    isolation: Isolation | None = None


class MatchFile(Section):
    """A match file. The game checks ``settings``."""

    game: str | None = None
    rules: str | None = None
    players: list[str] | None = None
    seed: Seed = None
    out: str | None = None
    quiet: bool | None = None
    json_: bool | None = Field(default=None, alias="json")
    settings: dict[str, Any] = Field(default_factory=dict)
    time: TimeSection = TimeSection()
    run: RunSection = RunSection()
    limits: LimitsSection = LimitsSection()


def read(path: Path) -> MatchFile:
    """Read and check a match file. The UsageError names the file, the key and the allowed values."""
    return settings_file.read(path, MatchFile, "match file")
