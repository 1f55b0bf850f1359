"""The story of a match: what the viewer's scripts tell of recorded matches."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

from served_pages import node

from referee.replay.reader import read_lines
from referee.replay.replay_index import ReplayIndex

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from typing import Any

REPLAYS = Path(__file__).parents[1] / "data" / "replays"


CHASE = REPLAYS / "evasion-classic-searcher-evader.replay.jsonl.gz"


def as_page(replay: Path, change: Callable[[str], str] | None = None, *, analyzes: bool = True) -> dict[str, Any]:
    """Return a replay as the page gets it. ``change`` may edit its text; the engine's analysis is that of the file."""
    index = ReplayIndex()
    if analyzes:
        index.play(replay, read_lines(replay))
        index.compute_verdicts()
    text = gzip.decompress(replay.read_bytes()).decode()
    return {"lines": change(text) if change else text, "metrics": index.metrics, "judged": index.judged}


def stories_of(replays: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the viewer's scripts tell of replays: the ``moments``, and the ``problem``, of each."""
    stories: list[dict[str, Any]] = json.loads(node("tell.mjs", stdin=json.dumps(replays)))
    return stories


def told(*replays: dict[str, Any]) -> list[list[tuple[int, str]]]:
    found = []
    for story in stories_of(list(replays)):
        found.append([(moment["turn"], moment["text"]) for moment in story["moments"]])
        turns = [turn for turn, _ in found[-1]]
        assert turns == sorted(turns)
    return found


def test_a_chase_tells_which_wall_did_it() -> None:
    [story] = stories_of([as_page(CHASE)])
    assert [(moment["turn"], moment["text"]) for moment in story["moments"]] == [
        (0, "The match begins: Searcher (hunter) against Evader (prey)."),
        (0, "At the start the prey can evade forever."),
        (40, "The first wall: horizontal wall 0, from (0, 40) to (299, 40)."),
        (100, "Vertical wall 3 cuts the prey's area from 90,000 to 43,581 cells."),
        (266, "Vertical wall 7 cuts the prey's area from 43,581 to 5,907 cells."),
        (331, "Capture is certain now, within 142 steps: vertical wall 8 caused it."),
        (331, "Vertical wall 8 cuts the prey's area from 5,907 to 179 cells."),
        (399, "The prey is still free after 400 steps, the step limit: the hunter has no score."),
    ]
    [mark] = next(moment["marks"] for moment in story["moments"] if "certain" in moment["text"])
    assert mark["start"][0] == mark["end"][0], "a vertical wall"


def test_moments_of_each_game() -> None:
    wanted = {
        "evasion-classic-boxer-runner": (193, "Capture is certain now, within 9 steps: not because of a wall, but because of the prey's moves."),
        "evasion-classic-hunter-fault": (1, "Vertical wall refused: the next wall is legal in 19 more steps. This happens 29 times."),
        "evasion-gameserver-trapped": (73, "A close call: the hunter is 3.6 cells from the prey, which escapes."),
        "maze-dasher-hard": (37, "A mistake of the policeman. Before: a draw with perfect play. Now: thief escapes in 10 moves."),
        "rectangle-middle-four-players": (8, "Team (d) claims 100 cells, the largest claim of the match."),
        "rectangle-small-random-idle": (0, "The match begins: Random (a) against Idle (b)."),
    }  # fmt: skip
    stories = told(*(as_page(REPLAYS / f"{name}.replay.jsonl.gz") for name in wanted))
    for story, moment in zip(stories, wanted.values(), strict=True):
        assert moment in story, story


def test_costly_moves_are_told_with_what_was_played_and_not_with_what_was_better() -> None:
    mistakes = [{"seat": "prey", "turn": 41, "played": {"go": [0, 1]}, "better": {"go": [1, 0]}, "text": "go east"}]
    [story] = told({**as_page(CHASE, analyzes=False), "mistakes": mistakes})
    assert (41, "A costly move: Evader chose to go \u2191 north.") in story
    assert not any("east" in text for _, text in story)
    # The game tells of its mistakes itself.
    maze = as_page(REPLAYS / "maze-dasher-hard.replay.jsonl.gz")
    [story] = told({**maze, "mistakes": [{"seat": "policeman", "turn": 37, "played": {"go": "U"}, "better": {"go": "D"}, "text": ""}]})
    assert [text.split(".")[0] for turn, text in story if turn == 37] == ["A mistake of the policeman"]


def test_refusals_are_told_by_their_reason_however_they_are_worded() -> None:
    path = REPLAYS / "evasion-classic-hunter-fault.replay.jsonl.gz"
    (story,) = told(as_page(path, lambda text: text.replace("the next wall is legal in 2", "wait, it comes in 2")))
    refused = [text for _, text in story if "refused" in text]
    assert refused == ["Vertical wall refused: the next wall is legal in 19 more steps. This happens 29 times."]


def test_every_match_has_a_beginning_and_an_end() -> None:
    paths = sorted(REPLAYS.glob("*.gz"))
    assert len(paths) > 20
    for path, story in zip(paths, stories_of([as_page(path, analyzes=False) for path in paths]), strict=True):
        assert story["problem"] == "", path
        moments = story["moments"]
        assert moments[0]["text"].startswith("The match begins: "), path
        assert moments[-1]["sign"] == "⚑", path
        assert all(moment["text"].endswith((".", "…")) for moment in moments), (path, moments)


def test_the_end_is_told_at_the_step_of_its_last_event(referee: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """``show`` lists a catch in the last step, and a fault in the step that it cut off; the story ends there, too."""
    names = ("evasion-classic-boxer-runner", "evasion-classic-hunter-fault", "evasion-gameserver-trapped", "maze-dasher-hard")
    paths = [REPLAYS / f"{name}.replay.jsonl.gz" for name in names]
    for path, story in zip(paths, stories_of([as_page(path, analyzes=False) for path in paths]), strict=True):
        shown = json.loads(referee("show", path, "--json").stdout)
        ends = [record["turn"] for record in shown["faults"] if record["turn"] >= shown["steps"]] or [shown["steps"] - 1]
        assert story["moments"][-1]["turn"] == ends[0], path
        assert all(event["turn"] <= ends[0] for event in shown["events"]), path
        assert [moment["turn"] for moment in story["moments"]] == sorted(moment["turn"] for moment in story["moments"])


def test_times_near_the_limit_and_a_bank_that_runs_low() -> None:
    """The hunter takes 0.25 s, later 0.35 s for an answer, twice much more. The limit of a move is 1 s, and the bank has 120 s."""
    turn = -1

    def slower(line: str) -> str:
        nonlocal turn
        record = json.loads(line)
        if "us" in record:
            turn += 1
            record["us"]["hunter"] = 250_000 if turn < 300 else 350_000
            if turn in (100, 200):
                record["us"]["hunter"] = 700_000 + turn * 1_000
        return json.dumps(record, separators=(",", ":")) + "\n"

    [moments] = told(as_page(CHASE, lambda text: "".join(map(slower, text.splitlines())), analyzes=False))
    assert [moment for moment in moments if any(word in moment[1] for word in ("its limit:", "slowest", "bank"))] == [
        (100, "The hunter comes near its limit: 800 of 1,000 ms. 2 answers take 80 % of the limit or more."),
        (200, "The slowest answer of the hunter: 900 of 1,000 ms."),
        (235, "The hunter has 59.8 of 120 s left in its bank."),
        (356, "The hunter has 23.8 of 120 s left in its bank."),
    ]  # fmt: skip


def test_a_replay_that_is_cut_ends_its_story_there() -> None:
    [moments] = told(as_page(CHASE, lambda text: "".join(line + "\n" for line in text.splitlines()[:101]), analyzes=False))
    assert moments[-1] == (100, "The replay is cut short here.")


def test_a_game_without_moments_tells_its_rare_events() -> None:
    replay = as_page(REPLAYS / "evasion-classic-hunter-fault.replay.jsonl.gz", analyzes=False)
    [moments] = told({**replay, "without_moments": True})
    assert (0, "Vertical wall 0 built from (0, 0) to (0, 299).") in moments
    assert sum("refused" in text for _, text in moments) == 1, "one of many"
