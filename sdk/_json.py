"""JSON for bots. The standard library's ``json`` imports ``re`` and takes longer to import than the rest of the SDK."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    # The C functions on which json is built in CPython. The referee sends valid JSON, so the checks that json adds aren't needed.
    from _json import encode_basestring_ascii as _quote
    from _json import make_scanner

    class _Context:
        strict = True
        object_hook = object_pairs_hook = None
        parse_float = float
        parse_int = int
        parse_constant = float
        memo: dict[str, str] = {}

    _scan = make_scanner(_Context())  # type: ignore[arg-type]  # the stub asks for json's own decoder

    def loads(text: str) -> Any:
        """The value of a JSON text."""
        try:
            return _scan(text.strip(), 0)[0]
        except StopIteration:
            raise ValueError(f"no JSON: {text!r:.80}") from None

    def quote(text: str) -> str:
        """A text as a JSON string."""
        quoted: str = _quote(text)
        return quoted

except ImportError:
    pass
