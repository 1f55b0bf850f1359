"""``referee bench``: measures the overhead of the referee, each figure compared with a floor measured in the same run."""
