"""The typer application that all commands belong to: its version option, the panels of its help, its error messages and exit statuses."""

from __future__ import annotations

import contextlib
import errno
import functools
import gc
import inspect
import json
import math
import os
import shutil
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer

from referee.cli.models import with_fields
from referee.errors import Interrupted, RefereeError
from referee.games.game import SettingsError
from referee.support.color import colored, is_wanted
from referee.support.csv_text import MARK
from referee.support.escape import message, printable
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


#: The panels of the help: the commands by their readers.
AUTHORS = "For bot authors"
PLAYERS = "For players"
INSTRUCTORS = "For instructors"
GRADERS = "For graders"
SERVERS = "For programs that speak the course's own protocols"
REPLAYS = "To look at matches"

_HELP = """A referee for matches between bot programs.

You write a bot:
  referee play boxer evader           let two example bots play
  referee new hunter my_hunter.py     write a bot that already plays
  referee play my_hunter.py evader    let your bot play
  referee compare my_hunter.py boxer  find out which of two bots is better

You hold a competition:
  referee doctor                      see whether this machine isolates bots
  referee league run teams            play a league of the programs in teams
  referee league report FOLDER        write a page with standings and replays

You grade hand-ins:
  referee grade init                  write a rubric for each game
  referee grade run submissions --rubric rubric-evasion.toml

referee COMMAND --help explains a command."""

#: A signal within this time after the last one is ignored.
_MOMENT_SECONDS = 1.0

#: Operating system errors that the user can avoid by another path or other permissions.
_WRONG_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG)

#: Words that people try in place of an option.
_OPTIONS = {"help": "--help", "version": "--version"}

#: The base class of all errors in a command line. Typer exports only its subclass.
_WRONG_USE = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])


def group(name: str, text: str) -> typer.Typer:
    """Return an application, or a group of commands below it."""
    names = {"help_option_names": ["-h", "--help"]}
    return typer.Typer(name=name, help=text, no_args_is_help=True, context_settings=names, pretty_exceptions_enable=False)


app = group("referee", _HELP)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, everything else on stderr.")]


def _print_version(is_present: bool) -> None:  # noqa: FBT001 - the form that typer calls
    if is_present:
        typer.echo(f"referee {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


#: Whether the running command has the option -q.
_quiet = {"is_on": False}


def is_quiet() -> bool:
    """Return True if the command has -q and prints only its result and errors."""
    return _quiet["is_on"]


def be_quiet(*, is_on: bool = True) -> None:
    """Set whether the command prints only its result and errors."""
    _quiet["is_on"] = is_on


def say(*lines: str) -> None:
    """Print messages for the user on stderr, escaped. With -q, print nothing."""
    if not is_quiet():
        complain(*lines)


def complain(*lines: str) -> None:
    """Print errors on stderr, escaped, also with -q. Ignore a closed stderr."""
    try:
        for line in lines:
            print(colored(message(line), sys.stderr), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


def note(error: Exception) -> None:
    """Print an error as a note on stderr. The command goes on."""
    say(f"note: {error}")


def put(*lines: str) -> None:
    """Print lines of the result on stdout, with everything unprintable escaped."""
    for line in lines:
        typer.echo(colored(printable(line), sys.stdout), color=is_wanted(sys.stdout))


def put_more(*lines: str) -> None:
    """Print lines that explain the result or name the next command. With -q, print nothing."""
    if not is_quiet():
        put(*lines)


def columns(default: int) -> int:
    """Return the width for texts on stdout: that of the terminal or of COLUMNS, else ``default``."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else default


def put_json(value: Any) -> None:
    """Print the JSON value of ``--json`` on stdout."""
    put(*json.dumps(value, indent=None if not sys.stdout.isatty() else 2).splitlines())


def put_csv(text: str) -> None:
    """Print CSV on stdout. A terminal doesn't need its byte order mark."""
    if text.startswith(MARK) and not sys.stdout.isatty():
        typer.echo(MARK, nl=False)
    put(*text.removeprefix(MARK).splitlines())


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command: its models become options. An exception becomes a sentence on stderr and the exit status of its class."""
    called = with_fields(function)

    @functools.wraps(called)
    def wrapped(*args: object, **options: object) -> None:
        gc.freeze()
        gc.enable()
        signal.signal(signal.SIGINT, _Ends(lambda _: KeyboardInterrupt()))
        as_json = bool(options.get("as_json"))
        be_quiet(is_on=bool(options.get("quiet")))
        try:
            called(*args, **options)
        except RefereeError as error:
            _fail(str(error), error.exit_code, as_json=as_json, facts=error.facts)
        except SettingsError as error:
            _fail(printable(str(error)), 2, as_json=as_json)
        except (KeyboardInterrupt, SystemExit) as error:
            _interrupted(error, as_json=as_json)
        except BrokenPipeError:
            # The program that read our stdout has closed it, so no message can reach it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise typer.Exit(0) from None
        except OSError as error:
            # Neither the user nor a bot causes a full disk, for example.
            where = f"{printable(str(error.filename))}: " if error.filename else ""
            _fail(f"{where}{error.strerror or error} (operating system error).", 2 if error.errno in _WRONG_PLACE else 4, as_json=as_json)
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:  # noqa: BLE001 - a bug in the referee; report it with a traceback
            traceback.print_exc()
            _fail(f"Internal error ({type(error).__name__}). Please report it with the traceback above.", 4, as_json=as_json)

    # The help keeps the line breaks of all paragraphs but the first. Only examples need them.
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    wrapped.__doc__ = "\n\n".join(part if part.startswith("Try:  ") else " ".join(part.split()) for part in paragraphs)
    return wrapped


def _interrupted(error: KeyboardInterrupt | SystemExit, *, as_json: bool) -> NoReturn:
    """Exit after Ctrl-C, or after another signal, which only ``--json`` reports."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if isinstance(error, KeyboardInterrupt):
        _fail("Interrupted.", 130, as_json=as_json)
    if as_json and isinstance(error.code, int):
        _fail("Interrupted.", error.code, as_json=True)
    raise error


def _fail(text: str, code: int, *, as_json: bool, facts: Mapping[str, Any] | None = None) -> NoReturn:
    if as_json:
        with contextlib.suppress(OSError):
            put_json({"error": text, "exit_code": code, **(facts or {})})
    complain(f"referee: {text}")
    raise typer.Exit(code)


@contextlib.contextmanager
def reporting_when_interrupted(
    facts: Callable[[], Mapping[str, Any]], report: Callable[[], None], has_any: Callable[[], bool], *, as_json: bool
) -> Iterator[None]:
    """Report the results so far if an error, Ctrl-C or a signal ends the command. After an error before the first result, report nothing.

    ``report`` prints the results; with ``--json`` they are the ``facts`` of the error instead. ``has_any`` returns whether there is a result.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, RefereeError) as error:
        if isinstance(error, RefereeError) and not has_any():
            raise
        result = facts()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if not as_json:
            report()
            raise
        if isinstance(error, RefereeError):
            error.add_facts(result)
            raise
        raise Interrupted(result, error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 130) from None


class _Ends:
    """A signal handler that raises an exception to end the command. It ignores a signal that soon follows another one.

    A parent such as ``timeout`` signals its child and then its group, so each signal comes twice. The second one would stop the clean-up.
    """

    def __init__(self, error: Callable[[int], BaseException]) -> None:
        self._error = error
        self._last = -math.inf

    def __call__(self, number: int, _frame: object) -> None:
        before, self._last = self._last, time.monotonic()
        if self._last - before > _MOMENT_SECONDS:
            raise self._error(number)


def run(words: list[str]) -> None:
    """Run the command line ``words`` and exit with its status. SIGTERM and SIGHUP end a match cleanly, as Ctrl-C does."""
    terminate = _Ends(lambda number: SystemExit(128 + number))
    signal.signal(signal.SIGTERM, terminate)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup the match continues
        signal.signal(signal.SIGHUP, terminate)
    try:
        status = app(_with_options(words), standalone_mode=False)
    except _WRONG_USE as error:
        _refuse(error, as_json="--json" in words)
    except typer.Abort:
        sys.exit(1)
    sys.exit(status)


def _with_options(words: list[str]) -> list[str]:
    """Return the command line with ``--help`` or ``--version`` for the word ``help`` or ``version`` at its start or after a group's name."""
    at = 1 if words and words[0] in {each.typer_instance.info.name for each in app.registered_groups if each.typer_instance} else 0
    option = _OPTIONS.get(words[at]) if len(words) > at else None
    return words if option is None else [*words[:at], *words[at + 1 :], option]


def _refuse(error: typer.BadParameter, *, as_json: bool) -> NoReturn:
    """Print what is wrong with a command line, escaped, and exit with status 2. With ``--json``, print an object.

    Without a command, the error's text is the help. It is empty if typer has printed the help already.
    """
    if type(error).__name__ == "NoArgsIsHelpError":
        if error.message:
            typer.echo(error.message)
        sys.exit(2)
    from difflib import get_close_matches

    # Not copy.copy, because the error about an option without a value can't be built from its ``args``.
    facts = {**vars(error), "message": printable(error.message)}
    if facts.get("possibilities"):
        # Without the dashes, which would make all options look similar.
        near = get_close_matches(facts["option_name"].strip("-"), [each.strip("-") for each in facts["possibilities"]], cutoff=0.7)
        facts |= {"possibilities": [each for each in facts["possibilities"] if each.strip("-") in near]}
    error = type(error).__new__(type(error))
    vars(error).update(facts)
    if as_json:
        text = " ".join(error.format_message().split())
        with contextlib.suppress(typer.Exit):
            _fail(text if text.endswith(".") else f"{text}.", 2, as_json=True)
    else:
        from typer.rich_utils import rich_format_error

        rich_format_error(error)
    sys.exit(2)
