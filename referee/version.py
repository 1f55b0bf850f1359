"""The version of the referee."""

__version__ = "2.0.0"
