"""The events of a match, and the replay: written, read, verified by simulation, and summarized."""
