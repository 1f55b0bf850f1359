"""serve gameserver, serve architect and maze: the course's own protocols over TCP, and its interactive game."""

from __future__ import annotations

import contextlib
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.app import PLAYERS, SERVERS, JsonFlag, app, command, group, put, put_json, say
from referee.cli.models import CommandModel
from referee.cli.options import Browser, page_option
from referee.cli.run import run_match
from referee.cli.terminal import StatusLine, seldom
from referee.errors import UsageError
from referee.match.request import MatchRequest
from referee.pages.show import Show
from referee.support.packages import watch_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.players.player import Connection
    from referee.replay.events import Listener, MatchResult
    from referee.servers.architect import ArchitectTeam

serve = group("serve", "Serve games to programs that were written for one of the course's own servers.")
app.add_typer(serve, rich_help_panel=SERVERS)

_MOST_STEPS = 1_000_000
Host = Annotated[str, typer.Option("--host", help="The address to listen on; 0.0.0.0 admits other machines.")]
Out = Annotated[str | None, typer.Option("--out", metavar="FOLDER", help="The folder for the replays.  (default: matches/replays/)")]
_game = partial(typer.Option, rich_help_panel="THE GAME")


class ServedGame(CommandModel):
    """The game that a server of the course plays."""

    bank: Annotated[str, typer.Option("--bank", metavar="SECONDS", help="Time of each player for a whole game, or none for no limit.")] = (
        "120"
    )


class GameserverGame(ServedGame):
    """The game of the 2010 server."""

    size: Annotated[str | None, _game("--size", help="The board.  (default: 500x500)", metavar="WxH")] = None
    hunter: Annotated[str | None, _game("--hunter", help="Its start and heading.  (default: 0,0,SE)", metavar="x,y,HEADING")] = None
    prey: Annotated[str | None, _game("--prey", help="Its start.  (default: 330,200)", metavar="x,y")] = None
    max_walls: Annotated[int | None, _game("--max-walls", help="The most walls at once.  (default: 6)")] = None
    wall_cooldown: Annotated[int | None, _game("--wall-cooldown", help="The hunter's turns between two walls.  (default: 25)")] = None
    prey_cooldown: Annotated[int | None, _game("--prey-cooldown", help="The prey's turns between two moves.  (default: 1)")] = None
    max_rounds: Annotated[int | None, _game("--max-rounds", min=1, max=500_000, help="The round limit.  (default: 5000)")] = None

    def flags(self) -> dict[str, object]:
        """Return the flags of ``referee play`` for this game."""
        from referee.servers.gameserver import heading

        return {
            "rules": "gameserver",
            "size": self.size,
            "hunter": None if self.hunter is None else heading(self.hunter),
            "prey": self.prey,
            "max_walls": self.max_walls,
            "cooldown": self.wall_cooldown,
            "max_steps": None if self.max_rounds is None else 2 * self.max_rounds,
            "set": None if self.prey_cooldown is None else [f"prey_cooldown={self.prey_cooldown}"],
            "bank": self.bank,
        }


class ArchitectGame(ServedGame):
    """The game of the 2017 server."""

    walls: Annotated[
        str,
        _game("--walls", metavar="all|hv", help="The kinds of wall: all four (rule set diagonal), or horizontal and vertical (classic)."),
    ] = "all"
    size: Annotated[str | None, _game("--size", help="The board.  (default: 300x300)", metavar="WxH")] = None
    hunter: Annotated[str | None, _game("--hunter", help="Its start and heading.  (default: 0,0,1,1)", metavar="x,y,dx,dy")] = None
    prey: Annotated[str | None, _game("--prey", help="Its start.  (default: 230,200)", metavar="x,y")] = None
    max_steps: Annotated[int | None, _game("--max-steps", help="The step limit.  (default: none)")] = None

    def flags(self) -> dict[str, object]:
        """Return the flags of ``referee play`` for this game."""
        if self.walls not in ("all", "hv"):
            raise UsageError(f"--walls is {self.walls!r:.40}, but must be all or hv.")
        return {
            "rules": "classic" if self.walls == "hv" else "diagonal",
            "size": self.size,
            "hunter": self.hunter,
            "prey": self.prey,
            # The course's server has no step limit. Two programs with banks of 120 s can't reach the engine's limit.
            "max_steps": _MOST_STEPS if self.max_steps is None else self.max_steps,
            "bank": self.bank,
        }


def _match(flags: dict[str, object], out: str | None) -> MatchRequest:
    """Return the request for each match of a server. A single answer has no time limit."""
    values = {"move_time": "none", "out": _folder(out), "quiet": True, **flags}
    return MatchRequest.model_validate({name: value for name, value in values.items() if value is not None}).checked()


@serve.command()
@command
def gameserver(
    *,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="The port for clients; 0: any free port.")] = 23_000,
    game: GameserverGame,
    games: Annotated[
        int | None, typer.Option("--games", min=1, help="Exit after this number of games.  (default: serve until Ctrl-C)")
    ] = None,
    opponent: Annotated[
        str | None, typer.Option("--opponent", metavar="BOT", help="Pair each client with this bot of yours instead of the next client.")
    ] = None,
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, max=500, help="The most games at a time, each in its own process; further pairs wait.")
    ] = 32,
    out: Out = None,
    as_json: JsonFlag = False,
) -> None:
    """Serve games of the 2010 protocol: clients JOIN, and the server pairs them in order of arrival.

    Several games run at the same time, and each writes a replay. A client that sends SPECTATE receives every state.
    """
    from referee.games.evasion.state import SEATS
    from referee.servers.gameserver import Gameserver, ServerOptions, seat_of
    from referee.servers.listener import listen, shown_address

    # Without a bot of ours all players are remote, so there is no process to isolate.
    match = _match({**game.flags(), "isolation": "none" if opponent is None else None}, out)
    bots = {} if opponent is None else {seat_of(opponent, match.checked_settings): opponent}

    def play(visitors: Mapping[str, Connection], listeners: list[Listener]) -> dict[str, Any]:
        names = {seat: visitors[seat].label if seat in visitors else bots[seat] for seat in ("hunter", "prey")}
        result = run_match(match, names, visitors=visitors, listeners=listeners)
        return {"text": result.text, **result.to_json()}

    sock = listen(host, port)
    say(f"Listening on {shown_address(sock)} for clients of the gameserver protocol; Ctrl-C ends.")
    options = ServerOptions(play, tuple(seat for seat in SEATS if seat not in bots), games, opponent or "", at_once)
    server = Gameserver(sock, options, say, seldom(10.0))
    status = 0
    try:
        server.serve()
    except KeyboardInterrupt:
        # A server without --games runs until Ctrl-C.
        say("Interrupted.")
        status = 0 if games is None else 130
    results = [server.results[number] for number in sorted(server.results)]
    if any("error" in result for result in results):
        status = status or 4
    _put_games(results, as_json=as_json)
    raise typer.Exit(status)


def _put_games(results: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print the results of the games of a server."""
    if as_json:
        put_json({"games": results})
        return
    for result in results:
        put(f"game {result['number']}  {result.get('text', result.get('error'))}  {result.get('replay', '')}".rstrip())
    _hint(next((result["replay"] for result in results if "replay" in result), None))


def _hint(replay: object) -> None:
    if replay is not None:
        put(f"Next:  {watch_command(replay)}")


def _folder(out: str | None) -> str | None:
    """Return the folder for several replays with a final slash. Raises UsageError if it isn't writable."""
    if out is None:
        return None
    if Path(out).is_file():
        raise UsageError(f"--out is {out!r}, a file; several replays need a folder.")
    try:
        # Test it before clients connect.
        Path(out).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except (OSError, ValueError) as error:
        raise UsageError(f"--out is {out!r:.200}, which is not writable ({getattr(error, 'strerror', None) or error}).") from None
    return out.rstrip("/") + "/"


@serve.command()
@command
def architect(
    *,
    port1: Annotated[
        int, typer.Argument(metavar="PORT1", min=0, max=65_535, help="The port of the first team, which hunts first; 0: any free port.")
    ],
    port2: Annotated[int, typer.Argument(metavar="PORT2", min=0, max=65_535, help="The port of the second team.")],
    max_walls: Annotated[int, typer.Argument(metavar="MAX_WALLS", help="The most walls at once.")],
    delay: Annotated[int, typer.Argument(metavar="DELAY", help="Steps from one wall to the next.")],
    host: Host = "127.0.0.1",
    game: ArchitectGame,
    games: Annotated[int, typer.Option("--games", min=1, max=10_000, help="The number of games; the teams swap roles after each.")] = 2,
    out: Out = None,
    is_live: Annotated[bool, page_option("--live", help="Show the running games on a page.")] = False,
    browser: Browser = True,
    as_json: JsonFlag = False,
) -> None:
    """Serve one session of the 2017 protocol: two clients on two ports, two games with the roles swapped."""
    from referee.servers.architect import TEAMS, finish, session_lines, wait_for_teams, winners
    from referee.servers.listener import listen, shown_address

    match = _match({**game.flags(), "max_walls": max_walls, "cooldown": delay, "isolation": "none"}, out)
    first = listen(host, port1)
    try:
        second = listen(host, port2)
    except UsageError:
        first.close()
        raise
    say(f"Waiting for the first team on {shown_address(first)} and for the second on {shown_address(second)}.")
    with contextlib.closing(StatusLine("Still waiting for the teams.")):
        teams = wait_for_teams((first, second), say)
    played: list[tuple[str, MatchResult]] = []
    status = 0
    try:
        _play_session(match, teams, games, Show(is_live, opens=browser), played)
    except KeyboardInterrupt:
        say("Interrupted.")
        status = 130
    finally:
        finish(teams)
    names = {place: team.name for place, team in zip(TEAMS, teams, strict=True)}
    if as_json:
        matches = [{"hunting": hunting, **result.to_json()} for hunting, result in played]
        put_json({"teams": names, "winners": winners(played), "games": matches})
    else:
        put(*session_lines(names, played))
        _hint(played[0][1].replay if played else None)
    raise typer.Exit(status)


def _play_session(
    match: MatchRequest, teams: tuple[ArchitectTeam, ArchitectTeam], games: int, show: Show, played: list[tuple[str, MatchResult]]
) -> None:
    """Play the games of a session. Each match joins ``played`` when it ends, with the team that hunts."""
    from referee.servers.architect import late_answers, visitors
    from referee.servers.listener import Remarks

    owing: dict[str, bytes] = {}
    for number in range(games):
        lineup, hunting = visitors(teams, number, owing)
        names = {seat: visitor.label for seat, visitor in lineup.items()}
        say(f"game {number}: {names['hunter']} hunts {names['prey']}")
        remarks = Remarks(say, partial("game {}, tick {}".format, number))
        with contextlib.closing(StatusLine(f"game {number} is being played")):
            result = run_match(match, names, show=show, visitors=lineup, listeners=[remarks])
        say(f"game {number}: {result.text}  {result.replay}")
        played.append((hunting, result))
        owing = late_answers(number, result)


@app.command(rich_help_panel=PLAYERS)
@command
def maze(
    *,
    role: Annotated[str, typer.Option("--as", metavar="thief|policeman", help="Your role.")] = "thief",
    difficulty: Annotated[
        str | None,
        typer.Option(
            "--difficulty",
            metavar="easy|hard|hard-manhattan|expert",
            help="Without it the game asks: easy or hard.",
        ),
    ] = None,
    layout: Annotated[
        str | None, typer.Option("--layout", metavar="FILE", help="Another maze: a text file, # wall, . free, E exit.")
    ] = None,
    parity: Annotated[
        str,
        typer.Option(
            "--parity",
            metavar="any|even",
            help="Allowed distances between the two at the start.",
        ),
    ] = "any",
    apart: Annotated[int | None, typer.Option("--apart", help="The least distance of the two at the start.  (default: 16)")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=-(2**63), max=2**63 - 1, help="Repeat the starts and the opponent's choices.")
    ] = None,
) -> None:
    """Play the maze in this terminal: w, a, s, d or the arrow keys; q quits."""
    from referee.servers.maze_terminal import OPPONENTS, play_games, settings_of

    if role not in OPPONENTS:
        raise UsageError(f"--as is {role!r:.40}, but must be thief or policeman.")
    if difficulty is not None and difficulty not in OPPONENTS[role]:
        raise UsageError(f"--difficulty is {difficulty!r:.40}, but must be {', '.join(OPPONENTS[role])}.")
    play_games(settings_of(layout, parity, apart), role, difficulty, seed)
