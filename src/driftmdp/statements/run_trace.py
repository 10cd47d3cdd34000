"""A run of SWUCRL2-CW with every quantity of the paper's proofs, episode by episode.

What the agent believed is taken from the agent as it plays. What the proofs compare it with is recomputed here from
the trajectory and the true world, by the paper's definitions, sharing no code with the agent.

==============  ===================  ==========================================================================
symbol          name here            shape, M episodes, P pairs, S states, T steps
==============  ===================  ==========================================================================
tau(m)          starts               (M,), from 1
m(t)            episode              (T,), from 0
N, r^, p^       counts, r_hat,       (M, P), (M, P), (M, P, S); [CSZ20] eq:N_sa and below
                p_hat
r-, p-          r_bar, p_bar         the true means over the same visits, eq:p_bar
rad_r, rad_p    rad_r, rad_p         (M, P), without widening, times the agent's scale
p_tau(m)        p_then               (M, P, S), the world at the start of the episode
rho~, gamma~    gain, bias           (M,), (M, S); the agent's
pi~             policy               (M, S); the agent's
var_r, var_p    var_r, var_p         (T,)
rho*_t - r_t    regret               (T,)
p_t(.|s_t,a_t)  p_steps              (T, S)
==============  ===================  ==========================================================================

Rewards are in units of the agent's reward range.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp import formulas, planning
from driftmdp.agents import SWUCRL2CW
from driftmdp.mdp import DriftingMdp, Problem
from driftmdp.simulation import Run, simulate, simulate_until
from driftmdp.statements.regions import Floats, bellman_values, best_transitions

Ints = NDArray[np.int64]


@dataclass(eq=False)
class RunTrace:
    """All that the proofs speak of, on one run."""

    name: str
    problem: Problem
    agent: SWUCRL2CW
    run: Run
    starts: Ints
    gain: Floats
    bias: Floats
    policy: NDArray[np.int32]
    believed_counts: Floats
    believed_rewards: Floats
    believed_radii: Floats

    # sizes ---------------------------------------------------------------------------------------------

    @property
    def horizon(self) -> int:
        """T."""
        return self.problem.horizon

    @property
    def window(self) -> int:
        """W."""
        return self.agent.window

    @property
    def widening(self) -> float:
        """Eta."""
        return float(self.agent.widening)

    @property
    def scaled(self) -> bool:
        """Whether the radii are smaller than theory's."""
        return self.agent.scale < 1.0

    @property
    def span(self) -> float:
        """The width of the reward range, which is the unit of rewards."""
        low, high = self.problem.reward_range
        return high - low

    @functools.cached_property
    def budgets(self) -> tuple[float, float]:
        """B_r and B_p, rewards in units of the range."""
        return float(self._variation[0].sum()), float(self._variation[1].sum())

    @functools.cached_property
    def max_diameter(self) -> float:
        """D_max."""
        return float(planning.max_diameter(self.problem.drifting))

    @functools.cached_property
    def diameters_then(self) -> Floats:
        """The diameter of the world at the start of each episode, shape (M,)."""
        steps, group = self.problem.drifting.distinct_steps(rewards=False)
        wanted, place = np.unique(group[self.starts - 1], return_inverse=True)
        known = [float(planning.diameter(self.problem.drifting.at(int(steps[g]) + 1))) for g in wanted]
        return np.array(known)[place]

    # the trajectory ------------------------------------------------------------------------------------

    @functools.cached_property
    def pairs(self) -> Ints:
        """The pair of each step, shape (T,)."""
        return self.problem.space.offsets[self.run.states].astype(np.int64) + self.run.actions

    @functools.cached_property
    def next_states(self) -> Ints:
        """s_{t+1}, shape (T,)."""
        return np.append(self.run.states[1:], self.run.final_state).astype(np.int64)

    @functools.cached_property
    def episode(self) -> Ints:
        """The number of the episode of each step, from 0, shape (T,)."""
        return np.searchsorted(self.starts, np.arange(1, self.horizon + 1), side="right") - 1

    @functools.cached_property
    def lengths(self) -> Ints:
        """How many steps each episode has."""
        return np.diff(self.starts, append=self.horizon + 1)

    @functools.cached_property
    def regret(self) -> Floats:
        """rho*_t - r_t(s_t, a_t), shape (T,)."""
        return np.asarray(self.gains - (self.run.mean_rewards - self._bottom) / self.span)

    @functools.cached_property
    def gains(self) -> Floats:
        """rho*_t, shape (T,)."""
        return (planning.optimal_gains(self.problem.drifting, allow_transient=True) - self._bottom) / self.span

    @property
    def _bottom(self) -> float:
        return self.problem.reward_range[0]

    # what is remembered, by the paper's definitions ------------------------------------------------------

    @functools.cached_property
    def _remembered(self) -> _Windows:
        return _Windows(self.starts, self.window, self.pairs, self.problem.space.n_pairs)

    @functools.cached_property
    def counts(self) -> Floats:
        """N at tau(m)."""
        return self._remembered.sums(np.ones(self.horizon))

    @functools.cached_property
    def _divisors(self) -> Floats:
        return np.maximum(1.0, self.counts)

    @functools.cached_property
    def r_hat(self) -> Floats:
        """The empirical mean rewards."""
        return self._remembered.sums((self.run.rewards - self._bottom) / self.span) / self._divisors

    @functools.cached_property
    def p_hat(self) -> Floats:
        """The empirical transitions; zero where N = 0."""
        columns = [self._remembered.sums((self.next_states == s).astype(float)) for s in self._states]
        return np.stack(columns, axis=2) / self._divisors[:, :, None]

    @functools.cached_property
    def r_bar(self) -> Floats:
        """The mean of the true rewards over the same visits."""
        return self._remembered.sums((self.run.mean_rewards - self._bottom) / self.span) / self._divisors

    @functools.cached_property
    def p_bar(self) -> Floats:
        """The mean of the true transitions over the same visits."""
        columns = [self._remembered.sums(self.p_steps[:, s]) for s in self._states]
        return np.stack(columns, axis=2) / self._divisors[:, :, None]

    @functools.cached_property
    def p_steps(self) -> Floats:
        """p_t( . | s_t, a_t)."""
        return transitions_along(self.problem.drifting, np.arange(self.horizon), self.pairs)

    @functools.cached_property
    def p_then(self) -> Floats:
        """p_tau(m) of every pair."""
        n_pairs = self.problem.space.n_pairs
        rows = np.repeat(self.starts - 1, n_pairs)
        every = np.tile(np.arange(n_pairs), self.starts.size)
        flat = transitions_along(self.problem.drifting, rows, every)
        return flat.reshape(self.starts.size, n_pairs, -1)

    @property
    def _states(self) -> range:
        return range(self.problem.space.n_states)

    # confidence ----------------------------------------------------------------------------------------

    @functools.cached_property
    def _radii(self) -> formulas.Radii:
        agent = self.agent
        radii = formulas.paper_radii(self.counts, self.problem.space, self.horizon, agent.delta)
        unseen = self.counts == 0  # the whole of [0, 1] and of the simplex, however the radii are scaled
        return formulas.Radii(
            np.maximum(agent.scale * radii.reward, unseen * 1.0),
            np.maximum(agent.scale * radii.transition, unseen * 2.0),
        )

    @property
    def rad_r(self) -> Floats:
        """rad_r at tau(m)."""
        return self._radii.reward

    @property
    def rad_p(self) -> Floats:
        """rad_p at tau(m), without widening."""
        return self._radii.transition

    @functools.cached_property
    def tops(self) -> Floats:
        """Max H_r of every pair: r^ + rad_r, at most 1; 1 where N = 0."""
        return np.where(self.counts == 0, 1.0, np.clip(self.r_hat + self.rad_r, 0.0, 1.0))

    @functools.cached_property
    def covered(self) -> bool:
        """Whether r- and p- lie within the radii at every start of an episode: what E_r and E_p are used for."""
        seen = self.counts > 0
        reward = np.abs(self.r_hat - self.r_bar) <= self.rad_r + 1e-12
        transition = np.abs(self.p_hat - self.p_bar).sum(axis=2) <= self.rad_p + 1e-12
        return bool((reward & transition)[seen].all())

    # the optimistic plan, with the paper's regions -------------------------------------------------------

    @functools.cached_property
    def upper_values(self) -> Floats:
        """Max over H_r and H_p(eta) of r + p' gamma~, for every episode and pair, shape (M, P)."""
        m, p, s = self.p_hat.shape
        u = np.repeat(self.bias, p, axis=0)
        radius = (self.rad_p + self.widening).ravel()
        flat = bellman_values(self.tops.ravel(), self.p_hat.reshape(m * p, s), radius, u)
        return flat.reshape(m, p)

    @functools.cached_property
    def p_tilde(self) -> Floats:
        """p~ of every episode and pair: the best in H_p(eta) for gamma~, shape (M, P, S)."""
        m, p, s = self.p_hat.shape
        u = np.repeat(self.bias, p, axis=0)
        radius = (self.rad_p + self.widening).ravel()
        return best_transitions(self.p_hat.reshape(m * p, s), radius, u).reshape(m, p, s)

    @functools.cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Whether p_tau(m) lies in H_p(eta) for every pair, shape (M,): the set U of the proof of Theorem 1."""
        apart = np.abs(self.p_then - self.p_hat).sum(axis=2)
        seen = self.counts > 0
        return np.asarray((~seen | (apart <= self.rad_p + self.widening + 1e-12)).all(axis=1))

    # variation -----------------------------------------------------------------------------------------

    @functools.cached_property
    def _variation(self) -> tuple[Floats, Floats]:
        found = self.problem.drifting.variation()
        return found.reward_steps / self.span, found.transition_steps

    @functools.cached_property
    def var_r(self) -> Floats:
        """var_{r,t}: the variation of rewards from the start of the window of t's episode to t."""
        return self._varied(self._variation[0])

    @functools.cached_property
    def var_p(self) -> Floats:
        """var_{p,t}."""
        return self._varied(self._variation[1])

    def _varied(self, steps: Floats) -> Floats:
        summed = np.concatenate([[0.0], np.cumsum(steps)])  # summed[i] = B_1 + ... + B_i
        t = np.arange(1, self.horizon + 1)
        first = np.maximum(1, self.starts - self.window)[self.episode]
        return np.asarray(summed[t - 1] - summed[first - 1])

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
        """Whether an episode is in Q~_T: in Q_T, or it starts within W steps after one that is; shape (M,)."""
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


def keep_trace(name: str, problem: Problem, seed: int, **parameters: Any) -> RunTrace:
    """Run SWUCRL2-CW on a problem and keep what it believed at the start of each episode."""
    agent = SWUCRL2CW.for_problem(problem, **parameters)
    run = simulate(agent, problem, seed)
    beliefs = [player.beliefs() for player in simulate_until(agent, problem, seed, run.episode_starts.tolist())]
    return RunTrace(
        name=name,
        problem=problem,
        agent=agent,
        run=run,
        starts=run.episode_starts,
        gain=np.array([belief.gain for belief in beliefs]),
        bias=np.stack([belief.bias for belief in beliefs]),
        policy=np.stack([belief.policy for belief in beliefs]),
        believed_counts=np.stack([belief.counts for belief in beliefs]),
        believed_rewards=np.stack([belief.rewards for belief in beliefs]),
        believed_radii=np.stack([belief.radii for belief in beliefs]),
    )


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


class _Windows:
    """Sums over the visits to each pair in the window of each episode, q = (tau - W) v 1 .. tau - 1."""

    def __init__(self, starts: Ints, window: int, pairs: Ints, n_pairs: int) -> None:
        firsts = np.maximum(1, starts - window)
        self._edges = np.unique(np.concatenate([firsts, starts]))
        self._first, self._last = np.searchsorted(self._edges, firsts), np.searchsorted(self._edges, starts)
        segment = np.searchsorted(self._edges, np.arange(1, pairs.size + 1), side="right") - 1
        self._n_pairs, self._cell = n_pairs, segment * n_pairs + pairs

    def sums(self, values: Floats) -> Floats:
        """Return the sums of a value per step, shape (M, P)."""
        cells = np.bincount(self._cell, values, minlength=self._edges.size * self._n_pairs)
        before = np.zeros((self._edges.size + 1, self._n_pairs))
        np.cumsum(cells.reshape(self._edges.size, self._n_pairs), axis=0, out=before[1:])
        return np.asarray(before[self._last] - before[self._first])
