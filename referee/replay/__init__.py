"""What happens in a match, and its file: written, read, verified by playing it again, and summarized."""
