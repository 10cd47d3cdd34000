"""SWUCRL2-CW and BORL on the paper's two-state problem: steps per second on one core, against plain Python.

Our run is a whole ``simulate``: the world's random numbers, every plan, every step and the record, and for BORL its
master too. The plain agent is a fresh one per block of BORL, with the window and widening that were drawn. It only
gets what ours saw, at no cost for its world and its draws, and must decide the same at every step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import driftmdp as dm
from benchmarks.plain_agent import PlainSWUCRL2CW
from benchmarks.rows import Row, Speed, as_rate, require
from benchmarks.timing import medians, timed
from driftmdp.errors import ClippedGammaWarning

__all__ = ["run"]

MUST_REACH = 1.5e6
WIDENING = 0.23

Range = tuple[float, float] | None
Maker = Callable[..., dm.agents.Agent]


def run(quick: bool) -> list[Row]:
    """Return a row for each agent and reading of the rewards."""
    repeats, seeds, long = (3, 4, 20_000) if quick else (7, 20, 200_000)
    problem, longer = dm.problems.two_state(horizon=5000), dm.problems.two_state(horizon=long)
    agents: dict[str, Maker] = {
        f"SWUCRL2-CW, two states, W={window}": partial(
            dm.agents.SWUCRL2CW.for_problem, window=window, widening=WIDENING
        )
        for window in (13, 47)
    }
    agents["BORL, two states"] = dm.agents.BORL.for_problem
    readings = {"rewards mapped to [0, 1]": problem.reward_range, "raw rewards": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClippedGammaWarning)  # BORL's master draws uniformly at these horizons
        return [
            _row(
                f"{name}, T={problem.horizon}, {reading}",
                partial(make, reward_range=reward_range),
                (problem, longer),
                reward_range,
                range(seeds),
                repeats,
            )
            for name, make in agents.items()
            for reading, reward_range in readings.items()
        ]


def _row(
    what: str,
    make: Maker,
    worlds: tuple[dm.Problem, dm.Problem],
    reward_range: Range,
    seeds: Sequence[int],
    repeats: int,
) -> Row:
    problem, longer = worlds
    agent, patient = make(problem), make(longer)
    runs = [dm.simulate(agent, problem, seed) for seed in seeds]
    seconds = medians(
        {
            "ours": timed(lambda: [dm.simulate(agent, problem, seed) for seed in seeds]),
            "longer": timed(partial(dm.simulate, patient, longer, seed=0)),
            "plain": timed(partial(_replay, runs, problem, reward_range)),
        },
        repeats,
    )
    steps = len(runs) * problem.horizon
    ours, plain = steps / seconds["ours"], steps / seconds["plain"]
    return Speed.rate(
        what,
        ours,
        "plain Python",
        plain,
        MUST_REACH,
        f"{1e9 / ours:.0f} ns per step, a plan every {steps / sum(run.plans for run in runs):.1f} steps. One "
        f"core, {len(runs)} seeds. T={longer.horizon:,}: {as_rate(longer.horizon / seconds['longer'])}. Plain "
        "Python gets the same steps without a world, and decides the same at each",
    )


def _replay(runs: Sequence[dm.Run], problem: dm.Problem, reward_range: Range) -> None:
    for run in runs:
        _replay_one(run, problem, reward_range)


def _replay_one(run: dm.Run, problem: dm.Problem, reward_range: Range) -> None:
    """Feed a run to the plain agent, a fresh one for each block, which must choose the same actions."""
    length, parts = _blocks(run)
    states, rewards = [*run.states.tolist(), run.final_state], run.rewards.tolist()
    for step, action in enumerate(run.actions.tolist()):
        if step % length == 0:
            window, widening = parts[step // length]
            agent = PlainSWUCRL2CW(problem.space, problem.horizon, int(window), widening, reward_range)
        advised = agent.act(states[step])
        require(advised == action, f"plain Python plays {advised} at t={step + 1}, ours {action}.")
        agent.observe(rewards[step], states[step + 1])


def _blocks(run: dm.Run) -> tuple[int, Sequence[tuple[float, ...]]]:
    """Return the length of a block and the window and widening of each. Without a master, all is one block."""
    if run.summary is None:
        return run.horizon, [(run.parameters["window"], run.parameters["widening"])]
    return run.summary.block_length, run.summary.chosen_arms
