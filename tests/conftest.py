"""What several tests share."""

from __future__ import annotations

import functools
import gc
import importlib.util
import itertools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commands import SAME_USER, Commands
from golden import GoldenText
from sandboxes import HOSTILE, PATIENT, UNHURRIED, LevelLauncher, Options, Planted, match_between, missing, need
from serving import Client, Server

from referee import games
from referee.isolation import cgroups
from referee.isolation.level import Level
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, Limits
from referee.players.names import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from syrupy.assertion import SnapshotAssertion

    from referee.grading.values import Grades
    from referee.match.options import TimeControl
    from referee.replay.events import Listener, MatchResult


# Reading 200 test files anew takes as long as hundreds of tests; only this process writes what it has read, the programs of tests don't.
sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    """Choose by the marker ``alone``; ``-m`` stays free for the user."""
    parser.addoption("--alone", choices=("only", "without"), help="run only the tests marked alone, or all others")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker that only this file uses, and the tests that fail; let examples take their time, which on a loaded machine says nothing."""
    # Only now, so that what pytest made of its hundred modules is written, too, and needn't be made anew in each process.
    import hypothesis

    hypothesis.settings.register_profile("referee", deadline=None)
    hypothesis.settings.load_profile("referee")
    config.addinivalue_line("markers", "long: takes over 20 s; a worker begins with its share of these, so that none is left at the end")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(NamesFailures(config))


class NamesFailures:
    """Names a test that fails when it fails: the whole run may take a quarter of an hour more."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a line for each failed part of a test."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f"\nfailed: {report.nodeid} ({report.when})")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For the few tests marked alone, files without this marker are not even imported."""
    is_test = config.getoption("--alone") == "only" and collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if is_test and "mark.alone" not in collection_path.read_text(encoding="utf-8") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while thousands of tests are collected: that would take a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What is there now stays: no collection of garbage during a test visits thousands of tests, and garbage waits for more of it."""
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect by ``--alone``, and the tests marked ``soak`` unless ``-m`` names them; deal the long ones out to the workers."""
    wish = config.getoption("--alone")
    has_soak = "soak" in config.getoption("-m")
    chosen = [
        item
        for item in items
        if (has_soak or item.get_closest_marker("soak") is None)
        and (wish is None or (item.get_closest_marker("alone") is not None) == (wish == "only"))
    ]
    kept = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = _dealt(chosen, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))) if wish else chosen


def _dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Put the long tests first in the part of each worker: at the start, worker i gets the i-th of equal parts of all tests."""
    long = [item for item in items if item.get_closest_marker("long") is not None]
    shorter = iter([item for item in items if item.get_closest_marker("long") is None])
    parts: list[pytest.Item] = []
    for worker in range(workers):
        first = long[worker::workers]
        size = (len(items) - len(parts)) // (workers - worker)
        parts += [*first, *itertools.islice(shorter, max(0, size - len(first)))]
    return [*parts, *shorter]


@pytest.fixture(autouse=True)
def no_built_bot_is_left() -> Iterator[None]:
    """Bots that a test builds in this process have no copies after it; a later test counts such folders."""
    yield
    building = sys.modules.get("referee.isolation.building")
    if building is not None:
        building.forget()


def play_match(
    hunter: str,
    prey: str,
    *,
    rules: str = "classic",
    options: Options | None = None,
    times: Mapping[str, TimeControl] | None = None,
    seed: int | None = 1,
    replay: Path | None = None,
    listeners: list[Listener] | None = None,
    launcher: LevelLauncher | None = None,
    **settings: Any,
) -> MatchResult:
    """Play a match of real programs; without options the clock is patient. ``times`` gives some seats a clock of their own."""
    game = games.get("evasion")
    bots = {seat: resolve(name, seat, "evasion") for seat, name in (("hunter", hunter), ("prey", prey))}
    checked = game.codec.settings(rules, settings)
    match = match_between(
        game, checked, bots, options or UNHURRIED, seed=seed, replay=replay, listeners=listeners or [], launcher=launcher, times=times
    )
    return match.run()


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """One server of commands a worker."""
    server = Commands()
    yield server
    server.close()


@pytest.fixture(scope="session", autouse=True)
def _temporary_folder_of_inner_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give a pytest that a test starts another temporary folder: at its start it would close this session's folder to other users."""
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(tmp_path_factory.mktemp("inner"))


@pytest.fixture
def same_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots run as the referee's own user, as those of an ordinary user do: root's could touch no process of the referee."""
    from referee.isolation import users

    monkeypatch.setattr(users, "are_needed", lambda: False)
    monkeypatch.setenv(SAME_USER, "1")
    monkeypatch.syspath_prepend(str(Path(__file__).with_name("same_user")))


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder in which bots may write, too: root's are users of their own, and pytest's folders are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="shared-by-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make modules look as if nobody had installed them."""
    find_spec = importlib.util.find_spec

    def hide(*names: str) -> None:
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in names else find_spec(name, *rest))

    return hide


@pytest.fixture
def scene_folder() -> Iterator[Path]:
    """A folder whose path has the same length in every run, so that lines break at the same places."""
    with tempfile.TemporaryDirectory(prefix="scene", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """The golden file of this test's scene."""
    return snapshot.use_extension(GoldenText)


@pytest.fixture
def referee(commands: Commands, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in an empty folder, with no terminal."""

    return functools.partial(commands.run, cwd=tmp_path)


@pytest.fixture(params=["referee's Python", pytest.param("system's Python", marks=[pytest.mark.slow, pytest.mark.again])])
def python(request: pytest.FixtureRequest) -> str:
    """The Python of an intruder: for root the one may be below a closed home, the other is for all, and the sandbox differs."""
    if request.param == "referee's Python":
        return ""
    need(os.access("/usr/bin/python3", os.X_OK), "/usr/bin/python3 is missing")
    return "/usr/bin/python3"


@pytest.fixture(params=[ISOLATED_CGROUP, pytest.param(ISOLATED, marks=[pytest.mark.slow, pytest.mark.again])])
def isolation(request: pytest.FixtureRequest) -> Level:
    """A sandbox of each level."""
    need(not missing(), missing())
    trees = cgroups.find()
    if request.param == ISOLATED_CGROUP:
        need(trees.has_caps and trees.has_freezer and trees.has_accounts, f"control groups: {trees.why}", of_kernel=True)
        return Level(ISOLATED_CGROUP, Limits(), trees, is_strict=True)
    return Level(ISOLATED, Limits())


@pytest.fixture
def best() -> Level:
    """The best sandbox that there is."""
    need(not missing(), missing())
    trees = cgroups.find()
    return Level(ISOLATED_CGROUP if trees.has_caps else ISOLATED, Limits(), trees)


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    """A secret file that anybody could read, a listener on the loopback interface, an abstract socket, a variable of the environment."""
    for folder in (tmp_path, tmp_path / "opponent"):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "opponent" / "hunter.py").write_text(
        "from sdk import HunterBot\nclass Quiet(HunterBot):\n    def hunt(self, state):\n        pass\nQuiet.main()\n"
    )
    monkeypatch.setenv("REFEREE_TEST_SECRET", "secret")
    name = f"referee-test-{os.getpid()}"
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as named:
        listener.bind(("127.0.0.1", 0))
        named.bind(f"\0{name}")
        listener.listen()
        named.listen()
        yield Planted(tmp_path, listener.getsockname()[1], name)


@pytest.fixture
def serve(commands: Commands, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers and ends those that are left."""
    servers = []

    def start(*arguments: str) -> Server:
        servers.append(Server(commands, tmp_path, *arguments))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def call() -> Iterator[Callable[..., Client]]:
    """Connects clients and hangs up for those that haven't."""
    clients = []

    def connect(port: int, *lines: str) -> Client:
        clients.append(Client(port, *lines))
        return clients[-1]

    yield connect
    for client in clients:
        client.vanish()


__all__ = ["HOSTILE", "PATIENT", "UNHURRIED", "play_match"]


@pytest.fixture(scope="session")
def played_grades(tmp_path_factory: pytest.TempPathFactory) -> Grades:
    """Grades whose matches are played once for all tests."""
    import gradings

    return gradings.played(tmp_path_factory.mktemp("grading") / "out")


@pytest.fixture
def grades(played_grades: Grades, tmp_path: Path) -> Grades:
    """Grades in a folder of their own."""
    import gradings

    return gradings.copied(played_grades, tmp_path / "out")
