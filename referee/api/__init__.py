"""The Python API: matches, duels and replays, for programs and notebooks. ``import referee`` has its names."""
