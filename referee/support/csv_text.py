"""The form of the CSV files that the referee writes."""

#: The byte order mark.
MARK = "\ufeff"


def marked(text: str) -> str:
    """Return CSV with a byte order mark if it has other characters than those of ASCII: without it, Excel takes them for an old code page."""
    return text if text.isascii() else MARK + text
