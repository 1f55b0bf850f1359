"""The records of a replay, for tests of matches."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


def records(path: Path) -> list[dict[str, Any]]:
    """Return all records of a replay, the head first."""
    return [json.loads(line) for line in gzip.open(path).read().splitlines()]
