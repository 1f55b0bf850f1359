"""The page about clusters: its commands and its programs."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest
from leagues import PAGE, blocks, certificates, write_league

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

#: They have no types.
dask: Any = importlib.import_module("dask")
distributed: Any = importlib.import_module("distributed")
spec: Any = importlib.import_module("distributed.deploy.spec")


@pytest.mark.slow
def test_a_league_on_worker_processes_of_this_machine(referee: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    first = blocks("console")[0].splitlines()[0]
    assert "local:" in first
    write_league(tmp_path, 3)
    done = referee(*shlex.split(first)[1:], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"]["done"] == 6
    # Its other users can connect to the workers: the terminal says it once, in the words of the page.
    assert done.stderr.count("every user of this machine can run programs as you") == 1
    advice = "use it only on a machine that nobody else uses"
    assert advice in " ".join(PAGE.split())
    assert done.stderr.count(advice) == 1


class Job(spec.ProcessInterface):  # type: ignore[misc] # Dask has no types
    """A job of a queue: a Dask worker as a process of its own."""

    def __init__(self, scheduler: str, name: str, folder: Path, options: Mapping[str, Any]) -> None:
        super().__init__()
        security, (lifetime, duration, *_) = options["security"], options["worker_extra_args"]
        self._words = [
            *(sys.executable, "-m", "dask", "worker", scheduler, "--name", name, "--nthreads", str(options["cores"]), "--no-dashboard"),
            *("--tls-ca-file", security.tls_ca_file, "--tls-cert", security.tls_worker_cert, "--tls-key", security.tls_worker_key),
            *("--local-directory", str(folder), "--host", "tls://127.0.0.1", lifetime, duration),
        ]
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(*self._words, stderr=subprocess.DEVNULL, start_new_session=True)
        await super().start()

    async def close(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()
        await super().close()


@pytest.mark.slow
def test_the_program_for_slurm_replaces_a_job_that_is_lost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the cluster of dask-jobqueue, whose jobs are processes here: it is a SpecCluster that counts jobs."""
    certificates(tmp_path / "files")
    monkeypatch.chdir(tmp_path / "files")
    made: list[SLURMCluster] = []

    class SLURMCluster(distributed.SpecCluster):  # type: ignore[misc] # Dask has no types
        """Stands for that of dask-jobqueue, which is not installed here."""

        def __init__(self, *, processes: int, security: Any, **options: Any) -> None:
            # With more processes, the names of workers aren't those of jobs, and lost jobs stay unnoticed.
            assert processes == 1
            assert security.require_encryption
            scheduler = {
                "cls": distributed.Scheduler,
                "options": {"host": options["protocol"] + "127.0.0.1", "dashboard": False, "security": security},
            }
            worker = {"cls": Job, "options": {"folder": tmp_path, "options": {**options, "security": security}}}
            super().__init__(scheduler=scheduler, worker=worker, security=security)
            made.append(self)

        def _new_worker_name(self, worker_number: int) -> str:
            return f"job-{worker_number}"

        def adapt(self, *, minimum_jobs: int, maximum_jobs: int) -> None:
            assert minimum_jobs == maximum_jobs
            super().adapt(minimum=1, maximum=1)

    def lose_a_job(_: str) -> str:
        (cluster,) = made
        with distributed.Client(cluster, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=120)
            (before,) = client.nthreads()
            (job,) = cluster.workers.values()
            os.killpg(job.process.pid, signal.SIGKILL)
            while before in client.nthreads():
                select.select([], [], [], 0.05)
            client.wait_for_workers(1, timeout=120)
            assert before not in client.nthreads()
            assert set(client.nthreads().values()) == {8}
        return ""

    module = types.ModuleType("dask_jobqueue")
    module.SLURMCluster = SLURMCluster  # type: ignore[attr-defined] # a module that is made up
    monkeypatch.setitem(sys.modules, "dask_jobqueue", module)
    (program,) = (text for text in blocks("text") if "dask_jobqueue" in text)
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "100ms"}):
        try:
            exec(compile(program, "slurm", "exec"), {"input": lose_a_job, "print": lambda _: None})
        finally:
            for cluster in made:
                cluster.close()
