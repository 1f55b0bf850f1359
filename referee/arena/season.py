"""What holds for a whole arena: one row, which says how it began, what the staff has decided, and whether a version has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, JsonValue

if TYPE_CHECKING:
    from referee.tournament.store import Store


class SeasonState(BaseModel, frozen=True):
    """The row.

    ``id`` is that in the file with a database's address, and ``seed`` that of an arena whose file has none. ``terms`` are those of the matches
    so far, None before the first one. ``address`` is that of the server, as teams see it, and "" before anybody has named one. ``paused`` says
    why nothing is played now, and is "" while matches are played. ``changes`` counts the changes of versions.
    """

    row: int = 0
    id: str
    seed: int | str | None = None
    terms: dict[str, JsonValue] | None = None
    is_frozen: bool = False
    address: str = ""
    paused: str = ""
    changes: int = 0


class SeasonRow:
    """The row of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows = store.table(SeasonState, "season")

    def read(self) -> SeasonState | None:
        """Return the row; None if the arena was never begun."""
        return self._rows.get(0)

    @property
    def now(self) -> SeasonState:
        """The row of an arena that was begun. ValueError if there is none."""
        state = self.read()
        if state is None:
            raise ValueError("the arena was never begun")
        return state

    def begin(self, state: SeasonState) -> None:
        """Store the row of a new arena."""
        self._rows.put(state)

    def change(self, **values: JsonValue) -> None:
        """Store other values of some fields."""
        with self._store.step():
            self._rows.put(self.now.model_copy(update=values))

    def changes(self) -> int:
        """Return how often versions have changed: one was added, refused or activated, or a team disqualified."""
        return self.now.changes

    def note_change(self) -> None:
        """Count a change of versions, in the transaction that makes it."""
        with self._store.step():
            state = self.read()
            if state is not None:
                self._rows.put(state.model_copy(update={"changes": state.changes + 1}))
