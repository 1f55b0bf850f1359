"""The workshop: a page on which bots are written and played in the browser, with the rules of this referee and without an installation."""
