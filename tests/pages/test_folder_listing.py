"""What is listed of a folder: replays by their heads and results, and what is wrong with all other files."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from recorded_games import records, sealed

from referee.pages import folder_listing as listing
from referee.pages.folder_listing import ListedReplay, read_entry, scan

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = sorted((Path(__file__).parents[1] / "data" / "replays").glob("*.gz"))
GOOD = RECORDED[0]


def entry(path: Path) -> ListedReplay:
    """The entry of one file."""
    return read_entry(next(found for found in scan(path.parent)[0] if found.path == path), path.name)


def changed(path: Path, head: dict[str, object] | None = None, result: dict[str, object] | None = None, more_steps: int = 0) -> Path:
    """A good replay with another head or result or more steps, and the digest of that text."""
    lines = records(GOOD)
    lines[1:1] = [lines[1]] * more_steps
    lines[0].update(head or {})
    lines[-1].update(result or {})
    path.write_bytes(sealed(lines))
    return path


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_every_recorded_match_is_listed_as_it_ended(path: Path) -> None:
    found, lines = entry(path), records(path)
    head, result = lines[0], lines[-1]
    assert (found.problem, found.opens) == ("", True)
    assert (found.game, found.rules, found.steps) == (head["game"], head["rules"], result["steps"])
    assert (found.winner, found.reason, found.scores) == (result["winner"], result["reason"], result["scores"])
    assert found.players == {seat: player["name"] for seat, player in head["players"].items()}


def test_what_is_no_whole_replay_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    data = GOOD.read_bytes()
    (tmp_path / "cut.gz").write_bytes(data[: len(data) // 2])
    (tmp_path / "stub.gz").write_bytes(data[:30])
    (tmp_path / "junk.gz").write_bytes(b"\x80\x02" * 3000)
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"no replay\n"))
    (tmp_path / "blank.gz").write_bytes(b"")
    (tmp_path / "damaged.gz").write_bytes(data[: len(data) // 2] + b"\xff" * 2000)
    (tmp_path / "link.gz").symlink_to("/nowhere")
    changed(tmp_path / "newer.gz", {"format": 2})
    changed(tmp_path / "rules.gz", {"version": 99})
    changed(tmp_path / "unknown.gz", {"game": "chess"})
    (tmp_path / "folder.gz").mkdir()
    os.mkfifo(tmp_path / "pipe.gz")
    shutil.copy(GOOD, tmp_path / "good.gz")
    found = {file.path.name: read_entry(file, file.path.name) for file in scan(tmp_path)[0]}
    assert set(found) == {path.name for path in tmp_path.iterdir()} - {"folder.gz"}
    assert found["good.gz"].problem == ""
    for name, words in (
        ("cut.gz", "it has no result"),
        ("stub.gz", "cut off before its first line"),
        ("junk.gz", "not a replay: not gzip"),
        ("text.gz", "not JSON"),
        ("blank.gz", "is empty"),
        ("damaged.gz", "damaged"),
        ("link.gz", "it is a link"),
        ("newer.gz", "has replay format 2"),
        ("rules.gz", "version 99 of the rules"),
        ("unknown.gz", "chess"),
        ("pipe.gz", "not an ordinary file"),
    ):
        assert words in found[name].problem, (name, found[name].problem)
    assert {name for name, one in found.items() if one.opens} >= {"good.gz", "cut.gz"}
    assert not any(found[name].opens for name in ("stub.gz", "junk.gz", "newer.gz", "rules.gz", "unknown.gz", "pipe.gz", "link.gz"))


@pytest.mark.parametrize(
    "result",
    [
        {"winner": "nobody such"},
        {"winner": ["x"]},
        {"steps": -1},
        {"steps": True},
        {"scores": {"x": 1}},
        {"scores": [1]},
        {"scores": dict.fromkeys(("hunter", "prey"), 10**300)},
        {"reason": 7},
        {"text": "x" * 10_000},
    ],
    ids=repr,
)
def test_an_odd_result_is_no_failure(tmp_path: Path, result: dict[str, object]) -> None:
    found = entry(changed(tmp_path / "odd.gz", result=result))
    assert (found.problem, found.opens) == ("", True)
    assert found.winner in (None, *found.players)
    assert found.steps is None or found.steps >= 0
    assert all(value is None or abs(value) < 1e16 for value in found.scores.values())
    assert len(json.dumps(found.to_json(), allow_nan=False)) < 3000


@pytest.mark.parametrize("more_steps", [0, 50_000])
def test_the_result_of_an_edited_replay_does_not_count(tmp_path: Path, more_steps: int) -> None:
    path = changed(tmp_path / "edited.gz", more_steps=more_steps)
    text, whole = gzip.decompress(path.read_bytes()), entry(path)
    assert (len(text) > 4 << 20, whole.problem) == (more_steps > 0, "")
    other = next(seat for seat in whole.players if seat != whole.winner)
    path.write_bytes(gzip.compress(text.replace(f'"winner":"{whole.winner}"'.encode(), f'"winner":"{other}"'.encode())))
    found = entry(path)
    assert (found.winner, found.opens) == (None, True)
    assert found.problem == "was edited: its text is not the one that was written, so its result doesn't count."


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (lambda text: b" " * (1 << 20) + text, "is not a replay: its first line has more than 1 MiB."),
        (lambda text: text + b'"' + b"x" * (1 << 20) + b'"\n', "has no result: its last line has more than 1 MiB."),
        (lambda text: text + b"no record\n", "has no result: its last line is not JSON."),
        (lambda text: text + b"half a", "breaks off, or its match still runs: it has no result after"),
    ],
    ids=["long head", "long line", "not JSON", "no result"],
)
def test_a_replay_without_a_result_says_why(tmp_path: Path, edit: Callable[[bytes], bytes], problem: str) -> None:
    path = tmp_path / "edited.gz"
    lines = gzip.decompress(GOOD.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(edit(b"".join(lines[:-1]))))
    assert entry(path).problem.startswith(problem)


def test_a_bomb_and_a_very_long_name_stay_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_TEXT", 4 << 20)
    head = records(GOOD)[0]
    seat = next(iter(head["players"]))
    head["players"][seat]["name"] = "n" * 100_000
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(json.dumps(head).encode() + b"\n" + b"0" * (32 << 20)))
    found = entry(tmp_path / "bomb.gz")
    assert found.problem == "is too long for its result to be listed."
    assert len(found.players[seat]) <= 80
    (tmp_path / "line.gz").write_bytes(gzip.compress(b"0" * (32 << 20)))
    assert not entry(tmp_path / "line.gz").opens


def test_folders_below_are_searched_but_not_links_and_hidden_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("a/b", ".hidden", "empty"):
        (tmp_path / place).mkdir(parents=True)
        if place != "empty":
            shutil.copy(GOOD, tmp_path / place / "one.replay.jsonl.gz")
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "one.hunter.stderr.log").write_text("a log")
    found, notes = scan(tmp_path)
    assert [str(file.path.relative_to(tmp_path)) for file in found] == ["a/b/one.replay.jsonl.gz"]
    assert notes == []
    for number in range(5):
        shutil.copy(GOOD, tmp_path / f"{number}.gz")
    monkeypatch.setattr(listing, "MOST_FILES", 3)
    found, notes = scan(tmp_path)
    assert len(found) == 3
    assert notes == ["Only 3 files are listed; the folder has more."]
    with pytest.raises(OSError, match="No such file"):
        scan(tmp_path / "missing")
