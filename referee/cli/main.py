"""The complete command line: importing this module registers all commands."""

from __future__ import annotations

# The help lists the commands in the order of these imports.
# isort: off
from referee.cli import play, first_steps, check, rerun, measure, submit, grade, rubrics, replays, watch, servers, league, arena, workshop
from referee.cli.app import app as app  # noqa: PLC0414 - the application with all commands
from referee.cli.app import run as run  # noqa: PLC0414 - what __main__ calls

#: The modules of the commands.
MODULES = (play, first_steps, check, rerun, measure, submit, grade, rubrics, replays, watch, servers, league, arena, workshop)
