"""SWUCRL2-CW in plain Python, [CSZ20] Algorithm 1: what a careful user writes without a compiler.

Counts and sums are kept step by step, so that only a plan looks at all pairs. It decides as
``driftmdp.agents.SWUCRL2CW`` with ``planner="paper"`` does: the same regions, the same ties, the same episodes.
"""

from __future__ import annotations

import itertools
import math
from collections import deque

import driftmdp as dm

__all__ = ["PlainSWUCRL2CW"]

TIE = 1e-9


class PlainSWUCRL2CW:
    """The agent. ``reward_range=None`` is the raw reading, without a cap."""

    def __init__(
        self,
        space: dm.Space,
        horizon: int,
        window: int,
        widening: float,
        reward_range: tuple[float, float] | None,
    ) -> None:
        low, high = reward_range or (0.0, 1.0)
        log = math.log(space.n_pairs * horizon * horizon)  # delta = 1/T
        self._pairs = [range(first, last) for first, last in itertools.pairwise(space.offsets.tolist())]
        self._window, self._widening, self._low, self._width = window, widening, low, high - low
        self._cap = math.inf if reward_range is None else 1.0
        self._reward_radius = 2.0 * math.sqrt(2.0 * log)
        self._transition_radius = 2.0 * math.sqrt(2.0 * space.n_states * log)
        self._steps: deque[tuple[int, float, int]] = deque()
        self._counts, self._sums = [0] * space.n_pairs, [0.0] * space.n_pairs
        self._successors: list[dict[int, int]] = [{} for _ in range(space.n_pairs)]
        self._policy, self._left = [0] * space.n_states, [0] * space.n_pairs
        self._t, self._pair, self._due = 1, 0, True

    def act(self, state: int) -> int:
        """Return the action of this step, after a new plan if the episode is over."""
        if self._due or self._left[self._policy[state]] <= 0:
            self._plan()
            self._due = False
        self._pair = self._policy[state]
        return self._pair - self._pairs[state].start

    def observe(self, reward: float, next_state: int) -> None:
        """Remember the step, and forget the step that leaves the window."""
        pair, value = self._pair, (reward - self._low) / self._width
        self._steps.append((pair, value, next_state))
        self._counts[pair] += 1
        self._sums[pair] += value
        successors = self._successors[pair]
        successors[next_state] = successors.get(next_state, 0) + 1
        if len(self._steps) > self._window:
            self._forget(*self._steps.popleft())
        self._left[pair] -= 1
        self._t += 1
        if self._t % self._window == 0:
            self._due = True
            self._sum_again()

    def _forget(self, pair: int, value: float, next_state: int) -> None:
        self._counts[pair] -= 1
        self._sums[pair] -= value
        successors = self._successors[pair]
        successors[next_state] -= 1
        if not successors[next_state]:
            del successors[next_state]

    def _sum_again(self) -> None:
        self._sums = [0.0] * len(self._sums)
        for pair, value, _ in self._steps:
            self._sums[pair] += value

    def _plan(self) -> None:
        """[CSZ20] Algorithm 3 on the regions of this moment."""
        counts, best = self._counts, self._values()
        for state, pairs in enumerate(self._pairs):
            top = max(best[pair] for pair in pairs) - TIE
            self._policy[state] = min((counts[pair], pair) for pair in pairs if best[pair] >= top)[1]
        self._left = [count or 1 for count in counts]

    def _values(self) -> list[float]:
        """Return the value of each pair, of which the last sweep takes the maximum."""
        counts, precision = self._counts, 1.0 / math.sqrt(self._t)
        rewards, radii = [], []
        for count, total in zip(counts, self._sums, strict=True):
            seen = count or 1
            rewards.append(min(self._cap, total / seen + self._reward_radius / math.sqrt(seen)))
            radii.append(self._transition_radius / math.sqrt(seen) + self._widening if count else 2.0)
        values = [0.0] * len(self._pairs)
        while True:
            order = sorted(range(len(values)), key=values.__getitem__)
            top = values[order[-1]]
            best = [
                reward + (top if radius >= 2.0 else self._mean(pair, radius, values, order))
                for pair, (reward, radius) in enumerate(zip(rewards, radii, strict=True))
            ]
            following = [max(best[pair] for pair in pairs) for pairs in self._pairs]
            change = [new - old for new, old in zip(following, values, strict=True)]
            if max(change) - min(change) <= precision:
                return best
            values = following

    def _mean(self, pair: int, radius: float, values: list[float], order: list[int]) -> float:
        """Return the largest mean of ``values`` within the L1 ball around the successors of a pair."""
        successors, count, best = self._successors[pair], self._counts[pair], order[-1]
        left = min(radius / 2.0, 1.0 - successors.get(best, 0) / count)
        mean = left * values[best] + sum(n * values[state] for state, n in successors.items()) / count
        for worst in order:
            if left <= 0.0:
                break
            if worst in successors:
                taken = min(left, successors[worst] / count)
                mean -= taken * values[worst]
                left -= taken
        return mean
