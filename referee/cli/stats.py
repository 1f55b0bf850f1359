"""stats sprt and stats rating: the calculators of leagues and comparisons, for the results of other matches."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import JsonFlag, app, columns, command, put, put_json
from referee.cli.front import INSTRUCTORS
from referee.cli.plain import Program
from referee.errors import UsageError
from referee.support.words import aligned, counted, cut

if TYPE_CHECKING:
    from referee.league.ratings import Rating

#: The largest count: above it, floating point numbers skip whole numbers.
MOST_COUNT = 2**53

stats = Program(name="stats", help="Calculators: sequential tests and ratings.")
app.add_typer(stats, rich_help_panel=INSTRUCTORS)


@stats.command()
@command
def sprt(
    counts: Annotated[
        str,
        typer.Option(
            "--counts", metavar="N,N,N", help="Losses, ties, wins of A; or five counts of paired results, from lowest to highest."
        ),
    ],
    p0: Annotated[float, typer.Option("--p0", help="H0: A's share of the points.")] = 0.5,
    p1: Annotated[float, typer.Option("--p1", help="H1: A's share of the points; more than --p0.")] = 0.6,
    alpha: Annotated[float, typer.Option("--alpha", help="The chance to accept H1 though H0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option("--beta", help="The chance to accept H0 though H1 is true.")] = 0.05,
    as_json: JsonFlag = False,
) -> None:
    """Compute a sequential probability ratio test, which decides between two shares of the points.

    Counts go from loss to win: --counts 10,5,20 means 10 losses, 5 ties and 20 wins of A.
    """
    from referee.support.packages import need_statistics

    need_statistics("referee stats")
    from referee.league import sequential

    read = _counts(counts)
    try:
        found = sequential.sprt(read, p0, p1, alpha, beta)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    if as_json:
        put_json({**found._asdict(), "llr": found.llr + 0.0})
        return
    share = sum(number * count for number, count in enumerate(read)) / (len(read) - 1) / sum(read)
    rows = [
        ("results", f"{sum(read):,}"),
        ("share of the points", f"{share:.3f}"),
        ("log-likelihood ratio", _signed(found.llr)),
        ("H0 is accepted at", _signed(found.lower)),
        ("H1 is accepted at", _signed(found.upper)),
    ]
    _put(
        aligned(rows, left=(0,)),
        {
            "H0": f"H0 is accepted: the share is {p0:g} rather than {p1:g}.",
            "H1": f"H1 is accepted: the share is {p1:g} rather than {p0:g}.",
            "continue": "Undecided: the test needs more results.",
        }[found.decision],
    )


def _counts(text: str) -> list[int]:
    """Return the counts of --counts. Raises UsageError unless they are three or five whole numbers, not all zero."""
    from referee.support.escape import quoted

    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() and len(word) < 17 and int(word) <= MOST_COUNT for word in words):
        raise UsageError(f"--counts is {quoted(text)}, but must be whole numbers from 0 to 2^53, separated by commas, such as 10,5,20.")
    if len(words) not in (3, 5):
        raise UsageError(f"--counts has {len(words)} numbers, but must have 3 (losses, ties, wins) or 5 (paired results).")
    found = [int(word) for word in words]
    if not any(found):
        raise UsageError("--counts are all 0: there is no result to test.")
    return found


def _signed(number: float) -> str:
    return f"{round(number, 3) + 0.0:.3f}"


@stats.command()
@command
def rating(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="Results; the first line names the columns.")],
    resamples: Annotated[int, typer.Option("--resamples", help="Resamples of the bootstrap.", min=100, max=100_000)] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the bootstrap.", min=0)] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Compute Elo ratings with 95 % intervals from a table of results.

    The file has the columns a, b and score: two teams, and 1, 0.5 or 0 for a win, tie or loss of a. The optional column start names
    the start: results on one start depend on each other, so the bootstrap draws starts. Without it, the bootstrap draws single rows.
    """
    from referee.support.packages import need_statistics

    need_statistics("referee stats")
    from referee.league.ratings import intervals
    from referee.league.results_file import read_results

    comparisons = list(read_results(file))
    found = intervals(comparisons, resamples=resamples, seed=seed)
    if as_json:
        put_json([{"team": each.team, "elo": each.elo, "low": each.low, "high": each.high} for each in found])
        return
    notes = [f"{counted(len(comparisons), 'result')}. Intervals at 95 %; all ranks together at 95 %."]
    if len({each.start for each in comparisons}) == 1:
        notes.append("All results are on one start. They can't show how much starts matter, so the intervals assume an ordinary amount.")
    _put(_ratings_lines(found), *notes)


def _ratings_lines(found: list[Rating]) -> list[str]:
    """Return the ratings as a table. Names are cut where they don't fit the width."""
    from referee.support.escape import escape

    rows = [("", "", "Elo", "interval", "rank")]
    for place, each in enumerate(found, 1):
        ranks = f"{each.best_rank}-{each.worst_rank}" if each.best_rank < each.worst_rank else f"{each.best_rank}"
        rows.append((str(place), "", f"{round(each.elo) + 0}", f"{each.low:.0f} to {each.high:.0f}", ranks))
    room = max(4, _wide() - len("...") - max(map(len, aligned(rows, left=(1,)))))
    names = ["team", *(cut(escape(each.team, 60), room) for each in found)]
    return aligned([(row[0], name, *row[2:]) for row, name in zip(rows, names, strict=True)], left=(1,))


def _wide() -> int:
    """Return the width for stdout: that of the terminal; elsewhere COLUMNS, or 80."""
    return max(columns(80), 30)


def _put(table: list[str], *sentences: str) -> None:
    put(*table, "", *(part for sentence in sentences for part in textwrap.wrap(sentence, _wide())))
