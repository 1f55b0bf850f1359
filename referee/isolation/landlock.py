"""Hides files of /proc by Landlock rules set inside the sandbox, and sets the bot's resource limits in the same process.

Theory of operation. ``/proc/PID/mountinfo`` shows paths of the host, and ``smaps`` shows which pages of the system's files another bot
has in memory. The files differ from process to process, so an empty file can't be mounted over them. Landlock instead allows
reading by path: everything except /proc, a few files and folders at the top of /proc, and the files of the program's own process that
runtimes read. The rules hold for the program and all its child processes. Pipes, sockets and memory have no path, so they are never
denied. The counters of the machine at the top of /proc need no mounts then; bubblewrap takes longer for each mount than all rules take.

The rules name the mounts of bubblewrap. So they can be made only inside, by the last program before the bot. setpriv can do that from
util-linux 2.39 on. Until that version is everywhere, Perl does it: it is part of every Debian, and it starts in a few milliseconds, where
Python with ctypes needs twenty. Perl doesn't start the bot if the kernel refuses the rules or a limit. Without Perl, or without Landlock
in the kernel, empty files are mounted over the counters, the files of processes are readable, and ``referee doctor`` says so.

Source: the kernel's documentation, "Landlock: unprivileged access control"; <linux/landlock.h>.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from referee.isolation import seccomp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Files of its own process that the program may read, besides links such as ``exe`` and ``fd``, which lead elsewhere.
OWN_FILES = ("auxv", "cmdline", "comm", "environ", "io", "limits", "maps", "oom_score_adj", "sched", "stat", "statm", "status")

#: The prefix of the log line if the program can't be started.
PREFIX = "landlock"
#: The end of that line if a rule or a limit can't be set.
ADVICE = "; try: referee doctor"

_CREATE_RULESET = 444
_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION

# Numbers of Landlock's system calls are those of every architecture. The set handles only LANDLOCK_ACCESS_FS_READ_FILE (4); a rule is a
# packed struct landlock_path_beneath_attr, whose descriptor is opened with O_PATH | O_CLOEXEC; -100 is AT_FDCWD. Perl's own open asks the
# kernel four more things about each file.
_SCRIPT = r"""
delete $ENV{LC_ALL};
sub refuse { print STDERR "PREFIX: $_[0] can't be set ($!)ADVICE\n"; exit(125) }
my @limits = (LIMITS);
for my $limit (@limits) {
    my $value = pack("QQ", $$limit[1], $$limit[1]);
    syscall(PRLIMIT, 0, $$limit[0], $value, 0) == 0 or refuse("a limit of the sandbox");
}
for my $end (PIPES ? (0, 1) : ()) {
    syscall(DUP3, PIPES + $end, $end, 0);
    syscall(CLOSE, PIPES + $end);
}
my $access = pack("Q", 4);
my $rules = syscall(444, $access, length $access, 0);
sub allow {
    my $place = syscall(OPENAT, -100, $_[0], 010000000 | 02000000);
    return if $place < 0;
    my $rule = pack("Ql", 4, $place);
    syscall(445, $rules, 1, $rule, 0);
    syscall(CLOSE, $place);
}
opendir(my $root, "/");
for my $name (readdir $root) { allow("/$name") unless $name =~ /^(\.\.?|proc)$/ }
for my $name (qw(SHOWN)) { allow("/proc/$name") }
for my $name (qw(OWN_FILES)) { allow("/proc/$$/$name") }
syscall(446, $rules, 0) == 0 or refuse("the rules of the sandbox");
exec { $ARGV[0] } @ARGV;
my $status = $! == 2 ? 127 : 126;
print STDERR "PREFIX: failed to execute $ARGV[0]: $!\n";
exit($status);
"""


@cache
def is_known() -> bool:
    """True if the kernel has Landlock and lets this process use it."""
    import ctypes

    return bool(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION) > 0)


def before(perl: str, readable: Iterable[str], caps: Mapping[int, int], pipes_at: int = 0) -> tuple[str, ...]:
    """Return the command in front of the bot's command line.

    ``readable`` are the names in /proc that the bot may read, besides its own processes. ``caps`` are hard resource limits, by the numbers of
    the module ``resource``. ``pipes_at`` is the descriptor that becomes stdin, and the one behind it stdout; 0: they are in place. The
    variable ``LC_ALL`` is only for Perl: with the value "C" it reads no files of a locale at its start.
    """
    words = {
        "SHOWN": " ".join(readable),
        "OWN_FILES": " ".join(OWN_FILES),
        "LIMITS": ", ".join(f"[{kind}, {value}]" for kind, value in caps.items()),
        **{call.upper(): str(seccomp.number(call)) for call in ("openat", "close", "dup3")},
        "PRLIMIT": str(seccomp.number("prlimit64")),
        "PIPES": str(pipes_at),
        "PREFIX": PREFIX,
        "ADVICE": ADVICE,
    }
    script = _SCRIPT
    for word, text in words.items():
        script = script.replace(word, text)
    return (perl, "-e", script, "--")
