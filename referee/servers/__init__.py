"""Matches over TCP in the dialects of the course's own servers: as their server, and as their client."""
