"""Replays: what is written, what is read back, and what is found out."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from conftest import play_match
from recorded_games import read_closely, steps_of

from referee.errors import ReplayCut, ReplayError
from referee.replay import writer as replay_module
from referee.replay.paths import reserve
from referee.replay.reader import read_lines, verify
from referee.replay.writer import ReplayWriter

if TYPE_CHECKING:
    from collections.abc import Callable

Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real match with walls, refusals, removals and remarks."""
    path = tmp_path_factory.mktemp("replay") / "good.replay.jsonl.gz"
    play_match("random", "random", rules="diagonal", seed=11, replay=path, max_steps=250, cooldown=3)
    return path


def load(path: Path) -> Records:
    return [json.loads(line) for line in gzip.open(path).read().splitlines()]


def store(records: Records, path: Path, *, sign: bool = True) -> Path:
    """Write records as a replay; signing puts the right digest into the result, as a careful forger would."""
    lines = [json.dumps(record, separators=(",", ":")) + "\n" for record in records]
    if sign and records[-1].get("type") == "result":
        lines[-1] = lines[-1].partition(',"sha256":"')[0] + ',"sha256":"'
        digest = hashlib.sha256("".join(lines).encode()).hexdigest()
        lines[-1] += digest + '"}\n'
    with gzip.open(path, "wb") as file:
        file.write("".join(lines).encode())
    return path


def test_a_real_replay_is_good_and_holds_everything(good: Path) -> None:
    steps, found = steps_of(good), read_closely(good)
    assert found.problem is None
    assert found.turns == len(steps) == found.result["steps"]  # type: ignore[index]
    assert {
        "format",
        "game",
        "version",
        "rules",
        "settings",
        "seed",
        "players",
        "clock",
        "isolation",
        "machine",
        "referee",
    } <= found.head.keys()
    assert found.head["settings"]["cooldown"] == 3
    assert len(found.head["players"]["hunter"]["sha256"]) == 64
    codes = {notice.code for step in steps for notice in step.notices}
    assert {"wall-built", "wall-removed", "wall-refused"} <= codes
    assert all(set(step.answers) == ({"hunter", "prey"} if step.turn % 2 else {"hunter"}) for step in steps)


def find(records: Records, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return next(record for record in records[20:] if "changes" in record and wanted(record))


def edit_position(records: Records) -> None:
    records[50]["changes"]["hunter"][0] += 1


def edit_prey_move(records: Records) -> None:
    step = find(records, lambda record: record["turn"] % 2 == 1 and "notices" not in record)
    old = step.get("moves", {}).get("prey", {}).get("go")
    step.setdefault("moves", {})["prey"] = {"go": [0, 1] if old != [0, 1] else [1, 0]}


def edit_a_build(records: Records) -> None:
    step = find(records, lambda record: "built" in record["changes"])
    step["moves"]["hunter"]["build"]["kind"] = "horizontal" if step["moves"]["hunter"]["build"]["kind"] != "horizontal" else "vertical"


def edit_a_wall(records: Records) -> None:
    find(records, lambda record: "built" in record["changes"])["changes"]["built"][0]["x1"] += 1


def edit_a_move_into_nonsense(records: Records) -> None:
    records[30]["moves"] = {"hunter": {"build": 3}}


def move_for_nobody(records: Records) -> None:
    records[30]["moves"] = {"king": {}}


def drop_a_step(records: Records) -> None:
    del records[40]


def swap_steps(records: Records) -> None:
    records[40], records[41] = records[41], records[40]


def edit_the_score(records: Records) -> None:
    records[-1]["scores"] = {"hunter": 1}


def edit_the_winner(records: Records) -> None:
    records[-1]["winner"] = "hunter" if records[-1]["winner"] == "prey" else "prey"


def add_after_the_end(records: Records) -> None:
    records.insert(-1, {**records[-2], "turn": records[-2]["turn"] + 1})


def edit_a_setting(records: Records) -> None:
    records[0]["settings"]["max_steps"] = 9_000


def add_a_notice(records: Records) -> None:
    records[60]["notices"] = [{"code": "wall-refused", "text": "never happened", "seat": "hunter"}]


def add_a_fault_after_the_end(records: Records) -> None:
    fault = {"type": "fault", "turn": records[-1]["steps"], "faults": {"prey": {"kind": "late", "text": "never"}}}
    records.insert(-1, fault)


def add_a_fault_of_who_was_not_asked(records: Records) -> None:
    records[9:] = [{"type": "fault", "turn": 8, "faults": {"prey": {"kind": "late", "text": "never"}}}, records[-1]]


def write_true_for_a_turn(records: Records) -> None:
    records[2]["turn"] = True


def add_a_change_that_is_null(records: Records) -> None:
    records[50]["changes"]["weather"] = None


def write_a_float_for_a_place(records: Records) -> None:
    records[50]["changes"]["hunter"][0] = float(records[50]["changes"]["hunter"][0])


EDITS = [
    (add_a_fault_after_the_end, "order", "faults"),
    (add_a_fault_of_who_was_not_asked, "order", "faults"),
    (write_true_for_a_turn, "order", "turn"),
    (write_a_float_for_a_place, "state", "hunter"),
    (add_a_change_that_is_null, "state", "weather"),
    (edit_position, "state", "hunter"),
    (edit_prey_move, "state", "prey"),
    (edit_a_build, "state", "built"),
    (edit_a_wall, "state", "built"),
    (edit_a_move_into_nonsense, "moves", "moves"),
    (move_for_nobody, "moves", "moves"),
    (drop_a_step, "order", "turn"),
    (swap_steps, "order", "turn"),
    (edit_the_score, "outcome", "scores"),
    (edit_the_winner, "outcome", "winner"),
    (add_after_the_end, "order", None),
    (edit_a_setting, "cut", None),
    (add_a_notice, "notices", "notices"),
]


@pytest.mark.parametrize(("edit", "kind", "field"), EDITS, ids=[edit.__name__ for edit, _, _ in EDITS])
def test_each_edit_is_told_apart_even_when_signed_anew(
    edit: Callable[[Records], None], kind: str, field: str | None, good: Path, tmp_path: Path
) -> None:
    records = load(good)
    edit(records)
    problem = verify(store(records, tmp_path / "edited.gz")).problem
    assert problem is not None
    assert (problem.kind, problem.field) == (kind, field)
    assert problem.text.isprintable()


def test_the_first_difference_is_told_with_its_turn_field_and_both_values(good: Path, tmp_path: Path) -> None:
    records = load(good)
    true = records[50]["changes"]["hunter"].copy()
    edit_position(records)
    records[70]["changes"]["hunter"] = []
    problem = verify(store(records, tmp_path / "edited.gz")).problem
    assert problem is not None
    assert problem.turn == records[50]["turn"] == 49
    said = records[50]["changes"]["hunter"]
    assert problem.text == f"turn 49, field hunter: the replay says {compact(said)}, the moves give {compact(true)}"


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def test_an_edit_without_effect_is_found_by_the_digest(good: Path, tmp_path: Path) -> None:
    records = load(good)
    records[10]["us"]["hunter"] += 1
    problem = verify(store(records, tmp_path / "edited.gz", sign=False)).problem
    assert problem is not None
    assert problem.kind == "digest"


def test_edited_times_in_the_result_are_found_too(good: Path, tmp_path: Path) -> None:
    records = load(good)
    records[-1]["time"]["prey"]["used_seconds"] = 0.0
    problem = verify(store(records, tmp_path / "edited.gz", sign=False)).problem
    assert problem is not None
    assert problem.kind == "digest"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.97])
def test_a_cut_file_is_good_up_to_the_cut(share: float, good: Path, tmp_path: Path) -> None:
    data = good.read_bytes()
    cut = tmp_path / "cut.gz"
    cut.write_bytes(data[: int(len(data) * share)])
    try:
        found = verify(cut)
    except ReplayError as error:
        assert share == 0.1, error
        return
    assert found.problem is not None
    assert found.problem.kind == "cut"
    assert "which are good" in found.problem.text


def test_a_replay_without_its_result_is_cut(good: Path, tmp_path: Path) -> None:
    problem = verify(store(load(good)[:-1], tmp_path / "cut.gz")).problem
    assert problem is not None
    assert (problem.kind, problem.turn) == ("cut", load(good)[-1]["steps"])


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("replay format 2; this version reads format 1", {"format": 2}),
    ("under version 99 of the rules of evasion", {"version": 99}),
    ("there is no game 'chess'", {"game": "chess"}),
    ("no rule set 'cubic'", {"rules": "cubic"}),
    ("width is 999999999", {"settings": {"width": 999_999_999}}),
    ("no settings", {"settings": 3}),
    ("no rules", {"rules": []}),
    ("names other players", {"players": {}}),
    ("names other players", {"players": {"hunter": {}, "prey": {}, "bob": {}}}),
    ("its first line is not a head", {"type": "step"}),
]


@pytest.mark.parametrize(("why", "change"), REFUSED, ids=[why for why, _ in REFUSED])
def test_what_cannot_be_read_here_is_refused_with_the_reason(why: str, change: dict[str, Any], good: Path, tmp_path: Path) -> None:
    records = load(good)
    records[0] |= change
    with pytest.raises(ReplayError) as caught:
        verify(store(records, tmp_path / "other.gz"))
    assert why in str(caught.value)


HOSTILE: list[tuple[str, Callable[[Path], bytes]]] = [
    ("is not a replay", lambda good: b"plain text"),
    ("is empty", lambda good: gzip.compress(b"")),
    ("breaks off", lambda good: b""),
    ("a line of more than", lambda good: gzip.compress(b'"' + b"a" * (64 << 20))),
    ("is not JSON", lambda good: gzip.compress(b"\x00" * 100 + b"\n")),
    ("not a JSON object", lambda good: gzip.compress(b"[]\n")),
    ("is not JSON", lambda good: gzip.compress(b'"' + b'\\"' * 500_000 + b"\n")),
    ("nested deeper", lambda good: gzip.compress(b"[" * 100_000 + b"\n")),
    ("damaged", lambda good: good.read_bytes()[:60] + b"\xff" * 50 + good.read_bytes()[110:]),
]


@pytest.mark.parametrize(("why", "make"), HOSTILE, ids=[why for why, _ in HOSTILE])
def test_hostile_files_are_refused_with_a_sentence(why: str, make: Callable[[Path], bytes], good: Path, tmp_path: Path) -> None:
    path = tmp_path / "hostile.gz"
    path.write_bytes(make(good))
    try:
        found = verify(path)
    except ReplayError as error:
        text = str(error)
    else:
        assert found.problem is not None
        text = found.problem.text
    assert why in text or (why == "breaks off" and "is empty" in text)


def test_records_of_the_wrong_shape_never_raise(good: Path, tmp_path: Path) -> None:
    junk: list[Any] = [None, 3, "x", [], {}, {"hunter": 3}, {"hunter": {"go": 1}}, [[1]], True]
    records = load(good)
    for key in ("moves", "changes", "notices", "turn", "us", "cpu_us", "wall_us", "type", "remarks"):
        for value in junk:
            edited = [dict(record) for record in records[:60]]
            edited[30][key] = value
            problem = verify(store(edited, tmp_path / "junk.gz")).problem
            assert problem is not None
    for value in junk:
        faulty = [*records[:30], {"type": "fault", "turn": 29, "faults": value}, records[-1]]
        assert verify(store(faulty, tmp_path / "junk.gz")).problem is not None


@pytest.mark.slow
def test_ordinary_lines_are_judged_as_by_the_full_check(good: Path, tmp_path: Path) -> None:
    """Each damage is found with the same words whether a step's line is decoded or only compared."""
    text = gzip.open(good).read()
    assert verify(good) == read_closely(good)
    random = Random(5)
    kinds = set()
    for number in range(150):
        at = random.randrange(text.index(b"\n"), len(text))
        new = random.choice([b"", b"0", b"1", b'"', b",", b"}", b"{}", b"\n", b" ", b"\xff", b'"a":1,', text[at : at + 1] * 2])
        file = tmp_path / f"{number}.gz"
        file.write_bytes(gzip.compress(text[:at] + new + text[at + 1 :], 1))
        found = verify(file)
        assert found == read_closely(file), (at, new)
        kinds.add(found.problem and found.problem.kind)
    assert len(kinds) >= 4


def test_lines_are_cut_where_the_newlines_are(tmp_path: Path) -> None:
    lines = [b"a" * length + b"\n" for length in (0, 1, 8190, 8191, 8192, 8193, 3, 100_000, 0, 0, 16_384)]
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"".join(lines)))
    assert list(read_lines(tmp_path / "x.gz")) == lines
    (tmp_path / "y.gz").write_bytes(gzip.compress(b"".join(lines) + b"rest"))
    read: list[bytes] = []
    with pytest.raises(ReplayCut, match="in the middle of a line"):
        read.extend(read_lines(tmp_path / "y.gz"))
    (tmp_path / "z.gz").write_bytes(gzip.compress(b"".join(lines))[:-9])
    with pytest.raises(ReplayCut, match="breaks off"):
        read.extend(read_lines(tmp_path / "z.gz"))
    assert read[: len(lines)] == lines
    assert read[len(lines) :] == lines[: len(read) - len(lines)]


def test_slow_and_large_lines_stay_cheap(good: Path, tmp_path: Path) -> None:
    records = load(good)
    lines = [json.dumps(record).encode() for record in records[:5]]
    bombs = [
        b'{"turn":4,"moves":{},"changes":{' + b'},"changes":{' * 100_000,
        b'{"turn":4,"moves":{"hunter":{"remove":[' + b"1," * 1_000_000 + b'1]}},"changes":{}}',
    ]
    for bomb in bombs:
        path = tmp_path / "bomb.gz"
        path.write_bytes(gzip.compress(b"\n".join([*lines, bomb]) + b"\n"))
        assert verify(path).problem is not None


def test_flushed_every_hundred_steps_or_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(replay_module, "monotonic", lambda: now[0])
    path = tmp_path / "flush.gz"
    readable: list[int] = []

    class Spy(ReplayWriter):
        def stepped(self, event: Any) -> None:
            if event.turn == 250:
                now[0] += 1.0
            super().stepped(event)
            readable.append(self.count())

        def count(self) -> int:
            try:
                return sum(1 for _ in read_lines(path)) - 1
            except ReplayError:
                return len(_readable_lines(path)) - 1

    play_match("straight", "still", listeners=[Spy(path)], max_steps=260)
    assert readable[98] == 0
    assert readable[99] == 100
    assert readable[199] == 200
    assert readable[249] == 200
    assert readable[250] == 251


def _readable_lines(path: Path) -> list[bytes]:
    lines: list[bytes] = []
    with contextlib.suppress(ReplayError):
        lines.extend(read_lines(path))
    return lines


def test_paths_never_collide_and_folders_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("referee.replay.paths.time.strftime", lambda _: "now")
    first, second = reserve(None, ["a.py", "ö b"]), reserve(None, ["a.py", "ö b"])
    assert [path.name for path in (first, second)] == ["now-a-ö-b.replay.jsonl.gz", "now-a-ö-b-2.replay.jsonl.gz"]
    assert first.parent == Path("matches/replays")
    assert reserve("deep/folder/", "b") == Path("deep/folder/now-b.replay.jsonl.gz")
    assert reserve("deep/folder", "b") == Path("deep/folder/now-b-2.replay.jsonl.gz")
    assert reserve("named", "b") == Path("named.replay.jsonl.gz")
    assert reserve("named.gz", "b") == Path("named.gz")
    assert reserve("named.gz", "b") == Path("named.gz")
