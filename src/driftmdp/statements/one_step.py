"""Appendix C: Proposition 2, the regret of one step, and its lemmas, on runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftmdp.statements.algorithm import try_algorithm
from driftmdp.statements.context import CheckContext
from driftmdp.statements.regions import Floats
from driftmdp.statements.registry import statement
from driftmdp.statements.run_trace import RunTrace, transitions_along
from driftmdp.statements.verdict import Evidence

MOMENTS = 400  # times at which lemmas about every pair are tried, per run
STEPS = 100_000  # at which the bound on one step is tried, per run


def _covered(context: CheckContext) -> list[RunTrace]:
    """Return the runs on which E_r and E_p hold, which the lemmas are conditioned on."""
    return [trace for trace in context.traces() if trace.covered]


def _moments(trace: RunTrace) -> np.ndarray:
    """Return times t: first and last steps of episodes, evenly chosen."""
    every = np.unique(np.concatenate([trace.starts, trace.starts + trace.lengths - 1]))
    return np.asarray(every[np.linspace(0, every.size - 1, min(MOMENTS, every.size)).astype(int)])


def _world_at(trace: RunTrace, times: np.ndarray) -> tuple[Floats, Floats]:
    """Return r_t and p_t of every pair, shapes (times, P) and (times, P, S)."""
    world, n_pairs = trace.problem.drifting, trace.problem.space.n_pairs
    low = trace.problem.reward_range[0]
    rewards = np.stack([(world.rewards_at(int(t)) - low) / trace.span for t in times])
    rows = transitions_along(world, np.repeat(times - 1, n_pairs), np.tile(np.arange(n_pairs), times.size))
    return rewards, rows.reshape(times.size, n_pairs, -1)


@statement("lemma-3", "the window's means are near the present", "Lemma 3 (lemma:dev_r_p)", 96)
def lemma_3(context: CheckContext) -> Evidence:
    """What was averaged differs from now by no more than what has changed.

    For t in episode m and all pairs: |r_t - r-_tau(m)| <= var_{r,t} and |p_t - p-_tau(m)|_1 <= var_{p,t}. It
    fails where N = 0, where r- = 0 and p- = 0. Its proof averages over all W steps instead of over the visits.
    """
    evidence = Evidence()
    for trace in context.traces():
        times = _moments(trace)
        episode = trace.episode[times - 1]
        rewards, rows = _world_at(trace, times)
        off_r = np.abs(rewards - trace.r_bar[episode])
        off_p = np.abs(rows - trace.p_bar[episode]).sum(axis=2)
        var_r, var_p = (np.repeat(v[times - 1, None], off_r.shape[1], 1) for v in (trace.var_r, trace.var_p))
        seen = trace.counts[episode] > 0
        evidence.printed.at_most(f"{trace.name}, all pairs, rewards", off_r, var_r)
        evidence.printed.at_most(f"{trace.name}, all pairs, transitions", off_p, var_p)
        evidence.corrected.at_most(f"{trace.name}, N > 0, rewards", off_r[seen], var_r[seen], trivial=1.0)
        evidence.corrected.at_most(f"{trace.name}, N > 0, transitions", off_p[seen], var_p[seen], trivial=2.0)
    evidence.correction = "for pairs with N > 0"
    evidence.why = "at t = 1 nothing was seen, so r- = 0 while r_1 > 0 and nothing has varied yet"
    return evidence


@statement("lemma-4", "the plan is optimistic", "Lemma 4 (lemma:dev_rho)", 97)
def lemma_4(context: CheckContext) -> Evidence:
    """The optimistic gain is no lower than the true one, up to what has changed.

    rho~_tau(m) >= rho*_t - var_{r,t} - 2 D var_{p,t}, if H_p(eta) at tau(m) contains an MDP of diameter D.
    Where N = 0 its proof needs p_t instead of p-; the display in it has p_tau(m) where p- is meant.
    """
    evidence = Evidence()
    for trace in _covered(context):
        usable = trace.inside[trace.episode]
        diameter = trace.diameters_then[trace.episode]
        floor = trace.gains - trace.var_r - 2 * diameter * trace.var_p
        gain = trace.gain[trace.episode][usable]
        evidence.printed.at_most(trace.name, floor[usable], gain, trivial=1.0, scaled=trace.scaled)
    evidence.why = "every step of every run on which E_r and E_p hold, with the diameter of the world at tau(m)"
    return evidence


@statement("lemma-5", "optimistic and true transitions", "Lemma 5 (lemma:cross_p_error)", 98)
def lemma_5(context: CheckContext) -> Evidence:
    """Replacing p~ by p_t in the Bellman equation costs little.

    |sum_s' (p~_tau(m) - p_t)(s' | s, a) gamma~(s')| <= 2 D (var_{p,t} + 2 rad_p(s, a) + eta), for all pairs.
    """
    evidence = Evidence()
    for trace in _covered(context):
        times = _moments(trace)
        times = times[trace.inside[trace.episode[times - 1]]]
        episode = trace.episode[times - 1]
        _, rows = _world_at(trace, times)
        left = np.abs(((trace.p_tilde[episode] - rows) * trace.bias[episode][:, None, :]).sum(axis=2))
        diameter = trace.diameters_then[episode][:, None]
        moved = trace.var_p[times - 1, None] + 2 * trace.rad_p[episode] + trace.widening
        right = 2 * diameter * moved
        evidence.printed.at_most(trace.name, left, right, trivial=2 * diameter, scaled=trace.scaled)
    evidence.why = "the sum is at most span(gamma~) <= 2 D whatever p~ is: a right side above is vacuous"
    return evidence


@statement("proposition-2", "the regret of one step", "Proposition 2 (prop:error)", 21)
def proposition_2(context: CheckContext) -> Evidence:
    """Under E_r and E_p the regret of a step is bounded by what is known of its episode.

    If H_p(eta) at tau(m) contains a p of diameter at most D, then for every t in the episode
    rho*_t - r_t(s_t, a_t) <= sum_s' p_t(s' | s_t, a_t) gamma~(s') - gamma~(s_t) + 1 / sqrt(tau(m))
    + 2 var_{r,t} + 4 D (var_{p,t} + eta) + 2 rad_r(s_t, a_t) + 4 D rad_p(s_t, a_t). (Printed with rad_p(s, a).)
    Every step of its proof is tried: by Lemma 3, by E_r, by Properties 1 and 2; Lemmas 4 and 5 have their own.
    """
    evidence = Evidence()
    for trace in _covered(context):
        try_one_step(evidence, trace, trace.diameters_then[trace.episode], trace.inside[trace.episode])
    evidence.why = (
        f"up to {STEPS:,} steps of each run on which E_r and E_p hold; a right side of 1 or more is vacuous. The "
        "proof gives 2 D eta where 4 D eta is printed"
    )
    return evidence


def try_one_step(evidence: Evidence, trace: RunTrace, diameter: Floats, usable: NDArray[np.bool_]) -> None:
    """Try the bound and the steps of its proof, for the steps t of a run that may use it, at most STEPS of them."""
    row = np.flatnonzero(usable)[:: max(1, trace.horizon // STEPS)]
    m, pair, state = trace.episode[row], trace.pairs[row], trace.run.states[row]
    bias, here, widest = trace.bias[m], trace.bias[m, state], diameter[row]
    rad_r, rad_p = trace.rad_r[m, pair], trace.rad_p[m, pair]
    var_r, regret = trace.var_r[row], trace.regret[row]
    precision = 1 / np.sqrt(trace.starts)[m]
    right = (trace.p_steps[row] * bias).sum(axis=1) - here + precision
    right += 2 * var_r + 4 * widest * (trace.var_p[row] + trace.widening) + 2 * rad_r + 4 * widest * rad_p
    trail, name = evidence.printed, trace.name
    trail.at_most(name, regret, right, trivial=1.0, scaled=trace.scaled)

    reward = trace.gains[row] - regret  # r_t(s_t, a_t)
    believed, mean = trace.tops[m, pair], trace.r_bar[m, pair]
    own = trace.gain[m] + here - (trace.p_tilde[m, pair] * bias).sum(axis=1)
    seen = trace.counts[m, pair] > 0
    played = trace.policy[trace.episode, trace.run.states] == trace.run.actions
    try_algorithm(evidence, trace)
    evidence.library.at_most(f"{name}, actions that are not the plan's", float((~played).sum()), 0.0)
    trail.step(f"{name}, by Lemma 3", (mean - var_r)[seen], reward[seen])
    trail.step(f"{name}, by E_r", believed - 2 * rad_r, mean)
    trail.step(f"{name}, by Property 2", own - precision, believed)
    trail.step(
        f"{name}, by Property 1", trace.upper_values[m, pair] - bias[np.arange(row.size), state], trace.gain[m]
    )
