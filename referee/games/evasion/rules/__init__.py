"""The rules of a step of Evasion, as stages: step by step, and turn by turn as on the 2010 server. How a fault ends a game is in ``game``."""
