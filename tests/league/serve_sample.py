"""A program that serves the report of a sample league: the file named first holds the share of its duels that are over."""

from __future__ import annotations

import sys
from pathlib import Path

from referee.league.report_live import LiveReport
from referee.web.serve import bind, names_of, serve_site

sys.path.insert(0, str(Path(__file__).parents[1]))

from sample_leagues import league

share, folder = Path(sys.argv[1]), Path(sys.argv[2])
listener = bind("127.0.0.1", 0)
address = f"http://127.0.0.1:{listener.getsockname()[1]}/token/"
serve_site(
    lambda: LiveReport(lambda: league(6, finished=float(share.read_text()), replay="replays/one.replay.jsonl.gz"), folder, "token"),
    listener,
    names_of("127.0.0.1"),
    lambda: print(address, flush=True),
)
