"""Stands in for the command of the referee that run_autograder starts: grades a submission in a folder like Gradescope's."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from referee.grading import container
from referee.grading.gradescope import Deadline


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["grade"])
    parser.add_argument("source", type=Path)
    parser.add_argument("--format", choices=["gradescope"], required=True)
    parser.add_argument("--autograder", type=Path, required=True)
    parser.add_argument("--rubric", type=Path, required=True)
    parser.add_argument("--deadline", type=float, required=True)
    parser.add_argument("--max-runs-per-day", type=int)
    given = parser.parse_args(words)
    container.run(given.autograder, given.rubric, Deadline(given.deadline), source=given.source, runs_per_day=given.max_runs_per_day)


if __name__ == "__main__":
    main(sys.argv[1:])
