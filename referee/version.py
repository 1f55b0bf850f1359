"""The version of the referee."""

__version__ = "1.0.0"
