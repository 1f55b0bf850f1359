"""Replays: writing them, reading them, and playing them again to compare."""
