"""Who may import whom, and what must stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def _picture() -> list[tuple[list[str], str]]:
    """The lines of the picture in CONTRIBUTING.md, from top to bottom: the names of folders and modules, and what they are."""
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("The house in one picture")[2].partition("```text\n")[2].partition("```")[0]
    lines = [re.split(r" {3,}", line.strip(), maxsplit=1) for line in text.splitlines()]
    return [(names.split(), "".join(job)) for names, *job in lines]


def _module(name: str) -> str:
    """The module of a name in the picture, where those in ``referee`` have no prefix."""
    return name if name.partition(".")[0] in ("sdk", "example_bots") else f"referee.{name}"


#: What the games stand on, from top to bottom.
_BELOW_THE_GAMES = (
    ("referee.games.game", "referee.games.values"),
    ("referee.games.capabilities", "referee.games.dialect"),
    ("referee.games.outcome",),
)
#: The house from top to bottom, as the picture shows it. A folder stands for all modules below it, but for those that are named themselves. A
#: module imports from its own part and from those below; imports that only the type checker sees count too.
_LINES = [tuple(map(_module, names)) for names, _ in _picture()]
HOUSE = (*_LINES[:-1], *_BELOW_THE_GAMES, ("referee", *_LINES[-1]))
_PLACES = {name: level for level, part in enumerate(HOUSE) for name in part}

#: Imports that point up or back on purpose, with the reason. They happen when a name is first asked for, so that they close no circle.
ALLOWED = {
    ("referee", name): "the public names, each loaded when it is first used"
    for name in ("referee.api", "referee.replay_view", "referee.author.debugger", "referee.tournament")
}

#: Modules for one game outside its folder, with the reason.
OF_ONE_GAME = {
    "referee.games.registry": "the table of games",
    "referee.replay_view": "the types of positions by the name of their game, for type checkers",
    "referee.cli.servers": "the course's servers",
    "referee.servers.architect": "the server of a dialect",
    "referee.servers.gameserver": "the same",
    "referee.servers.listener": "the same",
    "referee.servers.maze_terminal": "the interactive game of the assignment",
}


@cache
def _modules() -> dict[str, Path]:
    found = {}
    for package in ("referee", "sdk", "example_bots"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = list(path.relative_to(ROOT).with_suffix("").parts)
            if package == "example_bots" and len(parts) > 2:
                # The bots are programs.
                continue
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imports(tree: ast.AST, package: str) -> set[str]:
    """The modules that a module of ``package`` imports, anywhere in it and for whatever purpose.

    Of ``import_module`` with an f-string the constant beginning counts, up to its last dot, unless that is ``package`` itself.
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), package)
            names = {f"{home}.{alias.name}" for alias in node.names}
            modules = names & _modules().keys()
            found |= modules
            if len(modules) < len(names):
                found.add(home)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            name = node.args[0]
            if isinstance(name, ast.JoinedStr):
                first = name.values[0]
                beginning = str(first.value).rpartition(".")[0] if isinstance(first, ast.Constant) else ""
                found |= {beginning} - {package}
            elif isinstance(name, ast.Constant):
                found.add(resolve_name(str(name.value), package))
    return {name for name in found if name in _modules()}


@cache
def _arrows() -> dict[str, set[str]]:
    return {
        module: _imports(ast.parse(path.read_text()), module if path.stem == "__init__" else module.rpartition(".")[0])
        for module, path in _modules().items()
    }


def _is_allowed(module: str, imported: str) -> bool:
    return any(module == a and imported.startswith(b) for a, b in ALLOWED)


def _level(module: str) -> int:
    """The part of the house in which a module is: its own, else that of the nearest folder that has a place."""
    if module == "referee":
        return len(HOUSE) - 1
    name = module
    while name not in _PLACES or (name == "referee" != module):
        name, _, last = name.rpartition(".")
        assert name not in ("", "referee"), f"{module} has no place in the house: {last}"
    return _PLACES[name]


def _is_upward(module: str, imported: str) -> bool:
    return not _is_allowed(module, imported) and _level(imported) < _level(module)


def test_the_picture_ends_with_the_games_and_what_they_stand_on_and_says_what_each_part_is() -> None:
    assert [names for names, _ in _picture()[-2:]] == [["games"], ["support", "errors", "version"]]
    assert [names for names, job in _picture() if not job] == []
    folders = {path.parent.name for path in (ROOT / "referee").glob("*/__init__.py")}
    assert folders < {name for names, _ in _picture() for name in names}


def test_the_guide_names_files_that_there_are_and_explains_each_of_25_words_once() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    homes = [ROOT, ROOT / "referee"]
    assert not [name for name in re.findall(r"`([\w./-]+/[\w./-]*)`", guide) if not any((home / name).exists() for home in homes)]
    words = re.findall(r"^\| ([\w -]+) \| (?!meaning)", guide.partition("## Glossary")[2], re.MULTILINE)
    assert len(words) == len({*words}) == 25


def test_every_module_has_its_place_and_every_place_its_modules() -> None:
    for module in _modules():
        _level(module)
    empty = [place for place in _PLACES if not any(f"{module}.".startswith(f"{place}.") for module in _modules())]
    assert not empty, empty


def test_imports_point_down() -> None:
    upward = {module: sorted(name for name in names if _is_upward(module, name)) for module, names in _arrows().items()}
    assert not {module: names for module, names in upward.items() if names}, "these modules import from above"


def test_the_check_finds_an_upward_import() -> None:
    for text in (
        "def late():\n    from referee.match.match import Match\n",
        "if TYPE_CHECKING:\n    from referee.match.match import Match\n",
        "from referee.match import match\n",
        "from ...match import match\n",
        "from ...match.match import Match\n",
        "import importlib\nimportlib.import_module('referee.match.match')\n",
        "import_module('...match.match', __package__)\n",
    ):
        found = [name for name in _imports(ast.parse(text), "referee.games.evasion") if _is_upward("referee.games.evasion.state", name)]
        assert found == ["referee.match.match"], text
    assert _imports(ast.parse("import_module(f'referee.match.{name}')"), "sdk") == {"referee.match"}


def test_there_are_no_circles() -> None:
    arrows = {module: {name for name in names if not _is_allowed(module, name)} for module, names in _arrows().items()}
    assert _circle(arrows) is None
    assert _circle({**arrows, "referee.support.escape": {"referee.match.judge"}}) is not None


def _circle(arrows: dict[str, set[str]]) -> list[str] | None:
    """A circle of imports, None if there is none."""
    done: set[str] = set()

    def visit(module: str, way: list[str]) -> list[str] | None:
        if module in way:
            return [*way[way.index(module) :], module]
        if module in done:
            return None
        for name in sorted(arrows.get(module, ())):
            found = visit(name, [*way, module])
            if found is not None:
                return found
        done.add(module)
        return None

    return next((found for module in sorted(arrows) if (found := visit(module, [])) is not None), None)


#: The modules of isolation/ that the rest of the house may import: what runs bots is behind ``launcher`` and the protocols of ``process``.
_OF_ISOLATION = (
    *("bot", "bot_process", "contents", "diagnosis", "endings", "file_names", "launcher", "limits", "log", "machine", "process"),
    *("runtime", "scripts", "submission", "users"),
)


def test_isolation_is_used_through_its_public_modules() -> None:
    prefix = "referee.isolation."
    inner = {
        module: others
        for module, names in _arrows().items()
        if not module.startswith(prefix)
        if (others := {name for name in names if name.startswith(prefix) and name.removeprefix(prefix) not in _OF_ISOLATION})
    }
    assert not inner


def test_games_never_import_each_other() -> None:
    for module, names in _arrows().items():
        if module.count(".") > 1 and module.startswith("referee.games.") and module != "referee.games.registry":
            room = module.split(".")[2]
            others = [name for name in names if name.startswith("referee.games.") and name.count(".") > 2 and name.split(".")[2] != room]
            assert not others, f"{module} imports {others}"


def _names_of_games(module: str) -> list[str]:
    """The games that a module imports or names, and the lines in which it names a game or a seat."""
    games = ("evasion", "maze", "rectangle")
    named = {f"imports {name}" for name in _arrows()[module] if name.startswith(tuple(f"referee.games.{game}" for game in games))}
    for node in ast.walk(ast.parse(_modules()[module].read_text())):
        if isinstance(node, ast.Constant) and node.value in (*games, "hunter", "prey", "thief", "policeman"):
            named.add(f"line {node.lineno} says {node.value!r}")
    return sorted(named)


def test_generic_code_names_no_game() -> None:
    rooms = ("referee.games.evasion", "referee.games.maze", "referee.games.rectangle")
    generic = [name for name in _modules() if name.startswith("referee") and name not in OF_ONE_GAME and not name.startswith(rooms)]
    assert len(generic) > 200
    assert not {module: names for module in generic if (names := _names_of_games(module))}
    assert _names_of_games("referee.cli.servers"), "the check finds nothing"


_WORDS_OF_GAMES = re.compile(r"evasion|maze|rectangle|hunter|prey|thief|policeman|wall", re.IGNORECASE)


def test_the_viewer_names_no_game() -> None:
    files = [path for path in (ROOT / "referee" / "pages").rglob("*") if path.suffix in (".js", ".ts", ".css", ".html")]
    assert len(files) > 10
    lines = [(path.name, number, line) for path in files for number, line in enumerate(path.read_text().splitlines(), 1)]
    assert not [line for line in lines if _WORDS_OF_GAMES.search(line[2])]


def _loaded_by(statement: str) -> set[str]:
    """The modules that a statement loads in a new process."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) - before))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


_BASES_OF_BOTS = {"HunterBot": "evasion", "PreyBot": "evasion", "RectangleBot": "rectangle", "ThiefBot": "maze", "PolicemanBot": "maze"}


@pytest.mark.parametrize(("base", "game"), _BASES_OF_BOTS.items())
def test_a_bot_loads_no_other_game(base: str, game: str) -> None:
    loaded = {name for name in _loaded_by(f"from sdk import {base}") if name.startswith(("referee.games.", "sdk."))}
    assert f"sdk.{game}" in loaded
    assert not [name for name in loaded for other in {*_BASES_OF_BOTS.values()} - {game} if other in name]


@pytest.mark.parametrize(("rules", "codec"), {"classic": "stepwise", "diagonal": "stepwise", "gameserver": "turnwise"}.items())
@pytest.mark.parametrize("base", ["HunterBot", "PreyBot"])
def test_a_bot_of_evasion_loads_the_codec_of_its_rule_set_alone(base: str, rules: str, codec: str) -> None:
    seat = base.removesuffix("Bot").lower()
    start = {"type": "start", "protocol": 1, "match": "", "seat": seat, "rules": rules, "seed": 1, "settings": {}}
    converse = (
        f"import json; from sdk import {base}; from sdk.bot import Conversation; Conversation({base}).answer(json.dumps({start}).encode())"
    )
    loaded = _loaded_by(converse)
    assert [name for name in ("stepwise", "turnwise") if f"referee.games.evasion.codec.{name}" in loaded] == [codec]


def test_each_name_of_the_sdk_can_be_had_from_the_package_alone() -> None:
    assert "sdk.evasion" in _loaded_by("import sdk; [getattr(sdk, name) for name in sdk.__all__]; sdk.evasion.State")


@pytest.mark.parametrize(
    "statement",
    [
        "import sdk",
        *(f"from sdk import {base}" for base in _BASES_OF_BOTS),
        "import referee.games",
        "from referee import games; games.get('evasion')",
    ],
)
def test_the_core_loads_nothing_foreign_or_slow(statement: str) -> None:
    loaded = _loaded_by(statement)
    own = {"referee", "sdk"}
    others = {name.split(".")[0] for name in loaded}
    foreign = others - own - set(sys.stdlib_module_names)
    assert not foreign
    assert not {"dataclasses", "inspect", "pathlib", "random", "subprocess"} & loaded


def test_no_command_loads_templates_before_it_makes_a_page() -> None:
    code = "import sys; from referee.cli import main; import referee.league.report_page, referee.grading.page; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "referee.league.report_page" in loaded
    assert "jinja2" not in loaded


def test_a_start_builds_no_model_and_loads_no_rules() -> None:
    code = (
        "import gc, sys; from referee.cli import main; from pydantic import BaseModel;"
        "print([each.__name__ for each in gc.get_objects() if isinstance(each, type) and issubclass(each, BaseModel) and each is not BaseModel"
        " and each.__pydantic_complete__], *sys.modules)"
    )
    built, _, modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.partition("]")
    assert built == "["
    loaded = modules.split()
    assert "referee.games.evasion.options" in loaded
    assert "referee.games.evasion.game" not in loaded
