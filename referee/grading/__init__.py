"""Grading: gives marks to a folder of submissions."""
