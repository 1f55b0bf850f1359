"""Leagues: many teams play a schedule of duels; stores, standings and reports."""
