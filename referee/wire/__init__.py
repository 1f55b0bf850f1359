"""From bytes to lines of limited length to messages. Pure functions without input or output, testable with plain values."""
