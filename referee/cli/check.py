"""check and doctor: test a bot with ordinary and unusual messages, and the sandbox of this machine."""

from __future__ import annotations

import shlex
import textwrap
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee import games
from referee.cli import completion
from referee.cli.app import JsonFlag, app, columns, command, put, put_json, say
from referee.cli.front import AUTHORS, GRADERS
from referee.cli.options import BotIsolation, Game, bot_argument, seat_option
from referee.cli.terminal import StatusLine
from referee.errors import UsageError
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, LEVELS, LIMITS, NONE
from referee.match.options import checked_isolation
from referee.support.packages import EXTRAS, install_command, missing_of_extras
from referee.support.words import program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.author.check.check import Check, CheckResult
    from referee.author.check.run import Report, Request
    from referee.isolation.diagnosis import Diagnosis

#: A bot that fails this check is checked again as a whole: nothing else is known of it.
_STARTS = "starts"
#: How each status is shown: different words, so that nobody needs colours.
_MARKS = {"ok": "ok", "warning": "warning", "failed": "FAILED", "skipped": "skipped"}
#: From this width on the text of a result stands beside its name.
_WIDE = 72
#: More checks than this that are skipped for one reason get one line.
_MANY = 2


def _names() -> list[tuple[str, str]]:
    """Return the checks, for the shell."""
    from referee.author.check.table import CHECKS

    return [(one.name, one.about) for one in CHECKS]


@app.command(rich_help_panel=AUTHORS)
@command
def check(
    bot: Annotated[str | None, bot_argument()] = None,
    seat: Annotated[str | None, seat_option(help="Check it at this seat only.  (default: each seat that it plays)")] = None,
    game: Game = None,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="RULES",
            help="The rule set.  (default: the first one of the game)",
            show_default=False,
            autocompletion=completion.rules,
        ),
    ] = None,
    isolation: BotIsolation = "auto",
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="NAME", help="Do this check only; may be given several times.", show_default=False, autocompletion=_names
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the failed checks only.")] = False,
    list_checks: Annotated[bool, typer.Option("--list", help="List all checks, and do none.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Check a bot: its start, its answers in every kind of position, its time and memory, and its end.

    A failed check doesn't stop the others. At the end the command prints for each failed check what was sent, what came back, and what to do. Exit status 1
    if a check failed, 3 if the bot can't be started.
    """
    from referee.author.check.table import CHECKS

    chosen = _chosen(only or [], CHECKS)
    if list_checks:
        _list(chosen, as_json=as_json)
        return
    if bot is None:
        raise UsageError(f"Name the bot to check; for instance: {program()} check my_bot.py")
    checked_isolation(isolation, "--isolation")
    from referee.author.check.run import run
    from referee.cli.run import announce_build
    from referee.players.building import tell_builds

    if not quiet:
        tell_builds(announce_build)
    request = _request(bot, seat, game or _game_of(seat), rules, isolation, chosen)
    if rules is None:
        names = games.names() if game is None and seat is None else ()
        request = _played(request, names, lambda name, rules: _request(bot, seat, name, rules, isolation, chosen), quiet=quiet)
    line = StatusLine()
    try:
        report = run(request, lambda seat, check, done, total: None if quiet else line.show(f"{done} of {total}  {seat}: {check.name}"))
    finally:
        line.end()
    for note in () if quiet else report.notes:
        say(f"note: {note}")
    if as_json:
        rules_name = request.settings.rules
        put_json({"bot": bot, "game": request.game.info.name, "rules": rules_name, **report.to_json(), "text": _summary(report)})
    elif quiet:
        _print_failures(request, report)
    else:
        _print(request, report)
        _hint(request, report)
    if not report.ok:
        raise typer.Exit(3 if report.refused else 1)


def _played(first: Request, names: Sequence[str], make: Callable[[str, str], Request], *, quiet: bool) -> Request:
    """Return the request for the game and the rule set that the bot plays: of some games the default rules, then their other rules."""
    from referee.author.check.run import find_game

    default = first.game.info.name
    others = [name for name in names if name != default]
    tries = [(name, games.info(name).rule_sets[0]) for name in others]
    tries += [(name, rules) for name in (default, *others) for rules in games.info(name).rule_sets[1:]]
    if not tries:
        return first
    found = find_game(chain([first], (make(*one) for one in tries)))
    name, rules = found.game.info.name, found.settings.rules
    if quiet:
        return found
    if name != default:
        say(f"note: This bot doesn't play {default}; it is checked for {name}.  (--game {default} checks it for {default})")
    elif rules != first.settings.rules:
        usual = first.settings.rules
        say(f"note: This bot doesn't play the rules {usual}; it is checked with {rules}.  (--rules {usual} checks it with {usual})")
    return found


def _chosen(names: Sequence[str], checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return the named checks, all if none is named. UsageError for a name that no check has."""
    wanted = [name.strip() for text in names for name in text.split(",")]
    known = {check.name: check for check in checks}
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"--only is {name!r:.60}, but there is no such check; {_meant(name, known)}referee check --list has their names."
            )
    return tuple(check for check in checks if not wanted or check.name in wanted)


def _meant(name: str, known: Any) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def _request(bot: str, seat: str | None, game: str | None, rules: str | None, isolation: str, checks: tuple[Check, ...]) -> Request:
    from referee.author.check.run import Request
    from referee.isolation.choose import choose
    from referee.isolation.limits import Limits

    found = games.get(game or games.names()[0])
    settings = found.codec.settings(rules, {})
    seats = found.seats(settings)
    if seat is not None and seat not in seats:
        raise UsageError(
            f"--seat is {seat!r:.40}, but {found.info.name} has no such seat; {_meant(seat, seats)}there are {', '.join(seats)}."
        )
    # Where any number of players can play, all seats are alike.
    wanted = (seat,) if seat is not None else seats[:1] if found.info.players_option else seats
    return Request(bot, found, settings, wanted, lambda spec: choose(isolation, Limits(), [spec.program]), checks=checks)


def _game_of(seat: str | None) -> str | None:
    """Return the game that has a seat, if it is not the first game but exactly one other."""
    if seat is None:
        return None
    found = []
    for name in games.names():
        game = games.get(name)
        if seat in game.seats(game.codec.settings(None, {})):
            found.append(name)
    return found[0] if len(found) == 1 else None


def _list(checks: Sequence[Check], *, as_json: bool) -> None:
    if as_json:
        put_json({"checks": [{"name": one.name, "group": one.group, "about": one.about} for one in checks]})
        return
    width, name_width = columns(100), max(len(one.name) for one in checks)
    for group in dict.fromkeys(one.group for one in checks):
        put(group)
        for one in checks:
            if one.group == group:
                _put_beside(f"  {one.name:<{name_width}}  ", one.about, width)


def _put_beside(head: str, text: str, width: int) -> None:
    """Print a text beside its head, or below it on a narrow terminal."""
    indent = " " * len(head) if width >= _WIDE else "    "
    lines = [line for part in text.splitlines() for line in textwrap.wrap(part, width, initial_indent=indent, subsequent_indent=indent)]
    if width >= _WIDE and lines:
        lines[0] = head + lines[0][len(head) :]
    else:
        lines.insert(0, head.rstrip())
    put(*lines)


def _print(request: Request, report: Report) -> None:
    width, name_width = columns(100), max(len(one.check.name) for one in report.results)
    for seat in report.seats:
        how = f"{request.game.info.name}, rules {request.settings.rules}, isolation {report.isolation or 'unknown'}"
        put(*textwrap.wrap(f"{request.bot} as {seat} ({how})", width))
        everything = [one for one in report.results if one.seat == seat]
        reasons = Counter(one.finding.text for one in everything if one.finding.status == "skipped")
        many = [reason for reason, count in reasons.items() if count > _MANY]
        of_seat = [one for one in everything if one.finding.status != "skipped" or one.finding.text not in many]
        if all(one.finding.status == "failed" for one in of_seat):
            # Nothing to see but the failures, which follow.
            of_seat = []
        for group in dict.fromkeys(one.check.group for one in of_seat):
            put(group)
            for one in of_seat:
                if one.check.group == group:
                    _print_one(one, name_width, width, has_details=one.finding.status != "failed")
        for reason in many:
            head = f"  {_MARKS['skipped']:<7}  {reasons[reason]} checks not tried"
            # In one line if there is room.
            put(*textwrap.wrap(f"{head}: {reason}", width, subsequent_indent=" " * 11))
        put("")
    _print_failures(request, report)
    for seat, why in report.not_checked.items():
        put(*textwrap.wrap(f"not checked as {seat}: {why}", width))
    put(*textwrap.wrap(_summary(report), width))


def _print_failures(request: Request, report: Report) -> None:
    """Print the failed checks in one block, each with what was sent, what came back, and what to do."""
    width = columns(100)
    for seat in report.seats:
        failed = [one for one in report.results if one.seat == seat and one.finding.status == "failed"]
        if failed:
            put(*textwrap.wrap(f"{request.bot} fails as {seat}:", width))
            for one in failed:
                _print_one(one, max(len(one.check.name) for one in failed), width)
            put("")


def _print_one(one: CheckResult, name_width: int, width: int, *, has_details: bool = True) -> None:
    status, text, sent, came, remedy = one.finding
    head = f"  {_MARKS[status]:<7}  {one.check.name}"
    _put_beside(f"{head:<{11 + name_width}}  ", text if width >= _WIDE or status != "ok" else "", width)
    indent = " " * (13 + name_width if width >= _WIDE else 4)
    for name, value in (("sent", sent), ("came", came), ("do", remedy)):
        if value and has_details:
            put(*textwrap.wrap(value, width, initial_indent=f"{indent}{name:<5} ", subsequent_indent=" " * (len(indent) + 6)))


def _summary(report: Report) -> str:
    counts = report.counts
    total = sum(counts.values())
    words = [f"{counts['ok']} ok"]
    words += [f"{counts['warning']} warning{'s' * (counts['warning'] != 1)}"] if counts["warning"] else []
    words += [f"{counts[status]} {status}" for status in ("failed", "skipped") if counts[status]]
    return f"{total} check{'s' * (total != 1)}: {', '.join(words)}."


def _hint(request: Request, report: Report) -> None:
    """Print the next step: the first failed check again, or a match."""
    failed = next((one for one in report.results if one.finding.status == "failed"), None)
    game, rules = request.game.info, request.settings.rules
    name = "" if game.name == games.names()[0] else f" --game {game.name}"
    name += "" if rules == game.rule_sets[0] else f" --rules {rules}"
    if failed is not None or not report.counts["ok"]:
        only = f" --seat {failed.seat} --only {failed.check.name}" if failed is not None and failed.check.name != _STARTS else ""
        say(f"Next:  {program()} check {shlex.quote(request.bot)}{name}{only}")
        return
    from referee.author.check.matches import play_words

    say(f"Next:  {program()} play {play_words(request.game, request.settings, {report.seats[0]: request.bot})}")


_PROMISES = {
    ISOLATED_CGROUP: "everything, with hard caps on memory and processes",
    ISOLATED: "everything, memory by a watchdog",
    LIMITS: "resource limits and timeouts: for your own bots only",
    NONE: "nothing",
}


@app.command(rich_help_panel=GRADERS)
@command
def doctor(as_json: JsonFlag = False) -> None:
    """Test the sandbox of this machine, and say which extras work here. For each failed check, print the remedy.

    A self-check runs in the real sandbox and tries the attacks of a hostile bot. Exit status 1 if --isolation strict is unavailable.
    """
    from referee.isolation.diagnosis import diagnose

    found, extras = diagnose(), missing_of_extras()
    if as_json:
        put_json({**found.to_json(), "extras": {name: {"works": not missing, "missing": missing} for name, missing in extras.items()}})
    else:
        _print_diagnosis(found, extras)
    if not found.is_strict:
        raise typer.Exit(1)


def _print_diagnosis(found: Diagnosis, extras: dict[str, list[str]]) -> None:
    width = max(len(check.name) for check in found.checks)
    variant = ""
    for check in found.checks:
        if check.variant != variant:
            variant = check.variant
            put("", f"In a sandbox entered as {variant}:")
        put(f"  {'ok  ' if check.ok else 'FAIL'}  {check.name:<{width}}  {check.seen}")
        if not check.ok:
            put(f"        {'':<{width}}  -> {check.remedy}")
    put("")
    for level in LEVELS:
        there = level in found.levels
        why = "" if there else f"; missing: {found.missing(level)}"
        put(f"  {'yes' if there else 'no ':<4}  {level:<{len(ISOLATED_CGROUP)}}  {_PROMISES[level]}{why}")
    if extras:
        put("", "What the extras of this installation offer:")
    for name, missing in extras.items():
        put(f"  {'no ' if missing else 'yes':<4}  {name:<{len(ISOLATED_CGROUP)}}  {EXTRAS[name]}")
        if missing:
            put(f"        {'':<{len(ISOLATED_CGROUP)}}  -> {install_command(*missing)}")
    put("")
    if found.is_strict:
        if not all(check.ok for check in found.checks):
            put("Strict isolation does not need the checks that fail above; docs/isolation.md lists what they would add.")
        put(f"Strict isolation is available: {found.levels[0]}. {found.stopping}")
        put(f"Try:  {program()} play --isolation strict searcher evader")
    else:
        say("referee: Strict isolation is not available here; each FAIL above shows its remedy (see docs/isolation.md).")
