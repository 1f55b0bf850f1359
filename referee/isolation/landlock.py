"""Hides files of /proc that every process has of its own, where no mount can lie over them: by Landlock, set inside the sandbox.

Theory of operation. ``/proc/PID/mountinfo`` shows paths of the host, and ``smaps`` tells which pages of the system's files another bot
has in memory. The files differ from process to process, so an empty file can't be mounted over them. Landlock allows reading by
place instead: everything but /proc, the files at the top of /proc, and for the program's own process those that runtimes read. The
rules hold for the program and for whatever it starts. Pipes, sockets and memory are not places, so they are never denied.

The rules name what bubblewrap has mounted, so they can be made only inside, and the last program before the bot has to make them.
setpriv does that from util-linux 2.39 on; until that is everywhere Perl does, which the base of every Debian has, and which starts
in a few milliseconds where Python with its ctypes needs twenty. Without Perl, or with a kernel that has no Landlock, those files stay
readable: ``referee doctor`` tells.

Source: the kernel's documentation, "Landlock: unprivileged access control"; <linux/landlock.h>.
"""

from __future__ import annotations

#: Files of its own process that the program may read, besides links such as ``exe`` and ``fd``, which lead elsewhere.
OWN_FILES = ("auxv", "cmdline", "comm", "environ", "io", "limits", "maps", "oom_score_adj", "sched", "stat", "statm", "status")

#: What stands in the log if the program can't be started.
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
    """What stands before the bot's own command line; nothing without Perl."""
    if perl is None:
        return ()
    return (perl, "-e", _SCRIPT.replace("OWN_FILES", " ".join(OWN_FILES)).replace("PREFIX", PREFIX), "--")
