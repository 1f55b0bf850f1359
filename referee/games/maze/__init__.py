"""Maze: a thief runs for the exit, and a policeman chases it. The rules are in the README of this folder, the game is in ``game``."""
