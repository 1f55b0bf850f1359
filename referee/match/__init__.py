"""One match: the loop that asks, times and judges, and the values that it tells its listeners."""
