"""A referee for matches between bot programs."""

__version__ = "0.1.0"
