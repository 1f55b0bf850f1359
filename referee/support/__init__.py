"""Helpers that all packages may use: files, descriptors, processes and records."""
