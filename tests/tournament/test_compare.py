"""``referee compare``: duels in schedule order, judged by a sequential test."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import select
import shlex
import signal
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest
from leagues import IDLE, PretendPool, first_interrupted, record, write_league

import referee
from referee.errors import PlayerError, StartError, UsageError
from referee.games.game import SettingsError
from referee.match.request import MatchRequest
from referee.tournament import compare
from referee.tournament.compare import BotComparison, SequentialTest
from referee.tournament.comparison_store import open_comparison, stored_seed
from sdk import HunterBot

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from commands import Commands

    from referee.tournament.sequential import Compared
    from referee.tournament.store import Store
    from referee.tournament.values import Record, Task

    Referee = Callable[..., subprocess.CompletedProcess[str]]

PLAYERS = {"evasion": ("straight", "boxer", "still"), "rectangle": ("looper", "idle", "random"), "maze": ("random", "random")}


def request(game: str = "evasion", **settings: Any) -> MatchRequest:
    """A request with a seed."""
    return MatchRequest(game=game, settings=settings, run={"isolation": "none"}, seed=7)


def hunts(strong: str, *, every: int = 1) -> Callable[[Task, int], Record]:
    """Results in which one team needs fewer steps, but for each duel that ``every`` doesn't divide: it is tied."""

    def play(task: Task, number: int) -> Record:
        is_fast = task.names["hunter"] == strong and number % every == 0
        return record(task, 10 if is_fast else 30)

    return play


def numbered(comparison: BotComparison, play: Callable[[Task, int], Record]) -> Callable[[Task], Record]:
    """Results that know the number of the duel."""
    return lambda task: play(task, comparison.number_of(task.seed))


def compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, play: Callable[[Task, int], Record], slots: int = 4, **options: Any
) -> tuple[BotComparison, list[Compared], PretendPool]:
    """A comparison with pretended matches: what is known after each duel."""
    a, b = options.pop("bots", ("straight", "boxer"))
    comparison = BotComparison(options.pop("request", request()), a, b, slots=slots, **options)
    pool = PretendPool(numbered(comparison, play), slots)
    monkeypatch.setattr(compare, "LocalPool", lambda *_: pool)
    return comparison, list(comparison.run(tmp_path)), pool


@pytest.mark.parametrize(
    ("strong", "decision", "share"), [("straight", "better", 1.0), ("boxer", "worse", 0.0), ("nobody", "no-difference", 0.5)]
)
def test_the_stronger_bot_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, strong: str, decision: str, share: float) -> None:
    comparison, known, pool = compared(monkeypatch, tmp_path, hunts(strong))
    assert (known[-1].decision, known[-1].share) == (decision, share)
    assert [one.duels for one in known] == sorted({one.duels for one in known})
    assert len({tuple(sorted(task.names.items())) for task in pool.played}) == 2
    found = comparison.to_json()
    assert (found["a"], found["b"], found["against"], found["seed"]) == ("straight", "boxer", ["evader"], 7)
    assert found["decision"] == decision
    assert comparison.matches == len(pool.played)


def test_the_prefix_of_the_schedule_decides_not_the_order_of_arrival(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ends = set()
    for slots in (1, 3, 8):
        _, known, _ = compared(monkeypatch, tmp_path, hunts("straight", every=3), slots)
        ends.add(known[-1])
    assert len(ends) == 1


def test_the_limit_of_duels_leaves_it_undecided(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    comparison, known, pool = compared(monkeypatch, tmp_path, hunts("straight", every=2), test=SequentialTest(duels=3))
    assert (known[-1].decision, known[-1].duels, comparison.matches, len(pool.played)) == ("undecided", 3, 6, 6)
    assert (known[-1].wins, known[-1].ties, known[-1].losses) == (2, 1, 0)
    assert comparison.sentence().startswith("Undecided after 3 duels: ")
    one, *_ = compared(monkeypatch, tmp_path, hunts("straight", every=2), test=SequentialTest(duels=1))
    assert one.sentence().startswith("Undecided after 1 duel: ")


def opened(folder: Path, comparison: BotComparison) -> AbstractContextManager[Store]:
    """The duels that a folder keeps of a comparison."""
    return open_comparison(folder, comparison.facts, list(comparison.teams.values()), comparison.number_of)


def kept(monkeypatch: pytest.MonkeyPatch, folder: Path, duels: int, slots: int = 3, **options: Any) -> tuple[Compared, list[Task]]:
    """What is known after so many duels, and the matches that were played for it; the folder keeps them."""
    comparison = BotComparison(request(**options), "straight", "boxer", test=SequentialTest(duels=duels), slots=slots)
    pool = PretendPool(numbered(comparison, hunts("straight", every=2)), slots)
    monkeypatch.setattr(compare, "LocalPool", lambda *_: pool)
    with opened(folder, comparison) as duels_kept:
        for _ in comparison.run(folder, store=duels_kept):
            pass
    assert comparison.matches == 2 * duels
    return comparison.compared(), pool.played


def test_a_folder_keeps_the_duels_and_more_of_them_go_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, played = kept(monkeypatch, tmp_path / "out", 3)
    assert (first.duels, len(played)) == (3, 6)
    again, none = kept(monkeypatch, tmp_path / "out", 3)
    assert (again, none) == (first, [])
    more, others = kept(monkeypatch, tmp_path / "out", 7, slots=1)
    assert len(others) == 8
    assert not {task.key for task in played} & {task.key for task in others}
    whole, _ = kept(monkeypatch, tmp_path / "whole", 7)
    assert more == whole
    with (tmp_path / "out" / "matches.csv").open(newline="") as file:
        rows = [row["replay"] for row in csv.DictReader(file)]
    assert sorted(rows) == sorted(f"replays/{task.key}" for task in (*played, *others))


def test_a_match_that_was_stored_and_not_listed_is_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept(monkeypatch, tmp_path, 3)
    listed = (tmp_path / "matches.csv").read_text()
    (tmp_path / "matches.csv").write_text("".join(listed.splitlines(keepends=True)[:-2]))
    kept(monkeypatch, tmp_path, 3)
    assert sorted((tmp_path / "matches.csv").read_text().splitlines()) == sorted(listed.splitlines())


def test_another_comparison_is_not_mixed_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, players: Callable[[dict[str, str]], None]
) -> None:
    players({"a": "hunter prey", "b": "hunter prey"})
    comparison = BotComparison(request(), "a.py", "b.py", test=SequentialTest(duels=3), slots=1)
    with opened(tmp_path / "out", comparison):
        pass
    assert stored_seed(tmp_path / "out") == 7
    assert stored_seed(tmp_path / "none") is None
    (tmp_path / "b.py").write_text((tmp_path / "b.py").read_text() + "# changed\n")
    for other, told in (
        (BotComparison(request(cooldown=30), "a.py", "a.py", test=SequentialTest(duels=3), slots=1), "the settings, the bots"),
        (BotComparison(request(), "a.py", "b.py", test=SequentialTest(p1=0.7), slots=1), "the test, the files of b"),
    ):
        with (
            pytest.raises(UsageError, match=f"holds another comparison, which differs in: {told}"),
            opened(tmp_path / "out", other),
        ):
            pass


@pytest.fixture
def players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Write bots that play the seats named, as ``NAME.py``, into the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(seats: dict[str, str]) -> None:
        for name, played in seats.items():
            leave = f"import sys\nif message['seat'] not in {played.split()!r}: sys.exit('I am no ' + message['seat'])"
            text = IDLE.replace('"start":\n', '"start":\n' + indent(leave, " " * 8) + "\n")
            (tmp_path / f"{name}.py").write_text(text)

    return write


Players = Callable[[dict[str, str]], None]
BOTH = "hunter prey"


def test_two_bots_of_both_roles_meet_in_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, players: Players) -> None:
    players({"a": BOTH, "b": BOTH, "c": BOTH})
    comparison, known, pool = compared(monkeypatch, tmp_path, hunts("a"), bots=("a.py", "b.py"), test=SequentialTest(duels=2))
    assert (comparison.seat, comparison.against, comparison.pairs, known[-1].share) == (None, [], [("a", "b")], 1.0)
    assert {tuple(task.names.values()) for task in pool.played} == {("a", "b"), ("b", "a")}
    bots = ("a.py", "b.py")
    comparison, known, pool = compared(monkeypatch, tmp_path, hunts("a"), bots=bots, against=["c.py"], test=SequentialTest(duels=2))
    assert comparison.pairs == [("a", "c"), ("b", "c")]
    assert all({"a", "b"} != set(task.names.values()) for task in pool.played)
    # A wins all, B ties all.
    assert len(pool.played) == 8
    assert known[-1].share == pytest.approx(0.75)


@pytest.mark.parametrize("seat", ["hunter", "prey"])
def test_bots_of_one_role_play_it_against_the_same_opponent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, players: Players, seat: str
) -> None:
    players({"a": seat, "b": BOTH})

    def play(task: Task, number: int) -> Record:
        # A hunts faster, and escapes for longer.
        return record(task, 10 if (task.names[seat] == "a") == (seat == "hunter") else 30)

    comparison, known, pool = compared(monkeypatch, tmp_path, play, bots=("a.py", "b.py"), test=SequentialTest(duels=2))
    other = "evader" if seat == "hunter" else "searcher"
    assert (comparison.seat, comparison.against, known[-1].share) == (seat, [other], 1.0)
    assert [text.partition(":")[0] for text in comparison.why] == [f"a plays only {seat}"]
    assert "I am no" in comparison.why[0]
    starts: dict[int, list[Task]] = {}
    for task in pool.played:
        starts.setdefault(task.seed, []).append(task)
    for first, second in starts.values():
        assert {first.names[seat], second.names[seat]} == {"a", "b"}
        assert (first.settings, first.seed) == (second.settings, second.seed)
        assert {name for task in (first, second) for one, name in task.names.items() if one != seat} == {other}


def test_bots_of_one_role_play_several_opponents(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    comparison, known, pool = compared(monkeypatch, tmp_path, hunts("straight"), against=["still", "runner"], test=SequentialTest(duels=2))
    assert (comparison.seat, comparison.pairs) == ("hunter", [("straight", "boxer")] * 2)
    assert {tuple(task.names.values()) for task in pool.played} == {(a, b) for a in ("straight", "boxer") for b in ("still", "runner")}
    assert (len(pool.played), known[-1].share) == (8, 1.0)


def test_one_role_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, players: Players) -> None:
    players({"a": BOTH, "b": BOTH})
    comparison, known, pool = compared(
        monkeypatch, tmp_path, hunts("a"), bots=("a.py", "b.py"), seat="hunter", test=SequentialTest(duels=1)
    )
    assert ({task.names["prey"] for task in pool.played}, known[-1].share) == ({"evader"}, 1.0)
    assert comparison.to_json()["seat"] == "hunter"


NO_ROLE: list[tuple[tuple[str, ...], str | None, str]] = [
    (("straight", "still"), None, "straight plays only hunter. still plays only prey. So there is no role"),
    (("straight", "boxer"), "prey", "they can't be compared as prey"),
    (("straight", "boxer", "searcher"), None, "no role in which they can be compared"),
    (("random", "b.py", "still", "boxer"), None, "no role in which they can be compared"),
    (("straight", "boxer"), "pray", "no such seat; there are hunter, prey"),
]


@pytest.mark.parametrize(("bots", "seat", "told"), NO_ROLE)
def test_bots_without_a_common_role_are_refused(players: Players, bots: tuple[str, ...], seat: str | None, told: str) -> None:
    players({"b": BOTH})
    a, b, *against = bots
    with pytest.raises(UsageError, match=re.escape(told)):
        BotComparison(request(), a, b, against, slots=1, seat=seat)


def test_games_without_roles_refuse_a_seat() -> None:
    with pytest.raises(UsageError, match="are all alike; leave it out"):
        BotComparison(request("rectangle"), "looper", "idle", slots=1, seat="1")


def test_an_opponent_that_does_not_start_is_no_opponent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(task: Task, number: int, *, from_duel: int) -> Record:
        done = record(task, 10 if task.names["hunter"] == "straight" else 30)
        return done._replace(started=False, faults={"prey": "It exited."}) if number >= from_duel else done

    with pytest.raises(StartError, match=r"The opponent still did not start, so nothing can be compared: It exited\."):
        compared(monkeypatch, tmp_path, partial(fails, from_duel=0), 1, against=["still"])
    comparison, known, _ = compared(monkeypatch, tmp_path, partial(fails, from_duel=1), 1, against=["still"], test=SequentialTest(duels=3))
    # It started once: the other duels are nobody's fault.
    assert (known[-1].wins, known[-1].ties, known[-1].losses) == (1, 2, 0)
    assert comparison.to_json()["not_started"] == {"still": 4}


def test_the_same_bot_twice_and_on_the_same_starts_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compare, "LocalPool", lambda *_: PretendPool(lambda task: hunts("nobody")(task, 0)))
    comparison = BotComparison(request(), "still", "still", test=SequentialTest(duels=3), slots=1)
    assert (comparison.a, comparison.b) == ("still", "still (2)")
    assert [known.share for known in comparison.run(tmp_path)][-1] == 0.5


BAD: list[tuple[dict[str, Any], str]] = [
    ({"p0": 0.6, "p1": 0.5}, "p0"),
    ({"p0": 0.5, "p1": 0.5}, "p0"),
    ({"alpha": 0.0}, "alpha"),
    ({"beta": 1.0}, "beta"),
    ({"p0": 0.3, "p1": 0.4}, "mean must be 0.5 or more"),
    ({"duels": 0}, "from 1 to 1,000,000"),
]


@pytest.mark.parametrize(("options", "told"), BAD)
def test_bad_tests_are_refused_with_a_sentence(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        BotComparison(request(), "straight", "boxer", test=SequentialTest(**options), slots=1)
    assert "\n" not in str(caught.value)


FLAGS = ("--isolation", "none", "--max-steps", "60", "--size", "60x60", "--prey", "40,25", "--seed", "5", "--slots", "1")


def test_the_command_prints_what_json_has(referee: Referee, tmp_path: Path) -> None:
    undecided = referee("compare", "straight", "boxer", "--duels", "2", "--json", *FLAGS)
    assert undecided.returncode == 1, undecided.stderr
    found = json.loads(undecided.stdout)
    assert found["decision"] == "undecided"
    assert {
        "llr",
        "llr_worse",
        "lower",
        "upper",
        "share",
        "low",
        "high",
        "elo",
        "elo_low",
        "elo_high",
        "duels",
        "matches",
        "p0",
        "p1",
    } <= set(found)
    plain = referee("compare", "straight", "boxer", "--duels", "2", "--out", str(tmp_path / "out"), *FLAGS)
    assert plain.returncode == 1
    # Each plays one role, so the opponent is told; the list of matches names their replays.
    assert "straight plays only hunter.\n" in plain.stderr
    assert "straight and boxer are compared as hunter, each against evader on the same starts." in plain.stderr
    with (tmp_path / "out" / "matches.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted((row["hunter"], row["prey"]) for row in rows if row["duel"] == "1") == [("boxer", "evader"), ("straight", "evader")]
    assert len(rows) >= 4
    assert all((tmp_path / "out" / row["replay"]).is_file() for row in rows)
    assert plain.stdout.startswith("Undecided after 2 duels")
    assert f"share    {found['share']:.3f}" in plain.stdout


@pytest.mark.parametrize("words", [("compare", "straight", "boxer", "--duels", "1"), ("play", "straight", "still", "--games", "2")])
def test_a_board_without_room_for_the_standard_start_needs_no_other(words: tuple[str, ...], referee: Referee) -> None:
    done = referee(*words, "--size", "60x60", "--max-steps", "20", "--isolation", "none", "--slots", "2")
    assert done.returncode in (0, 1), done.stderr
    if words[0] == "compare":
        assert "Try:" in done.stdout
        # The command that it tells plays.
        single = shlex.split(done.stdout.rpartition("referee ")[2])
        assert referee(*single).returncode == 0


@pytest.mark.slow
def test_a_bot_that_does_not_start_is_told(referee: Referee, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    line = ("compare", "straight", "broken.py", "--duels", "3", *FLAGS)
    plain = referee(*line)
    assert plain.stderr.count("broken did not start, so it loses the duel: ") == 1
    assert "faults   broken in 3 matches; it did not start in 3 matches: " in plain.stdout
    found = json.loads(referee(*line, "--json").stdout)
    assert (found["faults"], found["not_started"]) == ({"broken": 3}, {"broken": 3})
    both = json.loads(referee("compare", "broken.py", "./broken.py", *line[3:], "--json").stdout)
    assert both["share"] == 0.5


def begun(commands: Commands, folder: Path, *words: str) -> tuple[int, str, str]:
    """The exit status, stdout and stderr of a comparison that Ctrl-C ends once six of its matches are stored."""
    running = commands.start("compare", *words, cwd=folder)
    while stored(folder / "out") < 6:
        assert running.poll() is None
        select.select([], [], [], 0.02)
    running.send_signal(signal.SIGINT)
    told, problems = running.communicate(60)
    return running.wait(60), told, problems


def stored(folder: Path) -> int:
    """How many matches a folder keeps."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{folder}/comparison.sqlite?mode=ro", uri=True)) as database:
            return int(database.execute("select count(*) from records where counts = 1").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def done(folder: Path) -> list[str]:
    """The replays of the matches that a folder lists."""
    try:
        with (folder / "matches.csv").open(newline="") as file:
            return [row["replay"] for row in csv.DictReader(file)]
    except FileNotFoundError:
        return []


def test_ctrl_c_tells_the_result_so_far_and_the_same_command_goes_on(commands: Commands, referee: Referee, tmp_path: Path) -> None:
    words = ("straight", "boxer", "--against", "evader", "--duels", "12", "--alpha", "1e-9", "--beta", "1e-9", *FLAGS)
    code, told, problems = begun(commands, tmp_path, *words, "--out", "out")
    assert (code, "Traceback" in problems) == (130, False), problems
    assert re.match(r"Undecided after \d+ of at most 12 duels: the comparison has not come to its end\.\n  duels    ", told)
    assert re.search(r"  share    0\.\d+  \(0\.\d+ to [01]\.\d+, valid at every moment\)", told)
    assert told.endswith("The duels are kept in out/: the same command continues them.\n")
    assert problems.endswith("referee: Interrupted.\n")
    before = done(tmp_path / "out")
    again = referee("compare", *words, "--out", "out", "--json")
    assert f"{len(before)} matches of earlier runs in out/ are not played again." in again.stderr
    assert done(tmp_path / "out")[: len(before)] == before
    found, whole = json.loads(again.stdout), json.loads(referee("compare", *words, "--json").stdout)
    # How many matches were ahead of the last duel that counts is a matter of time.
    assert {**found, "matches": 0} == {**whole, "matches": 0}


def test_ctrl_c_before_the_first_result_tells_where_the_duels_are(commands: Commands, tmp_path: Path) -> None:
    # One match at a time: the other one of the duel, without the bot that waits, would have a result.
    one = (*FLAGS, "--slots", "1")
    code, told, problems = first_interrupted(commands, tmp_path, "compare", "--duels", "12", "--out", "out", *one)
    assert code == 130, problems
    assert told.startswith("Undecided after 0 of at most 12 duels: the comparison has not come to its end.\n  duels    0 (0 matches)")
    assert told.endswith("The duels are kept in out/: the same command continues them.\n")
    assert problems.endswith("referee: Interrupted.\n")
    code, told, _ = first_interrupted(commands, tmp_path, "compare", "--duels", "12", *FLAGS, at_start=True)
    assert (code, told) == (
        130,
        "Undecided after 0 of at most 12 duels: the bots were being started to test which roles they play.\n",
    )


def test_an_interrupted_comparison_is_one_json_object_and_keeps_its_seed(commands: Commands, referee: Referee, tmp_path: Path) -> None:
    bounds = ("--alpha", "1e-9", "--beta", "1e-9")
    words = ("straight", "boxer", "--duels", "100000", *bounds, *FLAGS[:-4], "--slots", "2", "--json", "--out", "out")
    code, told, problems = begun(commands, tmp_path, *words)
    assert code == 130, problems
    found = json.loads(told)
    assert (found["error"], found["exit_code"], found["decision"], found["duels"] * 2 <= found["matches"]) == (
        "Interrupted.",
        130,
        "undecided",
        True,
    )
    assert referee("league", "standings", "out").returncode == 2
    # No seed was given, so the next run takes that of the first one.
    again = json.loads(referee("compare", *words[:3], "1", *words[4:]).stdout)
    assert (again["seed"], again["duels"]) == (found["seed"], 1)


def test_a_league_and_a_comparison_have_no_folder_in_common(referee: Referee, tmp_path: Path) -> None:
    file = write_league(tmp_path / "in", 2)
    assert referee("league", "run", file, "--out", "league", "-q").returncode == 0
    assert referee("compare", "straight", "boxer", "--duels", "1", "-q", *FLAGS, "--out", "compared").returncode == 1
    done = referee("compare", "straight", "boxer", "--duels", "1", "-q", *FLAGS, "--out", "league")
    assert (done.returncode, done.stderr) == (
        2,
        "referee: league holds a league, so no comparison can be kept there; name another folder with --out.\n",
    )
    for words in (("run", file, "--out", "compared"), ("standings", "compared")):
        refused = referee("league", *words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "the duels of a comparison" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("game", ["rectangle", "maze"])
def test_other_games_are_compared_too(referee: Referee, game: str) -> None:
    done = referee("compare", *PLAYERS[game][:2], "--game", game, "--duels", "2", "--json", "--isolation", "none", "--seed", "5")
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["duels"] == 2
    plain = referee("compare", *PLAYERS[game][:2], "--game", game, "--duels", "1", "--isolation", "none")
    verb = "duel" if game == "maze" else "play"
    assert f"referee {verb} {PLAYERS[game][0]} {PLAYERS[game][1]} --game {game} --isolation none" in plain.stdout


def test_python_gives_the_result_of_the_command(commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["compare", "boxer", "straight", "--against", "random", "--seed", "3", "--duels", "2", "--size", "40x40", "--max-steps", "60"]
    printed = commands.run(*words, "--isolation", "none", "--json", "--out", "kept", cwd=tmp_path)
    assert printed.returncode == 1, printed.stderr
    options: Any = {"against": "random", "seed": 3, "duels": 2, "width": 40, "height": 40, "max_steps": 60, "isolation": "none", "slots": 1}
    states: list[Compared] = []
    found = referee.compare("boxer", "straight", **options, progress=states.append)
    assert found.to_json() == json.loads(printed.stdout)
    assert [state.duels for state in states] == [1, 2]
    assert (found.decision, found.a, found.b, found.against, found.duels) == ("undecided", "boxer", "straight", ["random"], 2)
    assert found.low <= found.share <= found.high
    assert repr(found) == f"<Comparison boxer - straight: {found.text}>"
    assert found.text == "Undecided after 2 duels: too few for a chance of error of 5.0%; more of them: duels=1000"
    # The folder of the command is continued by the same call, which has nothing left to play.
    replays = sorted(path.stat().st_mtime_ns for path in (tmp_path / "kept/replays").rglob("*.gz"))
    again = referee.compare("boxer", "straight", **options | {"seed": None}, out="kept")
    assert again.to_json() == found.to_json()
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "kept/replays").rglob("*.gz")) == replays


def test_python_says_what_cannot_be_compared(tmp_path: Path) -> None:
    class Mine(HunterBot):
        pass

    not_programs: Any = Mine
    with pytest.raises(PlayerError, match="Mine is not a program: compare takes files"):
        referee.compare(not_programs, "boxer")
    with pytest.raises(UsageError, match="duels is 0, but must be from 1"):
        referee.compare("boxer", "straight", duels=0)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="a comparison writes several files"):
        referee.compare("boxer", "straight", out=tmp_path / "file")
    with pytest.raises(SettingsError):
        referee.compare("boxer", "straight", cooldown=-1)
