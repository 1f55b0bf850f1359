"""The games of the course as it plays them: its servers over TCP, and its maze in a terminal."""
