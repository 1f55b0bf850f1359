"""The list of all commands, with the short help of each. It imports none of them.

The table names each command with its module and the first line of its help. So the list of all commands and the names that a shell completes
don't need the modules of the commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

AUTHORS = "For bot authors"
PLAYERS = "For players"
INSTRUCTORS = "For instructors"
GRADERS = "For graders"
SERVERS = "For programs that speak the course's own protocols"
REPLAYS = "To look at matches"

TITLE = "A referee for matches between bot programs."
EXAMPLE = "Try:  referee play boxer runner"

#: What ``referee`` alone prints: the first commands of three kinds of people, within a screen of 80 columns and 24 lines.
WELCOME = f"""{TITLE}

You write a bot:
  referee play boxer runner           let two example bots play
  referee new hunter my_hunter.py     write a bot that already plays
  referee play my_hunter.py runner    let your bot play
  referee compare my_hunter.py boxer  find out which of two bots is better

You hold a competition:
  referee doctor                      see whether this machine isolates bots
  referee league run teams            play a league of the programs in a folder
  referee league report FOLDER        write a page with standings and replays

You grade submissions:
  referee grade init                  write a rubric for each game
  referee grade run submissions --rubric rubric-evasion.toml

referee --help lists every command, and referee COMMAND --help explains one."""

#: The commands by the panels of the help, in its order: the module of each in ``referee.cli``, and the first paragraph of its help.
PANELS: dict[str, dict[str, tuple[str, str]]] = {
    AUTHORS: {
        "play": ("play", "Play one match between programs or people, and write its replay; or play many games with --games."),
        "duel": ("play", "Play two games between two teams with the roles swapped, and print the winner."),
        "bots": ("first_steps", "List the example bots by game, weak to strong. Use their names as players."),
        "games": ("first_steps", "List the games, or the settings of one."),
        "new": ("first_steps", "Write a bot that already plays, for you to change. Nothing is overwritten."),
        "explain": ("first_steps", "Explain a code of a result, a notice or a replay: what it means, its usual causes, and what to do."),
        "check": ("check", "Check a bot: its start, its answers in every kind of position, its time and memory, and its end."),
        "debug": ("rerun", "Ask a bot the questions of a replay up to a turn, and show its answer in that turn beside the recorded one."),
        "compare": ("measure", "Find out whether bot A is better than bot B, with as few duels as possible."),
        "submit": ("submit", "Hand in a bot as your team's new version to an arena that referee arena serve serves."),
    },
    GRADERS: {
        "grade": ("rubrics", "Mark submissions by a rubric: every test is played in the sandbox, and the marks can be repeated."),
        "doctor": ("check", "Test the sandbox of this machine, and say which extras work here. For each failed check, print the remedy."),
        "rerun": ("rerun", "Ask a bot the questions of a replay again, and say where its answers differ from the recorded ones."),
    },
    REPLAYS: {
        "verify": ("replays", "Replay the recorded moves on the engine and compare every step."),
        "show": (
            "replays",
            "Show a replay: result, settings, faults, events, time used, and the final board. With --step, show one position.",
        ),
        "analyze": (
            "replays",
            "List the turning points of a match, where its game has verdicts, and the steps that cost the losing side most, each with a better move.",
        ),
        "watch": (
            "watch",
            "Open a replay in the viewer, or the list of a folder of replays. A server on this machine serves the page until Ctrl-C.",
        ),
        "export": ("watch", "Turn a replay into a page, a picture or an animated GIF."),
    },
    PLAYERS: {
        "maze": ("servers", "Play the maze in this terminal: w, a, s, d or the arrow keys; q quits."),
    },
    SERVERS: {
        "serve": ("servers", "Serve games to programs that were written for one of the course's own servers."),
    },
    INSTRUCTORS: {
        "league": ("league", "Play many matches between teams: standings, ratings, a report."),
        "arena": (
            "arena",
            "A competition without an end: versions of bots join at any time, and the next duel is the one that tells most.",
        ),
    },
}


def module_of(name: str) -> str | None:
    """Return the name of a command's module in ``referee.cli``; None if there is no such command."""
    return next((named[name][0] for named in PANELS.values() if name in named), None)


def commands() -> Iterator[tuple[str, str, str]]:
    """Yield the panel, the name and the short help of every command."""
    for panel, named in PANELS.items():
        for name, (_, text) in named.items():
            yield panel, name, text
