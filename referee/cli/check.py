"""check and doctor: test a bot with ordinary and unusual messages, and the sandbox of this machine."""

from __future__ import annotations

import contextlib
import shlex
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from referee import games
from referee.cli.app import AUTHORS, GRADERS, JsonFlag, app, columns, command, put, put_json, put_more, say
from referee.cli.options import BotIsolation, FirstRules, Game, Quiet, bot_argument, seat_option
from referee.cli.run import announce_build
from referee.cli.terminal import StatusLine
from referee.errors import UsageError
from referee.isolation.limits import word_of
from referee.match.options import TimeControl, checked_isolation
from referee.support.packages import EXTRAS, install_command, missing_of_extras
from referee.support.words import counted, program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.author.check.check import Check, CheckResult
    from referee.author.check.run import CheckRequest, Report

#: The word for each status, so that nobody needs colours.
_MARKS = {"ok": "ok", "warning": "warning", "failed": "FAILED", "skipped": "skipped"}
#: From this width on, the text of a result is printed beside its name, not below it.
_WIDE = 72
#: If more checks than this are skipped for the same reason, they share one line.
_MANY = 2


@app.command(rich_help_panel=AUTHORS)
@command
def check(
    bot: Annotated[str | None, bot_argument()] = None,
    seat: Annotated[str | None, seat_option(help="Check it only at this seat.  (default: each seat that it plays)")] = None,
    game: Game = None,
    rules: FirstRules = None,
    isolation: BotIsolation = "auto",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Run only this check; may be repeated."),
    ] = None,
    quiet: Quiet = False,
    list_checks: Annotated[bool, typer.Option("--list", help="List all checks without running them.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Check a bot: its start, its answers in every kind of position, its time and memory, and its end.

    A failed check doesn't stop the others. At the end the command prints for each failed check what was sent, what came back, and what to do. Exit status 1
    if a check failed, 3 if the bot can't be started.
    """
    from referee.author.check.requested import chosen_checks, requested

    chosen = chosen_checks(only or [])
    if list_checks:
        games.get(game or games.names()[0])
        _list(chosen, as_json=as_json)
        return
    if bot is None:
        raise UsageError(f"Name the bot to check. Example: {program()} check my_bot.py")
    checked_isolation(isolation, "--isolation")
    from referee.author.check.run import run
    from referee.isolation.launcher import on_builds

    on_builds(announce_build)
    request = requested(bot, seat, game, rules, isolation, chosen, say)
    with contextlib.closing(StatusLine()) as line:
        report = run(request, lambda seat, check, done, total: line.show(f"{done} of {total}  {seat}: {check.name}"))
    for note in report.notes:
        say(f"note: {note}")
    if as_json:
        rules_name = request.settings.rules
        put_json({"bot": bot, "game": request.game.info.name, "rules": rules_name, **report.to_json(), "text": _summary(report)})
    else:
        if not quiet:
            _print(request, report)
        _print_failures(request, report)
        for seat_name, why in report.not_checked.items():
            put_more(*textwrap.wrap(f"not checked as {seat_name}: {why}", columns(100)))
        put(*textwrap.wrap(_summary(report), columns(100)))
        _hint(request, report, is_part=bool(seat or only))
    if not report.ok:
        raise typer.Exit(3 if report.refused else 1)


def _list(checks: Sequence[Check], *, as_json: bool) -> None:
    if as_json:
        put_json({"checks": [{"name": check.name, "group": check.group, "about": check.about} for check in checks]})
        return
    width, name_width = columns(100), max(len(check.name) for check in checks)
    for group in dict.fromkeys(check.group for check in checks):
        put(group)
        for check in checks:
            if check.group == group:
                _put_beside(f"  {check.name:<{name_width}}  ", check.about, width)


def _put_beside(head: str, text: str, width: int) -> None:
    """Print a text beside its head, or below it on a narrow terminal."""
    indent = " " * len(head) if width >= _WIDE else "    "
    lines = [line for part in text.splitlines() for line in textwrap.wrap(part, width, initial_indent=indent, subsequent_indent=indent)]
    if width >= _WIDE and lines:
        lines[0] = head + lines[0][len(head) :]
    else:
        lines.insert(0, head.rstrip())
    put(*lines)


def _print(request: CheckRequest, report: Report) -> None:
    width, name_width = columns(100), max(len(result.check.name) for result in report.results)
    for seat in report.seats:
        how = f"{request.game.info.name}, rules {request.settings.rules}, isolation {word_of(report.isolation) or 'unknown'}"
        put(*textwrap.wrap(f"{request.bot} as {seat} ({how})", width))
        everything = [result for result in report.results if result.seat == seat]
        reasons = Counter(result.finding.text for result in everything if result.finding.status == "skipped")
        many = [reason for reason, count in reasons.items() if count > _MANY]
        of_seat = [result for result in everything if result.finding.status != "skipped" or result.finding.text not in many]
        if all(result.finding.status == "failed" for result in of_seat):
            # The failures follow in their own block.
            of_seat = []
        for group in dict.fromkeys(result.check.group for result in of_seat):
            put(group)
            for result in of_seat:
                if result.check.group == group:
                    _print_one(result, name_width, width, has_details=result.finding.status != "failed")
        for reason in many:
            head = f"  {_MARKS['skipped']:<7}  {reasons[reason]} checks not tried"
            # In one line if there is room.
            put(*textwrap.wrap(f"{head}: {reason}", width, subsequent_indent=" " * 11))
        put("")


def _print_failures(request: CheckRequest, report: Report) -> None:
    """Print the failed checks in one block, each with what was sent, what came back, and what to do."""
    width = columns(100)
    for seat in report.seats:
        failed = [result for result in report.results if result.seat == seat and result.finding.status == "failed"]
        if failed:
            put(*textwrap.wrap(f"{request.bot} fails as {seat}:", width))
            for result in failed:
                _print_one(result, max(len(result.check.name) for result in failed), width)
            put("")


def _print_one(result: CheckResult, name_width: int, width: int, *, has_details: bool = True) -> None:
    status, text, sent, came, remedy = result.finding
    head = f"  {_MARKS[status]:<7}  {result.check.name}"
    _put_beside(f"{head:<{11 + name_width}}  ", text if width >= _WIDE or status != "ok" else "", width)
    indent = " " * (13 + name_width if width >= _WIDE else 4)
    for name, value in (("sent", sent), ("came", came), ("do", remedy)):
        if value and has_details:
            put(*textwrap.wrap(value, width, initial_indent=f"{indent}{name:<5} ", subsequent_indent=" " * (len(indent) + 6)))


def _summary(report: Report) -> str:
    counts = report.counts
    words = [f"{counts['ok']} ok"]
    words += [counted(counts["warning"], "warning")] if counts["warning"] else []
    words += [f"{counts[status]} {status}" for status in ("failed", "skipped") if counts[status]]
    return f"{counted(sum(counts.values()), 'check')}: {', '.join(words)}."


def _hint(request: CheckRequest, report: Report, *, is_part: bool) -> None:
    """Print the next command: the first failed check, all checks if only a part was run, or a match. Never the same command again."""
    from referee.author.check.matches import play_words

    failed = next((result for result in report.results if result.finding.status == "failed"), None)
    game, rules = request.game.info, request.settings.rules
    words = f"check {shlex.quote(request.bot)}"
    words += "" if game.name == games.names()[0] else f" --game {game.name}"
    words += "" if rules == game.rule_sets[0] else f" --rules {rules}"
    if failed is not None and failed.check.name != "starts" and not len(request.checks) == len(request.seats) == 1:
        words += f" --seat {failed.seat} --only {failed.check.name}"
    elif failed is None and report.counts["ok"] + report.counts["warning"]:
        words = f"play {play_words(request.game, request.settings, {(*report.seats, *request.seats)[0]: request.bot})}"
    elif not is_part:
        return
    say(f"Next:  {program()} {words}")


@app.command(rich_help_panel=GRADERS)
@command
def doctor(as_json: JsonFlag = False) -> None:
    """Test the sandbox of this machine, and list the installed extras. For each failed check, print the remedy.

    A self-check runs in the real sandbox and tries the attacks of a hostile bot. Exit status 1 if --isolation strict is unavailable,
    or if this machine has less than the default limits promise each bot.
    """
    from referee.isolation.diagnosis import diagnose

    diagnosis, extras = diagnose(TimeControl().cpu_seconds), missing_of_extras()
    if as_json:
        put_json({**diagnosis.to_json(), "extras": {name: {"works": not missing, "missing": missing} for name, missing in extras.items()}})
    else:
        if diagnosis.is_strict and not diagnosis.shortages:
            put(*diagnosis.conclusion())
        elif diagnosis.shortages:
            say("referee: This machine has less than the default limits promise each bot. Each FAIL below shows its remedy.")
        else:
            say("referee: Strict isolation is not available here. Each FAIL below shows its remedy (see docs/isolation.md).")
        put("", *diagnosis.lines(), *_extras_lines(extras))
    if diagnosis.shortages or not diagnosis.is_strict:
        raise typer.Exit(1)


def _extras_lines(extras: dict[str, list[str]]) -> list[str]:
    width = max(map(len, extras), default=0)
    lines = ["", "What the extras of this installation offer:"] if extras else []
    for name, missing in extras.items():
        lines.append(f"  {'no ' if missing else 'yes':<4}  {name:<{width}}  {EXTRAS[name]}")
        lines += [f"        {'':<{width}}  -> {install_command(*missing)}"] if missing else []
    return lines
