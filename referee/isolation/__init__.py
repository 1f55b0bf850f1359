"""Isolation: runs bots, and protects the machine, the referee and the opponent from them.

For users there are three words: ``none``, ``limits`` and ``strict``; ``auto`` takes the strongest of them that is possible here. Which
mechanisms hold, such as caps by control groups, is part of the level that ``choose`` returns: ``referee doctor`` and replays name it.

The rest of the house uses these modules: ``bot`` (a program as its author knows it), ``choose`` and ``level`` (the level that this machine
supports), ``building``, ``launcher`` and ``process`` (run it), ``log`` and ``file_names`` (its stderr), ``limits``, ``endings``, ``delays``,
``machine``, ``known_good`` and ``diagnosis`` (what this machine can give), ``submission``, ``contents``, ``runtime`` and ``scripts`` (files of
bots). All others are used only here: ``bubblewrap`` has the sandbox's command line and its theory of operation, ``seccomp`` the system calls that
it denies, ``cgroups`` the caps and the freezer, ``supervisor`` the processes that let nothing outlive a match, ``probe`` the test of the real sandbox.
"""
