"""What an author does with one bot, as a library: the command line only parses, calls and prints."""
