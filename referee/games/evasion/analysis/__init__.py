"""What can be worked out of a position: the verdict, safe cells, the best wall."""
