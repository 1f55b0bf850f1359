"""The public surface: what docs/stability.md promises to keep. Run as a program, it writes that of today into its file.

It holds the names of the Python modules with their parameters, the commands with their options, exit statuses, and the keys of what
``--json`` prints and of a replay.
"""

from __future__ import annotations

import gzip
import inspect
import json
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from commands import Commands
from leagues import write_league

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

FILE = Path(__file__).parent / "data" / "public-surface.json"
MODULES = ("referee", "referee.statistics", "sdk", "sdk.evasion", "sdk.maze", "sdk.rectangle", "sdk.testing")
#: Options of a short match in which no bot is late.
_PATIENT = ["--max-steps", "3", "--isolation", "none", "--startup", "none", "--move-time", "none", "--bank", "none"]
#: Commands whose ``--json`` is looked at, each after those before it. "REPLAY" and "DUEL" stand for files that the first ones write.
PRINTED = {
    "play": ["play", "straight", "still", *_PATIENT, "--out", "a.replay.jsonl.gz"],
    "duel": ["duel", "random", "random", *_PATIENT, "--out", "duel"],
    "play --games": ["play", "straight", "still", *_PATIENT, "--games", "2"],
    "verify": ["verify", "a.replay.jsonl.gz"],
    "show": ["show", "a.replay.jsonl.gz"],
    "export": ["export", "a.replay.jsonl.gz", "--html"],
    "games": ["games"],
    "bots": ["bots"],
    "explain": ["explain", "late"],
    "doctor": ["doctor"],
    "analyze": ["analyze", "a.replay.jsonl.gz"],
    "rerun": ["rerun", "a.replay.jsonl.gz", "straight"],
    "check": ["check", "two/bot0.py", "--seat", "hunter", "--only", "ready"],
    "league run": ["league", "run", "two/league.toml", "--out", "league", "--quiet"],
    "league standings": ["league", "standings", "league"],
    "league verify": ["league", "verify", "league"],
    "league starts": ["league", "starts", "league/private/commitment.toml"],
    "league export": ["league", "export", "league"],
    "arena add": ["arena", "add", "arena", "two/bot0.py", "--team", "me"],
    "arena run": ["arena", "run", "arena", "--duels", "2", "--quiet"],
    "arena standings": ["arena", "standings", "arena"],
    "arena history": ["arena", "history", "arena", "me"],
    "arena verify": ["arena", "verify", "arena"],
    "wrong usage": ["play"],
}


def python() -> dict[str, dict[str, Any]]:
    """By module and name, the parameters of each function, and of each public method of a class; None where there are none to look at."""
    found: dict[str, dict[str, Any]] = {}
    for name in MODULES:
        module = import_module(name)
        names = sorted(module.__all__)
        found[name] = {each: _described(getattr(module, each)) for each in names}
    return found


def _described(value: Any) -> Any:
    if inspect.isclass(value) and value.__module__ != "builtins":
        public = {each: inspect.getattr_static(value, each) for each in sorted(dir(value)) if not each.startswith("_")}
        described = {each: _parameters(getattr(what, "__func__", what)) for each, what in public.items() if not hasattr(tuple, each)}
        return dict.fromkeys(getattr(value, "__dataclass_fields__", ())) | described
    return _parameters(value)


def _parameters(value: Any) -> list[str] | None:
    if not inspect.isfunction(value):
        return None
    stars: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(value).parameters.values()
    return [f"{stars.get(each.kind, '')}{each.name}{'=' if each.default is not each.empty else ''}" for each in parameters]


def commands() -> dict[str, list[str]]:
    """The options of each command, and the names of its arguments."""
    import typer

    from referee.cli.main import app

    found: dict[str, list[str]] = {}

    def walk(command: Any, words: str) -> None:
        for name, each in getattr(command, "commands", {}).items():
            walk(each, f"{words} {name}".strip())
        if not hasattr(command, "commands"):
            options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
            found[words] = sorted(options - {"--help", "-h"})

    walk(typer.main.get_command(app), "")
    return dict(sorted(found.items()))


def keys(value: Any, above: str = "") -> set[str]:
    """The keys of a JSON value as paths; all members of a list are taken together."""
    if isinstance(value, list):
        return {key for each in value for key in keys(each, f"{above}[]")}
    if isinstance(value, dict):
        return {key for name, each in value.items() for key in ({f"{above}.{name}"} | keys(each, f"{above}.{name}"))}
    return set()


def printed(run: Callable[..., CompletedProcess[str]], folder: Path) -> dict[str, list[str]]:
    """The keys that commands print with ``--json``, their exit statuses, and the keys of the lines of a replay. They run in an empty folder."""
    found: dict[str, list[str]] = {}
    write_league(folder / "two", 2)
    run("arena", "new", "arena").check_returncode()
    for name, words in PRINTED.items():
        done = run(*words, "--json")
        found[name] = sorted({f"exit status {done.returncode}", *keys(json.loads(done.stdout))})
    lines = gzip.decompress((folder / "a.replay.jsonl.gz").read_bytes()).splitlines()
    found["replay"] = sorted({key for line in map(json.loads, lines) for key in keys(line, line.get("type", "step"))})
    return found


def surface() -> dict[str, Any]:
    """All of it."""
    server = Commands()
    with TemporaryDirectory() as name, closing(server):
        folder = Path(name)
        return {"python": python(), "commands": commands(), "json": printed(partial(server.run, cwd=folder), folder)}


def lost(before: Any, after: Any, where: str = "") -> list[str]:
    """What was there before and isn't any more. What is new breaks nobody's program, unless it is a parameter that must be given."""
    if isinstance(before, dict):
        if not isinstance(after, dict):
            return [where]
        return [
            line
            for name, each in before.items()
            for line in (lost(each, after[name], f"{where} {name}") if name in after else [f"{where} {name}"])
        ]
    if isinstance(before, list):
        if not isinstance(after, list):
            return [where]
        gone = [f"{where}: {each}" for each in before if each not in after and f"{each}=" not in after]
        is_signature = where.startswith(" python")
        needed = [
            f"{where}: {each} is needed"
            for each in after
            if is_signature and each not in before and not each.endswith("=") and each[0] != "*"
        ]
        return gone + needed
    return []


if __name__ == "__main__":
    FILE.write_text(json.dumps(surface(), indent=1, sort_keys=True) + "\n")
