"""Geometry of the board: walls, bouncing, and regions of cells."""
