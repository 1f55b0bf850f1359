"""explain: print what a code means, its usual causes, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli import completion
from referee.cli.app import JsonFlag, app, columns, command, note, program, put, put_json, wrapped
from referee.cli.front import AUTHORS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.codes.table import Meaning

#: The widest line of text: longer ones are hard to read.
_WIDEST = 110
_ANY = "any"


@app.command(rich_help_panel=AUTHORS)
@command
def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE]",
            help="A fault, notice, outcome or other code, such as late.  (default: list all)",
            show_default=False,
            autocompletion=completion.code,
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Explain a code of a result, a notice or a replay: what it means, its usual causes, and what to do."""
    from referee.codes import table

    if code is not None:
        found = table.find(code, note)
        if as_json:
            put_json(_described(code, found))
        else:
            put("\n".join(_lines(found, min(columns(100), _WIDEST))))
        return
    known = table.meanings(note)
    if as_json:
        codes = dict.fromkeys(meaning.code for meaning in known)
        put_json([_described(each, [meaning for meaning in known if meaning.code == each]) for each in codes])
        return
    wide = min(columns(100), _WIDEST)
    for title, group in table.sections(known).items():
        put(f"{title}:")
        for meaning in group:
            put("\n".join(wrapped(f"  {meaning.code}", 18, _first_sentence(meaning.text), wide)))
        put("")
    put(f"Try:  {program()} explain {known[0].code}")


def _described(code: str, found: Iterable[Meaning]) -> dict[str, Any]:
    return {"code": code, "meanings": [meaning.to_json() for meaning in found]}


def _first_sentence(text: str) -> str:
    first, dot, _ = text.partition(". ")
    return f"{first}." if dot else text


def _lines(found: list[Meaning], wide: int) -> list[str]:
    lines: list[str] = []
    for meaning in found:
        if lines:
            lines.append("")
        lines += [meaning.title, *_paragraph(meaning.text, wide)]
        if meaning.causes:
            lines += ["", "Usual causes"]
            width = 2 + max(len(language or _ANY) for language, _ in meaning.causes)
            for language, cause in meaning.causes:
                lines += wrapped(f"  {language or _ANY}", width, cause, wide)
        lines += ["", "What to do", *_paragraph(meaning.remedy, wide)]
    return lines


def _paragraph(text: str, wide: int) -> list[str]:
    return wrapped("", 1, text, wide)
