"""A run of SWUCRL2-CW with every quantity of the paper's proofs, episode by episode.

The agent's beliefs are taken from the agent as it plays. What the proofs compare them with is recomputed here from
the trajectory and the true MDPs, by the paper's definitions, sharing no code with the agent.

==============  ===================  ==========================================================================
symbol          name here            shape, M episodes, P pairs, S states, T steps
==============  ===================  ==========================================================================
tau(m)          starts               (M,), from 1
m(t)            episode              (T,), from 0
N, r^, p^       counts, r_hat,       (M, P), (M, P), (M, P, S); [CSZ20] eq:N_sa and below
                p_hat
r-, p-          r_bar, p_bar         the true means over the same visits, eq:p_bar
rad_r, rad_p    rad_r, rad_p         (M, P), without widening, times the agent's scale
p_tau(m)        p_at_start           (M, P, S), the true transitions at the start of the episode
rho~, gamma~    gain, bias           (M,), (M, S); the agent's
pi~             policy               (M, S); the agent's
var_r, var_p    var_r, var_p         (T,)
rho*_t - r_t    regret               (T,)
p_t(.|s_t,a_t)  p_steps              (T, S)
==============  ===================  ==========================================================================

Rewards are in units of the agent's reward range.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp import formulas, planning
from driftmdp.agents import SWUCRL2CW
from driftmdp.mdp import DriftingMdp, Problem, Space
from driftmdp.simulation import Run, simulate, simulate_until
from driftmdp.statements.verdict import Evidence, Floats

MAX_STEPS_RECOUNTED = 20_000  # of a run whose episode starts are recomputed step by step
Ints = NDArray[np.int64]


class RunTrace:
    """All quantities that the proofs use, on one run.

    Parameters
    ----------
    name
        What trials on this run are called.
    problem, agent, run
        The run, and the agent and the problem it came from.
    beliefs
        ``agent.beliefs()`` at the start of each episode.

    Attributes
    ----------
    scaled
        Whether the radii are smaller than theory's.
    budgets
        B_r and B_p.
    covered
        Whether r- and p- lie within the radii at every start of an episode, as under E_r and E_p.
    reward_upper
        Max H_r of every pair: r^ + rad_r, at most 1, and 1 where N = 0. Shape (M, P).
    p_tilde, upper_values
        p~, the best transitions in H_p(eta) for gamma~, and max over H_r and H_p(eta) of r + p' gamma~, for every
        episode and pair.
    inside
        Whether p_tau(m) lies in H_p(eta) for every pair, shape (M,): the set U of the proof of Theorem 1.
    """

    def __init__(self, name: str, problem: Problem, agent: SWUCRL2CW, run: Run, beliefs: Sequence[Any]) -> None:
        self.name, self.problem, self.agent, self.run = name, problem, agent, run
        self.horizon, self.window, self.widening = problem.horizon, agent.window, float(agent.widening)
        self.scaled = agent.scale < 1.0
        self.gain = np.array([belief.gain for belief in beliefs])
        self.bias, self.policy, self.believed_counts, self.believed_rewards, self.believed_radii = (
            np.stack([getattr(belief, field) for belief in beliefs])
            for field in ("bias", "policy", "counts", "rewards", "radii")
        )
        self.starts: Ints = run.episode_starts
        self.lengths = np.diff(self.starts, append=self.horizon + 1)
        self.episode = np.searchsorted(self.starts, np.arange(1, self.horizon + 1), side="right") - 1
        self.pairs: Ints = problem.space.offsets[run.states].astype(np.int64) + run.actions
        self._recompute_estimates()
        self._recompute_regions()
        self._recompute_variation()

    def in_units(self, rewards: Floats) -> Floats:
        """Return rewards in units of the reward range, from 0 to 1."""
        low, high = self.problem.reward_range
        return np.asarray((rewards - low) / (high - low))

    def _recompute_estimates(self) -> None:
        """Set the estimates from the window of each episode, by the paper's definitions, zero where N = 0."""
        run, window_sums = self.run, _window_sums(self)
        self.counts = window_sums(np.ones(self.horizon))
        divisors = np.maximum(1.0, self.counts)
        next_states = np.append(run.states[1:], run.final_state)
        seen = next_states == np.arange(self.problem.space.n_states)[:, None]
        self.p_steps = transitions_along(self.problem.drifting, np.arange(self.horizon), self.pairs)
        self.p_at_start = self.all_transitions(self.starts - 1)
        self.r_hat = window_sums(self.in_units(run.rewards)) / divisors
        self.r_bar = window_sums(self.in_units(run.mean_rewards)) / divisors
        sums = (np.stack([window_sums(column) for column in columns], axis=2) for columns in (seen, self.p_steps.T))
        self.p_hat, self.p_bar = (total / divisors[:, :, None] for total in sums)

    def _recompute_regions(self) -> None:
        """Set the confidence regions at the start of each episode, and what they contain."""
        agent, unseen = self.agent, self.counts == 0  # the whole of [0, 1] and of the simplex, at any scale
        radii = formulas.paper_radii(self.counts, self.problem.space, self.horizon, agent.delta)
        self.rad_r = np.maximum(agent.scale * radii.reward, unseen * 1.0)
        self.rad_p = np.maximum(agent.scale * radii.transition, unseen * 2.0)
        self.reward_upper = np.where(unseen, 1.0, np.clip(self.r_hat + self.rad_r, 0.0, 1.0))
        within_r = np.abs(self.r_hat - self.r_bar) <= self.rad_r + 1e-12
        within_p = np.abs(self.p_hat - self.p_bar).sum(axis=2) <= self.rad_p + 1e-12
        self.covered = bool((unseen | (within_r & within_p)).all())
        distance = np.abs(self.p_at_start - self.p_hat).sum(axis=2)
        self.inside = (unseen | (distance <= self.rad_p + self.widening + 1e-12)).all(axis=1)
        m, p, s = self.p_hat.shape
        centres, radius = self.p_hat.reshape(m * p, s), (self.rad_p + self.widening).ravel()
        self.p_tilde = best_transitions(centres, radius, np.repeat(self.bias, p, axis=0)).reshape(m, p, s)
        self.upper_values = self.reward_upper + (self.p_tilde * self.bias[:, None, :]).sum(axis=2)

    def _recompute_variation(self) -> None:
        """Set the budgets, and var_t: the variation from the start of the window of t's episode to t."""
        found, (low, high) = self.problem.drifting.variation(), self.problem.reward_range
        kinds = found.reward_steps / (high - low), found.transition_steps
        self.budgets = float(kinds[0].sum()), float(kinds[1].sum())
        first = np.maximum(1, self.starts - self.window)[self.episode]
        summed = (np.concatenate([[0.0], np.cumsum(steps)]) for steps in kinds)  # [i] is B_1 + ... + B_i
        self.var_r, self.var_p = (sums[: self.horizon] - sums[first - 1] for sums in summed)

    def all_transitions(self, rows: NDArray[Any]) -> Floats:
        """Return p_t of every pair at the given steps (0-based rows), shape (steps, P, S)."""
        n_pairs = self.problem.space.n_pairs
        every = np.tile(np.arange(n_pairs), len(rows))
        flat = transitions_along(self.problem.drifting, np.repeat(rows, n_pairs), every)
        return flat.reshape(len(rows), n_pairs, -1)

    @functools.cached_property
    def max_diameter(self) -> float:
        """D_max."""
        return float(planning.max_diameter(self.problem.drifting))

    @functools.cached_property
    def diameters_at_start(self) -> Floats:
        """The diameter of the true MDP at the start of each episode, shape (M,)."""
        steps, group = self.problem.drifting.distinct_steps(rewards=False)
        wanted, place = np.unique(group[self.starts - 1], return_inverse=True)
        found = [float(planning.diameter(self.problem.drifting.at(int(steps[g]) + 1))) for g in wanted]
        return np.array(found)[place]

    @functools.cached_property
    def gains(self) -> Floats:
        """rho*_t, shape (T,)."""
        return self.in_units(planning.optimal_gains(self.problem.drifting, allow_transient=True))

    @functools.cached_property
    def regret(self) -> Floats:
        """rho*_t - r_t(s_t, a_t), shape (T,)."""
        return np.asarray(self.gains - self.in_units(self.run.mean_rewards))

    # the sets of the proof of Theorem 1 ------------------------------------------------------------------

    @functools.cached_property
    def q_set(self) -> list[int]:
        """Q_T: episodes outside U whose starts are more than W apart, in the order of time, from 0."""
        chosen: list[int] = []
        for m in np.flatnonzero(~self.inside):
            if not chosen or self.starts[m] - self.starts[chosen[-1]] > self.window:
                chosen.append(int(m))
        return chosen

    @functools.cached_property
    def q_cover(self) -> NDArray[np.bool_]:
        """Whether an episode is in Q~_T, which has Q_T and what starts within W steps after it, shape (M,)."""
        covered = np.zeros(self.starts.size, np.bool_)
        for m in self.q_set:
            gap = self.starts - self.starts[m]
            covered |= (gap >= 0) & (gap <= self.window)
        return covered

    @functools.cached_property
    def parts(self) -> dict[str, float]:
        """The four sums into which the proof of Theorem 1 splits the regret."""
        m, pair, d = self.episode, self.pairs, self.max_diameter
        kept = ~self.q_cover[m]
        drift = (self.p_steps * self.bias[m]).sum(axis=1) - self.bias[m, self.run.states]
        varied = 2 * self.var_r + 4 * d * self.var_p + 2 * d * self.widening
        radii = 2 * self.rad_r[m, pair] + 4 * d * self.rad_p[m, pair]
        return {
            "lost": float(self.regret[~kept].sum()),
            "switching": float((drift + 1 / np.sqrt(self.starts)[m])[kept].sum()),
            "variation": float(varied[kept].sum()),
            "estimation": float(radii[kept].sum()),
        }

    # Algorithm 1 -----------------------------------------------------------------------------------------

    def try_algorithm(self, evidence: Evidence) -> None:
        """Try [CSZ20] alg:swr-ucrl2 on this run: its counts, regions, precision and, if it is short, its episodes.

        A bound that is far from tight cannot tell whether the agent follows the algorithm. Precision is Property 2
        with 1/sqrt(tau(m)). A deviation is a fault of this library, not of the statement.
        """
        library, name, seen = evidence.library, self.name, self.counts > 0
        library.equal(f"{name}, counts", self.believed_counts, self.counts, 0.0)
        library.equal(f"{name}, radii with eta", (self.believed_radii - self.rad_p)[seen], self.widening)
        library.equal(f"{name}, r~ is the top of H_r", self.believed_rewards, self.reward_upper)
        chosen = self.problem.space.offsets[:-1] + self.policy
        best = np.take_along_axis(self.upper_values, chosen.astype(np.int64), axis=1)
        promised = self.gain[:, None] + self.bias - 1 / np.sqrt(self.starts)[:, None]
        library.at_most(f"{name}, plans as precise as 1/sqrt(tau)", promised, best)
        if self.horizon <= MAX_STEPS_RECOUNTED:
            differ = self._starts_by_the_rule() != self.starts.tolist()
            library.at_most(f"{name}, starts that are not Algorithm 1's", float(differ), 0.0)

    def _starts_by_the_rule(self) -> list[int]:
        """Return Algorithm 1's starts: multiples of W, and where the pair about to be played has doubled."""
        offsets, states, counts = self.problem.space.offsets, self.run.states.tolist(), self.counts
        starts, m, remaining = [1], 0, np.maximum(1, counts[0])
        for t, (state, pair) in enumerate(zip(states, self.pairs.tolist(), strict=True), start=1):
            planned = offsets[state] + self.policy[m, state]
            if t > 1 and (t % self.window == 0 or remaining[planned] <= 0):
                starts.append(t)
                m = min(m + 1, counts.shape[0] - 1)
                remaining = np.maximum(1, counts[m])
            remaining[pair] -= 1
        return starts


def trace_run(name: str, problem: Problem, seed: int, **parameters: Any) -> RunTrace:
    """Run SWUCRL2-CW on a problem and record its beliefs at the start of each episode."""
    agent = SWUCRL2CW.for_problem(problem, **parameters)
    run = simulate(agent, problem, seed)
    players = simulate_until(agent, problem, seed, run.episode_starts.tolist())
    return RunTrace(name, problem, agent, run, [player.beliefs() for player in players])


def transitions_along(drifting: DriftingMdp, rows: NDArray[Any], pairs: NDArray[Any]) -> Floats:
    """Return p of the given steps (0-based rows) and pairs, densely, shape (steps, S)."""
    n_pairs, n_states = drifting.space.n_pairs, drifting.space.n_states
    anchors = drifting.anchor_transitions.toarray().reshape(drifting.n_anchors, n_pairs, n_states)
    weights = sp.csc_array(drifting.weights.arrays[rows])
    found = np.zeros((len(rows), n_states))
    for k in range(drifting.n_anchors):
        entries = slice(weights.indptr[k], weights.indptr[k + 1])
        steps = weights.indices[entries]
        found[steps] += weights.data[entries][:, None] * anchors[k, pairs[steps]]
    return found


def _window_sums(trace: RunTrace) -> Callable[[NDArray[Any]], Floats]:
    """Return a function from a value per step to its sums over the visits to each pair in the window, shape (M, P).

    The window of an episode is q = (tau - W) v 1 .. tau - 1.
    """
    firsts, n_pairs = np.maximum(1, trace.starts - trace.window), trace.problem.space.n_pairs
    edges = np.unique(np.concatenate([firsts, trace.starts]))
    first, last = np.searchsorted(edges, firsts), np.searchsorted(edges, trace.starts)
    segment = np.searchsorted(edges, np.arange(1, trace.horizon + 1), side="right") - 1
    cell = segment * n_pairs + trace.pairs

    def sums(values: NDArray[Any]) -> Floats:
        before = np.zeros((edges.size + 1, n_pairs))
        cells = np.bincount(cell, values, minlength=edges.size * n_pairs)
        np.cumsum(cells.reshape(edges.size, n_pairs), axis=0, out=before[1:])
        return np.asarray(before[last] - before[first])

    return sums


# the confidence regions H_r and H_p(eta) of [CSZ20] eq:Hr, eq:Hp, by the definitions ---------------------


def best_transitions(p_hat: Floats, radius: Floats, u: Floats) -> Floats:
    """Return for every row the p of its ball that maximises p' u, shape (rows, S).

    Put as much mass as the ball and the simplex allow on the best state and take it from the worst ones. A row of
    p_hat that is all zero was never seen: every distribution is plausible.

    Parameters
    ----------
    p_hat
        Centres, shape (rows, S).
    radius
        L1 radii, shape (rows,).
    u
        Values of the states, shape (S,) or (rows, S).
    """
    values = np.broadcast_to(u, p_hat.shape)
    rows = np.arange(len(p_hat))
    best = values.argmax(axis=1)
    unseen = p_hat.sum(axis=1) == 0
    centre = np.where(unseen[:, None], np.eye(p_hat.shape[1])[best], p_hat)
    added = np.where(unseen, 0.0, np.minimum(radius / 2, 1 - centre[rows, best]))
    ranks = np.array(values, float)
    ranks[rows, best] = np.inf
    order = np.argsort(ranks, axis=1)  # worst first, the best last
    masses = np.take_along_axis(centre, order, axis=1)
    before = np.cumsum(masses, axis=1) - masses
    left = masses - np.clip(added[:, None] - before, 0.0, masses)
    chosen = np.empty_like(centre)
    np.put_along_axis(chosen, order, left, axis=1)
    chosen[rows, best] = centre[rows, best] + added
    return chosen


def bellman_values(rewards: Floats, p_hat: Floats, radius: Floats, u: Floats) -> Floats:
    """Return max over H_r and H_p of r + p' u for every row, where ``rewards`` are the upper ends of H_r."""
    return np.asarray(rewards + (best_transitions(p_hat, radius, u) * u).sum(axis=1))


def plain_sweeps(
    space: Space, rewards: Floats, p_hat: Floats, radius: Floats, precision: float, limit: int
) -> tuple[int, float]:
    """Return how many sweeps [CSZ20] alg:evi takes as printed, at most ``limit`` from u = 0, and the last span."""
    u, span = np.zeros(space.n_states), np.inf
    for sweep in range(1, limit + 1):
        following = np.maximum.reduceat(bellman_values(rewards, p_hat, radius, u), space.offsets[:-1])
        span = float(np.ptp(following - u))
        if span <= precision:
            return sweep, span
        u = following - following.min()
    return limit, span


def diameter_of_two_states(p_hat: Floats, radius: Floats) -> float:
    """Return the smallest diameter of any MDP inside the region, for S = 2 and two actions per state.

    From state s the other is reached with probability at most max_a p^(other | s, a) + radius / 2, so the smallest
    expected time is one over that.
    """
    away = np.array([p_hat[0, 1], p_hat[1, 1], p_hat[2, 0], p_hat[3, 0]]) + radius / 2
    return float(1 / np.minimum(1.0, np.maximum.reduceat(away, [0, 2])).min())
