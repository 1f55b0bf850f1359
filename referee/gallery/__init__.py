"""Pages of many replays: a gallery of a folder, two replays side by side, and a page for a projector."""
