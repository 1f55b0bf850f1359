"""Work in threads for visitors, who may leave at any moment."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from pathlib import Path

from serving import PATIENCE

from referee.pages.replay_session import ReplaySession, worked

REPLAY = Path(__file__).parents[1] / "data" / "replays" / "evasion-classic-boxer-runner.replay.jsonl.gz"


def test_a_turn_ends_with_its_thread_and_not_with_its_visitor() -> None:
    at_work, go_on = threading.Event(), threading.Event()

    def work() -> None:
        at_work.set()
        go_on.wait(PATIENCE)

    async def main() -> None:
        turn = asyncio.Lock()
        visitor = asyncio.create_task(worked(work, turn))
        await asyncio.to_thread(at_work.wait)
        visitor.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await visitor
        assert turn.locked()
        waiting = asyncio.create_task(worked(lambda: "next", turn))
        go_on.set()
        assert await waiting == "next"
        assert not turn.locked()

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_many_replays_that_wait_for_their_turn_take_no_thread() -> None:
    async def main() -> None:
        turn = asyncio.Lock()
        await turn.acquire()
        before = threading.active_count()
        sessions = [ReplaySession(REPLAY, turn=turn) for _ in range(50)]
        for session in sessions:
            session.start_verdicts()
        await asyncio.sleep(0)
        assert threading.active_count() <= before
        turn.release()
        assert (await sessions[0].verdict())["status"] == "good"
        for session in sessions:
            session.recorded.cancel()
        await asyncio.gather(*(session.verdict() for session in sessions))

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_the_moves_that_cost_most_come_with_better_ones() -> None:
    async def main() -> None:
        session = ReplaySession(REPLAY.with_name("maze-dasher-hard.replay.jsonl.gz"))
        assert session.mistakes() == [], "it was not played again yet"
        assert (await session.verdict())["status"] == "good"
        (mistake,) = [found for found in session.mistakes() if found["turn"] == 37]
        assert (mistake["seat"], mistake["text"]) == ("policeman", "then nobody can win")
        assert mistake["better"] != mistake["played"]

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
