"""Competitions without an end: versions of bots are handed in at any time, and the next duel is the one that tells most."""
