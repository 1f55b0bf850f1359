"""A program that serves the report of a sample league: the file named first holds the share of its duels that are over."""

from __future__ import annotations

import sys
from pathlib import Path

from referee.league.report import RUNNING
from referee.league.report_folder import write
from referee.league.report_live import LiveReport
from referee.pages.replay_scripts import REPORT
from referee.pages.serve import bind, names_of, serve_site

sys.path.insert(0, str(Path(__file__).parents[1]))

from leagues import league


def main(share: Path, folder: Path) -> None:
    def write_again() -> bool:
        data = league(6, finished=float(share.read_text()), replay="replays/one.replay.jsonl.gz")
        write(data, folder)
        return data.progress.state == RUNNING

    write_again()
    listener = bind("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/token/{REPORT}"
    serve_site(
        lambda: LiveReport(write_again, folder, "token", write_seconds=0.2),
        listener,
        names_of("127.0.0.1"),
        lambda: print(address, flush=True),
    )


if __name__ == "__main__":
    # The processes that check replays read this file, too.
    main(Path(sys.argv[1]), Path(sys.argv[2]))
