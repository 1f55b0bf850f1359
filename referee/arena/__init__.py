"""Competitions without an end: teams hand in versions at any time, and the next duel is the most informative one."""
