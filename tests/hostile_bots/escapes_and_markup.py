import sys

from _wire import answer, next_turn, ready, send, turns

EVIL = "\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>[bold red]\u202e"
ready(EVIL)
for message in turns(2):
    print(EVIL, file=sys.stderr, flush=True)
    answer(message["turn"], more=',"say":"\\u001b[31m<b>[red]"')
next_turn()
send(EVIL + "\n")
next_turn()
