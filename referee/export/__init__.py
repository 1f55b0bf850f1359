"""Replays in other forms: pages, pictures, moving pictures."""
