"""The settings of the site that ``make docs`` builds. ``scripts/make-docs`` gathers its pages and makes the reference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

from referee.version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Referee"
author = "The Referee maintainers"
copyright = author  # noqa: A001 - the name that Sphinx reads
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
# Options begin with two hyphens.
smartquotes = False

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_logo = html_favicon = "static/logo.svg"
#: The colours of the board, as referee/pages/viewer/kit/base.css has them.
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#c04f00", "color-brand-content": "#0067a3"},
    "dark_css_variables": {"color-brand-primary": "#f0853a", "color-brand-content": "#56b4e9"},
}
html_title = f"Referee {release}"
html_show_sphinx = False
html_copy_source = False
html_last_updated_fmt = None

# Anchors of headings as a plain Git host makes them.
myst_heading_anchors = 6

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
# Examples leave parts of their JSON out, and say so by dots. Each game has a State: a name alone leads to the one of the page's module.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]

#: Texts that Python gives the fields and the constructors of records, and that of a constructor that takes nothing from an author.
_WITHOUT_MEANING = re.compile(r"Field \d+$|Alias for field number \d+|Create new instance of |Create the bot's parts here")
#: The first lines of the texts that values without one of their own inherit.
_OF_BUILTINS = {(kind.__doc__ or "").splitlines()[0] for kind in (bool, dict, float, frozenset, int, list, str, tuple)}


def _leave_out(_app: Sphinx, _kind: str, _name: str, _found: object, _options: object, lines: list[str]) -> None:
    """Take away docstrings that tell a reader nothing."""
    if lines and (_WITHOUT_MEANING.match(lines[0]) or lines[0] in _OF_BUILTINS):
        lines.clear()


def _shorten(
    _app: Sphinx, _kind: str, _name: str, _found: object, _options: object, signature: str | None, returns: str | None
) -> tuple[str, str] | None:
    """Take away signatures that say nothing: those of records, whose fields follow, and of bots, which nobody makes by hand."""
    return ("", returns or "") if signature in ("(*args, **given)", "(*_: Any, **__: Any)") else None


def setup(app: Sphinx) -> None:
    """Connect what changes docstrings and signatures; and show tables of commas as they are, which older versions don't know."""
    app.add_lexer("csv", TextLexer)
    app.connect("autodoc-process-docstring", _leave_out)
    app.connect("autodoc-process-signature", _shorten)
