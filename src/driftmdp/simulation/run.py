"""The result of a run of one agent in one problem."""

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents import Agent, BuiltinAgent
from driftmdp.agents.parameters import checked_problem
from driftmdp.display import brief, facts, safely, short, sparkline
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Record
from driftmdp.mdp import DriftingMdp, Problem
from driftmdp.planning import optimal_gains
from driftmdp.validation import as_vector, warn

STEPS_COMPARED = 512  # at which a problem is compared with a run


def vacuous_advice(scale: float = 1.0) -> str:
    """Return what a vacuous plan means and what to do, for radii of that scale."""
    radii = "theory's radii" if scale == 1.0 else f"radii at {scale:g} of theory's"
    return (
        f"vacuous: {radii} exclude nothing at this horizon, so ties decide every action. "
        f"Scale the radii (scale={scale / 10:g}), or take Adaptive."
    )


VACUOUS_ADVICE = vacuous_advice()


@dataclass(frozen=True, eq=False)
class Run:
    """What happened in a run.

    Attributes
    ----------
    agent, parameters
        The agent's name and its parameters; its ``scale``, for example.
    problem, seed
        The problem's name, and the seed of the run.
    states
        s_1 .. s_T, shape (T,).
    actions
        The action taken in each.
    rewards
        The rewards received.
    mean_rewards
        r_t(s_t, a_t), which dynamic regret is made of.
    final_state
        s_{T+1}.
    episode_starts
        The times, from 1, at which a plan was made; empty for agents that do not plan.
    sweeps
        How many sweeps each of those plans took.
    vacuous
        Whether every radius of the plan was vacuous: nothing that was remembered mattered.
    summary
        The agent's own summary, if it has a method ``summary()``: for BORL and BOB the arms, their probabilities
        and those chosen, for EXP3 and its variants the parameters in force.
    """

    agent: str
    parameters: Mapping[str, Any] = field(repr=False)
    problem: str
    seed: int
    states: NDArray[np.int32] = field(repr=False)
    actions: NDArray[np.int32] = field(repr=False)
    rewards: NDArray[np.float64] = field(repr=False)
    mean_rewards: NDArray[np.float64] = field(repr=False)
    final_state: int = field(repr=False)
    episode_starts: NDArray[np.int64] = field(repr=False)
    sweeps: NDArray[np.int32] = field(repr=False)
    vacuous: NDArray[np.bool_] = field(repr=False)
    summary: Any = field(default=None, repr=False)

    @property
    def horizon(self) -> int:
        """The number of steps, T."""
        return self.actions.size

    @property
    def plans(self) -> int:
        """How many plans were made."""
        return self.episode_starts.size

    @property
    def vacuous_share(self) -> float:
        """The share of plans in which every radius was vacuous; NaN if there were no plans."""
        return float(self.vacuous.mean()) if self.plans else float("nan")

    @property
    def is_vacuous(self) -> bool:
        """Whether every plan was vacuous: the agent learned nothing, and ``print(run)`` says what to do."""
        return 0 < self.plans == np.count_nonzero(self.vacuous)

    @property
    def total_reward(self) -> float:
        """The sum of the rewards received."""
        return float(self.rewards.sum())

    @property
    def _advice(self) -> str:
        return vacuous_advice(self.parameters.get("scale", 1.0))

    def __repr__(self) -> str:
        return f"{brief(self)[:-1]}, vacuous_share=1)" if self.is_vacuous else brief(self)

    def __str__(self) -> str:
        return f"{self!r}\n{self._advice}" if self.is_vacuous else repr(self)

    @safely
    def _repr_html_(self) -> str:
        given = [f"{name}={short(value)}" for name, value in self.parameters.items() if value is not None]
        return facts(
            f"Run of {self.agent} in {self.problem}",
            made_from=", ".join(given) or None,
            seed=str(self.seed),
            steps=self.horizon,
            total_reward=self.total_reward,
            reward_a_step=self.total_reward / self.horizon,
            plans=self.plans or None,
            note=self._advice if self.is_vacuous else None,
            reward_so_far=sparkline(np.cumsum(self.rewards), "the cumulative reward"),
        )

    def dynamic_regret(self, problem: Problem, gains: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the cumulative dynamic regret, sum of rho*_q - r_q(s_q, a_q) for q <= t, shape (T,).

        Parameters
        ----------
        problem
            The problem of the run.
        gains
            rho*_t, if you have them; otherwise they are solved for exactly, once for each problem.

        Examples
        --------
        >>> import driftmdp as dm
        >>> problem = dm.problems.two_state(horizon=1000)
        >>> run = dm.simulate(dm.agents.Random(problem.space), problem, seed=7)
        >>> bool(run.dynamic_regret(problem)[-1] > 500)
        True
        """
        if checked_problem(problem).horizon != self.horizon or problem.name != self.problem:
            rule = f"problem must be the one of the run, {self.problem!r} with {self.horizon} steps"
            raise InvalidInputError(f"{rule}; got {problem.name!r} with {problem.horizon}.")
        self._check_means(problem)
        best = _gains_of(problem.drifting) if gains is None else as_vector(gains, "gains", self.horizon)
        return np.cumsum(best - self.mean_rewards)

    def _check_means(self, problem: Problem) -> None:
        """Refuse another problem of the same name: at some step its mean reward is not that of the run."""
        steps = np.unique(np.linspace(0, self.horizon - 1, STEPS_COMPARED).astype(np.int64))
        found = _mean_rewards(problem, steps, self.states[steps], self.actions[steps])
        seen = self.mean_rewards[steps]
        differs = ~np.isclose(found, seen, rtol=1e-9, atol=1e-9)
        if differs.any():
            i = int(differs.argmax())
            raise InvalidInputError(
                f"problem must be the one of the run; its mean rewards differ at t={steps[i] + 1}, where the run "
                f"has {seen[i]:g} and it has {found[i]:g}. Give the problem that was given to simulate."
            )


def _mean_rewards(
    problem: Problem, steps: NDArray[np.int64], states: NDArray[np.int32], actions: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return r_t(s_t, a_t) at some steps, from 0; NaN where there is no such pair."""
    space, weights = problem.space, problem.drifting.reward_weights.arrays[steps]
    is_pair = actions < np.append(space.n_actions, 0)[np.minimum(states, space.n_states)]
    pairs = space.offsets[np.where(is_pair, states, 0)] + np.where(is_pair, actions, 0)
    rows = np.repeat(np.arange(steps.size), np.diff(weights.indptr))
    means = weights.data * problem.drifting.anchor_rewards[weights.indices, pairs[rows]]
    return np.where(is_pair, np.bincount(rows, means, steps.size), np.nan)


_cached_gains: weakref.WeakKeyDictionary[DriftingMdp, NDArray[np.float64]] = weakref.WeakKeyDictionary()


def _gains_of(drifting: DriftingMdp) -> NDArray[np.float64]:
    if drifting not in _cached_gains:
        _cached_gains[drifting] = optimal_gains(drifting, allow_transient=True)
    return _cached_gains[drifting]


def finished_run(agent: Agent, player: Any, problem: Problem, seed: int, record: Record) -> Run:
    """Return the run of a complete record; ``player`` is the copy of the agent that played."""
    planned = record.sweeps.nonzero()[0]
    return Run(
        agent=agent.name if isinstance(agent, BuiltinAgent) else type(agent).__name__,
        parameters=agent.parameters if isinstance(agent, BuiltinAgent) else {},
        problem=problem.name,
        seed=seed,
        states=record.states[:-1],
        actions=record.actions,
        rewards=record.rewards,
        mean_rewards=record.mean_rewards,
        final_state=int(record.states[-1]),
        episode_starts=planned + 1,
        sweeps=record.sweeps[planned],
        vacuous=record.vacuous[planned],
        summary=_summary_of(player),
    )


def _summary_of(player: Any) -> Any:
    try:
        summary = getattr(player, "summary", None)
        return summary() if callable(summary) else None
    except Exception as error:  # the run itself is complete
        name = type(player).__name__
        warn(f"summary() of {name} must work without arguments; it failed: {error}. Run.summary is None.")
        return None
