"""The options of a match. Each is declared once: its type, bounds, unit, default and help.

The flags of the command line, match files, league files, rubrics, the Python API and the table in docs/match-files.md come from these
declarations. A game declares its own settings (``referee.games.game.Option``).
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from pydantic import Field, ValidationError

from referee.errors import UsageError
from referee.isolation.limits import IsolationValue, Limits
from referee.players.clock import AUTO as AUTO  # noqa: PLC0414 - the clock is an option
from referee.players.clock import CPU as CPU  # noqa: PLC0414 - the same
from referee.players.clock import FAIR as FAIR  # noqa: PLC0414 - the same
from referee.players.clock import WALL as WALL  # noqa: PLC0414 - the same
from referee.players.clock import BilledTime as BilledTime  # noqa: PLC0414 - the same
from referee.players.clock import TimeControl as TimeControl  # noqa: PLC0414 - the same
from referee.players.clock import TimeLimits as TimeLimits  # noqa: PLC0414 - the same
from referee.support.escape import escape
from referee.support.sections import Section, option
from referee.support.words import KIB, size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pydantic.fields import FieldInfo


class RunOptions(Section):
    """How the match loop runs a match."""

    cores: int = option(1, "Cores that the match reserves; 0: no pinning.", flag="--cores", ge=0, le=4096)
    idle: Literal["stop", "run"] = option("stop", "Stop bots between their turns, or let them run.", flag="--idle")
    on_malformed: Literal["forfeit", "pass"] = option("forfeit", "Effect of a malformed answer.", flag="--on-malformed")
    max_lateness: float = option(
        0.5, "How long the referee may be kept off the processor before a missing answer voids the match.", unit="seconds", gt=0, le=3600
    )


class MatchOptions(Section):
    """All options of a match. ``isolation`` is the level that the user wants; a ``Level`` is the one that the machine supports."""

    time: TimeControl = Field(default_factory=TimeControl)
    run: RunOptions = Field(default_factory=RunOptions)
    isolation: IsolationValue = option("auto", "auto, strict (sandbox or no match), limits (caps) or none.", flag="--isolation")
    limits: Limits = Field(default_factory=Limits)

    def settled(self) -> MatchOptions:
        """Return the options with the clock of this machine, as ``TimeControl.settled`` does."""
        return self.replace(time=self.time.settled(is_strict=self.isolation == "strict"))

    def to_json(self) -> dict[str, Any]:
        """Return the options in the form for stores; ``MatchOptions.model_validate`` reads them."""
        return {"time": dict(self.time), "isolation": self.isolation, "limits": self.limits.to_json(), "run": self.run.given}


class Declaration(NamedTuple):
    """The declaration of an option. ``section`` may be ""; ``key`` is its name in a match file."""

    section: str
    name: str
    key: str
    field: FieldInfo

    @property
    def unit(self) -> str:
        """The unit of a number, "" if it has none."""
        return str((_facts(self.field) or {})["unit"])

    @property
    def flag(self) -> str:
        """The flag on a command line, "" if the option has none."""
        return str((_facts(self.field) or {})["flag"])

    @property
    def parameter(self) -> str:
        """The name of the flag as a Python name."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def choices(self) -> Sequence[str]:
        """The values of a choice; empty for other options."""
        return _choices(self.field)

    @property
    def shown_default(self) -> str:
        """The default, as a user writes it."""
        default = self.field.default
        if self.unit == "bytes":
            return size_text(default).replace(" ", "")
        return f"{default:g}" if isinstance(default, float) else str(default)

    @property
    def requirement(self) -> str:
        """The allowed values, as the end of a sentence with "must be"."""
        return requirement(self.field)


def declared() -> Iterator[Declaration]:
    """Yield the declarations of all options."""
    for name, field in MatchOptions.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            for inner, declaration in section.model_fields.items():
                yield Declaration(name, inner, f"{name}.{'clock' if inner == 'kind' else inner}", declaration)
        else:
            yield Declaration("", name, f"run.{name}", field)


def checked(data: Mapping[str, Any], name_of: Callable[[str], str], *, converts: bool = False) -> MatchOptions:
    """Return the options with values of a user.

    The UsageError calls a wrong one ``name_of`` its key in a match file. With ``converts``, numbers may be texts.
    """
    try:
        return MatchOptions.model_validate(data, strict=False if converts else None)
    except ValidationError as error:
        place = error.errors(include_url=False)[0]["loc"]
        wrong = next(each for each in declared() if (each.section, each.name) == (place if len(place) > 1 else ("", place[0]))[:2])
        value = (data[wrong.section] if wrong.section else data)[wrong.name]
        raise UsageError(f"{name_of(wrong.key)} is {shown(value)}, but must be {wrong.requirement}.") from None


def limits_of(head: Mapping[str, Any]) -> Limits:
    """Return the limits on the bots of a recorded match; the default ones for a head without limits. UsageError for one out of range."""
    values = head.get("limits")
    named = {name: value for name, value in (values if isinstance(values, dict) else {}).items() if name in Limits.model_fields}
    return checked({"limits": {name: value for name, value in named.items() if type(value) is int}}, str).limits


def checked_isolation(value: str, name: str) -> str:
    """Return a wanted level of isolation. The UsageError calls the option ``name``."""
    return checked({"isolation": value}, lambda _: name).isolation


def shown(value: Any) -> str:
    """Return a wrong value as text for a message."""
    if isinstance(value, int) and abs(value) >= 10**18:
        return "a huge number"
    return escape(str(value) if isinstance(value, date) else repr(value), 60)


def one_of(choices: Sequence[str]) -> str:
    """Return choices as words: "a, b or c"."""
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def requirement(field: FieldInfo) -> str:
    """Return the allowed values of an option, as the end of a sentence with "must be"; "" if its declaration has no bounds."""
    if choices := _choices(field):
        return one_of(choices)
    facts = _facts(field)
    bounds = {name: getattr(bound, name) for bound in field.metadata for name in ("gt", "ge", "le") if hasattr(bound, name)}
    if facts is None or not bounds:
        return ""
    unit = facts["unit"]
    low, high = (size_text(bound) if unit == "bytes" and not bound % KIB else f"{bound:,}" for bound in bounds.values())
    whole = "a whole number " if field.annotation is int and unit != "bytes" else ""
    words = f"above {low} and at most {high}" if "gt" in bounds else f"{whole}from {low} to {high}"
    words += " bytes" if unit == "bytes" and high[-1].isdigit() else ""
    words += {"bytes": ", as in 512MiB", "seconds": " seconds"}.get(str(unit), "")
    return words + ", or none for no limit" * (type(None) in get_args(field.annotation))


def _facts(field: FieldInfo) -> dict[str, Any] | None:
    """Return the facts that ``option`` adds to a field; None for a field that was declared without it."""
    facts = field.json_schema_extra
    return facts if isinstance(facts, dict) else None


def _choices(field: FieldInfo) -> tuple[str, ...]:
    found = get_args(field.annotation)
    return found if all(isinstance(choice, str) for choice in found) else ()
