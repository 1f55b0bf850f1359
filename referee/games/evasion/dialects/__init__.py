"""The text protocols of the course's own servers, as dialects beside the native protocol."""

from __future__ import annotations

from referee.games.evasion.dialects.architect import ARCHITECT
from referee.games.evasion.dialects.gameserver import GAMESERVER

#: The dialects by name, which is the prefix before the colon on a command line.
DIALECTS = {dialect.name: dialect for dialect in (GAMESERVER, ARCHITECT)}
