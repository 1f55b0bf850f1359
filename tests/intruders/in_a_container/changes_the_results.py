import os
import shutil
import stat

from _tries import attempt
from _wire import play_well, ready

RESULTS = "@FOLDER@/results"


def write(path):
    with open(path, "w") as file:
        file.write('{"score": 1000000}')
    return path


ready()
for path in (f"{RESULTS}/results.json", f"{RESULTS}/other.json", "@FOLDER@/new.json", "@SECRET@"):
    attempt(f"write {path}", lambda path=path: write(path))
attempt("remove", lambda: os.unlink(f"{RESULTS}/results.json") or "removed")
attempt("open the folder", lambda: os.chmod(RESULTS, 0o777) or "opened")
attempt("move the folder", lambda: os.rename(RESULTS, f"{RESULTS}.old") or "moved")
attempt("link it away", lambda: os.symlink("/dev/null", f"{RESULTS}/results.json") or "linked")
attempt("link it here", lambda: os.link(f"{RESULTS}/results.json", os.environ["TMPDIR"] + "/results.json") or "linked")
attempt("give it away", lambda: os.chown(RESULTS, os.getuid(), os.getgid()) or "given")
attempt("list", lambda: os.listdir(RESULTS))
# Its own files are for all of its matches: it may read them only.
attempt("change its program", lambda: write(__file__))
attempt("open its program", lambda: os.chmod(__file__, 0o777) or "opened")
attempt("add to its files", lambda: write(os.path.join(os.path.dirname(__file__), "left.txt")))
shell = shutil.copy("/bin/sh", os.environ["TMPDIR"] + "/sh")
os.chmod(shell, 0o755 | stat.S_ISUID)
attempt("own a program as root", lambda: os.chown(shell, 0, 0) or "owned")
play_well(100)
