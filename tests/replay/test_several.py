"""Several replays are verified at once, and the verdicts come in the order of the files."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil
import pytest

from referee.errors import RefereeError
from referee.replay import several
from referee.replay.several import Verdict, verify_all

DATA = Path(__file__).parents[1] / "data" / "replays"
GOOD = sorted(DATA.glob("*.gz"))[:5]


@pytest.fixture(params=[1, 2])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    count: int = request.param
    monkeypatch.setattr(several, "cores", lambda: count)
    monkeypatch.setattr(several, "WORTH_BYTES", 1)
    return count


def test_the_verdicts_come_in_order_with_progress(cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cut = Path("cut \udcff.gz")
    cut.write_bytes(GOOD[1].read_bytes()[:-30])
    files = [GOOD[0], cut, GOOD[2], Path("nothing.gz"), *GOOD[3:]]
    told: list[tuple[int, int]] = []
    found = list(verify_all(files, lambda count, steps: told.append((count, steps))))
    assert found[:1] == list(verify_all(files[:1]))
    assert [verdict.problem and verdict.problem["kind"] for verdict in found] == [None, "cut", None, "unreadable", None, None]
    assert found[3] == Verdict(0, {"kind": "unreadable", "text": "nothing.gz can't be read: No such file or directory."})
    assert [count for count, _ in told] == list(range(1, len(files) + 1))
    assert told[-1][1] == sum(verdict.steps for verdict in found) > 500


def test_a_closed_generator_leaves_no_process(cores: int) -> None:
    before = psutil.Process().children()
    with contextlib.closing(verify_all([GOOD[0]] * 50)) as verdicts:
        assert next(verdicts).problem is None
        assert len(psutil.Process().children()) - len(before) == (cores if cores > 1 else 0)
    assert psutil.Process().children() == before


def test_a_process_that_dies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several, "cores", lambda: 2)
    monkeypatch.setattr(several, "WORTH_BYTES", 1)
    before = psutil.Process().children()
    verdicts = verify_all([GOOD[0]] * 50)
    assert next(verdicts).problem is None
    for process in psutil.Process().children():
        if process not in before:
            process.kill()
    with pytest.raises(RefereeError, match=r"A process that verifies replays has ended \(status -9\)"):
        list(verdicts)


def test_small_files_are_not_worth_a_process() -> None:
    before = psutil.Process().children()
    for verdict in verify_all(GOOD):
        assert verdict.problem is None
        assert psutil.Process().children() == before
    assert list(verify_all([])) == []
