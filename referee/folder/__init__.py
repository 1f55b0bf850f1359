"""Pages of many replays: the list of a folder, and a page for a projector."""
