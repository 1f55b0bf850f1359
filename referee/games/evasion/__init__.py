"""Evasion: a hunter that builds walls chases a prey. The rules, point by point, are in the README of this folder."""

from referee.games.evasion.game import GAME

__all__ = ["GAME"]
