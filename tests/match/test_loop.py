"""The loop with real programs: determinism, placement, programs of all kinds."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from conftest import UNHURRIED, play_match
from recorded_games import records
from sandboxes import match_between

from referee import games
from referee.errors import StartError
from referee.isolation.bot import Bot
from referee.wire.seeds import match_id, seat_seed, secret_of


def without_times(path: Path) -> list[dict[str, Any]]:
    found = records(path)
    for record in found:
        for key in ("us", "cpu_us", "wall_us", "time", "log", "stderr_bytes", "sha256"):
            record.pop(key, None)
    return found


def test_two_runs_with_the_same_seed_are_the_same_but_for_times(tmp_path: Path) -> None:
    replays = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        replays.append(folder / "x.replay.jsonl.gz")
        play_match("random", "random", seed=7, replay=replays[-1], max_steps=300)
    assert without_times(replays[0]) == without_times(replays[1])
    other = tmp_path / "other.gz"
    play_match("random", "random", seed=8, replay=other, max_steps=300)
    assert without_times(other)[1:] != without_times(replays[0])[1:]


def test_seeds_give_nothing_away() -> None:
    secret = secret_of(5)
    match = match_id(secret)
    seeds = {seat: seat_seed(secret, match, seat) for seat in ("hunter", "prey")}
    assert seeds["hunter"] != seeds["prey"]
    assert all(0 <= seed < 2**53 for seed in seeds.values())
    assert secret_of(0) != secret_of(None)
    assert secret_of(0) == secret_of(0)
    assert len(secret) == 16
    assert match_id(secret_of(6)) != match


def test_questions_and_answers_are_those_of_the_protocol(tmp_path: Path, shared_folder: Path) -> None:
    heard = shared_folder / "heard"
    bot = tmp_path / "bot.py"
    bot.write_text(
        textwrap.dedent(f"""
        import sys, json
        with open({str(heard)!r}, "w") as log:
            for line in sys.stdin:
                log.write(line); log.flush()
                message = json.loads(line)
                if message["type"] == "start":
                    print('{{"type":"ready","protocol":1,"name":"Raw"}}', flush=True)
                if message["type"] == "turn":
                    build = '{{"build":{{"kind":"diagonal"}},"remove":[5]}}' if message["turn"] == 0 else "{{}}"
                    print('{{"type":"move","turn":%d,"move":%s}}' % (message["turn"], build), flush=True)
        """)
    )
    play_match(str(bot), "still", max_steps=2, seed=3)
    start, first, second, end = map(json.loads, heard.read_text().splitlines())
    assert list(start) == ["type", "protocol", "game", "version", "rules", "seat", "settings", "clock", "seed", "match"]
    assert (start["protocol"], start["game"], start["seat"], start["settings"]["max_steps"]) == (1, "evasion", "hunter", 2)
    assert start["seed"] == seat_seed(secret_of(3), start["match"], "hunter")
    assert list(first) == ["type", "turn", "state", "notices", "left"]
    assert (first["turn"], first["notices"], first["left"]) == (0, [], {"move": 30.0, "bank": None})
    assert second["state"]["step"] == 1
    assert [notice["code"] for notice in second["notices"]] == ["unknown-wall", "wall-refused"]
    assert end["result"]["reason"] == "evaded"


def test_a_program_that_cannot_start(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no first line\n")
    broken.chmod(0o755)
    lost = tmp_path / "lost"
    lost.write_text("#!/nowhere/interpreter\n")
    lost.chmod(0o755)
    for bot, why in ((broken, "first line names one"), (lost, "does not exist")):
        with pytest.raises(StartError) as caught:
            play_match("straight", str(bot))
        assert why in str(caught.value)
        assert str(bot) in str(caught.value)


def test_bots_of_other_languages(tmp_path: Path) -> None:
    script = tmp_path / "prey.sh"
    script.write_text(
        '#!/bin/sh\nread line\necho \'{"type":"ready","protocol":1}\'\n'
        'while read line; do\n  case "$line" in *\'"type":"end"\'*) exit 0;; esac\n'
        '  turn=${line#*turn\\":}; turn=${turn#*turn\\":}; turn=${turn%%,*}\n'
        '  echo "{\\"type\\":\\"move\\",\\"turn\\":$turn,\\"move\\":{\\"go\\":[1,0]}}"\ndone\n'
    )
    script.chmod(0o755)
    for prey in (str(script), f"sh {script}"):
        result = play_match("straight", prey, max_steps=20)
        assert not result.faults, result.faults
        assert result.state.prey.x == 240


def test_a_match_without_a_free_core_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = play_match("straight", "still", options=UNHURRIED._replace(run=UNHURRIED.run.replace(cores=10_000)), max_steps=5)
    assert result.notes[0].startswith("Not 10000 cores were free")


def test_seats_are_played_by_the_programs_named_for_them() -> None:
    game = games.get("evasion")
    bot = Bot("one-liner", (sys.executable, "-c", "raise SystemExit('never mind')"), "/", about={"program": "one-liner"})
    result = match_between(game, game.codec.settings(None, {}), dict.fromkeys(("hunter", "prey"), bot)).run()
    assert not result.started
    assert "the last line of its stderr: never mind" in result.failures["hunter"].text
    assert result.to_json()["players"]["hunter"]["program"] == "one-liner"


@pytest.mark.parametrize("name", ["\u3164", "\u2800\u115f", "   ", "\u200b"])
def test_a_name_that_shows_nothing_is_none(name: str, tmp_path: Path) -> None:
    bot = tmp_path / "blank.py"
    bot.write_text(
        "import json, sys\nsys.stdin.readline()\n"
        f"print(json.dumps({{'type': 'ready', 'protocol': 1, 'name': {name!r}}}), flush=True)\n"
        "for line in sys.stdin:\n    message = json.loads(line)\n    if message['type'] == 'turn':\n"
        "        print(json.dumps({'type': 'move', 'turn': message['turn'], 'move': {}}), flush=True)\n"
    )
    result = play_match(str(bot), "still", max_steps=2)
    assert not result.faults
    assert result.names["hunter"].startswith(str(bot)[:30])
