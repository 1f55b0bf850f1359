"""Maze: the solved game held against one-step checks, and what is kept of it on disk."""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from maze_states import GAME, SOLVED

from referee.games.game import SettingsError
from referee.games.maze import solver, variants
from referee.games.maze.layouts import STANDARD, Layout
from referee.games.maze.solver import Solution, Value, solution
from referee.isolation import bubblewrap

if TYPE_CHECKING:
    from collections.abc import Iterator


def value(thief: tuple[int, int], policeman: tuple[int, int]) -> Value:
    index = SOLVED.layout.index
    return SOLVED.value(index[thief], index[policeman], is_thiefs=True)


def test_the_numbers_of_the_solved_game() -> None:
    assert value((1, 1), (16, 2)) == ("thief", 43)
    assert value((16, 2), (1, 3)) == ("", 0)
    assert value((2, 1), (1, 2)) == ("policeman", 30)
    everywhere = Counter(SOLVED.value(*places, is_thiefs=True).winner for places in SOLVED.positions())
    assert everywhere == {"thief": 28_420, "": 25_674, "policeman": 195}
    for given_, wins, count in (({"parity": "any", "exit_start": False}, 233, 3_858), ({}, 137, 2_118)):
        found = [SOLVED.value(*places, is_thiefs=True) for places in variants.starts(GAME.codec.settings(None, given_))]
        assert Counter(one.winner for one in found) == {"thief": wins, "": count - wins}
        assert max(one.plies for one in found) <= 43
    assert (
        max(SOLVED.value(*places, is_thiefs=True).plies for places in variants.starts(GAME.codec.settings(None, {"parity": "any"}))) == 43
    )


def check_every_state(solved: Solution) -> int:
    """Each label follows from those one ply later, by the game's own rules; the number of states."""
    layout, checked = solved.layout, 0
    for is_thiefs in (True, False):
        sign = 1 if is_thiefs else -1
        for thief in range(solved.count):
            for policeman in range(solved.count):
                label = solved.label(thief, policeman, is_thiefs=is_thiefs)
                if thief == policeman or thief == layout.exit:
                    if not is_thiefs or thief == policeman:
                        wanted = 1 if thief == layout.exit and not is_thiefs else -1
                        assert label == wanted
                    continue
                checked += 1
                here = thief if is_thiefs else policeman
                nexts = []
                for place in layout.neighbours[here].values():
                    at = (place, policeman) if is_thiefs else (thief, place)
                    nexts.append(sign * solved.label(*at, is_thiefs=not is_thiefs))
                won = [one for one in nexts if one > 0]
                if won:
                    assert sign * label == min(won) + 1
                elif all(one < 0 for one in nexts):
                    assert sign * label == min(nexts) - 1
                else:
                    assert label == 0
    return checked


@pytest.mark.slow
def test_every_label_follows_from_those_one_ply_later() -> None:
    assert check_every_state(SOLVED) == 2 * 233 * 233


@st.composite
def layouts(draw: Any) -> Layout:
    height, width = draw(st.integers(4, 7)), draw(st.integers(4, 7))
    signs = draw(st.lists(st.sampled_from("....#"), min_size=height * width, max_size=height * width))
    signs[draw(st.integers(0, height * width - 1))] = "E"
    if signs.count("E") != 1:
        signs = ["." if sign == "E" else sign for sign in signs]
        signs[0] = "E"
    rows = ["".join(signs[start : start + width]) for start in range(0, height * width, width)]
    while True:
        try:
            return Layout(rows)
        except SettingsError as error:
            # What isn't joined is walled up.
            line, column = [int(word.strip(":,")) for word in str(error).split() if word.strip(":,").isdigit()][:2]
            rows[line - 1] = rows[line - 1][: column - 1] + "#" + rows[line - 1][column:]


@given(layouts())
@pytest.mark.slow
def test_other_layouts_are_solved_as_well(layout: Layout) -> None:
    if len(layout.squares) > 1:
        solved = Solution(layout)
        check_every_state(solved)
        check_the_same(Solution(layout, solved.to_bytes()), solved)


def check_the_same(one: Solution, other: Solution) -> None:
    for is_thiefs in (True, False):
        for thief in range(other.count):
            for policeman in range(other.count):
                assert one.label(thief, policeman, is_thiefs=is_thiefs) == other.label(thief, policeman, is_thiefs=is_thiefs)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder in which solutions are kept; nothing is known yet."""
    monkeypatch.setenv("REFEREE_CACHE", str(tmp_path / "cache"))
    solution.cache_clear()
    yield tmp_path / "cache"
    solution.cache_clear()


def test_a_layout_is_solved_once_on_a_machine(kept: Path) -> None:
    layouts_ = [Layout(STANDARD), Layout(["E...", "....", ".##.", "...."])]
    made = [solution(layout) for layout in layouts_]
    assert [solution(layout) for layout in layouts_] == made
    assert len(list(kept.iterdir())) == 2
    # As in another process.
    solution.cache_clear()
    for layout, first in zip(layouts_, made, strict=True):
        again = solution(layout)
        assert again is not first
        # What was read can be kept again, read or not.
        assert again.to_bytes() == first.to_bytes()
        check_the_same(again, first)
        assert again.to_bytes() == first.to_bytes()


def test_what_is_kept_is_read_and_not_solved_again(kept: Path) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    first = solution(layout)
    (file,) = kept.iterdir()
    # Labels that no solver would find, with a right check sum.
    data = file.read_bytes()
    start = data.index(b"\n\n") + 2 + 4
    boards = bytes(len(data) - start)
    planted = data[: start - 4] + zlib.crc32(boards).to_bytes(4, "little") + boards
    file.write_bytes(planted)
    solution.cache_clear()
    assert solution(layout).to_bytes() == planted != first.to_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data.replace(b"maze solution", b"maze salvation"),
        lambda data: data.replace(b"E..", b".E.", 1),
        lambda data: bytes(len(data)),
        lambda data: data + b"more",
    ],
)
def test_what_is_damaged_is_solved_anew_and_kept_again(damage: Any, kept: Path) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    solution(layout)
    (file,) = kept.iterdir()
    good = file.read_bytes()
    assert damage(good) != good
    file.write_bytes(damage(good))
    solution.cache_clear()
    check_the_same(solution(layout), Solution(layout))
    assert file.read_bytes() == good
    if damage(good):
        with pytest.raises(ValueError, match="damaged"):
            Solution(layout, damage(good))


@pytest.mark.parametrize("extra", [1, -1, 7, -7])
def test_a_right_check_sum_over_too_much_or_too_little_is_not_believed(extra: int) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    data = Solution(layout).to_bytes()
    head = data[: data.index(b"\n\n") + 2]
    boards = data[len(head) + 4 :]
    boards = boards + bytes(extra) if extra > 0 else boards[:extra]
    for wrong in (boards, b"", boards * 40):
        with pytest.raises(ValueError, match="damaged"):
            Solution(layout, head + zlib.crc32(wrong).to_bytes(4, "little") + wrong)


@given(st.randoms(use_true_random=False))
def test_whatever_a_file_of_the_right_size_says_can_be_looked_up(random: Any) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    data = Solution(layout).to_bytes()
    head = data[: data.index(b"\n\n") + 2]
    boards = random.randbytes(len(data) - len(head) - 4)
    solved = Solution(layout, head + zlib.crc32(boards).to_bytes(4, "little") + boards)
    for place in range(solved.count):
        assert solved.best(place, 0, is_thiefs=True)
        assert solved.value(place, 0, is_thiefs=False).plies < 2**24


def test_many_processes_solve_and_keep_the_same_layout(kept: Path) -> None:
    layout = Layout(["." * 12] * 11 + ["." * 11 + "E"])
    code = (
        "import sys\nfrom referee.games.maze.layouts import Layout\nfrom referee.games.maze.solver import solution\n"
        "solved = solution(Layout(sys.argv[1].split()))\nprint(sum(solved.label(*places, is_thiefs=True) for places in solved.positions()))"
    )
    command = [sys.executable, "-c", code, "\n".join(layout.rows)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    told = {process.communicate()[0] for process in running}
    assert all(process.returncode == 0 for process in running)
    solved = Solution(layout)
    assert told == {f"{sum(solved.label(*places, is_thiefs=True) for places in solved.positions())}\n"}
    (file,) = kept.iterdir()
    assert file.read_bytes() == solved.to_bytes()


def test_the_oldest_solutions_make_room_on_disk_and_in_memory(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layouts_ = [Layout(["." * at + "E" + "." * (11 - at), *["." * 12] * 3]) for at in range(12)]
    size = max(len(Solution(layout).to_bytes()) for layout in layouts_)
    monkeypatch.setattr(solver, "MAX_BYTES_OF_ALL", 4 * size)
    for layout in layouts_:
        solution(layout)
    assert solution.cache_info().currsize < len(layouts_)
    assert 2 <= len(list(kept.iterdir())) <= 5
    # The one that was made last is among those that are kept, in a file of its own.
    assert solution(layouts_[-1]).to_bytes() in [path.read_bytes() for path in kept.iterdir()]


def test_what_is_too_large_to_be_read_is_not_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    size = len(Solution(layout).to_bytes())
    monkeypatch.setattr(solver, "MAX_BYTES", size - 1)
    solution(layout)
    assert not kept.exists()
    solution.cache_clear()
    monkeypatch.setattr(solver, "MAX_BYTES", size)
    solution(layout)
    assert len(list(kept.iterdir())) == 1


def test_nothing_is_kept_in_a_sandbox_or_where_it_is_not_wanted(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CACHE", bubblewrap.environment(())["REFEREE_CACHE"])
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    layout = Layout(["E...", "....", ".##.", "...."])
    check_the_same(solution(layout), Solution(layout))
    assert not kept.exists()


def test_the_largest_maze_is_solved_and_started() -> None:
    layout = Layout(["." * 32] * 31 + ["." * 31 + "E"])
    solved = Solution(layout)
    index = layout.index
    # Next to the exit and to move: one ply. In an open maze nobody else can be held off for ever, but the way can be barred.
    assert solved.value(index[32, 31], index[1, 1], is_thiefs=True) == ("thief", 1)
    assert solved.best(index[32, 31], index[1, 1], is_thiefs=True) == ["R"]
    assert variants.start(GAME.codec.settings(None, {"layout": Layout(["." * 64] * 63 + ["." * 63 + "E"])}), 10**9) > (0, 0)
