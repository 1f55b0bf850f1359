"""All codes and what they mean, read from the Markdown file ``codes.md`` and from the texts of other packages' games."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.games import registry
from referee.games.outcome import SettingsError
from referee.support.near_names import nearest
from referee.support.words import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.games.game import Game

#: The kind of a section's codes, if it isn't the section's name without its last letter.
_KINDS = {
    "Causes of faults": "cause",
    "Exit statuses": "exit status",
    "Statuses of students": "student's status",
    "Wrong lines of a bot": "wrong line",
}
_REMEDY = re.compile(r"\*\*What\s+to\s+do:\*\*\s")


class Meaning(NamedTuple):
    """One meaning of a code. ``causes`` are the usual causes, each with its language; None is any language.

    ``section`` is the heading above the code, such as "Notices". ``game`` is None for a code of the referee itself.
    """

    game: str | None
    section: str
    code: str
    text: str
    causes: tuple[tuple[str | None, str], ...]
    remedy: str

    @property
    def kind(self) -> str:
        """What the code is, in a word or two: "fault", "exit status"."""
        return _KINDS.get(self.section, self.section.lower().removesuffix("s"))

    @property
    def title(self) -> str:
        """The code with its kind: "late: fault", "caught: outcome of maze"."""
        return f"{self.code}: {self.kind}{f' of {self.game}' if self.game else ''}"

    def to_json(self) -> dict[str, Any]:
        """The meaning as ``referee explain --json`` prints it."""
        causes = [{"language": language, "text": text} for language, text in self.causes]
        return {"game": self.game, "kind": self.kind, "meaning": self.text, "causes": causes, "remedy": self.remedy}


def read(text: str, game: str | None = None) -> list[Meaning]:
    """Return the meanings that a Markdown text explains; docs/add-a-game.md describes its form. ValueError names the code that breaks it."""
    start, *pieces = re.split(r"^(##?) (.+)$", text, flags=re.MULTILINE)
    if start.strip():
        raise ValueError('the text must begin with a section, such as "# Notices"')
    meanings: dict[tuple[str, str], Meaning] = {}
    section = ""
    for level, name, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        if level == "#":
            section = name
            if body.strip():
                raise ValueError(f'below "# {section}" must come a code, such as "## late"')
        elif not section or (section, name) in meanings:
            raise ValueError(f"the code {name!r} {f'is explained twice in {section!r}' if section else 'stands above the first section'}")
        else:
            meanings[section, name] = _meaning(game, section, name, body)
    return list(meanings.values())


def _meaning(game: str | None, section: str, code: str, body: str) -> Meaning:
    before, *after = _REMEDY.split(body)
    text, *items = (" ".join(part.split()) for part in re.split(r"^- ", before, flags=re.MULTILINE))
    remedy = " ".join(" ".join(after).split())
    # In Markdown, a line directly below a list belongs to the list.
    is_closed = not items or before.endswith("\n\n")
    if not (text and all(items) and remedy and is_closed) or len(after) > 1 or re.search("^#", body, re.MULTILINE):
        raise ValueError(
            f'below {code!r} must come its meaning, then the usual causes if there are any (each after "- "), an empty line below them, '
            'then "**What to do:**" and what to do'
        )
    parts = (re.match(r"(?:\*\*(.+?):\*\* )?(.+)", item) for item in items)
    return Meaning(game, section, code, text, tuple((part[1], part[2]) for part in parts if part), remedy)


def meanings(on_broken: Callable[[SettingsError], object] = lambda _: None) -> list[Meaning]:
    """Return every meaning of every code: those of ``codes.md``, then those of each game of another package.

    ``on_broken`` is called with the reason for each game whose codes can't be read.
    """
    text = Path(__file__).with_suffix(".md").read_text("utf-8")
    # Above the first section, the page says what codes are.
    all_meanings = [_placed(meaning) for meaning in read(text[text.index("\n# ") + 1 :])]
    for game in registry.loadable(on_broken):
        try:
            all_meanings += _of_game(game)
        except SettingsError as error:  # noqa: PERF203 - one broken package must not hide the others
            on_broken(error)
    return all_meanings


def _placed(meaning: Meaning) -> Meaning:
    """Return a meaning with its game, if its section begins with one, as "Evasion: notices" does."""
    game, colon, section = meaning.section.partition(": ")
    return meaning._replace(game=game.lower(), section=section.capitalize()) if colon else meaning


def _of_game(game: Game[Any, Any]) -> list[Meaning]:
    try:
        return read(game.codes or "", game.info.name)
    except Exception as error:
        raise SettingsError(f"the codes of the game {game.info.name!r} can't be read: {error}.") from error


def _title(game: str | None, section: str) -> str:
    return f"{game[0].upper()}{game[1:]}: {section.lower()}" if game else section


def sections(entries: Iterable[Meaning]) -> dict[str, list[Meaning]]:
    """Return meanings by section: those of the referee, then those of each game."""
    grouped: dict[str, list[Meaning]] = {}
    for meaning in entries:
        grouped.setdefault(_title(meaning.game, meaning.section), []).append(meaning)
    return grouped


def find(code: str, on_broken: Callable[[SettingsError], object] = lambda _: None) -> list[Meaning]:
    """Return the meanings of a code. UsageError suggests the closest code for an unknown one. ``on_broken`` is that of ``meanings``."""
    all_meanings = meanings(on_broken)
    entries = [meaning for meaning in all_meanings if meaning.code == code]
    if not entries:
        by_lower = {meaning.code.lower(): meaning.code for meaning in all_meanings}
        near = nearest(code.strip().lower()[:100].replace("_", "-").replace(" ", "-"), by_lower)
        hint = f"did you mean {by_lower[near]!r}?" if near else "`referee explain` lists all codes."
        raise UsageError(f"There is no code {code!r}; {hint}")
    return entries


def code_json(code: str, entries: Iterable[Meaning]) -> dict[str, Any]:
    """Return what a code means as JSON data."""
    return {"code": code, "meanings": [meaning.to_json() for meaning in entries]}


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    first, dot, _ = text.partition(". ")
    return f"{first}." if dot else text


def meaning_lines(entries: list[Meaning], wide: int) -> list[str]:
    """Return what codes mean, as lines of at most ``wide`` characters."""
    lines: list[str] = []
    for meaning in entries:
        if lines:
            lines.append("")
        lines += [meaning.title, *_paragraph(meaning.text, wide)]
        if meaning.causes:
            lines += ["", "Usual causes"]
            width = 2 + max(len(language or "any") for language, _ in meaning.causes)
            for language, cause in meaning.causes:
                lines += wrapped(f"  {language or 'any'}", width, cause, wide)
        lines += ["", "What to do", *_paragraph(meaning.remedy, wide)]
    return lines


def _paragraph(text: str, wide: int) -> list[str]:
    return wrapped("", 1, text, wide)
