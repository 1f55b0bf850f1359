"""A setting like a grader's container: root without namespaces, without bubblewrap, with little memory and half a core.

``python tests/containers.py COMMAND...`` runs a command with the system calls refused that a container's default filter refuses to a root
without CAP_SYS_ADMIN.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sandboxes import ROOT, closed_tops, need

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What root keeps in a container of Docker.
_KEPT = "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write setfcap"
_CLONE_NEW = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_DENIED = ("unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "bpf", "kexec_load", "keyctl")
MEMORY_BYTES = 768 << 20


def refuse_namespaces() -> None:
    """Load a filter into this process, as a container has one."""
    import pyseccomp as seccomp

    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in _DENIED:
        rules.add_rule(seccomp.ERRNO(errno.EPERM), name)
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for flag in _CLONE_NEW:
        rules.add_rule(seccomp.ERRNO(errno.EPERM), "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    rules.load()


@contextlib.contextmanager
def _groups() -> Iterator[list[Path]]:
    """Control groups with a container's memory and half a core, where this machine has any to give."""
    made: list[Path] = []
    base = Path("/sys/fs/cgroup")
    name = f"test-container-{os.getpid()}"
    try:
        for kind, settings in (
            ("memory", {"memory.limit_in_bytes": MEMORY_BYTES}),
            ("cpu", {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 50_000}),
        ):
            if (base / kind / "cgroup.procs").exists():
                group = base / kind / name
                group.mkdir()
                made.append(group)
                for file, value in settings.items():
                    (group / file).write_text(str(value))
        yield made
    finally:
        for group in made:
            with contextlib.suppress(OSError):
                group.rmdir()


def _own_folders(needed: Sequence[Path]) -> list[str]:
    """Shell commands that give the container its own folders for temporary files, and show what is needed of closed folders."""
    outer = [path for path in needed if not any(path != other and path.is_relative_to(other) for other in needed)]
    closed = [top for top in closed_tops(outer) if not top.is_relative_to("/tmp")]
    lines = ["set -e", "umask 022", "mount --make-rprivate /", "mount -t tmpfs -o mode=755 none /mnt"]
    for number, path in enumerate(outer):
        lines.append(f"mkdir /mnt/{number} && mount --bind {shlex.quote(str(path))} /mnt/{number}")
    lines += [f"mount -t tmpfs -o mode=755 none {shlex.quote(str(top))}" for top in closed]
    lines += [f"mount -t tmpfs -o mode=1777 none {top}" for top in ("/tmp", "/var/tmp", "/dev/shm")]
    for number, path in enumerate(outer):
        lines.append(f"mkdir -p {shlex.quote(str(path))} && mount --bind /mnt/{number} {shlex.quote(str(path))}")
    return [*lines, "umount -l /mnt"]


def run_in_container(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, *, timeout: float = 600
) -> subprocess.CompletedProcess[str]:
    """Run a command in such a setting. ``folder`` is the only folder besides the project that it can use; bots' copies go to ``bots`` in it."""
    need(os.geteuid() == 0, "only root can make a container", of_kernel=True)
    allowed = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    need(allowed.returncode == 0 and shutil.which("setpriv") is not None, "no namespaces to make a container of", of_kernel=True)
    bots = folder / "bots"
    bots.mkdir(exist_ok=True)
    bots.chmod(0o711)
    needed = [ROOT, Path(sys.prefix), Path(sys.base_prefix), folder]
    keep = ",".join(["-all", *(f"+{name}" for name in _KEPT.split())])
    inner = [sys.executable, __file__, "setpriv", f"--bounding-set={keep}", "--inh-caps=-all", "--", *command]
    with _groups() as groups:
        lines = [f"echo $$ > {shlex.quote(str(group / 'cgroup.procs'))}" for group in groups]
        lines += _own_folders(needed)
        lines.append("mount --bind /dev/null /usr/bin/bwrap" if Path("/usr/bin/bwrap").exists() else ":")
        lines.append(f"cd {shlex.quote(str(folder))}")
        lines.append(f"exec {shlex.join(inner)}")
        outside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", "\n".join(lines)]
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(bots),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT / "tests"),
            **({"CI": os.environ["CI"]} if os.environ.get("CI") else {}),
            **(environment or {}),
        }
        return subprocess.run(outside, env=env, capture_output=True, text=True, timeout=timeout, check=False)


if __name__ == "__main__":
    refuse_namespaces()
    os.execvp(sys.argv[1], sys.argv[1:])
