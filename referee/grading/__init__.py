"""Marks for a class by a rubric: its matches, points and reports, and the zip of an autograder."""
