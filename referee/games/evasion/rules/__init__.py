"""The rules of Evasion as stages of a step: step by step, and turn by turn as on the 2010 server."""
