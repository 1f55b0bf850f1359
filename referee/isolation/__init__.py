"""Where the programs of strangers run: what keeps a bot from the machine, from the referee and from its opponent.

Four levels, from ``levels`` down: a sandbox with hard caps, a sandbox, resource limits alone, nothing. ``choice`` finds out what
this machine bears and takes a level, ``cell`` holds one bot, ``bubblewrap`` has the sandbox's command line and its theory of
operation, ``seccomp`` the system calls that it denies, ``cgroups`` the caps and the freezer, ``probe`` the proof by effect.
"""
