"""Isolation: runs bots, and protects the machine, the referee and the opponent from them.

Users know three levels: ``none``, ``limits`` and ``strict``; ``auto`` takes the strongest that is possible here. The level of a launcher also
names the mechanisms, such as caps by control groups; ``referee doctor`` and replays show it.

Other packages use these modules: ``bot`` (a program as its author knows it), ``launcher``, ``process`` and ``bot_process`` (run it), ``log``,
``file_names`` and ``endings`` (its stderr and its end), ``limits``, ``machine`` and ``diagnosis`` (what this machine can give),
``submission``, ``contents``, ``runtime`` and ``scripts`` (files of bots), ``users``. All others are used only here: ``bubblewrap`` has the
sandbox's command line and its theory of operation, ``seccomp`` the system calls that it denies, ``cgroups`` the caps and the freezer,
``supervisor`` the processes that let nothing outlive a match, ``probe`` the test of the real sandbox.
"""
