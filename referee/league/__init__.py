"""Leagues: many teams play a schedule of duels, or two are compared; stores, standings and reports."""
