"""The sandbox of one bot: builds the command line of bubblewrap, with the reason for each part.

Theory of operation
-------------------
A bot is a program that nobody has read. It gets an empty machine of its own, made of kernel namespaces by the distribution's
``bwrap``: a process table of its own, no network, a file system that shows its own files, the system's programs and
its interpreter, all read-only, and two small places in memory where it may write. Only three pipes lead out.

Order of events. The supervisor starts bwrap. bwrap builds the namespaces and reports the process number of its inner half (pid 1 of
the new table) over ``--json-status-fd``. The referee puts that process into its control groups. Only then does it let the bot start, by a
byte on ``--block-fd``. So the bot never runs outside its caps. bwrap keeps its own stdin and stdout open as long as it runs. So the bot's
pipes are other descriptors, which bwrap closes on its side, and the last program before the bot puts them in their places: the referee
notices when a bot closes one. At the end the referee kills the inner half. Because it is pid 1 of its
table, the kernel then kills everything else there. bwrap writes the bot's exit status last. If bwrap ends without it, the sandbox has
failed, and that is never the bot's fault.

If the referee is killed, the supervisor kills all processes below it. If the supervisor is killed, ``--die-with-parent`` ends bwrap and with
it the bot, and the watchdog thaws the bot so that it can end. The kernel sends that signal when the thread that started bwrap ends; the
supervisor has only one thread, and it outlives its bots.

There are three variants, depending on the user that runs the referee:

* An ordinary user: a user namespace of its own, in which the bot has no rights over anything outside.
* Root, variant A: the same, but started by the supervisor under a user ID that no other process has. Root in a user namespace would still
  be the host's user 0: in a test, a write to /proc/sys succeeded, and the cap on processes wasn't enforced.
* Root, variant B, if that user can't read the interpreter (for instance in a closed home folder): no user namespace. bwrap, as root,
  builds the other namespaces and drops all capabilities except the two with which ``setpriv`` becomes that user inside. The system call
  filter is necessary here, because only the filter denies new namespaces.

Not used: a list of allowed system calls (each runtime needs different ones); RLIMIT_AS (it kills Node and Java, which reserve much
memory and use little); programs that must be installed as root.
"""

from __future__ import annotations

import os
import resource
import shutil
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation import landlock
from referee.isolation.bot import HOME
from referee.support.cache import VARIABLE as CACHE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from referee.isolation.limits import Limits

#: Where a build finds the files that it begins with. No other sandbox has this folder.
SOURCE = "/source"
#: Where a bot finds its scratch space.
SCRATCH = "/tmp"
SHARED_MEMORY_BYTES = 1 << 20
#: The descriptors that bwrap inherits: the system call filter, its status, the start, the bot's stdin and stdout, and from ``DATA_FD`` on
#: those of ``files``.
FILTER_FD, STATUS_FD, BLOCK_FD, STDIN_FD, STDOUT_FD = 3, 4, 5, 6, 7
DATA_FD = 8

#: Besides /usr: the folders of the loader, of alternatives and of runtimes' settings. Nothing else of /etc is visible.
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ssl/openssl.cnf")
_RUNTIME_SETTINGS = ("java",)
_SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


class SandboxConfig(NamedTuple):
    """The parts of the sandbox that differ from bot to bot.

    ``user`` is the user ID under which the bot runs, None for an ordinary user's own sandbox; ``own_namespace`` tells variant A (True) from B. ``binds``
    are folders and files of the host to show, read-only, at their own paths; ``folder`` holds the bot's files. ``cpu_seconds`` and
    ``data_bytes`` are left out if None. ``builder`` is the command
    in front of a build; a build has an empty home, in memory, to which it can write, and its files are in SOURCE.
    """

    argv: tuple[str, ...]
    folder: str
    binds: tuple[str, ...]
    env: Mapping[str, str]
    limits: Limits
    user: int | None
    own_namespace: bool
    cpu_seconds: int | None
    data_bytes: int | None
    builder: tuple[str, ...] = ()


@cache
def tool(name: str) -> str | None:
    """Return the path of a system program, searched only in folders that users can't write to."""
    return shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin")


def command(config: SandboxConfig) -> tuple[str, ...]:
    """The whole command line, from the outside in, for the user that ``starts_as`` returns. The programs that it needs must be there."""
    line = [tool("bwrap") or "bwrap", *_namespaces(own_namespace=config.own_namespace), *_files(config), "--clearenv"]
    # Nothing from the referee's environment, which may contain secrets.
    for name, value in config.env.items():
        line += ["--setenv", name, value]
    perl = perl_path()
    if perl is not None and not config.builder:
        line += ["--setenv", "LC_ALL", "C"]
    line += ["--seccomp", str(FILTER_FD), "--json-status-fd", str(STATUS_FD), "--block-fd", str(BLOCK_FD), "--"]
    if not config.own_namespace:
        # The final switch from root to another user, which can't be undone.
        line += [tool("setpriv") or "setpriv", "--reuid", str(config.user), "--regid", str(config.user), "--clear-groups"]
        line += ["--inh-caps=-all", "--no-new-privs", "--"]
    # This is inside the sandbox, so that the cap on processes counts only this bot.
    hard = hard_limits(config.limits, config.cpu_seconds, config.data_bytes, processes=config.limits.processes + 1)
    # The shell puts the bot's pipes in their places, unless Perl does.
    limited = (tool("sh") or "/bin/sh", "-c", f'exec "$@" <&{STDIN_FD} >&{STDOUT_FD} {STDIN_FD}<&- {STDOUT_FD}>&-', "sh", *prlimit(hard))
    if perl is None:
        return (*line, *limited, *config.builder, *config.argv)
    if config.builder:
        # The limits hold for the builder, too. It starts the program that Landlock restricts as a child process, so that this program may
        # read some files of its own process.
        return (*line, *limited, *config.builder, *landlock.before(perl, _readable(), {}), *config.argv)
    # This saves a program, which takes a millisecond.
    return (
        *line,
        *landlock.before(perl, _readable(), {getattr(resource, f"RLIMIT_{name.upper()}"): hard[name] for name in hard}, STDIN_FD),
        *config.argv,
    )


def starts_as(config: SandboxConfig) -> int | None:
    """Return the user ID under which the command line is started; None for that of the referee."""
    return config.user if config.own_namespace else None


def perl_path() -> str | None:
    """Return the program that restricts a bot by Landlock; None without it, or without Landlock in the kernel."""
    return tool("perl") if landlock.is_known() else None


def _namespaces(*, own_namespace: bool) -> list[str]:
    return [
        # No rights outside; the user inside may have any name. No further user namespaces: in them, most of the
        # kernel's security holes were found.
        *(["--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"] if own_namespace else []),
        # The bot and other processes can't see or signal each other.
        "--unshare-ipc",
        "--unshare-pid",
        # No network: also no loopback interface and no abstract sockets of the host.
        "--unshare-net",
        # No name and no control groups of the host.
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--hostname",
        "bot",
        "--die-with-parent",
        # No terminal to push characters into, and a process group of its own.
        "--new-session",
        # Drop root's capabilities, except those that setpriv needs to change the user; setpriv drops these, too.
        *([] if own_namespace else ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]),
    ]


def _files(config: SandboxConfig) -> list[str]:
    """What the bot sees. The root is an empty file system in memory; order matters, later mounts lie on earlier ones."""
    parts = [
        # Mount this before everything that is shown below /tmp.
        *("--size", str(config.limits.scratch_bytes), "--perms", "1777", "--tmpfs", SCRATCH),
        *_system(),
    ]
    made: set[str] = set()
    for bind in _outermost(config.binds):
        for parent in parents_of(bind):
            if parent not in made and not _is_shown(parent):
                made.add(parent)
                parts += ["--perms", "0755", "--dir", parent]
        parts += ["--ro-bind", bind, bind]
    return [
        *parts,
        # A process table of its own.
        *("--proc", "/proc"),
        # bwrap's inner half runs on as pid 1, with the bot's own user ID: a bot wrote into its memory through here, became pid 1,
        # and outlived a killed referee.
        *("--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"),
        *covered(has_rules=perl_path() is not None and not config.builder),
        *(word for fd, path in enumerate(files(config.limits), DATA_FD) for word in ("--perms", "0444", _by(path), str(fd), path)),
        # null, zero, full, random, urandom and tty; shared memory of a size that counts.
        *("--dev", "/dev", "--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"),
        # No terminals: the machine has only so many, and one bot could take them all.
        *("--size", "4096", "--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"),
        *_own_files(config),
        # Everything else is read-only: these two would have no size limit.
        *("--remount-ro", "/dev", "--remount-ro", "/"),
    ]


def _own_files(config: SandboxConfig) -> tuple[str, ...]:
    if config.builder:
        # A build changes files, but only those in memory: what it leaves there is sent back through a pipe.
        home = ("--size", str(config.limits.scratch_bytes), "--perms", "1777", "--tmpfs", HOME)
        return ("--ro-bind", config.folder, SOURCE, *home, "--chdir", HOME)
    # The bot's files are read-only, so that it can't change them for the next match.
    return ("--ro-bind", config.folder, HOME, "--chdir", HOME)


#: The only parts of /proc that a bot sees as they are, besides its processes: they don't change while the machine runs, or they are the
#: sandbox's own. The others show the machine's work or its users: a bot changed such a counter by many forks, and a bot in another match
#: read it. The runtimes of the starters' languages need none of them.
_SHOWN = frozenset(
    ("bus", "consoles", "devices", "dma", "driver", "execdomains", "filesystems", "iomem", "ioports", "misc", "sysvipc", "tty", "version")
)


@cache
def covered(*, has_rules: bool) -> tuple[str, ...]:
    """Return the mounts that hide everything else in /proc that anybody may read: an empty device for files, an empty folder for folders.

    ``has_rules``: Landlock denies reading the files, so only folders are hidden: the rules can't hide the names in them.
    """
    parts: list[str] = []
    for name in sorted(os.listdir("/proc")):
        path = f"/proc/{name}"
        if name in _SHOWN or name.isdigit() or path in _FIXED or os.path.islink(path) or not os.stat(path).st_mode & 0o004:
            continue
        if os.path.isdir(path):
            parts += ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
        elif not has_rules:
            parts += ["--ro-bind", "/dev/null", path]
    return tuple(parts)


def _readable() -> list[str]:
    """Return the names in /proc that a bot may read."""
    return sorted({*_SHOWN, *map(os.path.basename, _FIXED)})


#: Files of /proc that runtimes read, and that have fixed contents in a sandbox.
_FIXED = ("/proc/cpuinfo", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime")


def files(limits: Limits) -> dict[str, bytes | None]:
    """Return the contents of the sandbox's own files, by path, in the order of their descriptors. None: as on the host."""
    cpuinfo, stat = _processors()
    memory = limits.memory_bytes >> 10
    meminfo = "".join(f"{name + ':':<16}{memory:>8} kB\n" for name in ("MemTotal", "MemFree", "MemAvailable"))
    fixed = zip(_FIXED, (cpuinfo, b"0.00 0.00 0.00 1/1 1\n", meminfo.encode(), stat, b"0.00 0.00\n"), strict=True)
    # The only host: programs that connect to themselves over the loopback interface use this name.
    return {"/etc/hosts": b"127.0.0.1 localhost\n", **dict.fromkeys(_copied()), **dict(fixed)}


def _by(path: str) -> str:
    """Return the option that makes a file: in /proc only a mount can."""
    return "--ro-bind-data" if path in _FIXED else "--file"


@cache
def _processors() -> tuple[bytes, bytes]:
    """Return /proc/cpuinfo without the clock rates, which change with the load, and a /proc/stat of the same number of idle processors."""
    with open("/proc/cpuinfo", "rb") as file:
        cpuinfo = b"".join(line for line in file if b"MHz" not in line)
    names = ["cpu ", *(f"cpu{number}" for number in range(os.cpu_count() or 1))]
    lines = [
        *(f"{name} 0 0 0 0 0 0 0 0 0 0" for name in names),
        "intr 0",
        "ctxt 0",
        "btime 0",
        "processes 0",
        "procs_running 1",
        "procs_blocked 0",
    ]
    return cpuinfo, "\n".join([*lines, ""]).encode()


@cache
def _system() -> tuple[str, ...]:
    """Return the mounts of the system's programs and libraries, and of the settings that they need to start."""
    parts = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        path = f"/{name}"
        if os.path.islink(path):
            parts += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            parts += ["--ro-bind", path, path]
    settings = [f"/etc/{name}" for name in _SETTINGS]
    settings += [f"/etc/{name}" for name in sorted(os.listdir("/etc")) if name.startswith(_RUNTIME_SETTINGS)]
    # bwrap would create these folders without access for other users.
    parts += ["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl"]
    for path in settings:
        if os.path.exists(path) and path not in _copied():
            parts += ["--ro-bind", path, path]
    return tuple(parts)


@cache
def _copied() -> tuple[str, ...]:
    """Return the settings that the sandbox copies into its memory: public files. Copies take less time than mounts."""
    paths = [f"/etc/{name}" for name in _SETTINGS]
    return tuple(path for path in paths if os.path.isfile(path) and os.stat(path).st_mode & 0o004)


def _is_shown(path: str) -> bool:
    """True if a path is in a folder that every sandbox shows."""
    return path in ("/", SCRATCH) or any(
        path == top or path.startswith(top + "/") for top in ("/usr", *(f"/{name}" for name in _SYSTEM_FOLDERS))
    )


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths, outer ones first, without paths inside another path or inside folders that are shown anyway."""
    outer: list[str] = []
    for path in sorted(set(paths)):
        if not _is_shown(path) and not any(path.startswith(other + "/") for other in outer):
            outer.append(path)
    return outer


def parents_of(path: str) -> list[str]:
    """Return the folders above an absolute path, from the root on, without the root."""
    names = path.strip("/").split("/")[:-1]
    return ["/" + "/".join(names[: count + 1]) for count in range(len(names))]


def hard_limits(limits: Limits, cpu_seconds: int | None, data_bytes: int | None, processes: int | None) -> dict[str, int]:
    """Return the hard resource limits of a program by name; it can't raise them again."""
    # Processor time for a bot without a clock, for example after its referee and supervisor were killed together. Data, not the
    # address space: runtimes reserve much more of that than they use.
    optional = {"cpu": cpu_seconds, "data": data_bytes, "nproc": processes}
    return {
        # No core dumps: they would fill the host's disk, through the kernel's own helper. Descriptors, and the size of each file.
        "core": 0,
        "nofile": limits.open_files,
        "fsize": limits.scratch_bytes,
        **{name: value for name, value in optional.items() if value is not None},
        # Memory that can't be swapped, message queues and real-time priority reach beyond the bot's own share.
        "memlock": 65_536,
        "msgqueue": 0,
        "rtprio": 0,
    }


def prlimit(limits: Mapping[str, int]) -> tuple[str, ...]:
    """Return the command that sets hard resource limits, by name, for the program behind it."""
    return (tool("prlimit") or "prlimit", *(f"--{name}={value}" for name, value in limits.items()), "--")


def environment(path: Iterable[str]) -> dict[str, str]:
    """The environment of a sandboxed bot; ``path`` are folders of its interpreter, searched before the system's."""
    return {
        "PATH": ":".join(dict.fromkeys([*path, "/usr/local/bin", "/usr/bin", "/bin"])),
        "HOME": SCRATCH,
        "TMPDIR": SCRATCH,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        # A late bot writes its stack, see referee/players/stack.py.
        "PYTHONFAULTHANDLER": "1",
        # As outside: a Python bot that iterates over sets plays the same moves again from the same seed.
        "PYTHONHASHSEED": "0",
        "REFEREE_PROTOCOL": "1",
        # A bot's cache here is deleted after the match and counts towards its limits.
        CACHE_VARIABLE: "",
    }


def with_java_memory(argv: tuple[str, ...], env: Mapping[str, str], memory_bytes: int) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return a command line and an environment in which Java takes the bot's limit for the machine's memory.

    The filter denies ``sysinfo``, from which Java reads the size of the memory: without it, the largest heap was at random 1 to 8 GB. Java
    reports options from the environment on stderr, so a command line that begins with ``java`` gets them as words.
    """
    options = f"-XX:+IgnoreUnrecognizedVMOptions -XX:MaxRAM={memory_bytes} -XX:MaxRAMPercentage=75 -XX:InitialRAMPercentage=12.5"
    if os.path.basename(argv[0]) == "java":
        return (argv[0], *options.split(), *argv[1:]), dict(env)
    return argv, {**env, "JAVA_TOOL_OPTIONS": options}
