"""The problems of an experiment, made once per process, each with its optimum and a summary of its drift."""

import functools
import threading
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp.agents import Agent
from driftmdp.experiments.catalogue import agent_maker, make_agent, make_problem, problem_maker
from driftmdp.experiments.run_plan import PlannedCell, ProblemCell
from driftmdp.mdp import DriftingMdp, Problem, Space
from driftmdp.planning import optimal_gains

MAX_CACHED_PROBLEMS = 16
DRIFT_POINTS = 2000
SAMPLED_STEPS = 32


class ProblemContext:
    """A problem and its optimum, which is computed on first use.

    Attributes
    ----------
    problem
        The problem.
    t
        The checkpoints, from 1. The last is T.
    agents
        The agents made for it so far, by cell.
    """

    def __init__(self, problem: Problem, points: int, spacing: str) -> None:
        self.problem = problem
        self.t = checkpoints(problem.horizon, points, spacing)
        self.agents: dict[str, Agent] = {}
        self._lock = threading.Lock()
        self._gains: NDArray[np.float64] | None = None

    @property
    def gains(self) -> NDArray[np.float64]:
        """rho*_t for every step; computed once, also when several threads ask."""
        with self._lock:
            if self._gains is None:
                self._gains = optimal_gains(self.problem.drifting, allow_transient=True)
            return self._gains

    @functools.cached_property
    def optimum(self) -> NDArray[np.float64]:
        """The sum of rho*_q for q <= t, at the checkpoints."""
        return np.asarray(np.cumsum(self.gains)[self.t - 1])


_cache: OrderedDict[str, ProblemContext] = OrderedDict()
_cache_lock = threading.Lock()


def cached_problem(cell: ProblemCell) -> ProblemContext:
    """Return the problem of a cell; this process keeps the last few."""
    with _cache_lock:
        if cell.id not in _cache:
            problem = make_problem(problem_maker(cell.name), cell.parameters)
            _cache[cell.id] = ProblemContext(problem, cell.points, cell.spacing)
        _cache.move_to_end(cell.id)
        while len(_cache) > MAX_CACHED_PROBLEMS:
            _cache.popitem(last=False)
        return _cache[cell.id]


def cached_agent(cell: PlannedCell) -> Agent:
    """Return the agent of a cell; ``simulate`` copies it, so it may be shared."""
    context = cached_problem(cell.problem)
    if cell.id not in context.agents:
        maker = agent_maker(cell.agent.name)
        context.agents[cell.id] = make_agent(maker, context.problem, cell.agent.parameters)
    return context.agents[cell.id]


def checkpoints(horizon: int, points: int, spacing: str) -> NDArray[np.int64]:
    """Return the steps at which a curve is kept: about ``points`` of 1 .. T, T among them.

    Examples
    --------
    >>> from driftmdp.experiments.problem_cache import checkpoints
    >>> checkpoints(1000, 5, "linear").tolist()
    [200, 400, 600, 800, 1000]
    >>> checkpoints(1000, 4, "log").tolist()
    [1, 10, 100, 1000]
    >>> checkpoints(3, 400, "linear").tolist()
    [1, 2, 3]
    """
    log, linear = np.geomspace(1, horizon, points), np.linspace(0, horizon, points + 1)[1:]
    steps = log if spacing == "log" else linear
    return np.unique(np.clip(np.rint(steps), 1, horizon).astype(np.int64))


class Drift(NamedTuple):
    """The mean reward and the transition probability that move most, at up to 2,000 steps, as they are stored.

    Attributes
    ----------
    t
        The steps.
    reward_name, reward
        Such as r(s2, a2), and its course.
    transition_name, transition
        Such as p(s2 | s1, a2), and its course.
    gain
        rho*_t.
    """

    t: NDArray[np.int64]
    reward_name: str
    reward: NDArray[np.float64]
    transition_name: str
    transition: NDArray[np.float64]
    gain: NDArray[np.float64]


def drift_summary(context: ProblemContext) -> Drift:
    """Return the course of the reward, the transition and the gain that move most.

    Examples
    --------
    >>> from driftmdp.experiments.problem_cache import ProblemContext, drift_summary
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(100)
    >>> drift = drift_summary(ProblemContext(problem, 400, "linear"))
    >>> drift.reward_name, drift.transition_name
    ('r(s2, a2)', 'p(s2 | s1, a2)')
    """
    drifting = context.problem.drifting
    t = checkpoints(drifting.horizon, DRIFT_POINTS, "linear")
    sampled = checkpoints(drifting.horizon, SAMPLED_STEPS, "linear").tolist()
    rewarded, (pair, successor) = _most_moving_reward(drifting, sampled), _most_moving_transition(drifting, sampled)
    rows = np.arange(drifting.n_anchors) * drifting.space.n_pairs + pair
    probabilities = drifting.anchor_transitions[rows][:, [successor]].toarray()[:, 0]
    state, action = _names(drifting.space, rewarded)
    source, done = _names(drifting.space, pair)
    return Drift(
        t,
        f"r({state}, {action})",
        drifting.reward_weights.arrays[t - 1] @ drifting.anchor_rewards[:, rewarded],
        f"p({drifting.space.state_name(successor)} | {source}, {done})",
        drifting.weights.arrays[t - 1] @ probabilities,
        context.gains[t - 1],
    )


def _most_moving_reward(drifting: DriftingMdp, sampled: list[int]) -> int:
    """Return the pair whose mean reward has the widest range; the last of equals."""
    seen = np.stack([drifting.rewards_at(t) for t in sampled])
    spans = np.round(np.ptp(seen, axis=0), 9)
    return int(spans.size - 1 - np.argmax(spans[::-1]))


def _most_moving_transition(drifting: DriftingMdp, sampled: list[int]) -> tuple[int, int]:
    """Return the (pair, successor) whose probability has the widest range; preferably one that leaves its state."""
    seen = [drifting.at(t).transitions for t in sampled]
    low, high = seen[0], seen[0]
    for transitions in seen[1:]:
        low, high = low.minimum(transitions), high.maximum(transitions)
    spans = (high - low).tocoo()
    if spans.nnz == 0:
        spans = high.tocoo()
    leaves = drifting.space.pair_states[spans.row] != spans.col
    best = np.lexsort((np.arange(spans.nnz), ~leaves, -np.round(spans.data, 9)))[0]
    return int(spans.row[best]), int(spans.col[best])


def _names(space: Space, pair: int) -> tuple[str, str]:
    state, action = space.state_and_action(pair)
    return space.state_name(state), space.action_name(state, action)
