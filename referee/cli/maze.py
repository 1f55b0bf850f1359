"""maze: the interactive game of the assignment."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from referee.cli import completion, request
from referee.cli.app import app, command
from referee.cli.front import PLAYERS
from referee.errors import UsageError


@app.command(rich_help_panel=PLAYERS)
@command
def maze(
    *,
    role: Annotated[
        str, typer.Option("--as", metavar="thief|policeman", autocompletion=completion.one_of(("thief", "policeman")), help="Your role.")
    ] = "thief",
    difficulty: Annotated[
        str | None,
        typer.Option(
            "--difficulty",
            metavar="easy|hard|hard-manhattan|expert",
            autocompletion=completion.one_of(("easy", "hard", "hard-manhattan", "expert")),
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
            autocompletion=completion.one_of(("any", "even")),
            help="Allowed distances between the two at the start.",
        ),
    ] = "any",
    apart: Annotated[int | None, typer.Option("--apart", help="The least distance of the two at the start.  (default: 16)")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=-(2**63), max=2**63 - 1, help="Repeat the starts and the opponent's choices.")
    ] = None,
) -> None:
    """Play the maze in this terminal: w, a, s, d or the arrow keys; q quits."""
    from referee.servers.maze_terminal import OPPONENTS, play_games

    if role not in OPPONENTS:
        raise UsageError(f"--as is {role!r:.40}, but must be thief or policeman.")
    if difficulty is not None and difficulty not in OPPONENTS[role]:
        raise UsageError(f"--difficulty is {difficulty!r:.40}, but must be {', '.join(OPPONENTS[role])}.")
    play_games(_settings(layout, parity, apart), role, difficulty, seed)


def _settings(layout: str | None, parity: str, apart: int | None) -> Any:
    """Return the settings of the games. In a small maze the two may start nearer to each other, unless --apart is given."""
    from referee.games.maze.variants import TooSmall

    for distance in (16, 12, 8, 6, 4, 3, 2, 1) if apart is None and layout is not None else (apart,):
        extra = [] if distance is None else [f"apart={distance}"]
        flags = {"game": "maze", "layout": layout, "parity": parity, "set": [*extra, "max_moves=0"]}
        try:
            settings = request.build(flags).match.settings
        except TooSmall:
            if distance in (1, apart):
                raise
            continue
        if distance not in (None, apart, 16):
            print(f"This maze is small: the two start {distance} or more apart.")
        return settings
    raise AssertionError
