import time

from _wire import send

send('{"type":"ready","protocol":1}\n')
while True:
    time.sleep(60)
