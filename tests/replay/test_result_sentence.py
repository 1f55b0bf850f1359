"""The sentence that says how a match ended, with the names of its players."""

from __future__ import annotations

import pytest
from recorded_games import DATA

from referee.games.outcome import Outcome
from referee.pages.folder_listing import ReplayFile, read_entry
from referee.replay.faults import Fault
from referee.replay.names import result_sentence, what_failed
from referee.replay.reader import verify

CHASE = {"hunter": {"name": "Searcher"}, "prey": {"name": "Evader"}}
FOUR = {"a": {"name": "Ada"}, "b": {"name": "Bo"}, "c": {}, "d": {"team": "Dora", "name": "Ada"}}


def fault(kind: str, **values: str) -> Fault:
    return Fault(kind, "left" if values else "", values, "text", detail={"cause": "left"} if values else None)


@pytest.mark.parametrize(
    ("players", "reason", "winner", "text", "sentence"),
    [
        (CHASE, "caught", "hunter", "The hunter catches the prey after 469 steps.", "Searcher catches Evader after 469 steps."),
        (
            {"hunter": {"name": "prey"}, "prey": {"team": "Zo\u00eb", "name": "Still"}},
            "trapped",
            "prey",
            "Hunter and prey are apart for good after 70 rounds: the prey wins, the hunter has no score.",
            "prey and Zo\u00eb are apart for good after 70 rounds: Zo\u00eb wins, prey has no score.",
        ),
        (
            {"hunter": {"name": "Same"}, "prey": {"name": "Same"}},
            "caught",
            "hunter",
            "The hunter catches the prey after 1 step.",
            "Same (hunter) catches Same (prey) after 1 step.",
        ),
        (
            FOUR,
            "full",
            "b",
            "b wins with 5 cells after 9 turns: a gained nothing.",
            "Bo wins with 5 cells after 9 turns: a gained nothing.",
        ),
        (FOUR, "full", None, "a, c and d share the first place with 5 cells.", "Ada, c and Dora share the first place with 5 cells."),
        (CHASE, "prey-timeout", "hunter", "The prey runs out of time after 61 steps.", "Searcher wins: Evader ran out of time in step 61."),
        (CHASE, "hunter-fault", "prey", "The hunter fails.", "Evader wins: Searcher crashed in step 1,120."),
        (
            {**CHASE, "hunter": {"name": "\x1b[31mred"}},
            "hunter-fault",
            "prey",
            "The hunter fails.",
            r"Evader wins: \x1b[31mred crashed in step 1,120.",
        ),
        (
            {**CHASE, "hunter": {"name": "Ada", "program": "human"}},
            "hunter-fault",
            None,
            "Both fail.",
            "Nobody wins: Ada gave up in step 3.",
        ),
    ],
)
def test_a_result_names_the_players(players: dict[str, dict[str, str]], reason: str, winner: str | None, text: str, sentence: str) -> None:
    faults, turns = {"prey": fault("late")}, {"prey": 61}
    if reason == "hunter-fault":
        is_person = "program" in players["hunter"]
        faults = {"hunter": fault("crashed", words="gave up") if is_person else fault("crashed")}
        turns = {"hunter": 3 if is_person else 1120}
    failed = {seat: what_failed(one) for seat, one in faults.items()}
    assert result_sentence(Outcome(reason, winner, {}, text), players, failed, turns) == sentence


@pytest.mark.parametrize(
    ("name", "sentence", "listed"),
    [
        (
            "evasion-classic-hunter-fault",
            "Runner wins: <b>x sent a malformed answer in step 31.",
            "<b>x fails after 31 steps: it has no score.",
        ),
        (
            "evasion-classic-searcher-evader",
            "Evader is still free after 400 steps, the step limit: Searcher has no score.",
            "Evader is still free after 400 steps, the step limit: Searcher has no score.",
        ),
        (
            "rectangle-small-random-idle",
            "Random wins with 3 cells after 40 turns: the last turn is over.",
            "Random wins with 3 cells after 40 turns: the last turn is over.",
        ),
    ],
)
def test_a_replay_of_an_earlier_version_names_the_players(name: str, sentence: str, listed: str) -> None:
    path = DATA / f"replays/{name}.replay.jsonl.gz"
    replay = verify(path)
    assert replay.result is not None
    assert "sentence" not in replay.result
    assert replay.sentence() == sentence
    # The list of a folder doesn't read the faults.
    assert read_entry(ReplayFile(path, 1, 0), name).text == listed
