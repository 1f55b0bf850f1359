"""JSON text that can be hashed: equal values have equal texts."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def canonical(value: Any) -> str:
    """Return JSON text that is the same for equal values: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
