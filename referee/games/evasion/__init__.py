"""Evasion: a hunter that builds walls chases a prey. The rules are in the README of this folder, the game is in ``game``."""
