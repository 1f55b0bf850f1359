"""Plans the run of a bot: its command line with and without a sandbox, its environment, and the files of this machine in the sandbox."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation import runtime
from referee.isolation.bot import HOME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from referee.isolation.bot import Bot

#: The variants of the sandbox: how it is entered, see ``bubblewrap``.
VARIANTS = ORDINARY, VARIANT_A, VARIANT_B = "own user namespace", "another user, own user namespace", "another user, no user namespace"
#: The script in front of a build's command.
BUILDER = str(Path(__file__).with_name("builder.py"))
#: The script in front of a program that speaks a dialect.
_RELAY = str(Path(__file__).with_name("relay.py"))


class Plan(NamedTuple):
    """The plan of a bot or its build: ``argv`` runs in the bot's folder, ``inside`` in a sandbox, where a copy of its files is in /bot.

    ``script`` is a script of the referee with its arguments, in front of both. It runs on the referee's own Python and then executes the
    program. ``is_build``: the program may change its files.
    """

    bot: Bot
    argv: tuple[str, ...]
    inside: tuple[str, ...]
    env: Mapping[str, str]
    script: tuple[str, ...] = ()
    is_build: bool = False

    @property
    def before(self) -> tuple[str, ...]:
        """The command line in front of the program's own."""
        return (runtime.OWN_PYTHON, "-I", "-S", *self.script) if self.script else ()

    @property
    def is_own_file(self) -> bool:
        """True if the program is one of the bot's files and not an interpreter of this machine."""
        return bool(self.inside) and self.inside[0].startswith(HOME + "/")


def bot_plan(bot: Bot) -> Plan:
    """Return the plan of a bot."""
    script = () if bot.dialect is None else (_RELAY, str(bot.port))
    return Plan(bot, bot.argv, _inside(bot, bot.argv), environment(), script)


def build_plan(bot: Bot) -> Plan:
    """Return the plan of a bot's build, in its own folder."""
    return Plan(bot, bot.build, _inside(bot, bot.build), environment(), (BUILDER, "keep"), is_build=True)


def plans(bots: Iterable[Bot]) -> list[Plan]:
    """Return the plans of some bots, and of the builds that they need."""
    bots = list(bots)
    return [*map(bot_plan, bots), *(build_plan(bot) for bot in bots if bot.build)]


def environment() -> dict[str, str]:
    """Return the environment of a bot without a sandbox: the referee's own, and the variables that the protocol promises.

    Python's output is unbuffered, and a Python bot that gets SIGABRT writes its stacks. String hashing is fixed, so that a Python bot that
    iterates over sets plays the same moves again from the same seed.
    """
    return {
        **os.environ,
        "REFEREE_PROTOCOL": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
    }


def _inside(bot: Bot, words: Sequence[str]) -> tuple[str, ...]:
    """Return a command line as it is in a sandbox: paths of the bot's own files lead to the copy.

    Relative paths stay as they are, because the copy has the same places below the folder in which the command runs.
    """
    tops = [
        (top, piece.place) for piece in bot.files for top in dict.fromkeys((os.path.abspath(piece.source), os.path.realpath(piece.source)))
    ]

    def copied(path: str) -> str:
        if not os.path.isabs(path) and ".." not in path.split("/"):
            return path
        whole = os.path.normpath(os.path.join(bot.folder, path))
        for top, place in tops:
            if whole == top or whole.startswith(f"{top.rstrip('/')}/"):
                return os.path.join(HOME, place, whole[len(top) :].lstrip("/")).rstrip("/")
        return path

    def copied_all(paths: str) -> str:
        return os.pathsep.join(map(copied, paths.split(os.pathsep)))

    def word_inside(word: str) -> str:
        if word == runtime.OWN_PYTHON:
            return word
        if (path := copied(word)) != word:
            return path
        option, equals, rest = word.partition("=")
        return option + equals + copied_all(rest) if equals else copied_all(word)

    return tuple(map(word_inside, words))


def normal(path: str) -> str:
    """Return a path without "..", "." and double slashes."""
    return "/" + os.path.normpath(path).lstrip("/")


def is_own_python(words: Sequence[str]) -> bool:
    """True if a first line names Python without a path, or the referee's own Python."""
    if not words:
        return False
    if os.path.basename(words[0]) == "env":
        return len(words) == 2 and words[1].startswith("python")
    return os.path.dirname(normal(words[0])) in (
        os.path.dirname(runtime.OWN_PYTHON),
        os.path.dirname(os.path.realpath(runtime.OWN_PYTHON)),
    )


def needs(plan: Plan) -> tuple[str, ...]:
    """Return the files of this machine that a program needs, besides the system's files."""
    argv0 = plan.inside[0]
    binds: list[str] = []
    if not plan.is_own_file:
        binds += runtime.needs(argv0)
        if os.path.dirname(argv0) == os.path.dirname(runtime.OWN_PYTHON):
            binds += _own_packages()
    else:
        words = runtime.first_line(plan.argv[0])
        if is_own_python(words):
            binds += [*runtime.needs(runtime.OWN_PYTHON), *_own_packages()]
        elif words and runtime.is_of_system(normal(words[0])):
            binds += runtime.needs(normal(words[0]))
    if plan.script:
        binds += [*runtime.needs(runtime.OWN_PYTHON), plan.script[0]]
    return tuple(dict.fromkeys(binds))


@cache
def _own_packages() -> tuple[str, ...]:
    """Return the folders of the SDK and its imports in an editable installation, and nothing else, such as replays."""
    package = Path(__file__).resolve().parents[1]
    return tuple(str(package.parent / name) for name in ("referee", "sdk") if (package.parent / name).is_dir())


def variant_for(binds: Iterable[str]) -> str:
    """Return the variant by which this user enters a sandbox that shows these folders."""
    if os.geteuid() != 0:
        return ORDINARY
    return VARIANT_A if all(runtime.is_open_to_all(bind) for bind in binds) and has_user_namespaces() else VARIANT_B


@cache
def has_user_namespaces() -> bool:
    """True if users other than root can make user namespaces here."""
    closed = {"user/max_user_namespaces": "0", "kernel/unprivileged_userns_clone": "0", "kernel/apparmor_restrict_unprivileged_userns": "1"}
    settings = {Path("/proc/sys", name): value for name, value in closed.items()}
    return not any(path.exists() and path.read_text().strip() == value for path, value in settings.items())
