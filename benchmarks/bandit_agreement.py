"""Our bandits that watch for changes beside those of ``SMPyBandits``: ``python -m benchmarks.bandit_agreement``.

Both have the same parameters and play the same Bernoulli arms, each with random numbers of its own. The table has
the mean dynamic regret of both, with 95% intervals. The peer plays as published, and with its slips mended. What
they are is shown with the peer's own numbers. ``--markdown`` and ``--json`` also write to files.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import driftmdp as dm
from benchmarks.bandit_peers import means_of, quiet
from benchmarks.mended_peers import SLIPS, make_mended, make_published
from benchmarks.peer_slips import slips

__all__ = ["Contest", "Mean", "main"]

CHANGES = 3


@dataclass(frozen=True)
class Setting:
    """An agent's parameters, and on what it is compared. Parameters that the peer needs, too, are all given."""

    parameters: dict[str, Any]
    arms: tuple[int, ...]
    horizon: int
    seeds: int


SETTINGS = {
    "GLRklUCB": Setting(
        {"alpha": 0.0625, "growing": False, "delta": 0.005, "xi": 3.0, "test_every": 10, "split_every": 10},
        arms=(3, 5),
        horizon=2000,
        seeds=30,
    ),
    "MUCB": Setting({"window": 200, "gamma": 0.125}, arms=(3, 5), horizon=4000, seeds=100),
    "CUSUMUCB": Setting({"changes": CHANGES, "warmup": 50, "epsilon": 0.1}, arms=(3, 5), horizon=2000, seeds=40),
    "AdSwitch": Setting({"c1": 2.0, "test_every": 100}, arms=(3, 5), horizon=2000, seeds=60),
    "DiscountedThompson": Setting({"discount": 0.99}, arms=(3, 5), horizon=4000, seeds=100),
}


@dataclass(frozen=True)
class Mean:
    """A mean with the half-width of its 95% interval."""

    value: float
    half_width: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """Return the mean with Student's interval."""
        spread = float(np.std(values, ddof=1)) / len(values) ** 0.5
        return cls(float(np.mean(values)), spread * float(stats.t.ppf(0.975, len(values) - 1)))

    def __str__(self) -> str:
        return f"{self.value:.1f} ± {self.half_width:.1f}"

    def compared_with(self, other: Mean) -> str:
        """Return whether each lies in the other's interval, and whether the intervals overlap."""
        apart = abs(self.value - other.value)
        in_both = apart <= min(self.half_width, other.half_width)
        overlap = apart <= self.half_width + other.half_width
        return f"{'yes' if in_both else 'no'}, {'yes' if overlap else 'no'}"


@dataclass(frozen=True)
class Contest:
    """One agent in one world."""

    agent: str
    world: str
    seeds: int
    published: Mean
    mended: Mean
    ours: Mean


def main(arguments: Sequence[str] | None = None) -> int:
    """Play all and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"by default all: {', '.join(SETTINGS)}")
    parser.add_argument("--seeds", type=int, help="for each instead of its own number")
    parser.add_argument("--markdown", type=Path, metavar="PATH")
    parser.add_argument("--json", type=Path, metavar="PATH")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.agents if name not in SETTINGS]:
        parser.error(f"no agent is called {', '.join(unknown)}. Choose from {', '.join(SETTINGS)}")
    contests = [contest for name in given.agents or SETTINGS for contest in play_all(name, given.seeds)]
    text = as_markdown(contests)
    print(text)
    if given.markdown:
        given.markdown.write_text(text + "\n")
    if given.json:
        given.json.write_text(json.dumps([asdict(contest) for contest in contests], indent=1) + "\n")
    return 0


def play_all(name: str, seeds: int | None = None) -> list[Contest]:
    """Play one agent and its peer in all its worlds."""
    setting = SETTINGS[name]
    contests = []
    for n_arms in setting.arms:
        for drift in ("stationary", "abrupt"):
            problem = dm.problems.bandit(n_arms, setting.horizon, drift, changes=CHANGES)
            contests.append(contest_of(name, problem, drift, seeds or setting.seeds))
            print(f"{name}, {contests[-1].world}: {contests[-1]}", file=sys.stderr, flush=True)
    return contests


def contest_of(name: str, problem: dm.Problem, drift: str, seeds: int) -> Contest:
    """Return the mean regrets in one world."""
    given, means = SETTINGS[name].parameters, means_of(problem)
    agent = getattr(dm.agents, name).for_problem(problem, **given)
    known = given | {"threshold": agent.summary().threshold} if name == "MUCB" else given

    def theirs(make: Callable[..., Any]) -> Mean:
        return Mean.of(
            [peer_regret(make(name, means.shape[1], problem.horizon, known), means, seed) for seed in range(seeds)]
        )

    best = float(means.max(axis=1).sum())
    ours = [best - float(dm.simulate(agent, problem, seed).mean_rewards.sum()) for seed in range(seeds)]
    world = f"{drift}, {means.shape[1]} arms, T = {problem.horizon:,}"
    return Contest(name, world, seeds, theirs(make_published), theirs(make_mended), Mean.of(ours))


def peer_regret(policy: Any, means: NDArray[np.float64], seed: int) -> float:
    """Return the dynamic regret of one run: what the best arms have in the mean, less what was played."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002, what it draws from
    draws = np.random.default_rng(seed + 1_000_000).random(len(means))
    regret = 0.0
    with quiet():
        policy.startGame()
        for at, draw in zip(means, draws, strict=True):
            arm = policy.choice()
            policy.getReward(arm, float(draw < at[arm]))
            regret += at.max() - at[arm]
    return float(regret)


def as_markdown(contests: Sequence[Contest]) -> str:
    """Return the tables."""
    lines = [
        "| agent | world | seeds | SMPyBandits | mended | ours | ours and SMPyBandits | ours and mended |",
        "|---|---|--:|--:|--:|--:|---|---|",
    ]
    lines += [
        f"| {one.agent} | {one.world} | {one.seeds} | {one.published} | {one.mended} | {one.ours} "
        f"| {one.ours.compared_with(one.published)} | {one.ours.compared_with(one.mended)} |"
        for one in contests
    ]
    named = list(dict.fromkeys(one.agent for one in contests))
    return "\n".join(
        [
            *lines,
            "",
            "Mean dynamic regret ± half the width of its 95% interval. The last two columns: whether each mean is "
            "in the other's interval, and whether the intervals overlap. Where both have the same law, the first "
            "holds 5 times in 6, the second 179 times in 180.",
            "",
            "What was mended:",
            "",
            *(f"- {name}: {SLIPS[name]}." for name in named),
            "",
            "The peer's own numbers:",
            "",
            *(f"- {line}" for line in slips()),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
