"""A bot uses the sources of the rules, also where the referee is compiled.

So a bot behaves in the same way everywhere. Compiled rules would refuse numbers that the sources accept, such as those of numpy. They would
also load the compiled parts of the referee, which bots don't need.
"""

import os
import sys
from _frozen_importlib_external import SOURCE_SUFFIXES, FileFinder, PathFinder, SourceFileLoader  # importlib takes long to import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class SourceFinder:
    """Finds the sources of the rules. It leaves all other modules to the usual finders."""

    @staticmethod
    def find_spec(name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None) -> "ModuleSpec | None":
        """Return where a module of the rules has its source; None if this is no module of the rules, or not found."""
        if not name.startswith("referee.games."):
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is None or not found.origin or found.origin.endswith(".py"):
            return found
        return FileFinder(os.path.dirname(found.origin), (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)


def are_preferred() -> bool:
    """Return whether the rules are imported from their sources."""
    return SourceFinder in sys.meta_path


def prefer() -> None:
    """Import the rules from their sources from now on. Modules that are loaded stay as they are."""
    sys.meta_path.insert(0, SourceFinder)
