"""UCB1, SW-UCB and EXP3 in plain Python: as a user writes them without a compiler, on the steps of a run."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from itertools import accumulate

from benchmarks.rows import require

__all__ = ["replay_exp3", "replay_ucb"]

Steps = list[tuple[int, float]]
"""The arm and the reward in [0, 1] of every step of a run, which must be decided alike."""

TIE = 1e-9


def replay_ucb(steps: Steps, n_arms: int, factor: float, window: int | None) -> None:
    """Decide by mean + sqrt(factor ln n / N), on all plays or on a window. Fail at another decision."""
    counts, totals = [0] * n_arms, [0.0] * n_arms
    kept: deque[tuple[int, float]] = deque()
    for played, reward in steps:
        if 0 in counts:
            arm = counts.index(0)
        else:
            log = factor * math.log(sum(counts))
            indices = [total / count + math.sqrt(log / count) for total, count in zip(totals, counts, strict=True)]
            top = max(indices) - TIE
            arm = next(k for k, index in enumerate(indices) if index >= top)
        require(arm == played, f"plain Python plays arm {arm}, ours {played}.")
        counts[arm] += 1
        totals[arm] += reward
        if window is not None:
            kept.append((arm, reward))
            if len(kept) > window:
                old, gone = kept.popleft()
                counts[old] -= 1
                totals[old] -= gone


def replay_exp3(steps: Steps, n_arms: int, gamma: float, uniforms: list[float]) -> None:
    """Draw with EXP3's probabilities and these uniform numbers. Fail at another draw."""
    weights, rate, floor = [1.0] * n_arms, gamma / n_arms, gamma / n_arms
    for (played, reward), uniform in zip(steps, uniforms, strict=True):
        share = (1.0 - gamma) / sum(weights)
        probabilities = [share * weight + floor for weight in weights]
        arm = min(bisect_right(list(accumulate(probabilities)), uniform), n_arms - 1)
        require(arm == played, f"plain Python draws arm {arm}, ours {played}.")
        weights[arm] *= math.exp(rate * reward / probabilities[arm])
        if weights[arm] > 1e100:
            weights = [weight / 1e100 for weight in weights]
