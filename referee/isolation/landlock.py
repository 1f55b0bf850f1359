"""Hides per-process files of /proc, which no mount can cover, by Landlock rules set inside the sandbox.

Theory of operation. ``/proc/PID/mountinfo`` shows paths of the host, and ``smaps`` tells which pages of the system's files another bot
has in memory. The files differ from process to process, so an empty file can't be mounted over them. Landlock instead allows
reading by path: everything except /proc, the files at the top of /proc, and the files of the program's own process that runtimes read. The
rules hold for the program and all its child processes. Pipes, sockets and memory have no path, so they are never denied.

The rules name the mounts of bubblewrap. So they can be made only inside, by the last program before the bot. setpriv can do that from
util-linux 2.39 on. Until that version is everywhere, Perl does it: it is part of every Debian, and it starts in a few milliseconds, where
Python with ctypes needs twenty. Without Perl, or without Landlock in the kernel, those files are readable, and ``referee doctor`` says
so.

Source: the kernel's documentation, "Landlock: unprivileged access control"; <linux/landlock.h>.
"""

from __future__ import annotations

#: Files of its own process that the program may read, besides links such as ``exe`` and ``fd``, which lead elsewhere.
OWN_FILES = ("auxv", "cmdline", "comm", "environ", "io", "limits", "maps", "oom_score_adj", "sched", "stat", "statm", "status")

#: The prefix of the log line if the program can't be started.
PREFIX = "landlock"

# Numbers of the system calls are those of every architecture. The set handles LANDLOCK_ACCESS_FS_READ_FILE (4) alone; a rule is a
# packed struct landlock_path_beneath_attr, whose descriptor is opened with O_PATH | O_CLOEXEC.
_SCRIPT = r"""
my $access = pack("Q", 4);
my $rules = syscall(444, $access, length $access, 0);
sub allow {
    sysopen(my $place, $_[0], 010000000 | 02000000) or return;
    my $rule = pack("Ql", 4, fileno $place);
    syscall(445, $rules, 1, $rule, 0);
}
if ($rules >= 0) {
    opendir(my $root, "/");
    for my $name (readdir $root) { allow("/$name") unless $name =~ /^(\.\.?|proc)$/ }
    opendir(my $proc, "/proc");
    for my $name (readdir $proc) { allow("/proc/$name") unless $name =~ /^(\d+|\.\.?)$/ or -l "/proc/$name" }
    for my $name (qw(OWN_FILES)) { allow("/proc/$$/$name") }
    syscall(446, $rules, 0);
}
exec { $ARGV[0] } @ARGV;
my $status = $! == 2 ? 127 : 126;
print STDERR "PREFIX: failed to execute $ARGV[0]: $!\n";
exit($status);
"""


def before(perl: str | None) -> tuple[str, ...]:
    """Return the command in front of the bot's command line; empty without Perl."""
    if perl is None:
        return ()
    return (perl, "-e", _SCRIPT.replace("OWN_FILES", " ".join(OWN_FILES)).replace("PREFIX", PREFIX), "--")
