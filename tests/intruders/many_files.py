from _wire import play_well, ready

ready()
for number in range(50_000):
    try:
        open(f"/tmp/{number}", "w").close()
    except OSError:
        break
play_well(100)
