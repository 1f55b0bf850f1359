"""Texts of new rubrics."""
