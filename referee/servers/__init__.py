"""The games of the course as it plays them: its servers and their client over TCP, and its maze in a terminal."""
