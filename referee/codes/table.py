"""All codes: those of every game, and those of the referee itself; the page about them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.codes import answers, faults, others
from referee.errors import UsageError
from referee.games import registry
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.capabilities import CodeText

#: The codes of the referee itself, in the order of the page.
OWN = (
    *faults.FAULTS,
    *faults.CAUSES,
    *answers.WARNINGS,
    *answers.LINES,
    *answers.SILENCES,
    *others.LEVELS,
    *others.PROBLEMS,
    *others.DECISIONS,
    *others.STATUSES,
    *others.EXITS,
)

_PLURALS = {"cause": "causes of faults", "exit status": "exit statuses", "student's status": "statuses of students"}


class Meaning(NamedTuple):
    """One meaning of a code. ``game`` is None for a code of the referee itself."""

    game: str | None
    text: CodeText

    @property
    def title(self) -> str:
        """What the code is: "late: fault", "caught: outcome of maze"."""
        return f"{self.text.code}: {self.text.kind}{f' of {self.game}' if self.game else ''}"

    def to_json(self) -> dict[str, Any]:
        """The meaning as ``referee explain --json`` prints it."""
        return {"game": self.game, **self.text.to_json()}


def meanings(games: Iterable[str] | None = None) -> list[Meaning]:
    """Return every meaning of every code: those of the referee, then those of each game (None: of all games)."""
    rooms = registry.sound() if games is None else map(registry.get, games)
    return [*(Meaning(None, text) for text in OWN), *(Meaning(room.info.name, text) for room in rooms for text in room.codes or ())]


def sections(found: Iterable[Meaning]) -> dict[str, list[Meaning]]:
    """Return meanings in groups: those of the referee by kind, then those of each game by kind."""
    grouped: dict[str, list[Meaning]] = {}
    for meaning in found:
        kind = meaning.text.kind
        plural = _PLURALS.get(kind, f"{kind}s" if not kind.endswith("line") else f"{kind}s of a bot")
        title = f"{meaning.game}: {plural}" if meaning.game else plural
        grouped.setdefault(title[:1].upper() + title[1:], []).append(meaning)
    return grouped


def find(code: str) -> list[Meaning]:
    """Return the meanings of a code. UsageError names the closest code if there is none."""
    known = meanings()
    found = [meaning for meaning in known if meaning.text.code == code]
    if not found:
        by_lower = {meaning.text.code.lower(): meaning.text.code for meaning in known}
        close = get_close_matches(code.strip().lower()[:100].replace("_", "-").replace(" ", "-"), by_lower, n=1)
        hint = f"did you mean {by_lower[close[0]]!r}?" if close else "`referee explain` lists all codes."
        raise UsageError(f"There is no code {escape(code, 60)!r}; {hint}")
    return found


def page() -> str:
    """Return docs/codes.md: every code of the referee and of this package's games."""
    lines = [_HEAD]
    for title, found in sections(meanings(registry.names())).items():
        lines += [f"## {title}", ""]
        if any(meaning.text.causes for meaning in found):
            for meaning in found:
                lines += _long(meaning.text)
        else:
            lines += ["| code | meaning | what to do |", "|---|---|---|"]
            lines += [f"| `{text.code}` | {_cell(text.meaning)} | {_cell(text.remedy)} |" for _, text in found]
            lines.append("")
    return "\n".join(lines)


def _long(text: CodeText) -> list[str]:
    lines = [f"### {text.code}", "", _linked(text.meaning), "", f"What to do: {_linked(text.remedy)}", ""]
    if text.causes:
        lines += ["| language | usual cause |", "|---|---|"]
        lines += [f"| {language or 'any'} | {_cell(cause)} |" for language, cause in text.causes]
        lines.append("")
    return lines


def _cell(text: str) -> str:
    return _linked(text).replace("|", "\\|")


def _linked(text: str) -> str:
    """Return the text with links to the pages that it names; names with asterisks or underscores stay as they are."""
    import re

    return re.sub(r"\bdocs/([a-z-]+\.md)", r"[\1](\1)", text)


_HEAD = """# Codes

`referee explain CODE` prints what a code means, its usual causes, and what to do; `referee explain` lists all codes. This page has the same
texts. The result of a match contains its faults, and its `reason` is the outcome. A notice is part of the next question to the bot, and of the
replay.

```sh
referee explain late
referee explain
```

With `--json`, `referee explain CODE` prints an object with `code` and `meanings`: a list, since several games can have the same code. Each
meaning has `game` (null for a code of the referee itself), `kind`, `meaning`, `causes` (each with `language`, null for any, and `text`) and
`remedy`. Without a code, `--json` prints a list of such objects. A game of another package brings its own texts: `CODES` in the module
`codes` of its package.
"""
