"""The interactive maze of the assignment: a person plays in a terminal or with input from a pipe.

Source: rules of Maze, "The interactive game".
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import runpy
import shutil
import sys
from typing import TYPE_CHECKING

from example_bots import BOTS
from referee.games.maze.game import GAME
from referee.games.maze.state import Go
from referee.games.maze.text import board_rows
from referee.match.options import TimeControl
from referee.match.request import MatchRequest
from referee.support.color import is_wanted
from referee.wire import encode
from referee.wire.seeds import match_id, seat_seed, secret_of
from sdk.bot import Bot, Conversation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.games.maze.state import Settings, State

#: The example bot that plays against a person, by the person's role and the difficulty.
OPPONENTS = {
    "thief": {"easy": "easy", "hard": "hard", "hard-manhattan": "hard-manhattan", "expert": "expert"},
    "policeman": {"easy": "dasher", "hard": "expert", "hard-manhattan": "patient", "expert": "expert"},
}
#: The difficulties that the question offers. The others need --difficulty.
_ASKED = ("easy", "hard")
_KEYS = {"w": "U", "a": "L", "s": "D", "d": "R"}
_ARROWS = {"a": "w", "b": "s", "c": "d", "d": "a"}
#: A key in lower case: pasted text, an escape sequence, or a character.
_KEY = re.compile(r"\x1b\[200~.*?\x1b\[201~|\x1b[\[o][0-9;]*[a-z~]|[^\x1b]", re.DOTALL)
#: A square where there are colours: walls as blocks, the thief and the policeman in the colours of their seats.
_SQUARES = {"_": "·", "W": "█", "E": "\x1b[32mE\x1b[0m", "T": "\x1b[1;33mT\x1b[0m", "P": "\x1b[1;34mP\x1b[0m"}
_CLEAR = "\x1b[2J\x1b[H"
#: The key that quits the game. The end of input quits it too.
_QUIT = "q"


def _put(text: str, end: str = "\n") -> None:
    """Write to the terminal at once, as the person waits for it."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


class Left(Exception):
    """The person has quit the game."""


class Keys:
    """A person's input: single keys on a terminal, else the letters of each line.

    ``typer.getchar`` would lose input: it empties the terminal's queue before it reads, so it drops keys typed before the question.
    """

    def __init__(self) -> None:
        self.is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self._waiting: list[str] = []

    def line(self, prompt: str) -> str:
        """Print a question and return the answer, stripped and in lower case. Raises Left at the end of input or for ``q``."""
        _put(prompt, "")
        text = sys.stdin.readline()
        if not self.is_terminal:
            _put("")
        self._waiting.clear()
        answer = text.strip().lower()
        if not text or answer == _QUIT:
            raise Left
        return answer

    def key(self) -> str:
        """Return the next key that isn't white space, in lower case; an arrow key returns its letter. Raises Left like ``line``."""
        while not self._waiting:
            # The bytes of an arrow key or of pasted text arrive together.
            data = os.read(sys.stdin.fileno(), 4096) if self.is_terminal else sys.stdin.readline().encode()
            if not data or b"\x04" in data:
                raise Left
            keys = (_ARROWS.get(key[-1], "") if len(key) > 1 else key for key in _KEY.findall(data.decode("utf-8", "replace").lower()))
            self._waiting = [key for key in keys if len(key) == 1 and not key.isspace()]
        key = self._waiting.pop(0)
        if key == _QUIT:
            raise Left
        return key

    @contextlib.contextmanager
    def one_by_one(self) -> Iterator[None]:
        """On a terminal, read keys without Enter and without echo during a game; then restore the terminal's mode."""
        if not self.is_terminal:
            yield
            return
        import termios
        import tty

        fd = sys.stdin.fileno()
        before = termios.tcgetattr(fd)
        try:
            # TCSADRAIN keeps the input that was typed before the change.
            tty.setcbreak(fd, termios.TCSADRAIN)
            now = termios.tcgetattr(fd)
            # Disable the quit key: it would end the process without restoring the terminal.
            now[6][termios.VQUIT] = b"\0"
            termios.tcsetattr(fd, termios.TCSADRAIN, now)
            yield
        finally:
            termios.tcsetattr(fd, termios.TCSADRAIN, before)


def settings_of(layout: str | None, parity: str, apart: int | None) -> Settings:
    """Return the settings of the games. SettingsError if the two can't start ``apart`` or more squares from each other (None: 16)."""
    flags = {"game": "maze", "parity": parity, "set": ["max_moves=0"], "layout": layout, "apart": apart}
    settings: Settings = MatchRequest.model_validate({name: value for name, value in flags.items() if value is not None}).checked_settings
    return settings


def play_games(settings: Settings, role: str, difficulty: str | None, seed: int | None) -> None:
    """Play games with the person at this terminal until the person quits. Without ``difficulty`` each game asks for one.

    ``role`` is the person's seat, ``seed`` that of the first game; None: starts and the opponent's choices are random.
    """
    keys = Keys()
    with contextlib.suppress(Left):
        for number in itertools.count():
            chosen = difficulty or _ask(keys, "Difficulty, easy or hard? ", _ASKED, "Please write easy or hard; q leaves.")
            with keys.one_by_one():
                has_won = _play(keys, settings, role, OPPONENTS[role][chosen], seed, number)
            _put("You won!" if has_won else "You lost!")
            if _ask(keys, "Play again, yes or no? ", ("y", "yes", "n", "no"), "Please write yes or no.").startswith("n"):
                return


def _ask(keys: Keys, question: str, answers: Sequence[str], hint: str) -> str:
    while (answer := keys.line(question)) not in answers:
        _put(hint)
    return answer


def _play(keys: Keys, settings: Settings, role: str, opponent: str, seed: int | None, number: int) -> bool:
    secret = secret_of(None if seed is None else seed + number)
    state = GAME.start(settings, secret)
    (other,) = (seat for seat in GAME.seats(settings) if seat != role)
    bot = _opponent(opponent, other, settings, seat_seed(secret, match_id(secret), other))
    _draw(keys, state)
    while not state.ended:
        (seat,) = GAME.movers(state)
        if seat == role:
            if state.step:
                _draw(keys, state)
            if keys.is_terminal:
                _put(f"{role[0].upper()}: w a s d or arrows; q quits. Move {(state.step + 1) // 2 + 1:,}")
            order = _order(keys, state, role)
        else:
            answer = bot.answer(encode.turn(state.step, GAME.codec.view_text(state, None), [], encode.limit(None), None))
            order = json.loads(answer or b"")["move"]["go"]
        state, _ = GAME.step(state, {seat: Go(order)})
    _draw(keys, state)
    outcome = GAME.outcome(state)
    assert outcome is not None
    return outcome.winner == role


def _order(keys: Keys, state: State, role: str) -> str:
    """Return the person's order. After an impossible one, print why and read the next key."""
    here = state.thief if role == "thief" else state.policeman
    while True:
        key = keys.key()
        order = _KEYS.get(key)
        if order in state.settings.layout.neighbours[here]:
            return order
        refusal = "Use w, a, s, d or the arrow keys; q leaves." if order is None else "There is a wall."
        # At a terminal one line has the last refusal: several would push the maze away.
        _put(f"\r\x1b[K{refusal}" if keys.is_terminal else refusal, "" if keys.is_terminal else "\n")


def _draw(keys: Keys, state: State) -> None:
    width = state.settings.layout.width
    # Wrapped lines would make the maze unreadable, so a wide maze on a narrow terminal is drawn without the bars between squares.
    is_narrow = keys.is_terminal and width <= shutil.get_terminal_size().columns < 2 * width + 1
    rows = board_rows(state)
    if keys.is_terminal and is_wanted(sys.stdout):
        text = "\n".join("".join(_SQUARES[sign] + (" " if sign != "W" else "█") * (not is_narrow) for sign in row) for row in rows)
    else:
        text = "\n".join("".join(row) if is_narrow else f"|{'|'.join(row)}|" for row in rows)
    _put(f"{_CLEAR if keys.is_terminal else ''}{text}")


def _opponent(name: str, seat: str, settings: Settings, seed: int) -> Conversation:
    (example,) = (bot for bot in BOTS if bot.game == "maze" and bot.name == name)
    names = runpy.run_path(str(example.path), run_name="opponent").values()
    bot = Conversation(
        next(value for value in names if isinstance(value, type) and issubclass(value, Bot) and value.__module__ == "opponent")
    )
    settings_json, clock = GAME.codec.settings_json(settings), TimeControl(startup=None, move=None, bank=None).to_json()
    bot.answer(encode.start(GAME.info, settings.rules, seat, settings_json, clock=clock, seed=seed, match=""))
    return bot
