"""The analysis of a position: the verdict, safe cells, what a move cost."""
