"""The types of the SDK: a type checker accepts a good bot and finds the slips of a bad one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import walkthroughs

import sdk
from referee.games.game import SettingsError
from sdk import evasion

ROOT = Path(__file__).parents[2]

GOOD = """
from __future__ import annotations

from sdk import VERTICAL, HunterBot, HunterMove, PolicemanBot, PreyBot, PreyMove, RectangleBot, State, ThiefBot
from sdk.evasion import Kind
from sdk.maze import Order
from sdk.maze import State as MazeState
from sdk.rectangle import Order as Word
from sdk.rectangle import State as RectangleState


class Both(HunterBot, PreyBot):
    def begin(self) -> None:
        self.kind: Kind = "diagonal" if self.rules == "diagonal" else VERTICAL
        self.middle: int = self.settings.width // 2

    def hunt(self, state: State) -> HunterMove | None:
        for kind, check in state.buildable().items():
            if check and self.settings.max_walls > len(state.walls):
                return self.build(kind)
        return self.build(self.kind) if state.can_build("horizontal", (0, 9)) else None

    def flee(self, state: State) -> PreyMove | None:
        return self.go(1, 0) if state.heading == "SW" and state.area("prey") > 9 else None


class OneRuleSet(HunterBot):
    rules = ("classic",)

    def hunt(self, state: State) -> HunterMove | None:
        return self.build(VERTICAL) if self.settings.rules == "classic" else None


class Robots(RectangleBot):
    def orders(self, state: RectangleState) -> dict[int, Word]:
        wins: dict[int, Word] = {robot: order for robot, order, _ in state.next_wins()}
        return {0: state.way(state.mine[0], (0, self.settings.n - 1))[0], 1: "-", **wins}


class Runs(ThiefBot, PolicemanBot):
    def escape(self, state: MazeState) -> Order:
        return state.best()[0] if self.settings.parity == "even" and state.value("U").winner == "thief" else "U"

    def chase(self, state: MazeState) -> Order:
        return state.path(state.here, state.thief)[0]
"""

#: Each line that is marked has exactly the error of its mark.
BAD = """
from sdk import Build, HunterBot, HunterMove, PolicemanBot, PreyBot, RectangleBot, State
from sdk.evasion import Step
from sdk.maze import Order
from sdk.maze import State as MazeState
from sdk.rectangle import State as RectangleState


class Bad(HunterBot, PreyBot):
    def hunt(self, state: State) -> HunterMove:
        state.can_build("verticle")  # error: arg-type
        state.after(Build("slanted"))  # error: arg-type
        state.area("pray")  # error: arg-type
        self.settings.widht  # error: attr-defined
        self.settings["width"]  # error: call-overload
        if self.rules == "clasic":  # error: comparison-overlap
            return self.remove(3)  # error: unreachable
        self.remove("3")  # error: arg-type
        return self.build("verticle")  # error: arg-type

    def flee(self, state: State) -> Step:
        return Step("UP")  # error: arg-type


class BadRobots(RectangleBot):
    def orders(self, state: RectangleState) -> dict[int, str]:  # error: override
        self.settings.max_walls  # error: attr-defined
        return {0: "X"}


class BadPoliceman(PolicemanBot):
    def chase(self, state: MazeState) -> Order:
        state.value("north")  # error: arg-type
        self.settings.robots  # error: attr-defined
        return "left"  # error: return-value


class NoSuchRuleSet(HunterBot):
    rules = ("clasic",)  # error: assignment
"""

#: The same for tests and programs.
SLIPS = """
from typed_hunter import Typed as Hunter
from typed_others import Painter
from typed_others import Typed as Runs

import referee
from sdk.testing import ask, start

state = start(rules="clasic")  # error: call-overload
state = start()
ask(Hunter, state).go  # error: attr-defined
ask(Hunter, state, seat="prey")  # error: call-overload
ask(Runs, state)  # error: arg-type
ask(Painter, start(game="rectangle")).build  # error: attr-defined
referee.play(Hunter(), "runner")  # error: arg-type
referee.play(Hunter, "runner").winer  # error: attr-defined
referee.open_replay("m.gz", game="evasion").state_at(0).huntr  # error: attr-defined
next(referee.open_replay("m.gz", game="maze").steps()).state.hunter  # error: attr-defined
"""

#: Bots, tests of them and programs around them that are right, each with assertions about the types that it gets.
TYPED = Path(__file__).parent / "typed_bots"


@pytest.mark.slow
def test_a_type_checker_accepts_good_bots_and_finds_each_slip_of_bad_ones(tmp_path: Path) -> None:
    shutil.copytree(TYPED, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    texts = {"good_bot": GOOD, "bad_bot": BAD, "slips": SLIPS}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert (ROOT / "pyproject.toml").read_text().count("\nstrict = true\n") == 1
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-pretty",
        f"--config-file={ROOT / 'pyproject.toml'}",
        f"--cache-dir={ROOT / '.mypy_cache'}",
    ]
    # One process reads the SDK once.
    done = subprocess.run([*command, *sorted(tmp_path.glob("*.py"))], capture_output=True, text=True, cwd=ROOT)
    found = re.findall(r"^(?:.*/)?(\w+)\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    wanted = [
        (name, str(number), mark[1])
        for name, text in texts.items()
        for number, line in enumerate(text.split("\n"), 1)
        if (mark := re.search(r"# error: ([\w-]+)$", line)) is not None
    ]
    assert sorted({*found}) == sorted(wanted), done.stdout + done.stderr
    assert re.search(
        r'bad_bot.py:11: error: Argument 1 to "can_build".*"Literal\[\'verticle\'\]"; expected "Literal\[\'horizontal\'', done.stdout
    )


def bots_of_pages(folder: Path) -> list[Path]:
    """Write each bot of the README and of the pages into a file of its own. A block that says where it is saved gets what is added to it."""
    files: list[Path] = []
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        name = str(page.relative_to(ROOT))
        place = folder / page.stem.replace("-", "_")
        bots: dict[str, str] = {}
        for number, block in enumerate(block for block in walkthroughs.blocks(name) if block.language == "python"):
            if name in ("docs/notebooks.md", "docs/python.md"):
                # One program in several blocks.
                bots["cells.py"] = bots.get("cells.py", "") + block.text
            elif block.is_added and block.file in bots:
                bots[block.file] += block.text
            elif re.search(r"^class \w+\(.*Bot\b.*\):$", block.text, re.MULTILINE) or block.file.startswith("step"):
                bots[block.file or f"block_{number}.py"] = block.text
        for file, text in bots.items():
            path = place / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            files.append(path)
    return files


def checked(files: list[Path], folder: Path) -> str:
    """What mypy prints about bots whose every function must have its types."""
    options = ["--disallow-untyped-defs", "--no-pretty", "--ignore-missing-imports", "--namespace-packages", "--explicit-package-bases"]
    # A cell of a notebook may wait.
    options += ["--disable-error-code=top-level-await", "--no-error-summary", "--config-file=", f"--cache-dir={folder / 'cache'}"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "mypy", *options, *files], capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_type_checker_accepts_every_bot_of_the_pages_and_finds_a_wrong_word_in_them(tmp_path: Path) -> None:
    files = bots_of_pages(tmp_path)
    assert len(files) > 25
    # One of them is wrong on purpose.
    slips = checked(files, tmp_path).splitlines()
    assert [re.sub(r":\d+:", "", slip) for slip in slips] == ['first_bot/broken.py error: "State" has no attribute "pray"  [attr-defined]']
    wrong = []
    for path in files:
        text = path.read_text()
        if 'self.build("vertical"' in text:
            path.write_text(text.replace('self.build("vertical"', 'self.build("verticle"'))
            wrong.append(str(path.relative_to(tmp_path)))
    found = re.findall(r'^(\S+):\d+: error: Argument 1 to "build" .*verticle.*\[arg-type\]$', checked(files, tmp_path), re.MULTILINE)
    assert len(wrong) > 6
    assert {*found} == {*wrong}


def test_the_typed_tests_pass_and_their_types_are_true(tmp_path: Path) -> None:
    shutil.copytree(TYPED, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "typed_uses.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1].startswith("2 passed"), done.stdout + done.stderr


def test_every_base_class_has_a_typed_bot() -> None:
    texts = "".join(path.read_text() for path in TYPED.glob("*.py"))
    for name in sdk.__all__:
        if name.endswith("Bot") and name != "Bot":
            assert re.search(rf"^class \w+\(.*\b{name}\b.*\):$", texts, re.MULTILINE), name


def test_the_names_for_annotations_are_there_at_run_time() -> None:
    """A bot may import them without a guard; no ``typing`` is loaded for them (see ``tests/test_imports.py``)."""
    code = "from sdk.evasion import Heading, Kind, Rules; from sdk.maze import Order; from sdk.rectangle import Order, Rules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_good_and_bad_are_real_bots() -> None:
    exec(compile(GOOD, "bot", "exec"), {"__name__": "bot"})
    # Its last class names a rule set that no game has.
    with pytest.raises(SettingsError, match="did you mean 'classic'"):
        exec(compile(BAD, "bot", "exec"), {"__name__": "bot"})


def test_names_that_are_loaded_late_are_completed_too() -> None:
    assert {*sdk.__all__} <= {*dir(sdk)}
    assert {*evasion.__all__} <= {*dir(evasion)}
