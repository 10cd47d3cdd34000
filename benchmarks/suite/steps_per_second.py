"""SWUCRL2-CW on the paper's two-state problem: steps a second on one core, against plain Python.

Every run of ours is a whole ``simulate``: the world's luck, every plan, every step and what is recorded. The plain
agent is only fed what ours saw, at no cost for its world, and must decide the same at every step.
"""

from __future__ import annotations

from functools import partial

import driftmdp as dm
from benchmarks.plain_agent import PlainSWUCRL2CW
from benchmarks.rows import Row, Speed, as_rate, require
from benchmarks.timing import medians, timed

__all__ = ["run"]

MUST_REACH = 1.5e6
WIDENING = 0.23


def run(quick: bool) -> list[Row]:
    """Return a row for each window and reading of the rewards."""
    repeats, seeds, long = (3, 4, 20_000) if quick else (7, 20, 200_000)
    problem, longer = dm.problems.two_state(horizon=5000), dm.problems.two_state(horizon=long)
    readings = {"rewards mapped to [0, 1]": problem.reward_range, "raw rewards": None}
    return [
        _row(problem, longer, window, reading, reward_range, seeds, repeats)
        for window in (13, 47)
        for reading, reward_range in readings.items()
    ]


def _row(
    problem: dm.Problem,
    longer: dm.Problem,
    window: int,
    reading: str,
    reward_range: tuple[float, float] | None,
    seeds: int,
    repeats: int,
) -> Row:
    setting = {"window": window, "widening": WIDENING, "reward_range": reward_range}
    agent, patient = (dm.agents.SWUCRL2CW.for_problem(world, **setting) for world in (problem, longer))
    sample = dm.simulate(agent, problem, seed=0)
    _replay(sample, problem, window, reward_range)
    seconds = medians(
        {
            "ours": timed(lambda: [dm.simulate(agent, problem, seed=seed) for seed in range(seeds)]),
            "longer": timed(partial(dm.simulate, patient, longer, seed=0)),
            "plain": timed(partial(_replay, sample, problem, window, reward_range)),
        },
        repeats,
    )
    ours, plain = seeds * problem.horizon / seconds["ours"], problem.horizon / seconds["plain"]
    return Speed.rate(
        f"SWUCRL2-CW, two states, W={window}, T={problem.horizon}, {reading}",
        ours,
        "plain Python",
        plain,
        MUST_REACH,
        f"{1e9 / ours:.0f} ns a step, a plan every {problem.horizon / sample.plans:.1f} steps; one "
        f"core, {seeds} seeds; T={longer.horizon:,}: {as_rate(longer.horizon / seconds['longer'])}; plain Python "
        "is fed the same steps without a world, and decides the same at each",
    )


def _replay(run: dm.Run, problem: dm.Problem, window: int, reward_range: tuple[float, float] | None) -> None:
    """Feed a run to the plain agent, which must choose the same actions."""
    agent = PlainSWUCRL2CW(problem.space, problem.horizon, window, WIDENING, reward_range)
    states, rewards = [*run.states.tolist(), run.final_state], run.rewards.tolist()
    for step, action in enumerate(run.actions.tolist()):
        advised = agent.act(states[step])
        require(advised == action, f"plain Python plays {advised} at t={step + 1}, ours {action}.")
        agent.observe(rewards[step], states[step + 1])
