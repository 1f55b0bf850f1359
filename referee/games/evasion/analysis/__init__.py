"""The analysis of a position: the verdict, safe cells, the best wall."""
