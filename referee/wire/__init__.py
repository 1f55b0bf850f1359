"""Bytes to capped lines to messages. No input or output here: every function can be tested with plain values."""
