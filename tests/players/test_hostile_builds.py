"""Builds of strangers: endless ones, ones that fill memory and disk, that reach out, and that leave odd files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandboxes import LevelLauncher, Planted, census, missing, need

from referee.errors import PlayerError, RefereeError, StartError
from referee.isolation import building, cgroups, runtime, submission
from referee.isolation.build_output import BuildOutput
from referee.isolation.level import Level
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, LIMITS, LIMITS_USER, NONE, Limits
from referee.players.names import resolve
from referee.support.words import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.isolation.bot import Bot

#: Long, and part of every whole run.
pytestmark = pytest.mark.slow

#: The levels that limit what a build uses.
LIMITING = ("strict", LIMITS_USER, LIMITS)
SHORT = Limits(build_seconds=2)


def at(level: str, limits: Limits | None = None) -> Level:
    """A level of isolation with these limits, "strict" for the best sandbox that there is."""
    limits = limits or Limits()
    if level == "strict":
        need(not missing(), missing())
        trees = cgroups.find()
        return Level(ISOLATED_CGROUP if trees.has_caps else ISOLATED, limits, trees)
    if level == LIMITS_USER:
        need(os.geteuid() == 0, "only root can start bots as other users")
        if not all(map(runtime.is_open_to_all, runtime.needs(runtime.OWN_PYTHON))):
            pytest.skip("this Python is in a closed folder; test_another_user.py runs this in a setting where it is open")
    return Level(level, limits)


@pytest.fixture(autouse=True)
def leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of its own; and after each build no process, mount, control group, descriptor or temporary file is left."""
    monkeypatch.setenv("REFEREE_CACHE", str(tmp_path / "cache"))
    building.forget()
    before = census()
    yield
    building.forget()
    assert census() == before


def built(tmp_path: Path, build: str, isolation: Level, run: str = "./bot") -> Bot:
    """Build a bot by a script; its program is whatever the script leaves as ``bot``."""
    folder = tmp_path / "my_bot"
    folder.mkdir()
    (folder / "bot.toml").write_text(f'build = "sh build.sh"\nrun = "{run}"\n')
    (folder / "build.sh").write_text(build)
    return LevelLauncher(isolation).build({"prey": resolve(str(folder), "prey", "evasion")})["prey"]


def refused(tmp_path: Path, build: str, isolation: Level) -> str:
    with pytest.raises(StartError) as caught:
        built(tmp_path, build, isolation)
    assert caught.value.seat == "prey"
    text = str(caught.value)
    assert text.startswith("The prey (")
    assert ") can't be built: " in text
    return text


@pytest.mark.parametrize("level", [*LIMITING, NONE])
def test_an_endless_build_is_killed_with_its_children(tmp_path: Path, level: str) -> None:
    endless = "trap '' TERM INT HUP\nsetsid sh -c 'while :; do sleep 1; done' &\n(sleep 600 &)\necho working\nwhile :; do :; done"
    said = refused(tmp_path, endless, at(level, SHORT))
    assert "'sh build.sh' did not end within 2 s, the limit of a build, and was killed with all its processes" in said
    assert said.endswith("\n  working")


@pytest.mark.parametrize("level", [*LIMITING, NONE])
def test_a_build_that_closes_its_output_is_still_waited_for(tmp_path: Path, level: str) -> None:
    assert "did not end within 2 s" in refused(tmp_path, "exec >&- 2>&-\nsleep 600", at(level, SHORT))


def test_too_many_processes_without_parents_are_stopped(tmp_path: Path) -> None:
    """Where the kernel has no limit. Their number is bounded here, for the sake of the machine."""
    script = "i=0; while [ $i -lt 2000 ]; do (sleep 600 &); i=$((i+1)); done; sleep 600"
    assert "started more processes or threads than its limit of 256" in refused(tmp_path, script, at(LIMITS))


@pytest.mark.parametrize("level", ["strict", LIMITS_USER])
def test_a_fork_bomb_is_stopped(tmp_path: Path, level: str) -> None:
    said = refused(tmp_path, "bomb() { bomb | bomb & }\nbomb\nsleep 600", at(level, Limits(build_seconds=3)))
    ends = ("more processes or threads than its limit of 256", "did not end within", "ended with exit status")
    assert any(end in said for end in ends), said.partition("\n")[0]


@pytest.mark.parametrize("level", LIMITING)
def test_a_build_that_takes_memory_is_stopped(tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Limits, "for_build", lambda limits: limits.replace(memory_bytes=128 * MIB))
    need(Path("/usr/bin/perl").exists(), "perl is missing")
    assert "memory" in refused(tmp_path, "exec perl -e '$x = \"x\" x 1000000000; sleep 600'", at(level))


@pytest.mark.parametrize("level", LIMITING)
@pytest.mark.parametrize(
    "script",
    [
        "head -c 300000000 /dev/zero > big || exit 1",
        "for i in 1 2 3 4 5 6 7 8; do head -c 20000000 /dev/zero > $i || exit 1; done; sleep 600",
    ],
    ids=["one file", "many files"],
)
def test_a_build_that_fills_the_disk_is_stopped(tmp_path: Path, level: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Limits, "for_build", lambda limits: limits.replace(scratch_bytes=64 * MIB))
    assert "wrote more to disk than its limit of 64 MiB" in refused(tmp_path, script, at(level, Limits(build_seconds=30)))


@pytest.mark.parametrize("level", LIMITING)
def test_a_build_that_makes_too_many_files_is_stopped(tmp_path: Path, level: str) -> None:
    script = (
        "i=0; while [ $i -lt 400 ]; do mkdir $i; i=$((i+1)); j=0; while [ $j -lt 100 ]; do : > $i-$j; j=$((j+1)); done; done; sleep 600"
    )
    said = refused(tmp_path, script, at(level))
    assert "wrote more to disk" in said or "more than 10,000 files" in said


@pytest.mark.parametrize("level", [*LIMITING, NONE])
def test_what_is_built_has_the_limits_of_a_submission(tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "MOST_FILES", 20)
    said = refused(tmp_path, "i=0; while [ $i -lt 30 ]; do : > $i; i=$((i+1)); done", at(level))
    assert "left what can't be used. The bot" in said
    assert "has more than 20 files" in said


@pytest.mark.parametrize("level", [*LIMITING, NONE])
def test_endless_output_is_dropped(tmp_path: Path, level: str) -> None:
    said = refused(tmp_path, "echo \"bot.x:1: error: $(printf '\\033[31mred\\a')\" >&2\nyes warning", at(level, SHORT))
    assert said.count("\n") <= 26
    assert len(said) < 6_000
    assert "bot.x:1: error: \\x1b[31mred\\x07" in said
    assert "more lines" in said


@pytest.mark.parametrize("level", [*LIMITING, NONE])
def test_binary_output_is_shown_harmless(tmp_path: Path, level: str) -> None:
    said = refused(tmp_path, "head -c 100000 /dev/urandom; head -c 100000 /dev/zero >&2; exit 1", at(level))
    assert all(line.isprintable() and len(line) < 1_000 for line in said.split("\n"))


@pytest.mark.parametrize("level", [*LIMITING, NONE])
@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("ln -s /etc/passwd bot", "has a link that leaves it: 'bot' points to '/etc/passwd'"),
        ("ln -s / root; cp build.sh bot", "has a link that leaves it: 'root' points to '/'"),
        ("ln -s nothing bot", "has a broken link"),
        ("ln -s loop loop", ""),
        ("mkdir -p $(printf 'd/%.0s' $(seq 60))", "more than 50 folders in one another"),
    ],
)
def test_links_and_depths_are_refused(tmp_path: Path, level: str, script: str, told: str) -> None:
    said = refused(tmp_path, script, at(level))
    assert "left what can't be used" in said
    assert told in said or (level == "strict" and "sent back something that is not a folder of files" in said)


@pytest.mark.parametrize("level", [LIMITS, NONE])
def test_a_fifo_is_refused(tmp_path: Path, level: str) -> None:
    assert "has a FIFO: 'bot'" in refused(tmp_path, "mkfifo bot", at(level))


@pytest.mark.parametrize("level", [*LIMITING, NONE])
def test_a_program_that_is_not_built_is_told(tmp_path: Path, level: str) -> None:
    program = built(tmp_path, "echo done", at(level))
    assert not Path(program.argv[0]).exists()


@pytest.mark.parametrize("level", [*LIMITING, NONE])
def test_a_daemon_does_not_outlive_the_build(tmp_path: Path, level: str) -> None:
    program = built(tmp_path, "cp build.sh bot; chmod +x bot\n(setsid sh -c 'trap \"\" TERM HUP; sleep 600; echo x > bot' &)", at(level))
    assert Path(program.argv[0]).read_text().startswith("cp build.sh bot")


#: Tries what a build must not do; each success is a line.
REACHES = """
got() { echo "GOT $*"; }
cat /etc/shadow && got shadow
cat /etc/passwd | grep -q root:x && [ "$LEVEL" = strict ] && got passwd
cat @SECRET@ && got secret
ls @FOLDER@ && got folder
echo x > @FOLDER@/written && got written
echo x > /source/written && got source
echo x > /usr/written && got usr
kill -9 @REFEREE@ && got kill
perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new(PeerAddr => "127.0.0.1:@PORT@", Timeout => 2)' && got network
perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); exit !connect(S, pack_sockaddr_un("\\0@NAME@"))' && got abstract
cat /proc/self/mountinfo && got mountinfo
env | grep -i planted && got environment
exit 1
"""


def test_a_build_in_a_sandbox_reaches_nothing(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "a secret")
    top = planted.folder / "work"
    top.mkdir()
    said = refused(top, planted.fill(REACHES).replace("$LEVEL", "strict"), at("strict"))
    assert "ended with exit status 1" in said
    assert "GOT" not in said, said
    assert not (planted.folder / "written").exists()


def test_a_build_of_another_user_reaches_nothing(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "a secret")
    (planted.folder / "secret.txt").chmod(0o600)
    top = planted.folder / "work"
    top.mkdir()
    tries = [line for line in REACHES.splitlines() if "ls @FOLDER@" not in line and "abstract" not in line]
    said = refused(top, planted.fill("\n".join(tries)), at(LIMITS_USER))
    assert "GOT" not in said, said


def test_the_build_can_write_beside_its_files_only(tmp_path: Path) -> None:
    program = built(
        tmp_path, "echo 1 > $TMPDIR/x; echo 2 > $HOME/y; echo '#!/bin/sh' > bot; chmod +x bot; pwd > where; rm build.sh", at("strict")
    )
    assert (Path(program.folder) / "where").read_text() == "/bot\n"
    assert sorted(os.listdir(program.folder)) == ["bot", "bot.toml", "where"]


@pytest.mark.parametrize(
    "stream",
    [
        b"f - 3 " + b"../x".hex().encode() + b"\nabc",
        b"f - 3 " + b"/etc/x".hex().encode() + b"\nabc",
        b"f - 3 " + b"a//b".hex().encode() + b"\nabc",
        b"f - 3 " + b"a\0b".hex().encode() + b"\nabc",
        b"f - -3 61\nabc",
        b"f - 99999999999 61\n",
        b"f - x 61\n",
        b"f\n",
        b"f - 1\n",
        b"q 61\n",
        b"\xff\xff\n",
        b"d " + b"61" * 9_000 + b"\n",
        b"x" * 30_000,
        b"d " + b"/".join([b"d"] * 60).hex().encode() + b"\n",
    ],
)
def test_a_stream_that_is_none_is_refused(tmp_path: Path, stream: bytes) -> None:
    output = BuildOutput(str(tmp_path / "made"), "bot")
    with pytest.raises(PlayerError):
        output.take(stream)
    output.close()
    assert not list((tmp_path / "made").iterdir())


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    output = BuildOutput(str(tmp_path / "made"), "bot")
    outside = tmp_path / "outside"
    outside.mkdir()
    link = b"l " + str(outside).encode().hex().encode() + b" " + b"link".hex().encode() + b"\n"
    with pytest.raises((OSError, RefereeError)):
        output.take(link + b"f - 1 " + b"link/x".hex().encode() + b"\na" + b"end\n")
    output.close()
    assert not list(outside.iterdir())


def test_a_stream_may_come_byte_by_byte(tmp_path: Path) -> None:
    stream = b"d " + b"a".hex().encode() + b"\nf x 3 " + b"a/b".hex().encode() + b"\nxyzf - 0 " + b"c".hex().encode() + b"\n"
    stream += b"l " + b"c".hex().encode() + b" " + b"d".hex().encode() + b"\nend\nmore"
    output = BuildOutput(str(tmp_path / "made"), "bot")
    for byte in stream:
        output.take(bytes([byte]))
    assert output.is_whole
    assert (tmp_path / "made/a/b").read_bytes() == b"xyz"
    assert (tmp_path / "made/a/b").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "made/d").read_bytes() == b""
