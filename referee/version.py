"""The version of the referee, and whether its hot modules are compiled."""

__version__ = "1.0.0"


def build() -> str:
    """Return "compiled" if the hot modules of this installation are compiled, else "pure Python"."""
    from importlib.machinery import EXTENSION_SUFFIXES
    from importlib.util import find_spec

    spec = find_spec("referee.wire.lines")
    return "compiled" if spec is not None and str(spec.origin).endswith(tuple(EXTENSION_SUFFIXES)) else "pure Python"


def described() -> str:
    """Return the version and the build as one line."""
    return f"referee {__version__} ({build()})"
