"""Python imports this at its start where the fixture ``same_user`` has put its folder on the path: workers let their bots run as root."""

import sys

# Not in the bots, to which an import takes too long.
if any(word.startswith("referee.") for word in sys.orig_argv):
    from referee.isolation import users

    users.are_needed = lambda: False
