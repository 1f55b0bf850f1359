"""The list of all commands, with the short help of each. It imports none of them.

The table names each command with its module and the first line of its help. So the list of all commands, the version and the names that a
shell completes need neither typer nor the modules of the commands. Importing this module must stay cheap.
"""

from __future__ import annotations

import os
import sys

from referee.version import described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

AUTHORS = "For bot authors"
PLAYERS = "For players"
INSTRUCTORS = "For instructors"
GRADERS = "For graders"
SERVERS = "For programs that speak the course's own protocols"
REPLAYS = "To look at matches"
DEVELOPERS = "For developers of games and of the referee"

TITLE = "A referee for matches between bot programs."
EXAMPLE = "Try:  referee play boxer runner"

#: The commands by the panels of the help, in its order: the module of each in ``referee.cli``, and the first paragraph of its help.
PANELS: dict[str, dict[str, tuple[str, str]]] = {
    AUTHORS: {
        "play": ("play", "Play one match between programs or people, and write its replay; or play many games with --games."),
        "duel": ("play", "Play two games between two teams with the roles swapped, and print the winner."),
        "bots": ("play", "List the example bots by game, weak to strong. Use their names as players."),
        "games": ("games", "List the games, or the settings of one."),
        "new": ("new", "Write a bot that already plays, for you to change. Nothing is overwritten."),
        "explain": ("explain", "Explain a code of a result, a notice or a replay: what it means, its usual causes, and what to do."),
        "check": ("check", "Check a bot: its start, its answers in every kind of position, its time and memory, and its end."),
        "debug": ("debug", "Ask a bot the questions of a replay up to a turn, and show its answer in that turn beside the recorded one."),
        "compare": ("compare", "Find out whether bot A is better than bot B, with as few duels as possible."),
        "profile": (
            "profile",
            "Play a bot and print how long its answers take, which took longest, and which functions use the time.",
        ),
    },
    GRADERS: {
        "grade": ("grade", "Mark submissions by a rubric: every test is played in the sandbox, and the marks can be repeated."),
        "doctor": ("graders", "Test the sandbox on this machine. For each failed check, print the remedy."),
        "rerun": ("rerun", "Ask a bot the questions of a replay again, and say where its answers differ from the recorded ones."),
        "check-reveal": (
            "reveal",
            "Check the seed and the starts that were revealed after the deadline against the hash that was published before it.",
        ),
        "certify": ("certificate", "Write certificate.json beside the results: signed hashes of all files of the folder."),
        "check-certificate": (
            "certificate",
            "Check a certificate: its signature, who signed it, and every file in a folder. Exit status 1 if there is a problem.",
        ),
        "keys": ("certificate", "Make a key to sign certificates."),
    },
    REPLAYS: {
        "verify": ("replays", "Replay the recorded moves on the engine and compare every step."),
        "show": (
            "replays",
            "Show a replay: result, settings, faults, events, time used, and the final board. With --step, show one position.",
        ),
        "analyze": (
            "replays",
            "List the turning points of a match of Evasion: when capture became certain or evasion possible, and the best wall there.",
        ),
        "watch": (
            "watch",
            "Open a replay in the viewer, two replays side by side, or a gallery of a folder. A server on this machine serves the page until Ctrl-C.",
        ),
        "export": ("watch", "Turn a replay into a page, a picture or an animated GIF."),
    },
    PLAYERS: {
        "maze": ("maze", "Play the maze in this terminal: w, a, s, d or the arrow keys; q quits."),
    },
    SERVERS: {
        "gameserver": ("servers", "Serve games of the 2010 protocol: clients JOIN, and the server pairs them in order of arrival."),
        "architect": ("servers", "Serve one session of the 2017 protocol: two clients on two ports, two games with the roles swapped."),
        "connect": ("servers", "Play with a bot of yours on another server that speaks one of the two protocols."),
    },
    DEVELOPERS: {
        "conformance": (
            "develop",
            "Play recorded games on the engine and compare every state; recompute the verdict of recorded positions.",
        ),
    },
    INSTRUCTORS: {
        "league": ("league", "Play many matches between teams: standings, ratings, a report."),
        "stats": ("stats", "Calculators: sequential tests and ratings."),
    },
}

_OPTIONS = {
    ("--version", "-V"): "Print the version and exit.",
    ("--install-completion", ""): "Install completion for the current shell.",
    ("--show-completion", ""): "Show completion for the current shell, to copy it or customize the installation.",
    ("--help", "-h"): "Show this message and exit.",
}
#: The widest output where nothing says how wide it may be, and the narrowest at all.
_DEFAULT_COLUMNS, _LEAST_COLUMNS = 80, 40
_DIM, _BOLD, _NAME, _HEADING, _PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[1;36m", "\x1b[1;33m", "\x1b[0m"
_BOXES = (tuple("╭─╮│╰╯"), tuple("+-+|++"))


def answer(words: list[str]) -> bool:
    """Print the list of commands or the version if these words ask for it, and return True. False for all other words.

    Raises SystemExit with status 2 if there are no words.
    """
    if "_REFEREE_COMPLETE" in os.environ:
        return False
    if words in ([], ["--help"], ["-h"]):
        _print("\n".join(help_lines(_columns(), is_colored=_is_colored(), box=_box())))
        if not words:
            sys.exit(2)
        return True
    if words in (["--version"], ["-V"]):
        _print(described())
        return True
    return False


def module_of(name: str) -> str | None:
    """Return the name of a command's module in ``referee.cli``; None if there is no such command."""
    return next((named[name][0] for named in PANELS.values() if name in named), None)


def commands() -> Iterator[tuple[str, str, str]]:
    """Yield the panel, the name and the short help of every command."""
    for panel, named in PANELS.items():
        for name, (_, text) in named.items():
            yield panel, name, text


def help_lines(columns: int, *, is_colored: bool = False, box: tuple[str, ...] = _BOXES[0]) -> list[str]:
    """Return the list of all commands and of the options before them, in lines of ``columns`` characters."""
    wide = max(columns, _LEAST_COLUMNS)

    def styled(style: str, text: str) -> str:
        return f"{style}{text}{_PLAIN}" if is_colored else text

    def panel(title: str, rows: dict[str, str]) -> Iterator[str]:
        top_left, line, top_right, side, bottom_left, bottom_right = box
        yield styled(_DIM, f"{top_left}{line} {title[: wide - 6]} ".ljust(wide - 1, line) + top_right)
        for name, text in rows.items():
            shown = f"{name:<{width}}"
            for part in _wrapped(text, wide - 6 - width):
                yield f"{styled(_DIM, side)} {styled(_NAME, shown)}  {part:<{wide - 6 - width}} {styled(_DIM, side)}"
                shown = " " * width
        yield styled(_DIM, f"{bottom_left}{line * (wide - 2)}{bottom_right}")

    options = {f"{long:<20}  {short:<2}": text for (long, short), text in _OPTIONS.items()}
    width = max(map(len, options))
    lines = ["", f" {styled(_HEADING, 'Usage:')} {styled(_BOLD, 'referee [OPTIONS] COMMAND [ARGS]...')}", ""]
    lines += [f" {TITLE}", "", f" {EXAMPLE}", "", *panel("Options", options)]
    width = max(len(name) for _, name, _ in commands())
    for title, named in PANELS.items():
        lines += panel(title, {name: text for name, (_, text) in named.items()})
    return [*lines, ""]


def _wrapped(text: str, wide: int) -> list[str]:
    lines = [""]
    for word in text.split():
        while len(word) > wide:
            lines[-1:] = [*filter(None, lines[-1:]), word[:wide], ""]
            word = word[wide:]  # noqa: PLW2901 - the rest of a word that fits no line
        if lines[-1] and len(lines[-1]) + 1 + len(word) > wide:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines


def _columns() -> int:
    """Return the width of the terminal, also if stdout is a pipe into a pager."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    for fd in (1, 0, 2):
        try:
            found = os.get_terminal_size(fd).columns
        except OSError:
            continue
        if found > 0:
            return found
    return _DEFAULT_COLUMNS


def _is_colored() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")


def _box() -> tuple[str, ...]:
    """Return the characters of boxes that stdout can show."""
    try:
        "".join(_BOXES[0]).encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return _BOXES[1]
    return _BOXES[0]


def _print(text: str) -> None:
    """Print on stdout. Nobody misses the text if the reader has closed it."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as error:
        print(f"referee: The system refused: {error.strerror or error}.", file=sys.stderr)
        sys.exit(4)
