"""Rectangle: robots paint a grid, and closed rings of paint claim what they enclose. The rules are in the README of this folder."""
