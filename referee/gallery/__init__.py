"""Pages of many replays: a gallery of a folder, and a page for a projector."""
