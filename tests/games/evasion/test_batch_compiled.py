"""How the rules are compiled: a step for each rule set, of parts with the engine's names, and machine code that is kept on disk."""

from __future__ import annotations

import errno
import inspect
from typing import TYPE_CHECKING, Any

import numba
import pytest

from referee.games.evasion import variants
from referee.games.evasion.kernel import stepwise
from referee.games.evasion.kernel.bounce import bounce
from referee.games.evasion.kernel.compiled import by_rule_set, compiled
from referee.games.evasion.kernel.state import Classic, Diagonal, Rules, rules_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("rules", ["classic", "diagonal"])
def test_the_step_of_a_rule_set_has_the_parts_of_the_engine_by_name(rules: str) -> None:
    rule_set = variants.RULE_SETS[rules]
    stages = [stage.__name__ for stage in rule_set.stages]
    step: Any = stepwise.step
    assert [name for name in step.py_func.__code__.co_names if name in stages] == stages
    chosen = inspect.getclosurevars(bounce).nonlocals
    assert chosen[rules].__name__ == rule_set.bounce.__name__


def test_compiled_code_holds_the_function_of_its_rule_set_alone() -> None:
    def of_classic(rules: Rules) -> int:
        return 2 * rules.width

    def of_diagonal(rules: Rules) -> int:
        # Only the rule set that uses it compiles it.
        return rules.nothing_of_this_name  # type: ignore[attr-defined, no-any-return]  # on purpose

    chosen = by_rule_set(of_classic, of_diagonal)
    ask = numba.njit(lambda rules: chosen(rules) + 1)
    classic, diagonal = (rules_of(variants.settings(name, {})) for name in ("classic", "diagonal"))
    assert (type(classic), type(diagonal)) == (Classic, Diagonal)
    assert (ask(classic), chosen(classic)) == (601, 600)
    with pytest.raises(numba.TypingError, match="nothing_of_this_name"):
        ask(diagonal)
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        chosen(diagonal)


def double(number: int) -> int:
    return 2 * number


def kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Call a function as a new process would; return whether its machine code was read from the folder."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    function: Any = compiled(double)
    assert function(21) == 42
    return sum(function.stats.cache_hits.values())


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "changed": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "machine code changed": lambda content: content.replace(b"ELF", b"FLE"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_machine_code_is_compiled_again(damage: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (kept(tmp_path, monkeypatch), kept(tmp_path, monkeypatch)) == (0, 1)
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    content = path.read_bytes()
    assert damage(content) != content
    path.write_bytes(damage(content))
    assert (kept(tmp_path, monkeypatch), kept(tmp_path, monkeypatch)) == (0, 1)


def test_a_full_disk_is_told_once_and_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("referee.games.evasion.kernel.compiled.write_whole", full)
    with pytest.warns(RuntimeWarning, match=r"can't write its compiled code to .*No space left.*NUMBA_CACHE_DIR") as told:
        assert kept(tmp_path, monkeypatch) == 0
        assert kept(tmp_path, monkeypatch) == 0
    assert len(told) == 1
