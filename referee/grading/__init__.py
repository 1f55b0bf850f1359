"""Grading: gives marks to a folder of hand-ins."""
