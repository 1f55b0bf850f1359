"""All robots share one ring, the one that wins the most cells a turn: cells that have its colour already need no turn."""

from __future__ import annotations

from sdk.rectangle import Order, RectangleBot, State

TRIES = 1_500  # rings that it looks at before it chooses one
CLOSEST = 24  # of these, the rings that it plans exactly
CUTS = 8  # ways to share a ring out
REPAIRS = 2  # times that it repairs a ring before it gives it up
RISK = 3.0  # with a longer ring more can go wrong

Cell = tuple[int, int]
Plan = dict[int, list[Cell]]


class Planner(RectangleBot):
    def begin(self) -> None:
        self.plan: Plan = {}
        self.ring: list[Cell] = []
        self.repairs = 0

    def place(self, state: State) -> list[Cell]:
        """On the ring that it draws first, evenly spread."""
        n, robots = state.settings.n, state.settings.robots
        side = max(3, min(n, 2 * robots + 2))
        top, left = self.random.randint(0, n - side), self.random.randint(0, n - side)
        ring = edge(top, left, top + side - 1, left + side - 1)
        return [ring[len(ring) * robot // robots] for robot in range(robots)]

    def orders(self, state: State) -> dict[int, Order]:
        missing = [cell for cell in self.ring if state.at(cell) != state.seat]
        if not missing or any(state.at(cell) == "#" for cell in missing) or self.repairs > REPAIRS:
            self.ring, self.plan = self.choose(state)
            self.repairs = 0
        elif not any(self.plan.values()):
            # Somebody has spoiled a part of the ring: draw that again.
            self.plan = share(state, missing)[1]
            self.repairs += 1
        orders: dict[int, Order] = {}
        wins = {robot: order for robot, order, _ in reversed(state.next_wins())}
        for robot, cell in enumerate(state.mine):
            cells = self.plan.get(robot, [])
            while cells and (cells[0] == cell or state.at(cells[0]) == state.seat):
                cells.pop(0)
            orders[robot] = wins.get(robot) or (state.way(cell, cells[0])[0] if cells else "-")
        return orders

    def choose(self, state: State) -> tuple[list[Cell], Plan]:
        """The ring with the most cells to win for each turn, and each robot's part of it."""
        n = state.settings.n
        rough = []
        spent = totals([[state.at((row, column)) == "#" for column in range(n)] for row in range(n)])
        longest = min(n, 3 * state.settings.robots + 4)
        for _ in range(TRIES):
            height, width = self.random.randint(3, longest), self.random.randint(3, longest)
            top, left = self.random.randint(0, n - height), self.random.randint(0, n - width)
            bottom, right = top + height - 1, left + width - 1
            lost = count(spent, top + 1, left + 1, bottom - 1, right - 1)
            if count(spent, top, left, bottom, right) > lost:
                continue
            won = (height - 2) * (width - 2) - lost
            rough.append((won / (height + width) ** RISK, won, (top, left, bottom, right)))
        best, ring, plan = 0.0, [], {}
        # A cell with a robot of another player can't be painted while that robot stays.
        others = {cell for robots in state.robots if robots is not state.mine for cell in robots}
        for _, won, corners in sorted(rough, reverse=True)[:CLOSEST]:
            cells = edge(*corners)
            if others.intersection(cells):
                continue
            turns, parts = share(state, [cell for cell in cells if state.at(cell) != state.seat])
            if won / (turns + 1) ** RISK > best:
                best, ring, plan = won / (turns + 1) ** RISK, cells, parts
        if not ring:
            cells = [self.random.choice(list(state.neighbours(cell).values())) for cell in state.mine]
            return [], {robot: [cell] for robot, cell in enumerate(cells)}
        return ring, plan


def share(state: State, cells: list[Cell]) -> tuple[int, Plan]:
    """Share cells in a row out among the robots, so that the last one is done soonest: the turns that it takes, and each robot's cells."""
    robots = state.settings.robots
    best: tuple[int, Plan] = (10**9, {})
    for cut in range(0, len(cells), max(1, len(cells) // CUTS)):
        turned = [*cells[cut:], *cells[:cut]]
        free, plan, longest = set(range(robots)), {}, 0
        for part in range(robots):
            piece = turned[len(turned) * part // robots : len(turned) * (part + 1) // robots]
            if not piece:
                continue
            ways = [(length(state.mine[robot], way), robot, way) for robot in free for way in (piece, piece[::-1])]
            turns, robot, way = min(ways)
            free.remove(robot)
            plan[robot], longest = way, max(longest, turns)
        best = min(best, (longest, plan), key=lambda choice: choice[0])
    return best


def length(start: Cell, cells: list[Cell]) -> int:
    """The steps from a cell along others, in this order."""
    steps = 0
    for cell in cells:
        steps += abs(cell[0] - start[0]) + abs(cell[1] - start[1])
        start = cell
    return steps


def edge(top: int, left: int, bottom: int, right: int) -> list[Cell]:
    """The cells of a ring, clockwise from its upper left corner."""
    ring = [(top, column) for column in range(left, right)] + [(row, right) for row in range(top, bottom)]
    ring += [(bottom, column) for column in range(right, left, -1)] + [(row, left) for row in range(bottom, top, -1)]
    return ring


def totals(marks: list[list[bool]]) -> list[list[int]]:
    """For each cell the marks above and left of it, so that ``count`` needs four of these sums."""
    sums = [[0] * (len(marks) + 1)]
    for row in marks:
        line, total = [0], 0
        for column, mark in enumerate(row, 1):
            total += mark
            line.append(total + sums[-1][column])
        sums.append(line)
    return sums


def count(sums: list[list[int]], top: int, left: int, bottom: int, right: int) -> int:
    """The marks in a rectangle."""
    return sums[bottom + 1][right + 1] - sums[top][right + 1] - sums[bottom + 1][left] + sums[top][left]


if __name__ == "__main__":
    Planner.main()
