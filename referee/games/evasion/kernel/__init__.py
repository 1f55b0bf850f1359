"""The rules of Evasion over arrays, compiled: the parts of ``referee.games.evasion.board`` and ``rules`` by their names."""
