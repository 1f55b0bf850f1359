"""Leagues: many matches, their schedule, store, standings and ratings."""
