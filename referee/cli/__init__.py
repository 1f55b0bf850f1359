"""The command line: parse, call, print. One module for each audience; each command loads what it needs when it is called."""
