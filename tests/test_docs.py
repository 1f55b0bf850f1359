"""Every example in the documentation runs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from conftest import play_match
from sandboxes import missing, need
from table import bot_class
from walkthroughs import FOLLOWED

import referee as package
from example_bots import BOTS
from referee.isolation.plan import bot_plan
from referee.players.names import resolve
from sdk import State as EvasionState
from sdk.maze import State as MazeState
from sdk.rectangle import State as RectangleState
from sdk.testing import play

if TYPE_CHECKING:
    from collections.abc import Callable

    from serving import Server

    from sdk import Bot

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "example_bots" / "README.md",
        ROOT / "referee" / "codes.md",
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("referee/games/*/README.md"),
    ]
)


def blocks(language: str) -> list[tuple[str, str]]:
    """Every fenced block of a language, with a name; pages that are followed as a whole are left to ``test_walkthroughs``."""
    found = []
    for page in PAGES:
        if str(page.relative_to(ROOT)) in FOLLOWED:
            continue
        for number, text in enumerate(re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)):
            found.append((f"{page.relative_to(ROOT)}-{number}", text))
    return found


API = "docs/python.md"
#: Pages whose blocks belong together. Those of notebooks run in a kernel (tests/pages/browser/test_notebooks.py), and those about tests in
#: pytest (tests/sdk/test_testing_page.py). Environments train bots (tests/sdk/test_env.py). The program about trust reads a file of a grading
#: (tests/grading/test_trust_page.py).
WHOLE = (API, "docs/environments.md", "docs/notebooks.md", "docs/testing.md", "docs/trust.md")
PYTHON = [(name, text) for name, text in blocks("python") if not name.startswith(WHOLE)]


@pytest.mark.parametrize(("name", "text"), PYTHON, ids=[name for name, _ in PYTHON])
def test_python_examples_play_or_pass(name: str, text: str, referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.py").write_text(text)
    if "import referee\n" in text:
        if "game.replay.jsonl.gz" in text:
            (tmp_path / "matches/replays").mkdir(parents=True)
            play_match("straight", "still", replay=tmp_path / "matches/replays/game.replay.jsonl.gz", max_steps=20)
        monkeypatch.chdir(tmp_path)
        exec(compile(text, name, "exec"), {"__name__": "example"})
        return
    if "from referee." in text:
        exec(compile(text, name, "exec"), {"__name__": "example"})
        return
    if "RectangleBot" in text or "ThiefBot" in text:
        others = ("rectangle", "bot.py", "idle", "--cap", "50") if "RectangleBot" in text else ("maze", "bot.py", "hard")
        done = referee("play", "--game", *others, "--json", "--quiet")
        assert done.returncode == 0, done.stderr
        assert '"fault": null' in done.stdout
        assert '"kind"' not in done.stdout, done.stdout
        return
    players = ["boxer", "bot.py"] if "PreyBot" in text else ["bot.py", "runner"]
    done = referee("play", *players, "--max-steps", "80", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert '"fault": null' in done.stdout
    assert '"kind"' not in done.stdout, done.stdout


class Table(list[dict[str, Any]]):
    """Stands for the ``DataFrame`` of pandas, which need not be installed. It refuses a column that isn't there."""

    def groupby(self, name: str) -> Table:
        assert all(name in row for row in self), name
        return self

    def __getitem__(self, name: Any) -> Any:
        values = [row[name] for row in self]
        return SimpleNamespace(mean=lambda: sum(values) / len(values))


def test_every_line_of_the_page_on_the_api_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=Table))
    text = "\n".join(text for name, text in blocks("python") if name.startswith(API))
    assert text.count("referee.play(") >= 3
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(text, API, "exec"), scope)
    assert len(scope["replay"].records()) == len(scope["replay"])


def test_there_are_examples() -> None:
    assert len(PYTHON) >= 4
    assert len(SESSIONS) >= 2


COMMANDS = [line.split("#")[0].strip() for _, text in blocks("sh") for line in text.splitlines() if line.startswith("referee ")]


#: Comparisons and whole matches.
LONG = {
    line
    for line in COMMANDS
    if line.startswith("referee compare ") or (line.startswith("referee play ") and not re.search(r"--(max-steps|game|match|from)\b", line))
}


@pytest.mark.slow
@pytest.mark.parametrize("line", sorted(LONG))
def test_long_commands_run_as_printed(line: str, referee: Cli, tmp_path: Path) -> None:
    run_as_printed(line, referee, tmp_path)


@pytest.mark.parametrize("line", sorted(set(COMMANDS) - LONG))
def test_commands_run_as_printed(line: str, referee: Cli, tmp_path: Path) -> None:
    run_as_printed(line, referee, tmp_path)


def run_as_printed(line: str, referee: Cli, tmp_path: Path) -> None:
    if "strict" in line or "doctor" in line:
        need(not missing(), missing())
    if "player.py" in line or "client.py" in line:
        shutil.copy(ROOT / "tests/clients/architect_client.py", tmp_path / "player.py")
        shutil.copy(ROOT / "tests/clients/gameserver_client.py", tmp_path / "client.py")
    first_bot = next(text for name, text in PYTHON if "class MyHunter" in text)
    (tmp_path / "my_hunter.py").write_text(first_bot)
    if "game.replay.jsonl.gz" in line:
        play_match("straight", "still", replay=tmp_path / "game.replay.jsonl.gz", max_steps=20)
    shutil.copytree(ROOT / "matches", tmp_path / "matches", ignore=shutil.ignore_patterns("replays"))
    done = referee(*shlex.split(line)[1:])
    assert done.returncode == 0, done.stderr


#: The bots that pages tell readers to save, but one with a mistake to find, and those that import an earlier one.
SAVED = [
    (f"{page}-{number}", text)
    for page in ("README.md", *sorted(FOLLOWED))
    for number, text in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL))
    if ".main()" in text and "state.pray" not in text and "from step" not in text
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), SAVED, ids=[name for name, _ in SAVED])
def test_a_bot_that_readers_save_has_no_limit_of_its_own(name: str, text: str, referee: Cli, tmp_path: Path) -> None:
    """An arena refuses a bot that fails one of these checks."""
    (tmp_path / "my_bot.py").write_text(text)
    done = referee("check", "my_bot.py", "--only", "other-settings,answers")
    assert done.returncode == 0, done.stdout


SESSIONS = [(name, text) for name, text in blocks("console") if text.startswith("referee serve ")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), SESSIONS, ids=[text.split()[2] for _, text in SESSIONS])
def test_servers_run_as_printed(name: str, text: str, serve: Callable[..., Server]) -> None:
    """On ports that are free here; two clients of the protocol come. The game of the architect has no end but a step limit."""
    _, *words = shlex.split(text)
    server = serve(
        *("0" if word in ("9000", "9001", "23000") else word for word in words),
        *(["--max-steps", "300"] if words[1] == "architect" else []),
    )
    client = ROOT / "tests" / "clients" / f"{words[1]}_client.py"
    commands = [[sys.executable, str(client), str(port), f"client{number}"] for number, port in enumerate((2 * server.ports)[:2])]
    clients = [subprocess.Popen(command) for command in commands]
    assert [each.wait() for each in clients] == [0, 0], name
    assert server.finish()


def test_the_match_file_of_the_page_plays(referee: Cli, tmp_path: Path) -> None:
    ((_, text),) = [block for block in blocks("toml") if block[0].startswith("docs/match-files.md")]
    (tmp_path / "m.toml").write_text(text)
    assert referee("play", "--match", "m.toml").returncode == 0


#: Who runs the blocks that are neither Python nor commands to run one by one: a test, or why nobody can.
RUN_ELSEWHERE = {
    ("README.md", "sh"): "the lines that start with make are what CI does",
    ("docs/builds.md", "c"): "tests/test_docs.py",
    ("docs/builds.md", "console"): "tests/test_docs.py",
    ("docs/builds.md", "toml"): "tests/test_docs.py",
    ("docs/check.md", ""): "tests/cli/test_check.py",
    ("docs/clusters.md", "bash"): "tests/league/test_clusters_page.py",
    ("docs/clusters.md", "console"): "tests/league/test_clusters_page.py",
    ("docs/clusters.md", "text"): "tests/league/test_clusters_page.py",
    ("docs/debugging.md", "console"): "a person plays",
    ("docs/debugging.md", "json"): "settings of an editor",
    ("docs/debugging.md", "text"): "tests/cli/test_debug.py",
    ("docs/dialects.md", "console"): "tests/test_docs.py",
    ("docs/many-matches.md", "console"): "tests/pages/test_many_matches_page.py",
    ("docs/gradescope.md", "console"): "tests/grading/test_autograder.py",
    ("docs/grading.md", "console"): "tests/grading/test_grading_page.py",
    ("docs/isolation.md", "console"): "it needs a session of systemd",
    ("docs/isolation.md", "js"): "tests/isolation/test_runtime.py",
    ("docs/isolation.md", "text"): "a profile for AppArmor, which the machine of the tests need not have",
    ("docs/languages.md", "toml"): "tests/author/starters/test_new.py",
    ("docs/leagues.md", "console"): "tests/league/test_leagues_page.py",
    ("docs/leagues.md", "json"): "tests/tournament/test_starts.py",
    ("docs/leagues.md", "text"): "tests/league/test_leagues_page.py",
    ("docs/leagues.md", "toml"): "tests/league/test_config.py",
    ("docs/loop.md", "console"): "tests/cli/test_loop_page.py",
    ("docs/match-files.md", "toml"): "tests/test_docs.py",
    ("docs/protocol.md", ""): "tests/wire/test_messages.py",
    ("docs/rubric.md", "toml"): "tests/grading/test_rubric.py",
    ("docs/trust.md", "console"): "tests/grading/test_trust_page.py",
    ("docs/trust.md", "sh"): "tests/grading/test_trust_page.py",
    ("docs/trust.md", "text"): "tests/grading/test_trust_page.py",
    ("docs/workshop.md", "console"): "tests/workshop/test_run.py",
}


def test_every_block_of_every_page_is_run_by_somebody() -> None:
    """A new page can't escape: its blocks are Python, or commands, or they are followed, or their test is named here."""
    found = set()
    for page in PAGES:
        name = str(page.relative_to(ROOT))
        text = page.read_text()
        assert text.count("```") % 2 == 0, name
        if name in FOLLOWED:
            continue
        for language, body in re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE):
            lines = [line for line in body.splitlines() if line and not line.startswith("#")]
            if language != "python" and not (language == "sh" and all(line.startswith("referee ") for line in lines)):
                found.add((name, language))
    assert found == set(RUN_ELSEWHERE), found ^ set(RUN_ELSEWHERE)
    for where in RUN_ELSEWHERE.values():
        assert not where.startswith("tests/") or (ROOT / where).exists(), where
    assert all((ROOT / page).exists() for page in FOLLOWED)


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_the_version_is_the_same_everywhere() -> None:
    assert f"Version {package.__version__}." in (ROOT / "README.md").read_text()
    assert f"## [{package.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {package.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_readme_names_every_command(referee: Cli) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = referee("--help").stdout
    names = re.findall(r"^. ([a-z][a-z-]*)  +[A-Z]", shown, re.MULTILINE)
    assert {"play", "league", "grade"} <= set(names)
    for name in names:
        assert f"`referee {name}" in readme, name


def example(name: str) -> type[Bot]:
    """The bot class of that name in an example of a page."""
    (text,) = (text for _, text in PYTHON if f"class {name}(" in text)
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(text, name, "exec"), scope)
    found: type[Bot] = scope[name]
    return found


def bot(name: str, game: str = "evasion") -> type[Bot]:
    """An example bot that can be named on the command line."""
    return bot_class(next(one for one in BOTS if (one.game, one.name) == (game, name)))


def test_the_first_bot_of_the_readme_beats_straight_clearly() -> None:
    """It catches preys that the hunter without walls doesn't catch in a longer game."""
    games = [("evader", (230, 200)), *(("still", start) for start in ((230, 200), (150, 80), (60, 250), (280, 20), (20, 120)))]
    for prey, start in games:
        outcomes = [play(hunter, bot(prey), seed=1, prey=start, max_steps=1_500) for hunter in (example("MyHunter"), bot("straight"))]
        assert [one.outcome.reason for one in outcomes] == ["caught", "evaded"], (prey, start)
        assert outcomes[0].steps < 700


def test_the_prey_of_the_page_keeps_away_from_a_hunter_that_catches_another() -> None:
    assert play(bot("straight"), bot("runner"), seed=1, max_steps=3_000).outcome.reason == "caught"
    assert play(bot("straight"), example("MyPrey"), seed=1, max_steps=3_000).outcome.reason == "evaded"


def test_the_painter_wins_cells_and_the_thief_gets_out() -> None:
    painted = play(example("Painter"), bot("idle", "rectangle"), game="rectangle", seed=1).outcome
    assert painted.winner == "a"
    for seed in range(1, 5):
        assert play(example("Sneak"), bot("hard", "maze"), game="maze", seed=seed).outcome.winner == "thief"


#: The classes whose public names the page lists, and the names that it needn't list: an engine's own, or a class's way to be made.
LISTED: list[tuple[str, type, set[str]]] = [
    ("## The state", EvasionState, {"of", "changed", "next_id"}),
    (
        "## Rectangle",
        RectangleState,
        {
            "cells",
            "columns",
            "rows",
            "spent",
            "orders",
            "moved",
            "failed",
            "ended",
            "secret",
            "seats",
            "row_texts",
            "step",
            "settings",
            "seat",
        },
    ),
    ("## Maze", MazeState, {"layout", "seat"}),
]


@pytest.mark.parametrize(("section", "cls", "left_out"), LISTED, ids=[section.strip("# ") for section, _, _ in LISTED])
def test_the_page_lists_each_public_name_with_the_type_that_it_has(section: str, cls: type, left_out: set[str]) -> None:
    text = (ROOT / "docs/sdk.md").read_text().partition(f"{section}\n")[2].partition("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:3] for line in text.splitlines() if line.startswith("| `")]
    listed = {name: kind.replace("\\|", "|") for names, kind in rows for name in re.findall(r"`state\.(\w+)", names)}
    public = {name for name in dir(cls) if not name.startswith("_") and name not in ("count", "index")}
    assert listed.keys() == public - left_out
    for name, kind in listed.items():
        asked = getattr(cls, name)
        function = asked.fget if isinstance(asked, property) else asked
        if isinstance(getattr(function, "__annotations__", {}).get("return"), str):
            assert f"`{function.__annotations__['return']}`" in kind, name


def test_the_bot_of_the_page_on_builds_is_built_and_plays(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CACHE", str(tmp_path / "cache"))
    need(shutil.which("gcc") is not None, "gcc is missing; apt install gcc")
    folder = tmp_path / "my_bot"
    folder.mkdir()
    table, seats = (text for name, text in blocks("toml") if name.startswith("docs/builds.md"))
    ((_, source),) = blocks("c")
    (folder / "bot.toml").write_text(table)
    (folder / "bot.c").write_text(source)
    done = referee("play", "my_bot", "still", "--max-steps", "10")
    assert done.returncode == 0, done.stderr
    assert "Building my_bot:  gcc -O2 -o bot bot.c\n" in done.stderr
    (folder / "bot.c").write_text(source.replace("puts(", "puts((("))
    done = referee("play", "my_bot", "still", "--max-steps", "10")
    assert done.returncode == 3
    assert "The hunter (my_bot) can't be built: 'gcc -O2 -o bot bot.c' ended with exit status 1.\n" in done.stderr
    (folder / "bot.toml").write_text(seats)
    need(shutil.which("javac") is not None, "javac is missing; apt install default-jdk-headless")
    for seat in ("hunter", "prey"):
        assert bot_plan(resolve(str(folder), seat, "evasion")).inside[-1] == seat.capitalize()


def test_the_changelog_stays_short() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    newest = text.partition(f"## [{package.__version__}]")[2].partition("\n## [")[0]
    assert newest.count("\n") <= 60
    assert text.count("\n") <= 200
