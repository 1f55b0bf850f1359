"""Starters: bots that already play, written by ``referee new`` for authors who change them.

A starter is composed of templates. The frame of a language (``LANGUAGE/frame.SUFFIX.template``) has the loop, the messages and, where the
language has no JSON, a small reader. The part of a game (``referee/games/GAME/starters/LANGUAGE/``) has the state, a little geometry
and the decisions of each seat.
"""
