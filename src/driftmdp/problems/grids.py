"""Grids of cells on which a move may turn aside, with holes and goals that lead back to the start.

Maps are rows of letters, as in Gymnasium: S the start, F frozen (safe), H a hole, G a goal. Action a means left,
down, right or up. It has the effect of a, of the next action (a turn to the left) or of the one before (a turn to
the right), with three chances: the ``slip``. So it is in NS-Gym's FrozenLake and Bridge [KLB25]. At the border a
move stays where it is. Holes and goals are no states: who enters one is at the start.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from driftmdp.mdp import DriftingMdp, Mdp, Space
from driftmdp.mdp.weights import as_horizon
from driftmdp.problems.schedules import DRIFTS, drifting_between
from driftmdp.validation import one_of

ACTIONS = ("left", "down", "right", "up")
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
TURNS = (0, 1, -1)  # added to the action: straight on, the next action's effect, the one before
ENDS = "HG"


class SlipperyGrid:
    """The states of a map, and the world of each slip.

    Parameters
    ----------
    rows
        The map.
    prizes
        Reward of entering H and G.

    Examples
    --------
    >>> from driftmdp.problems.grids import SlipperyGrid
    >>> grid = SlipperyGrid(["SFG"], {"H": 0.0, "G": 1.0})
    >>> grid.cells, grid.space.state_names
    ([(0, 0), (0, 1)], ('row 0, column 0', 'row 0, column 1'))
    >>> straight = grid.world([1.0, 0.0, 0.0])
    >>> straight.successors(1, 2), straight.reward(1, 2)
    (array([1., 0.]), 1.0)
    """

    def __init__(self, rows: Sequence[str], prizes: Mapping[str, float]) -> None:
        self.rows, self.prizes = rows, prizes
        (self.home,) = [(r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter == "S"]
        self.cells = sorted(self._reachable())
        names = [f"row {row}, column {column}" for row, column in self.cells]
        self.space = Space(np.full(len(self.cells), len(ACTIONS)), names, ACTIONS)
        self.start = self.cells.index(self.home)

    def world(self, slip: ArrayLike) -> Mdp:
        """Return the world in which moves turn aside with some chances, shape (3,), or (n_states, 3) by cell."""
        chances = np.broadcast_to(np.asarray(slip, dtype=float), (len(self.cells), len(TURNS)))
        transitions = np.zeros((len(self.cells), len(ACTIONS), len(self.cells)))
        rewards = np.zeros((len(self.cells), len(ACTIONS)))
        for state, cell in enumerate(self.cells):
            for action in range(len(ACTIONS)):
                for turn, chance in zip(TURNS, chances[state], strict=True):
                    row, column = self._moved(cell, (action + turn) % len(ACTIONS))
                    letter = self.rows[row][column]
                    reached = self.home if letter in ENDS else (row, column)
                    transitions[state, action, self.cells.index(reached)] += chance
                    rewards[state, action] += chance * self.prizes.get(letter, 0.0)
        return Mdp(self.space, rewards.ravel(), transitions.reshape(self.space.n_pairs, -1))

    def _moved(self, cell: tuple[int, int], direction: int) -> tuple[int, int]:
        down, right = MOVES[direction]
        row, column = cell[0] + down, cell[1] + right
        inside = 0 <= row < len(self.rows) and 0 <= column < len(self.rows[0])
        return (row, column) if inside else cell

    def _reachable(self) -> set[tuple[int, int]]:
        """Return the cells that can be reached from the start, without holes and goals."""
        found, waiting = {self.home}, [self.home]
        while waiting:
            cell = waiting.pop()
            for row, column in (self._moved(cell, direction) for direction in range(len(MOVES))):
                if (row, column) not in found and self.rows[row][column] not in ENDS:
                    found.add((row, column))
                    waiting.append((row, column))
        return found


def slip_towards(turn: int, slip: float) -> list[float]:
    """Return the chances of the three turns, where all but ``slip`` is on one and the rest is shared equally.

    Examples
    --------
    >>> from driftmdp.problems.grids import slip_towards
    >>> slip_towards(1, 0.2)
    [0.1, 0.8, 0.1]
    """
    return [1.0 - slip if other == turn else slip / 2 for other in range(len(TURNS))]


def drifting_grid(
    anchors: Sequence[Mdp], drift: str, horizon: int, cycles: float | None = None, changes: int = 5
) -> DriftingMdp:
    """Return the world that drifts between some anchors, also by NS-Gym's linear interpolation, ``gradual``.

    Examples
    --------
    >>> from driftmdp.problems.grids import SlipperyGrid, drifting_grid
    >>> grid = SlipperyGrid(["SG"], {"G": 1.0})
    >>> anchors = [grid.world([1.0, 0.0, 0.0]), grid.world([0.0, 0.5, 0.5])]
    >>> [drifting_grid(anchors, "gradual", horizon=4).at(t).reward(0, 2) for t in (1, 2, 3, 4)]
    [1.0, 0.75, 0.5, 0.25]
    """
    is_gradual = one_of(drift, "drift", (*DRIFTS, "gradual")) == "gradual"
    drifting = drifting_between(anchors, "stationary" if is_gradual else drift, horizon, cycles, changes)
    if not is_gradual:
        return drifting
    horizon = as_horizon(horizon, n_weights=len(anchors))
    weights = np.zeros((horizon, len(anchors)))
    weights[:, -1] = np.arange(horizon) / horizon  # NS-Gym's t / T, which starts at 0
    weights[:, 0] = 1.0 - weights[:, -1]
    return DriftingMdp(anchors, weights)
