"""play, duel and bots: commands that run matches."""

from __future__ import annotations

import functools
import inspect
import json
import secrets
import shlex
import sys
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli import request
from referee.cli.app import AUTHORS, JsonFlag, app, command, program, put, put_json
from referee.cli.pages import PAGE_HELP, Browser, Host, Name, Port, Show, read_pace, viewer
from referee.cli.run import Played, linger, run_match
from referee.clock import CPU, KINDS
from referee.errors import UsageError
from referee.isolation.limits import WISHES
from referee.replay_path import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RULES_HELP = "GAME SETTINGS"
CLOCK_HELP = "TIME, in seconds or none"
RUN_HELP = "HOW THE MATCH IS RUN"
WALLS_HELP = "ISOLATION, for programs that nobody has read"

Game = Annotated[str | None, typer.Option("--game", help="The game.  (default: evasion)", show_default=False)]
Rules = Annotated[
    str | None, typer.Option("--rules", help="The rule set.  (default: classic)", rich_help_panel=RULES_HELP, show_default=False)
]
MatchToml = Annotated[
    Path | None, typer.Option("--match", metavar="FILE.toml", help="A match file; flags win over it.", show_default=False)
]
Cooldown = Annotated[
    int | None,
    typer.Option(
        "--cooldown", "-N", help="Steps from one wall to the next.  (default: 20)", rich_help_panel=RULES_HELP, show_default=False
    ),
]
MaxWalls = Annotated[
    int | None,
    typer.Option("--max-walls", "-M", help="The most walls at once.  (default: 10)", rich_help_panel=RULES_HELP, show_default=False),
]
MaxSteps = Annotated[
    int | None, typer.Option("--max-steps", help="The step limit.  (default: 10000)", rich_help_panel=RULES_HELP, show_default=False)
]
Size = Annotated[
    str | None, typer.Option("--size", metavar="WxH", help="The board.  (default: 300x300)", rich_help_panel=RULES_HELP, show_default=False)
]
Hunter = Annotated[
    str | None,
    typer.Option(
        "--hunter",
        metavar="x,y,dx,dy",
        help="The hunter's start and heading.  (default: 0,0,1,1)",
        rich_help_panel=RULES_HELP,
        show_default=False,
    ),
]
Prey = Annotated[
    str | None,
    typer.Option("--prey", metavar="x,y", help="The prey's start.  (default: 230,200)", rich_help_panel=RULES_HELP, show_default=False),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="small|middle|large",
        help="Rectangle: board, players and robots.  (default: small)",
        rich_help_panel=RULES_HELP,
        show_default=False,
    ),
]
Robots = Annotated[
    int | None,
    typer.Option("--robots", help="Rectangle: robots of each player.  (default: 2)", rich_help_panel=RULES_HELP, show_default=False),
]
Stagnation = Annotated[
    int | None,
    typer.Option(
        "--stagnation",
        help="Rectangle: turns without a gain until the end.  (default: 4 times the size)",
        rich_help_panel=RULES_HELP,
        show_default=False,
    ),
]
Cap = Annotated[
    int | None,
    typer.Option("--cap", help="Rectangle: the most turns; 0: no limit.  (default: 0)", rich_help_panel=RULES_HELP, show_default=False),
]
Sharing = Annotated[
    str | None,
    typer.Option(
        "--sharing",
        metavar="2002|2003",
        help="Rectangle: what robots on one cell do.  (default: 2002)",
        rich_help_panel=RULES_HELP,
        show_default=False,
    ),
]
Layout = Annotated[
    str | None,
    typer.Option(
        "--layout",
        metavar="FILE",
        help="Maze: a text file, # wall, . free, E exit.  (default: the assignment's)",
        rich_help_panel=RULES_HELP,
        show_default=False,
    ),
]
Parity = Annotated[
    str | None,
    typer.Option(
        "--parity",
        metavar="even|any",
        help="Maze: which distances a start may have.  (default: even)",
        rich_help_panel=RULES_HELP,
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting of the game, such as capture_radius=5; may be repeated.",
        rich_help_panel=RULES_HELP,
        show_default=False,
    ),
]
MoveTime = Annotated[
    str | None,
    typer.Option(
        "--move-time", metavar="SECONDS", help="The limit for one answer.  (default: 1)", rich_help_panel=CLOCK_HELP, show_default=False
    ),
]
Bank = Annotated[
    str | None,
    typer.Option(
        "--bank",
        metavar="SECONDS",
        help="For all answers of a game together.  (default: 120)",
        rich_help_panel=CLOCK_HELP,
        show_default=False,
    ),
]
Increment = Annotated[
    str | None,
    typer.Option(
        "--increment",
        metavar="SECONDS",
        help="Added to the bank after each answer.  (default: 0)",
        rich_help_panel=CLOCK_HELP,
        show_default=False,
    ),
]
Startup = Annotated[
    str | None,
    typer.Option(
        "--startup",
        metavar="SECONDS",
        help="Until a bot is ready, outside the bank.  (default: 10)",
        rich_help_panel=CLOCK_HELP,
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=-(2**63), max=2**63 - 1, help="Play the same match again: bots get the same seeds.", show_default=False),
]
Cores = Annotated[
    int | None,
    typer.Option(
        "--cores",
        min=0,
        help="Cores that the match claims for itself; 0: not pinned.  (default: 1)",
        rich_help_panel=RUN_HELP,
        show_default=False,
    ),
]
Ask = Annotated[
    str | None,
    typer.Option(
        "--ask",
        metavar="in-turn|together",
        help="How bots that owe a move at once are asked.  (default: in-turn)",
        rich_help_panel=RUN_HELP,
        show_default=False,
    ),
]
Idle = Annotated[
    str | None,
    typer.Option(
        "--idle",
        metavar="stop|run",
        help="What bots do between their turns.  (default: stop)",
        rich_help_panel=RUN_HELP,
        show_default=False,
    ),
]
ClockKind = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="wall|cpu",
        help="What is billed; cpu: the processor time of all that a bot runs, so that a busy machine costs it nothing.  (default: wall)",
        rich_help_panel=CLOCK_HELP,
        show_default=False,
    ),
]
IsolationWish = Annotated[
    str | None,
    typer.Option(
        "--isolation",
        metavar="auto|strict|limits|none",
        help="auto: a sandbox where there can be one; strict: a sandbox or no match; limits: caps alone.  (default: auto)",
        rich_help_panel=WALLS_HELP,
        show_default=False,
    ),
]


def _cap(name: str, text: str, *, metavar: str = "SIZE") -> Any:
    """An option for a limit."""
    return Annotated[str | None, typer.Option(name, metavar=metavar, help=text, rich_help_panel=WALLS_HELP, show_default=False)]


MaxMemory = _cap("--max-memory", "For all that a bot runs.  (default: 512MiB)")
MaxProcesses = _cap("--max-processes", "Processes and threads.  (default: 64)", metavar="N")
MaxScratch = _cap("--max-scratch", "What a bot may write to its own /tmp.  (default: 16MiB)")
MaxOpenFiles = _cap("--max-open-files", "Descriptors of one process.  (default: 64)", metavar="N")
MaxLine = _cap("--max-line", "The longest answer.  (default: 64KiB)")
MaxStderr = _cap("--max-stderr", "What is kept of a bot's log.  (default: 1MiB)")
OnMalformed = Annotated[
    str | None,
    typer.Option(
        "--on-malformed",
        metavar="forfeit|pass",
        help="What a malformed answer means.  (default: forfeit)",
        rich_help_panel=RUN_HELP,
        show_default=False,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="PATH", help="Where the replay goes: a file or a folder.  (default: matches/replays/)", show_default=False
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")]

_CHOICES = {
    "ask": ("in-turn", "together"),
    "idle": ("stop", "run"),
    "on_malformed": ("forfeit", "pass"),
    "clock": KINDS,
    "isolation": WISHES,
}


#: The options of every command that plays matches, in the order in which help shows them.
_OPTIONS: dict[str, Any] = {
    "match": MatchToml,
    "seed": Seed,
    "rules": Rules,
    "cooldown": Cooldown,
    "max_walls": MaxWalls,
    "max_steps": MaxSteps,
    "size": Size,
    "hunter": Hunter,
    "prey": Prey,
    "preset": Preset,
    "robots": Robots,
    "stagnation": Stagnation,
    "cap": Cap,
    "sharing": Sharing,
    "layout": Layout,
    "parity": Parity,
    "set": Set,
    "move_time": MoveTime,
    "bank": Bank,
    "increment": Increment,
    "startup": Startup,
    "cores": Cores,
    "ask": Ask,
    "idle": Idle,
    "on_malformed": OnMalformed,
    "clock": ClockKind,
    "isolation": IsolationWish,
    "max_memory": MaxMemory,
    "max_processes": MaxProcesses,
    "max_scratch": MaxScratch,
    "max_open_files": MaxOpenFiles,
    "max_line": MaxLine,
    "max_stderr": MaxStderr,
}


def with_match_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the shared options; it gets what was written for them as ``flags``, checked where few values are good."""
    own = [parameter for parameter in inspect.signature(function, eval_str=True).parameters.values() if parameter.name != "flags"]
    shared = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in _OPTIONS.items()]

    @functools.wraps(function)
    def wrapped(**given: Any) -> None:
        flags = {name: given.pop(name) for name in _OPTIONS}
        for name, good in _CHOICES.items():
            if flags[name] is not None and flags[name] not in good:
                raise UsageError(f"--{name.replace('_', '-')} is {flags[name]!r}, but must be {', '.join(good[:-1])} or {good[-1]}.")
        function(**given, flags=flags)

    wrapped.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *shared)}
    return wrapped


@app.command(rich_help_panel=AUTHORS)
@command
@with_match_options
def play(
    *,
    players: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAYER...",
            help='Who plays, seat by seat (of Evasion the hunter, then the prey): bot.py, an executable, a folder, a command line in quotes ("java -jar bot.jar"), an example\'s name (boxer), or human: you, on a page.',
            show_default=False,
        ),
    ] = None,
    game: Game = None,
    out: Out = None,
    quiet: Quiet = False,
    as_json: JsonFlag = False,
    is_live: Annotated[
        bool, typer.Option("--live", help="Show the match on a page while it is played.", rich_help_panel=PAGE_HELP)
    ] = False,
    pace: Annotated[
        str | None,
        typer.Option(
            "--pace",
            metavar="N|wait",
            help="Steps a second where a person plays: 1, 2, 4, 8, 15 or 30; wait: until you move.  (default: 8)",
            rich_help_panel=PAGE_HELP,
            show_default=False,
        ),
    ] = None,
    human_clock: Annotated[
        bool, typer.Option("--human-clock", help="Hold people to the time limits too.", rich_help_panel=PAGE_HELP)
    ] = False,
    host: Host = "127.0.0.1",
    port: Port = None,
    name: Name = None,
    browser: Browser = True,
    stay: Annotated[
        bool | None,
        typer.Option(
            "--stay/--no-stay",
            help="Whether the page stays when the match is over, until Ctrl-C.  (default: at a terminal)",
            rich_help_panel=PAGE_HELP,
            show_default=False,
        ),
    ] = None,
    flags: dict[str, Any],
) -> None:
    """Play one match, of programs or people, and write its replay."""
    wanted = request.build({**flags, "game": game, "out": out, "players": players})
    seats = wanted.game.seats(wanted.settings)
    names = players or wanted.players or []
    if len(names) != len(seats):
        example = "referee play --game rectangle looper team" if wanted.game.players_setting else "referee play boxer runner"
        raise UsageError(
            f"{wanted.game.name} needs {len(seats)} players ({', '.join(seats)}), but {len(names)} were named; for instance: {example}"
        )
    stays = sys.stderr.isatty() and not as_json if stay is None else stay
    show = Show(is_live, read_pace(pace), human_clock, host, port, browser, stays, tuple(name or ()))
    played = run_match(wanted, dict(zip(seats, names, strict=True)), quiet=quiet or wanted.quiet, show=show)
    try:
        if as_json or wanted.as_json:
            put_json(played.to_json())
        else:
            for line in _report(played):
                put(line)
        sys.stdout.flush()
        if played.pages is not None:
            linger(played.pages, show)
    finally:
        played.close()
    if not played.result.started:
        raise typer.Exit(3)


@app.command(rich_help_panel=AUTHORS)
@command
@with_match_options
def duel(
    *,
    team_a: Annotated[
        str,
        typer.Argument(
            metavar="TEAM_A", help="A program that plays both roles, or a folder with one for each: hunter.* and prey.*", show_default=False
        ),
    ],
    team_b: Annotated[str, typer.Argument(metavar="TEAM_B", help="The other team.", show_default=False)],
    game: Game = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FOLDER", help="Where the result and the replays go.  (default: matches/replays/)", show_default=False
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: JsonFlag = False,
    flags: dict[str, Any],
) -> None:
    """Two teams play both roles against each other; says who beats whom.

    In Evasion a team beats the other if its hunter needs fewer steps, and the second game uses the seed after the first one's. In Maze
    both games have the same start, and points count, then the quicker escape, then the quicker capture.
    """
    wanted = request.build({**flags, "game": game, "out": out})
    if not wanted.game.pair_verb:
        raise UsageError(f"A duel is for games of two roles; {wanted.game.name} has none to swap: referee play --game {wanted.game.name}")
    if wanted.game.pairs_share_start and wanted.seed is None:
        wanted = wanted._replace(seed=secrets.randbelow(2**62))
    first, second = wanted.game.seats(wanted.settings)
    if out is not None and Path(out).is_file():
        raise UsageError(f"--out is {out!r}, a file; a duel writes several files and needs a folder.")
    folder = None if wanted.out is None else wanted.out.rstrip("/") + "/"
    teams = {"a": team_a, "b": team_b}
    _check_teams(wanted, teams)
    games: dict[str, Played] = {}
    for number, (one, other) in enumerate((("a", "b"), ("b", "a"))):
        lineup = {first: teams[one], second: teams[other]}
        later = 0 if wanted.game.pairs_share_start else number
        asked = wanted._replace(out=folder, seed=None if wanted.seed is None else wanted.seed + later)
        games[one] = run_match(asked, lineup, quiet=quiet or wanted.quiet)
    report = _judge(wanted, games, teams)
    path = games["a"].replay.with_name(games["a"].replay.name.removesuffix(SUFFIX) + ".duel.json")
    report["result_file"] = str(path)
    _write_whole(path, json.dumps(report, indent=2) + "\n")
    if as_json or wanted.as_json:
        put_json(report)
    else:
        for line in _duel_report(report, wanted.game.pair_verb, games["a"].result.outcome.unit):
            put(line)
    if not all(played.result.started for played in games.values()):
        raise typer.Exit(3)


@app.command(rich_help_panel=AUTHORS)
@command
def bots(as_json: JsonFlag = False) -> None:
    """List the example bots, whose names can stand for a player."""
    from example_bots import BOTS

    if as_json:
        put_json([{"name": bot.name, "game": bot.game, "seats": bot.seats, "idea": bot.idea, "file": str(bot.path)} for bot in BOTS])
        return
    for bot in BOTS:
        put(f"{bot.name:<10} {bot.game:<10} {' and '.join(bot.seats):<16} {bot.idea}")
    put(f"\nTry:  {program()} play searcher evader")


def _report(played: Played) -> list[str]:
    """The plain result: who won, why, score, time used, where the replay is and what to do next."""
    result = played.result
    winner = result.outcome.winner
    lines = [result.outcome.text]
    lines += [f"  fault    {fault.text}" for fault in result.faults.values()]
    lines.append(f"  winner   {f'{winner} {result.names[winner]}' if winner else 'nobody'} ({result.outcome.reason})")
    scores = ", ".join(
        f"{seat} {'none' if score is None else f'{score:,} {result.outcome.unit}'}" for seat, score in result.outcome.scores.items()
    )
    lines.append(f"  score    {scores}")
    if result.outcome.ranks is not None:
        lines.append("  ranks    " + ", ".join(f"{rank} {seat}" for seat, rank in sorted(result.outcome.ranks.items(), key=itemgetter(1))))
    lines.append(f"  sandbox  {result.head['isolation']}")
    for seat, clock in result.clocks.items():
        mean = clock.used / clock.asked * 1e3 if clock.asked else 0.0
        what = " of processor time" if clock.control.kind == CPU else ""
        lines.append(
            f"  time     {seat} {clock.used:.3f} s{what} in {clock.asked:,} answers, {mean:.3f} ms each, longest {clock.longest * 1e3:.1f} ms"
        )
    lines += [f"  log      {seat} {path}" for seat, path in played.logs.items() if path.exists()]
    lines.append(f"  replay   {played.replay}")
    return [*lines, f"Next:  {program()} {viewer()} {shlex.quote(str(played.replay))}"]


def _check_teams(wanted: request.Request, teams: Mapping[str, str]) -> None:
    """Every team must be programs that play both roles."""
    from referee.players.spec import resolve

    for team in teams.values():
        for role in wanted.game.seats(wanted.settings):
            if resolve(team, role, wanted.game.name).is_human:
                raise UsageError("A duel is between programs; a person plays single matches: referee play human runner")


def _judge(wanted: request.Request, games: Mapping[str, Played], teams: Mapping[str, str]) -> dict[str, Any]:
    """Who beats whom, by the game's own rule."""
    game = wanted.game
    lead = game.seats(wanted.settings)[0]
    scores = {team: played.result.outcome.scores[lead] for team, played in games.items()}
    pair = [(played.result.outcome, played.result.steps) for played in games.values()]
    difference = None if None in scores.values() else abs((scores["a"] or 0) - (scores["b"] or 0))
    return {
        "teams": dict(teams),
        "winner": game.pair_winner(pair[0], pair[1]),
        "scores": scores,
        "difference": difference,
        "games": {f"{team} {game.pair_verb}": played.to_json() for team, played in games.items()},
    }


def _duel_report(report: Mapping[str, Any], verb: str, unit: str) -> list[str]:
    teams, winner = report["teams"], report["winner"]
    names = {team: f"{team.upper()} ({name})" for team, name in teams.items()}
    loser = "b" if winner == "a" else "a"
    lines = [f"{names[winner]} beats {names[loser]}." if winner else f"{names['a']} and {names['b']} tie."]
    for team, score in report["scores"].items():
        game = report["games"][f"{team} {verb}"]
        lines.append(f"  {team.upper()} {verb}  {'no score' if score is None else f'{score:,} {unit}'}: {game['text']}")
        lines += [f"    fault  {player['fault']['text']}" for player in game["players"].values() if player["fault"]]
    lines.append(f"  sandbox  {report['games'][f'a {verb}']['isolation']}")
    if report["difference"] is not None:
        lines.append(f"  difference  {report['difference']:,} {unit}")
    lines += [f"  replay   {game['replay']}" for game in report["games"].values()]
    return [
        *lines,
        f"  result   {report['result_file']}",
        f"Next:  {program()} {viewer()} {shlex.quote(report['games'][f'a {verb}']['replay'])}",
    ]


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that it is never seen half-written."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)
