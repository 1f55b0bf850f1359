"""Isolation: protects the machine, the referee and the opponent from untrusted bots.

There are four levels, from the strongest: a sandbox with hard caps, a sandbox, only resource limits, nothing. ``limits`` names them,
and ``limits+user``, which also runs each bot as a user of its own.
``choose`` finds the level that this machine supports. ``level`` makes a sandbox for each bot, which ``sandbox`` defines. ``bubblewrap`` has
the sandbox's command line and its theory of operation, ``seccomp`` the system calls that it denies, ``cgroups`` the caps and the freezer,
``probe`` the test of the real sandbox.
"""
