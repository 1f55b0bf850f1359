"""Every page and its server: the viewer, people at the board, lists of replays, templates, and pictures that are made of pages."""
