"""One match: the loop that asks the players, measures their time and judges their answers, and the events for its listeners."""
