"""Tools for the author of one bot: checks, repeated questions of a replay, and starters."""
