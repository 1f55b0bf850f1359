"""The tables of a page, as text."""

from __future__ import annotations

from html.parser import HTMLParser


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._is_body = self._is_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            given = dict(attrs)
            self._rows = self.found.setdefault(given.get("id") or given.get("class") or "", [])
        elif tag in ("tbody", "thead"):
            self._is_body = tag == "tbody"
        elif tag == "tr" and self._is_body and self._rows is not None:
            self._rows.append([])
        elif tag in ("th", "td") and self._is_body and self._rows:
            self._rows[-1].append("")
            self._is_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td", "tr"):
            self._is_cell = False
        elif tag == "table":
            self._rows = None

    def handle_data(self, data: str) -> None:
        if self._is_cell and self._rows:
            self._rows[-1][-1] += data


def tables(page: str) -> dict[str, list[list[str]]]:
    """The texts of all cells in the bodies of a page's tables, by the table's id, else its class."""
    reader = _Tables()
    reader.feed(page)
    return {name: [[" ".join(cell.split()) for cell in row] for row in rows] for name, rows in reader.found.items()}
