"""The interactive game: through a pseudo-terminal, from a pipe, and left at any point."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest

from referee.games.maze.layouts import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 30.0
BOARD = re.compile(r"(?:\|[_WPTE](?:\|[_WPTE]){15}\|\r?\n){16}")


class Terminal:
    """A game on a terminal of 40 columns; ``seen`` is everything that it has written."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.fd, theirs = pty.openpty()
        environment = {**os.environ, "COLUMNS": "40", "LINES": "24", "NO_COLOR": "1", "TERM": "xterm"}
        command = [sys.executable, "-m", "referee", "maze", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,  # noqa: PLW1509 - one thread
        )
        os.close(theirs)
        self.seen = ""
        self._from = 0

    def _more(self) -> bool:
        """Take in what comes; False at the end."""
        ready, _, _ = select.select([self.fd], [], [], PATIENCE)
        assert ready, self.seen[-2_000:]
        try:
            data = os.read(self.fd, 65_536)
        except OSError:
            return False
        self.seen += data.decode()
        return bool(data)

    def wait_for(self, pattern: str | re.Pattern[str]) -> re.Match[str]:
        """Wait until something new is there that matches."""
        while (found := re.compile(pattern).search(self.seen, self._from)) is None:
            assert self._more(), self.seen[-2_000:]
        self._from = found.end()
        return found

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self.fd, text.encode())

    def end(self) -> int:
        """Wait for its end; the exit status."""
        while self._more():
            pass
        return self.process.wait(PATIENCE)


def _own_terminal() -> None:
    """Let Ctrl-C on the terminal reach the program."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts games and ends those that are left."""
    games: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        games.append(Terminal(tmp_path, *arguments))
        return games[-1]

    yield start
    for game in games:
        if game.process.poll() is None:
            game.process.kill()
        game.process.wait()
        os.close(game.fd)


@pytest.mark.parametrize(
    ("width", "line"), [(19, "|" + "|".join("_" * 19) + "|"), (20, "_" * 20), (40, "_" * 40), (41, "|" + "|".join("_" * 41) + "|")]
)
def test_a_wide_maze_on_a_narrow_terminal_is_drawn_without_bars(
    width: int, line: str, terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    rows = ["." * width] * 7 + ["." * (width - 1) + "E"]
    (tmp_path / "wide.txt").write_text("\n".join(rows))
    game = terminal("--difficulty", "easy", "--layout", "wide.txt", "--seed", "1")
    game.wait_for(rf"(?m)^{re.escape(line)}\r?$")
    game.type("q")
    assert game.end() == 0


ARROWS = {"U": "\x1b[A", "D": "\x1b[B", "R": "\x1b[C", "L": "\x1bOD"}


def places(board: str) -> dict[str, tuple[int, int]]:
    """Where T and P stand, counted from 0."""
    rows = [line.strip().strip("|").split("|") for line in board.split()]
    return {sign: (row, column) for row, signs in enumerate(rows) for column, sign in enumerate(signs) if sign in "TP"}


def way(start: tuple[int, int], end: tuple[int, int], avoid: tuple[int, int]) -> str:
    """The first order of a shortest way around one square, any order if there is none."""
    steps = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    waiting, came = deque([start]), {start: ""}
    while waiting:
        row, column = waiting.popleft()
        for order, (down, along) in steps.items():
            at = (row + down, column + along)
            if 0 <= at[0] < 16 and 0 <= at[1] < 16 and STANDARD[at[0]][at[1]] != "#" and at not in came and at != avoid:
                came[at] = came[row, column] or order
                waiting.append(at)
    return came.get(end) or next(iter(came.values()), "U") or "U"


def play(game: Terminal, key: Callable[[str], str]) -> tuple[str, str]:
    """Run for the exit until the end; the last board and what is said then."""
    board = game.wait_for(BOARD)[0]
    for _ in range(400):
        at = places(board)
        if at.get("T") in (None, (7, 15)):
            return board, game.wait_for(r"You (?:won|lost)!\r\n")[0].strip()
        game.type(key(way(at["T"], (7, 15), at["P"])))
        board = game.wait_for(BOARD)[0]
    raise AssertionError("no end")


def test_on_a_terminal_with_arrow_keys(terminal: Callable[..., Terminal]) -> None:
    game = terminal("--seed", "4")
    game.wait_for("Difficulty, easy or hard\\? ")
    game.type("medium\n")
    game.wait_for("Please write easy or hard")
    game.wait_for("Difficulty, easy or hard\\? ")
    game.type("EASY\n")
    board, said = play(game, lambda order: ARROWS[order])
    is_out = places(board).get("T") == (7, 15)
    assert said == ("You won!" if is_out else "You lost!")
    assert "\x1b[2J" in game.seen
    game.wait_for("Play again, yes or no\\? ")
    game.type("perhaps\n")
    game.wait_for("Please write yes or no")
    # What is typed before the whole question is there stands before it, and what comes next stands behind it.
    game.wait_for("Play again, yes or no\\? ")
    game.type("yes\n")
    game.wait_for("Difficulty, easy or hard\\? ")
    game.type("hard\n")
    game.wait_for(BOARD)
    game.type("q")
    assert game.end() == 0
    assert max(len(line) for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", game.seen).splitlines()) <= 40


def test_walls_and_other_keys_are_told_and_asked_again(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    (tmp_path / "maze.txt").write_text("E...\n####\n....\n....".replace("####", "#.##"))
    game = terminal("--difficulty", "hard", "--layout", "maze.txt", "--apart", "4", "--seed", "1")
    board = game.wait_for(r"(\|[_WPTE](\|[_WPTE]){3}\|\r\n){4}")[0]
    game.type("x")
    game.wait_for("Use w, a, s, d or the arrow keys")
    rows = [line.strip("|\r").split("|") for line in board.split()]
    ((row, column),) = [(row, column) for row, signs in enumerate(rows) for column, sign in enumerate(signs) if sign == "T"]
    steps = {"w": (row - 1, column), "a": (row, column - 1), "s": (row + 1, column), "d": (row, column + 1)}
    blocked = [key for key, (down, along) in steps.items() if not (0 <= down < 4 and 0 <= along < 4) or rows[down][along] == "W"]
    for key in blocked:
        game.type(key)
        game.wait_for("There is a wall")
    assert blocked
    game.type("\x04")
    assert game.end() == 0


def test_ctrl_c_leaves_the_terminal_as_it_was(terminal: Callable[..., Terminal]) -> None:
    game = terminal("--difficulty", "hard")
    before = termios.tcgetattr(game.fd)
    game.wait_for(BOARD)
    assert termios.tcgetattr(game.fd) != before
    game.type("\x03")
    assert game.process.wait(PATIENCE) == 130
    assert termios.tcgetattr(game.fd) == before
    assert "Traceback" not in game.seen


@pytest.mark.parametrize("role", ["thief", "policeman"])
@pytest.mark.parametrize("words", ["", "easy\n", "nonsense\n", "hard\nw", "q\n", "hard\nq\n"])
def test_the_end_of_input_leaves_cleanly_at_any_point(role: str, words: str, referee: Any) -> None:
    done = referee("maze", "--as", role, "--seed", "1", words=words)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_lines_from_a_pipe_play_to_the_end(referee: Any) -> None:
    """A policeman that is easy is met sooner or later by a thief that walks about; both ends are said exactly."""
    said = set()
    for seed in range(6):
        done = referee("maze", "--difficulty", "hard", "--seed", str(seed), words="dsaw" * 400 + "\nno\n")
        assert done.returncode == 0, done.stderr
        ends = re.findall(r"^You (?:won|lost)!$", done.stdout, re.MULTILINE)
        assert len(ends) <= 1
        said.update(ends)
        if ends:
            assert done.stdout.rstrip().endswith("Play again, yes or no?")
    assert said == {"You lost!"}


def test_the_other_seat(terminal: Callable[..., Terminal]) -> None:
    game = terminal("--as", "policeman", "--difficulty", "easy", "--seed", "2")
    start = places(game.wait_for(BOARD)[0])
    board = game.wait_for(BOARD)[0]
    assert places(board)["P"] == start["P"], "the start is drawn, then what the thief does first"
    assert places(board)["T"] != start["T"]
    for key, (down, along) in (("w", (-1, 0)), ("s", (1, 0)), ("w", (-1, 0))):
        row, column = places(board)["P"]
        game.type(key)
        board = game.wait_for(BOARD)[0]
        assert places(board)["P"] == (row + down, column + along)
    game.type("q")
    assert game.end() == 0


def test_a_signal_is_no_traceback(terminal: Callable[..., Terminal]) -> None:
    game = terminal("--difficulty", "easy")
    game.wait_for(BOARD)
    game.process.send_signal(signal.SIGTERM)
    assert game.end() == 143
    assert "Traceback" not in game.seen


@pytest.mark.parametrize(
    ("keys", "order"),
    [("\x1b[1;5A", "U"), ("\x1b[1;2D", "L"), ("\x1bOB", "D"), ("\x1b[3~\x1b[H\x1b[Za", "L"), ("\x1b[200~wwsdq\x1b[201~d", "R")],
)
def test_keys_of_a_terminal(keys: str, order: str, terminal: Callable[..., Terminal]) -> None:
    """Arrow keys with Shift or Ctrl are arrow keys; other keys, and pasted text, are none."""
    game = terminal("--difficulty", "easy", "--seed", "5")
    before = places(game.wait_for(BOARD)[0])["T"]
    game.type(keys)
    after = places(game.wait_for(BOARD)[0])["T"]
    steps = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    assert (after[0] - before[0], after[1] - before[1]) == steps[order]
    assert "Use w" not in game.seen
    game.type("q")
    assert game.end() == 0


def test_odd_keys_of_a_terminal(terminal: Callable[..., Terminal]) -> None:
    game = terminal("--difficulty", "easy", "--seed", "8")
    game.wait_for(BOARD)
    game.type("\u00e9")
    game.wait_for("Use w, a, s, d")
    # A lone ESC, or one with a key behind it, leaves that key what it is; Ctrl and a backslash is no way to leave the terminal in disorder.
    game.type("\x1c\x1bq")
    assert game.end() == 0
    assert game.seen.count("Use w") == 1


def test_a_small_maze_is_played_by_those_who_start_nearer(referee: Any, tmp_path: Path) -> None:
    (tmp_path / "tiny.txt").write_bytes(b"\xef\xbb\xbf....\r\n....\r\n....\r\n...E\r\n\n")
    done = referee("maze", "--layout", "tiny.txt", "--apart", "6", "--difficulty", "easy", words="q\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("|_|") >= 3
    refused = referee("maze", "--layout", "tiny.txt", words="q\n")
    assert refused.returncode == 2
    assert "apart is 16, but the free square farthest from the exit, on line 1, column 1 of the layout, is only 6" in refused.stderr


def test_an_endless_layout_is_refused(referee: Any, tmp_path: Path) -> None:
    done = referee("maze", "--layout", "/dev/zero", words="q\n")
    assert done.returncode == 2
    assert "can't be read: it is not an ordinary file" in done.stderr
    (tmp_path / "endless.txt").write_text("." * 2_000_000)
    done = referee("maze", "--layout", tmp_path / "endless.txt", words="q\n")
    assert done.returncode == 2
    assert "is too long: it holds more than" in done.stderr
