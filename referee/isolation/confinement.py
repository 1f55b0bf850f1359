"""Confines a program that runs as a separate user, without namespaces: by a system call filter and Landlock.

Theory of operation. Perl loads both into its own process and then executes the program there. The filter is that of the sandbox (``seccomp``), and it also
denies sockets other than Unix ones: without a network a bot can send nothing out. Landlock lets the program write to its scratch folder
and to shared memory only, whatever else is open to every user, and hides the files of other processes in /proc, as ``landlock`` does. A
newer kernel also denies signals and abstract sockets beyond the bot. A kernel without Landlock leaves these parts to the permissions of
files.

Source: the kernel's documentation, "Landlock: unprivileged access control" and "Seccomp BPF"; <linux/landlock.h>, <linux/seccomp.h>.
"""

from __future__ import annotations

import os
import platform

from referee.isolation import seccomp
from referee.isolation.landlock import OWN_FILES, PREFIX

#: The number of the system call prctl.
_PRCTL = {
    "x86_64": 157,
    "aarch64": 167,
    "riscv64": 167,
    "loongarch64": 167,
    "ppc64le": 171,
    "s390x": 172,
}

# Rights on files: 4 is to read one, 8178 everything that changes something, 8192 to move (version 2), 16384 to truncate (version 3). Version 6
# can keep abstract sockets (1) and signals (2) inside. 22 and 2 are PR_SET_SECCOMP and SECCOMP_MODE_FILTER.
_SCRIPT = r"""
my ($scratch, $fd) = splice(@ARGV, 0, 2);
my $version = syscall(444, 0, 0, 1);
my $rules = -1;
my $change = 8178;
sub allow {
    sysopen(my $place, $_[0], 010000000 | 02000000) or return;
    my $rule = pack("Ql", $_[1], fileno $place);
    syscall(445, $rules, 1, $rule, 0);
}
if ($version > 0) {
    $change |= 8192 if $version > 1;
    $change |= 16384 if $version > 2;
    my $handled = $version > 5 ? pack("QQQ", $change | 4, 0, 3) : pack("Q", $change | 4);
    $rules = syscall(444, $handled, length $handled, 0);
}
if ($rules >= 0) {
    opendir(my $root, "/");
    for my $name (readdir $root) { allow("/$name", 4) unless $name =~ /^(\.\.?|proc)$/ }
    opendir(my $proc, "/proc");
    for my $name (readdir $proc) { allow("/proc/$name", 4) unless $name =~ /^(\d+|\.\.?)$/ or -l "/proc/$name" }
    for my $name (qw(OWN_FILES)) { allow("/proc/$$/$name", 4) }
    for my $name (qw(null zero full tty)) { allow("/dev/$name", 6) }
    for my $folder ($scratch, "/dev/shm") { allow($folder, $change | 4) }
    syscall(446, $rules, 0);
}
open(my $pipe, "<&=", $fd);
binmode $pipe;
my $filter = do { local $/; <$pipe> };
close $pipe;
my $program = pack("S x![P] P", length($filter) / 8, $filter);
if (!length $filter || syscall(PRCTL, 22, 2, $program, 0, 0) != 0) {
    print STDERR "PREFIX: failed to execute the system call filter: $!\n";
    exit(126);
}
exec { $ARGV[0] } @ARGV;
my $status = $! == 2 ? 127 : 126;
print STDERR "PREFIX: failed to execute $ARGV[0]: $!\n";
exit($status);
"""


def refusal() -> str | None:
    """Return why programs can't be confined here; None if they can."""
    if platform.machine() not in _PRCTL:
        return f"the system call filter is not known for {platform.machine()} processors"
    try:
        seccomp.program(has_network=False)
    except (ImportError, OSError) as error:
        return f"the system call filter can't be made ({error}); install libseccomp2 and pyseccomp"
    return None


def before(perl: str, scratch: str, filter_fd: int) -> tuple[str, ...]:
    """Return the command in front of the program's own command line. It reads the filter from a descriptor."""
    script = _SCRIPT.replace("OWN_FILES", " ".join(OWN_FILES)).replace("PREFIX", PREFIX).replace("PRCTL", str(_PRCTL[platform.machine()]))
    return (perl, "-e", script, "--", scratch, str(filter_fd))


def filter_pipe(*, has_network: bool, is_build: bool) -> int:
    """Return a descriptor from which the filter of a bot or a build can be read once. It fits into a pipe."""
    read, write = os.pipe()
    try:
        os.write(write, seccomp.program(has_network=has_network, is_build=is_build))
    except BaseException:
        os.close(read)
        raise
    finally:
        os.close(write)
    return read
