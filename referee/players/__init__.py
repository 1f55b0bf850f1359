"""Players, which are bots, connections or functions of this process: their names, the lines exchanged with them, their clocks and cores."""
