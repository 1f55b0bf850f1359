"""Grading: a folder of submissions in, marks out."""
