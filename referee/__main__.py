"""``python -m referee`` and the console script ``referee``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from referee.cli import run

    run()


if __name__ == "__main__":
    main()
