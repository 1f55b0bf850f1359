"""Writes a pytest that checks a bot's answer in one turn of a replay, with a copy of the replay beside it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.replay.paths import SUFFIX

if TYPE_CHECKING:
    from referee.author.debugger import DebugResult
    from referee.games.game import Json
    from referee.isolation.bot import Bot

_TEXT = '''"""Pins the answer of a bot in one turn of a recorded match. If the answer is the mistake, write the right move instead, and mend the bot."""

from pathlib import Path

import referee

HERE = Path(__file__).parent
BOT = {bot}
REPLAY = HERE / {replay}


def test_{name}() -> None:
    answer = referee.ask(REPLAY, {turn}, {seat}, BOT)
    # Recorded in the match: {recorded}
{check}
'''


def check_free(path: Path) -> Path:
    """Return the path of the replay beside a new test. UsageError if either exists already, or can't be made there."""
    if not re.fullmatch(r"\w[\w.-]*\.py", path.name):
        raise UsageError(f"--as-test is {str(path)!r}, but must be the name of a new Python file, such as test_step.py.")
    beside = path.with_name(path.name.removesuffix(".py") + SUFFIX)
    if not path.parent.is_dir():
        raise UsageError(f"--as-test: the folder {str(path.parent)!r} does not exist.")
    for each in (path, beside):
        if os.path.lexists(each):
            raise UsageError(f"--as-test: {each} exists already; name another file.")
    return beside


def write(path: Path, bot: Bot, result: DebugResult) -> Path:
    """Write the test and the copy of the replay, and return the path of the copy. UsageError as in ``check_free``."""
    beside = check_free(path)
    turn, seat, recorded = result.question.turn, result.question.seat, result.question.answer
    text = _TEXT.format(
        bot=_bot(bot, path),
        replay=_literal(beside.name),
        name=re.sub(r"\W+", "_", f"{seat}_in_turn_{turn}"),
        turn=turn,
        seat=_literal(seat),
        recorded="nothing" if recorded is None else re.sub(r"\s+", " ", str(recorded)),
        check=_check(result),
    )
    shutil.copyfile(result.recorded.path, beside)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    return beside


def _check(result: DebugResult) -> str:
    answer = result.answer
    if not result.has_answered or answer is None or answer.kind != "move":
        return "    assert answer.fault, answer"
    return f"    assert answer.move == {_literal(answer.move)}, answer"


def _literal(value: Json) -> str:
    """Return a JSON value as a Python expression."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _bot(bot: Bot, test: Path) -> str:
    """Return the player as an expression: a file from the test's folder on, else the text that the user gave."""
    file = Path(bot.label).expanduser()
    if os.path.lexists(file):
        return f"HERE / {_literal(os.path.relpath(file.absolute(), test.absolute().parent))}"
    return _literal(bot.label)
