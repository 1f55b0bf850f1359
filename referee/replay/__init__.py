"""Replays: writes them, reads them, and verifies them by playing them again."""
