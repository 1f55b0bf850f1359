"""Root's bots below the sandbox: each is a user of its own, who can change nothing of root's and still reaches what it needs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import HOSTILE, play_match
from sandboxes import ROOT, UNHURRIED, LevelLauncher, need, run_in_container

from referee.errors import UsageError
from referee.isolation import own_user
from referee.isolation.choose import choose
from referee.isolation.level import Level
from referee.isolation.limits import LIMITS, NONE, Limits
from referee.players.names import resolve
from referee.replay.paths import log_path

if TYPE_CHECKING:
    from sandboxes import Options

LEVELS = (NONE, LIMITS)
WIRE = (HOSTILE / "_wire.py").read_text()

#: Says who it is and what it may do, then plays.
CURIOUS = """
import os, signal, sys
from pathlib import Path
from _wire import play_well, ready

def tell(name, call):
    try:
        print(name, call(), file=sys.stderr)
    except OSError as error:
        print(name, "refused", error.errno, file=sys.stderr)

ready()
tell("user", os.getuid)
tell("groups", os.getgroups)
tell("rights", lambda: [line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapPrm", "CapEff", "NoNewPrivs"))])
tell("beside", lambda: Path("beside").write_text("x"))
tell("own", lambda: Path("data").write_text("x"))
tell("mode", lambda: os.chmod(__file__, 0o777))
tell("home", lambda: Path("~/x").expanduser().write_text("x") + (Path(os.environ["TMPDIR"]) / "y").write_text("x"))
tell("where", lambda: os.environ["HOME"])
tell("log", lambda: open("/dev/stderr", "w").write("through the device\\n"))
tell("supervisor", lambda: os.kill(os.getppid(), signal.SIGKILL))
tell("others", lambda: [os.kill(int(pid), 9) for pid in os.listdir("/proc") if pid.isdigit() and os.stat(f"/proc/{pid}").st_uid != os.getuid()])
play_well(None)
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots need users of their own")


def at(level: str) -> Options:
    return UNHURRIED._replace(isolation=choose(level, Limits()))


def bot(folder: Path, source: str = CURIOUS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.py").write_text(source)
    (folder / "_wire.py").write_text(WIRE)
    (folder / "data").write_text("data")
    return folder


def told(replay: Path, seat: str = "prey") -> dict[str, str]:
    lines = log_path(replay, seat).read_text().splitlines()
    return {name: value for name, _, value in (line.partition(" ") for line in lines)}


@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_of_root_changes_nothing_but_its_own_home(level: str, tmp_path: Path) -> None:
    replay = tmp_path / "match.replay.jsonl.gz"
    result = play_match(str(bot(tmp_path / "a")), str(bot(tmp_path / "b")), options=at(level), replay=replay, max_steps=5)
    assert not result.faults
    found, opponent = told(replay), told(replay, "hunter")
    assert found["user"] not in ("0", opponent["user"])
    assert found["groups"] == "[]"
    assert found["rights"] == "['0000000000000000', '0000000000000000', '1']"
    assert found["log"].isdigit()
    assert "through the device" in log_path(replay, "prey").read_text()
    assert {found[name].split()[0] for name in ("beside", "own", "mode", "supervisor", "others")} == {"refused"}
    assert found["home"] == "2"
    assert found["where"] != opponent["where"]
    assert not Path(found["where"]).exists()
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["_wire.py", "data", "main.py"]


#: How closed a bot's files may be, by a shell command in its folder.
CLOSED = {
    "open": "true",
    "its folder": "chmod 700 .",
    "a folder in it": "mkdir inside && mv data inside && ln -s inside/data data && chmod 700 inside",
    "its files": "chmod 600 *",
    "everything": "chmod 700 . && chmod 600 *",
    "an executable": "mv main.py prey && sed -i '1i #!/usr/bin/env python3' prey && chmod 744 prey",
    "writable by all": "chmod 777 . && chmod 666 *",
    "a folder that can be entered and not listed": "chmod 711 .",
}


@pytest.mark.parametrize("command", CLOSED.values(), ids=CLOSED)
def test_files_that_are_closed_to_other_users_are_opened_to_the_bot_alone(command: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    source = CURIOUS.replace("ready()", "assert Path('data').read_text() == 'data'\nready()", 1)
    folder = bot(tmp_path / "b", source)
    subprocess.run(["sh", "-c", command], cwd=folder, check=True)
    modes = {path: path.stat().st_mode for path in (folder, *folder.iterdir())}
    replay = tmp_path / "match.replay.jsonl.gz"
    result = play_match("straight", str(folder), options=at(NONE), replay=replay, max_steps=5)
    assert not result.faults
    found = told(replay)
    assert {found[name].split()[0] for name in ("beside", "own", "mode")} == {"refused"}
    assert {path: path.stat().st_mode for path in modes} == modes


@pytest.mark.parametrize("place", ["bot", "."])
def test_what_is_closed_itself_stays_closed(place: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    secrets = [home / ".ssh" / "id", home / ".secret", *([home / "secret"] if place == "bot" else [])]
    source = "from _wire import play_well, ready\nready()\n"
    for path in secrets:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
        path.chmod(0o600)
        path.parent.chmod(0o700)
        source += f"try: open({str(path)!r})\nexcept OSError: pass\nelse: raise SystemExit(3)\n"
    result = play_match("straight", str(bot(home / place, source + "play_well(None)\n")), options=at(NONE), max_steps=5)
    assert not result.faults


def test_bots_of_many_matches_share_a_supervisor_and_nothing_else(tmp_path: Path) -> None:
    launcher = LevelLauncher()
    replay = tmp_path / "match.replay.jsonl.gz"
    homes = set()
    try:
        for _ in range(3):
            assert not play_match(
                "straight", str(bot(tmp_path / "b")), options=at(NONE), replay=replay, launcher=launcher, max_steps=5
            ).faults
            assert launcher.idle is not None
            homes.add(told(replay)["where"])
        assert len(homes) == 3
        assert not any(map(os.path.exists, homes))
    finally:
        launcher.close()
    assert not any(os.path.exists(os.path.dirname(home)) for home in homes)


@pytest.mark.parametrize("level", LEVELS)
def test_a_build_of_root_is_another_user_and_its_bot_plays(level: str, tmp_path: Path) -> None:
    folder = bot(tmp_path / "b")
    (folder / "bot.toml").write_text('build = "sh make.sh"\nrun = "./prey"\n')
    (folder / "make.sh").write_text(
        "set -e\ntouch $HOME/x $TMPDIR/y\nid -u > who\n(echo '#!/usr/bin/env python3'; cat main.py) > prey\nchmod 700 prey\n"
        f"! touch {shlex.quote(str(folder))}/x 2> /dev/null\n"
    )
    program = resolve(str(folder), "prey", "evasion")
    built = LevelLauncher(Level(level, Limits())).build({"prey": program})["prey"]
    assert int((Path(built.folder) / "who").read_text()) != 0
    replay = tmp_path / "match.replay.jsonl.gz"
    assert not play_match("straight", str(folder), options=at(level), replay=replay, max_steps=5).faults
    assert told(replay)["beside"].startswith("refused")


def test_where_no_mounts_are_allowed_a_closed_folder_is_refused_with_the_remedies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr(own_user, "_has_mounts", lambda: False)
    with pytest.raises(UsageError, match=r"such as /opt, or open this one: chmod o\+x /"):
        play_match("straight", str(bot(tmp_path / "b")), options=at(NONE), max_steps=5)


KILLER = """
import contextlib, os, signal
{ready}
with contextlib.suppress(OSError):
    os.kill(-1, signal.SIGKILL)
{play}
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ["bot", "build"])
def test_a_bot_that_kills_everything_ends_nothing_of_the_referee(level: str, kind: str, tmp_path: Path) -> None:
    allowed = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True, check=False)
    need(allowed.returncode == 0, "no process table of its own", of_kernel=True)
    killer = KILLER.format(ready="", play="")
    source = KILLER.format(ready="from _wire import play_well, ready\nready()", play="play_well(None)")
    folder = bot(tmp_path / "b", source if kind == "bot" else source.replace("os.kill(-1, signal.SIGKILL)", "pass"))
    if kind == "build":
        (folder / "make.py").write_text(killer)
        (folder / "bot.toml").write_text('build = "python3 make.py"\nrun = "python3 main.py"\n')
    play = [sys.executable, "-m", "referee", "play", "straight", str(folder), "--isolation", level, "--set", "max_steps=5", "--json"]
    # The shell is the first process of the table, which no signal from inside can end; everything else can be.
    script = f"sleep 1000 & other=$!\n{shlex.join(play)}\necho status $?\nkill -0 $other && echo alive\n"
    command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    *result, status, alive = done.stdout.splitlines()
    assert (status, alive) == ("status 0", "alive"), done.stdout + done.stderr
    assert json.loads("\n".join(result))["players"]["prey"]["fault"] is None


def test_clone_environment_and_interpreter_may_be_below_a_closed_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    lines = [
        "set -e",
        f"mkdir python clone && cp -r {shlex.join(str(ROOT / name) for name in ('referee', 'sdk', 'example_bots'))} clone",
        f"mount --bind {shlex.quote(sys.base_prefix)} python && chmod 700 .",
        f"python/bin/python{sys.version_info.major}.{sys.version_info.minor} -m venv --without-pip clone/.venv && cd clone",
        f"export PYTHONPATH=$PWD:{shlex.quote(packages)} HOME={shlex.quote(str(home))}",
        ".venv/bin/python -c 'import referee, sys; print(referee.__file__, sys.base_prefix)'",
        *(f".venv/bin/python -m referee play straight runner --isolation {level} --set max_steps=5 --json" for level in LEVELS),
    ]
    command = ["unshare", "--mount", "sh", "-c", "\n".join(lines)]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    first, *results = done.stdout.splitlines()
    assert first == f"{home}/clone/referee/__init__.py {home}/python"
    played = list(map(json.loads, results))
    assert [match["isolation"] for match in played] == list(LEVELS)
    assert all(player["fault"] is None for match in played for player in match["players"].values())


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("is_open", [True, False])
def test_in_a_container_without_mounts(is_open: bool, tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    folder = bot(tmp_path / "b")
    folder.chmod(0o755 if is_open else 0o700)
    play = [sys.executable, "-m", "referee", "play", "straight", str(folder), "--isolation", "none", "--set", "max_steps=5", "--json"]
    done = run_in_container(play, tmp_path)
    if is_open:
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["players"]["prey"]["fault"] is None
    else:
        assert done.returncode == 2
        assert f"chmod -R o+rX {folder}" in done.stderr
        assert "/opt" in done.stderr
