"""Many matches, for any purpose: starts, workers on this machine or on a cluster, and statistics of the results."""
