"""Pages: the viewer of replays, matches as they are played, and people at the board."""
