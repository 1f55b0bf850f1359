"""Checks of one bot: what is sent to it, what comes back, and what its author can do."""
