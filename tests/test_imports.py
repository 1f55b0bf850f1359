"""Who may import whom, and what must stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: From the top of the house to its foundations: a module may import from its own level and from those below.
LEVELS = [
    ("referee.__main__",),
    ("referee.cli",),
    ("referee.bench",),
    ("referee.export",),
    ("referee.tournament", "referee.grading", "referee.web", "referee.servers"),
    ("example_bots.table",),
    ("sdk.testing",),
    ("referee.match.loop",),
    (
        "referee.replay.reader",
        "referee.match.result",
        "referee.match.answers",
        "referee.match.handshake",
        "referee.replay.turning_points",
        "referee.match.adjudicator",
        "referee.match.collector",
    ),
    ("referee.players", "referee.replay.writer"),
    (
        "referee.isolation",
        "referee.wire",
        "referee.match.events",
        "referee.match.clock",
        "referee.players.faults",
        "referee.replay.paths",
        "referee.match.seeds",
    ),
    ("example_bots",),
    ("sdk",),
    ("referee.games",),
    ("referee.games.game", "referee.errors", "referee.games.picture", "referee.dialects.dialect", "referee.games.conformance"),
    ("referee.support.record", "referee.support.cache", "referee.support", "referee"),
]

#: Upward imports that are made on purpose, inside a function, with the reason.
ALLOWED = {
    ("referee.replay.reader", "referee.export"): "a replay shows itself in a notebook",
    ("referee.bench.measures", "referee.cli"): "the bench measures the command that users run",
}


def _modules() -> list[tuple[str, Path]]:
    found = []
    for package in ("referee", "sdk", "example_bots"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = list(path.relative_to(ROOT).with_suffix("").parts)
            found.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return found


def _level(module: str) -> int:
    best, level = -1, None
    for index, names in enumerate(LEVELS):
        for name in names:
            if (module == name or module.startswith(name + ".")) and len(name) > best:
                best, level = len(name), index
    assert level is not None, f"{module} has no level: name it in LEVELS"
    return level


def _imports(tree: ast.AST) -> set[str]:
    """What a module imports at run time; imports for the type checker alone don't count."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            skipped.update(id(inner) for body in node.body for inner in ast.walk(body))
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(
                f"{node.module}.{alias.name}" for alias in node.names if node.module in ("referee", "referee.games", "referee.wire")
            )
    return {name for name in found if name.split(".")[0] in ("referee", "sdk", "example_bots")}


def _is_upward(module: str, imported: str) -> bool:
    if any(module.startswith(a) and imported.startswith(b) for a, b in ALLOWED):
        return False
    return _level(imported) < _level(module)


@pytest.mark.parametrize(("module", "path"), _modules(), ids=[name for name, _ in _modules()])
def test_imports_point_down(module: str, path: Path) -> None:
    upward = sorted(name for name in _imports(ast.parse(path.read_text())) if _is_upward(module, name))
    assert not upward, f"{module} imports from above: {upward}"


def test_the_check_finds_an_upward_import() -> None:
    tree = ast.parse("def late():\n    from referee.match import Match\n")
    assert [name for name in _imports(tree) if _is_upward("referee.games.evasion.rules.stepwise", name)] == ["referee.match.loop"]


def test_rooms_never_import_each_other() -> None:
    for module, path in _modules():
        if module.startswith("referee.games."):
            room = module.split(".")[2]
            others = [
                name for name in _imports(ast.parse(path.read_text())) if name.startswith("referee.games.") and name.split(".")[2] != room
            ]
            assert not others, f"{module} imports {others}"


@pytest.mark.parametrize("statement", ["import sdk", "import referee.games", "from referee import games; games.get('evasion')"])
def test_the_core_loads_nothing_foreign_or_slow(statement: str) -> None:
    code = f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    own = {"referee", "sdk"}
    foreign = {name.split(".")[0] for name in loaded} - own - set(sys.stdlib_module_names)
    assert not foreign
    assert not {"collections", "dataclasses", "inspect", "json", "pathlib", "random", "re", "subprocess", "typing"} & set(loaded)
