"""The page about clusters: its commands and its programs."""

from __future__ import annotations

import importlib
import json
import shlex
import subprocess
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from clusters import blocks
from leagues import write_league

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.slow
def test_a_league_on_worker_processes_of_this_machine(referee: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    first = blocks("console")[0].splitlines()[0]
    assert "local:" in first
    write_league(tmp_path, 3)
    done = referee(*shlex.split(first)[1:], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"]["done"] == 6


def test_the_program_for_slurm_names_what_dask_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    class SLURMCluster:
        """Stands for that of dask-jobqueue, which is not installed here."""

        scheduler_address = "tls://head:8786"

        def __init__(self, **options: Any) -> None:
            asked.update(options)

        def scale(self, jobs: int) -> None:
            asked["jobs"] = jobs

    module = types.ModuleType("dask_jobqueue")
    module.SLURMCluster = SLURMCluster  # type: ignore[attr-defined] # a module that is made up
    monkeypatch.setitem(sys.modules, "dask_jobqueue", module)
    (program,) = (text for text in blocks("text") if "dask_jobqueue" in text)
    exec(compile(program, "slurm", "exec"), {"input": lambda _: "", "print": lambda _: None})
    assert asked["security"].require_encryption
    assert asked["jobs"] == 20


def test_the_manifest_for_kubernetes_is_valid() -> None:
    (text,) = blocks("yaml")
    found = importlib.import_module("yaml").safe_load(text)
    assert found["kind"] == "DaskCluster"
    assert found["spec"]["worker"]["spec"]["containers"][0]["args"][:2] == ["dask", "worker"]


def test_tls_options_that_cannot_work_are_sentences(referee: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    file = write_league(tmp_path / "in", 2)
    for words, told in (
        (("--tls-ca", str(file)), "TLS needs all three of"),
        (("--tls-ca", "none", "--tls-cert", "none", "--tls-key", "none"), "The file none for TLS does not exist"),
    ):
        done = referee("league", "run", file, "--out", tmp_path / "out", "--cluster", "tls://nowhere:1", *words)
        assert done.returncode == 2
        assert told in done.stderr
        assert not (tmp_path / "out").exists()
