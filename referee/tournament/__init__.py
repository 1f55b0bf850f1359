"""Many matches: what they are played for doesn't matter here. Starts, workers on this machine or on a cluster, and statistics of the results."""
