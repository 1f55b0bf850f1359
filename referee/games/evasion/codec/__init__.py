"""The JSON forms of states and moves: one for the rule sets played in steps, one for those played in turns."""
