"""Hand-ins: the layouts of course platforms, the owners, the programs and the copies."""
