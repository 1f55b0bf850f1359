"""A hunter that searches: Monte Carlo tree search, with simulations by the compiled rules of the batch kernel. It needs the extra ``rl``.

``tree_search.py`` has the search. Its machine code is made by the bot's build (``bot.toml``), so that the bot starts in a second.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import thread_time

try:
    import numpy as np

    from referee.games.evasion.batch import Batch
except ImportError:
    raise SystemExit(f"mcts needs numpy and numba; install them: {sys.executable} -m pip install numpy numba") from None

from sdk import HORIZONTAL, VERTICAL, HunterBot, HunterMove, State

HERE = Path(__file__).parent
COMPILED = HERE / "compiled"


def workshop() -> str:
    """Make a folder with the search and its machine code. numba wants to write beside the code, and a bot can't write to its own folder."""
    folder = Path(tempfile.mkdtemp(prefix="mcts-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copyfile(HERE / "tree_search.py", folder / "tree_search.py")
    # Some versions of numba ask for the same time.
    os.utime(folder / "tree_search.py", (0, 0))
    if COMPILED.is_dir() and sys.argv[1:] != ["--build"]:
        shutil.copytree(COMPILED, folder / "__pycache__")
    return str(folder)


sys.path.insert(0, workshop())
import tree_search  # type: ignore[import-not-found] # noqa: E402 - it is found there

THINK = 0.00008  # seconds of processor time for each answer, on average
BURST = 0.001  # seconds to save before it thinks: to begin takes time, too
FEW = 1  # simulations between two looks at the clock
HORIZON = 800  # steps of a simulation
NODES = 16_384
EXPLORE = 0.1  # how much an arm gains that was tried little, in horizons
FADING = 0.95  # how much a simulation counts that was played one step earlier
MEMORY = 0.95  # how much a guess counts that was made one move earlier
SHARP = 8  # how strongly the best guesser is preferred


class Mcts(HunterBot):
    def begin(self) -> None:
        names = ("width", "height", "hunter", "prey", "cooldown", "max_walls", "capture_radius", "prey_period", "max_steps")
        self.batch = Batch(2, self.settings.rules, seed=self.seed, **{name: getattr(self.settings, name) for name in names})
        self.tree = tree_search.memory(NODES, HORIZON, self.settings.max_walls)
        self.guesses = np.zeros((len(tree_search.CHARACTERS), 2), np.int32)
        self.trust = np.ones(len(self.guesses))
        self.has_guessed = False
        self.simulations = self.plan = 0
        self.saved = BURST
        # The first calls load the machine code.
        self.look()
        self.guess()
        self.search()
        self.forget()

    def hunt(self, state: State) -> HunterMove | None:
        begun = thread_time()
        self.saved += THINK
        self.learn(state)
        move = None
        if self.saved >= BURST or self.is_near(state):
            move = self.consider(state, begun)
        self.saved -= thread_time() - begun
        return move

    def is_near(self, state: State) -> bool:
        """Whether the wall of the plan may be due."""
        if state.wall_timer:
            return False
        hunter, prey = state.hunter, state.prey
        ahead = (prey.x - hunter.x) * hunter.dx if self.plan % 2 == 0 else (prey.y - hunter.y) * hunter.dy
        return bool(0 < ahead <= tree_search.NEAR[self.plan // 2])

    def consider(self, state: State, begun: float) -> HunterMove | None:
        """Think for the time that was saved, and build if the plan says so."""
        self.batch.put(state, [tree_search.ROOT])
        if not self.look():
            # The prey's room is no rectangle with the hunter in it.
            self.forget()
            return None if state.wall_timer else self.remove(*[wall.id for wall in state.walls])
        if state.prey_moves and self.saved >= BURST:
            self.guess()
        self.think(begun + self.saved)
        return None if state.wall_timer else self.best_move(state)

    def best_move(self, state: State) -> HunterMove | None:
        """The wall of the plan that was tried most, if it is due."""
        self.look()
        root = self.tree.used[1]
        if not tree_search.is_due(self.batch.games, self.batch.rules, tree_search.ROOT, self.plan, self.tree.room):
            return None
        if self.tree.children[root, self.plan] and self.tree.used[0] < NODES // 2:
            # What was found about the time after this wall stays.
            self.tree.used[1] = self.tree.children[root, self.plan]
        else:
            self.forget()
        kind = tree_search.kind_of(self.plan)
        replaced = tree_search.side(self.batch.games, tree_search.ROOT, kind)
        kept = [int(wall) for at, wall in enumerate(self.tree.room[tree_search.WALL :]) if at != replaced]
        useless = [wall.id for at, wall in enumerate(state.walls) if at not in kept]
        self.choose()
        return self.build(VERTICAL if kind == tree_search.VERTICAL else HORIZONTAL, remove=useless)

    def choose(self) -> None:
        """Plan what was tried most."""
        self.plan = int(self.tree.visits[self.tree.used[1]].argmax())

    def learn(self, state: State) -> None:
        """Compare the prey's last move with the guesses."""
        if self.has_guessed:
            self.trust = MEMORY * self.trust + (self.guesses == (state.prey.x, state.prey.y)).all(axis=1)
        self.has_guessed = False

    def guess(self) -> None:
        """Guess where a prey of each character goes."""
        batch = self.batch
        tree_search.guess(batch.games, batch.walls, batch.rules, self.guesses, self.tree.room, self.tree.path)
        self.has_guessed = True

    def look(self) -> bool:
        """Find the prey's room; return whether the hunter is in it."""
        batch = self.batch
        return bool(tree_search.find_room(batch.games, batch.walls, batch.rules, tree_search.ROOT, self.tree.room))

    def think(self, end: float) -> None:
        """Play simulations until a time of this thread's processor clock, but not until the answer is nearly late."""
        if thread_time() >= end:
            return
        nodes = self.tree.used[0]
        self.tree.visits[:nodes] *= FADING
        self.tree.sums[:nodes] *= FADING
        is_over = False
        while not is_over:
            self.search()
            is_over = thread_time() >= end or self.is_late()
        self.choose()

    def search(self) -> None:
        """Play a few simulations."""
        batch = self.batch
        weights = np.cumsum((self.trust + 0.1) ** SHARP)
        tree_search.search(batch.games, batch.walls, batch.rules, batch.seeds, FEW, HORIZON, weights / weights[-1], self.tree, EXPLORE)
        self.simulations += FEW

    def is_late(self) -> bool:
        """Whether half of the time for this answer is gone, on a busy machine."""
        left = self.left.now()
        return left is not None and left < 0.5 * min(limit for limit in (self.left.move, self.left.bank) if limit is not None)

    def forget(self) -> None:
        """Begin a new tree."""
        nodes = self.tree.used[0]
        for array in (self.tree.children, self.tree.visits, self.tree.sums):
            array[:nodes] = 0
        self.tree.used[:] = 1, 0


def build() -> None:
    """Make the machine code of both rule sets and keep it beside the bot."""
    from sdk.testing import ask, position

    for rules in ("classic", "diagonal"):
        ask(Mcts, position("H....P", rules=rules, width=30, height=1))
    shutil.rmtree(COMPILED, ignore_errors=True)
    shutil.copytree(Path(sys.path[0]) / "__pycache__", COMPILED, ignore=shutil.ignore_patterns("*.pyc"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--build"]:
        build()
    else:
        Mcts.main()
