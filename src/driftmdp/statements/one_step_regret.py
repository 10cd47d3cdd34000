"""Appendix C: Proposition 2, the regret of one step, and its lemmas, on runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftmdp.statements.context import CheckContext
from driftmdp.statements.registry import checks
from driftmdp.statements.run_trace import RunTrace
from driftmdp.statements.verdict import Evidence, Floats

TIMES_PER_RUN = 400  # at which lemmas about every pair are tried
STEPS_PER_RUN = 100_000  # at which the bound on one step is tried


def _sampled_times(trace: RunTrace) -> np.ndarray:
    """Return times t: first and last steps of episodes, evenly chosen."""
    every = np.unique(np.concatenate([trace.starts, trace.starts + trace.lengths - 1]))
    return np.asarray(every[np.linspace(0, every.size - 1, min(TIMES_PER_RUN, every.size)).astype(int)])


@checks("lemma-3", "the window's means are near the present", "Lemma 3 (lemma:dev_r_p)", 96)
def lemma_3(context: CheckContext, evidence: Evidence) -> str:
    """The means over the window differ from the present by no more than the variation since.

    For t in episode m and all pairs: |r_t - r-_tau(m)| <= var_{r,t} and |p_t - p-_tau(m)|_1 <= var_{p,t}. It
    fails where N = 0, because r- = 0 and p- = 0 there. Its proof averages over all W steps instead of the visits.
    """
    for trace in context.traces():
        times = _sampled_times(trace)
        episode = trace.episode[times - 1]
        rewards = trace.in_units(np.stack([trace.problem.drifting.rewards_at(int(t)) for t in times]))
        off_r = np.abs(rewards - trace.r_bar[episode])
        off_p = np.abs(trace.all_transitions(times - 1) - trace.p_bar[episode]).sum(axis=2)
        seen = trace.counts[episode] > 0
        for kind, off, var, top in (("rewards", off_r, trace.var_r, 1.0), ("transitions", off_p, trace.var_p, 2.0)):
            varied = np.repeat(var[times - 1, None], off.shape[1], 1)
            evidence.printed.at_most(f"{trace.name}, all pairs, {kind}", off, varied)
            evidence.corrected.at_most(f"{trace.name}, N > 0, {kind}", off[seen], varied[seen], trivial=top)
    evidence.correction = "It holds for pairs with N > 0"
    return "At t = 1 no pair was seen, so r- = 0. But r_1 > 0, and the variation is still 0"


@checks("lemma-4", "the plan is optimistic", "Lemma 4 (lemma:dev_rho)", 97)
def lemma_4(context: CheckContext, evidence: Evidence) -> str:
    """The optimistic gain is at least the true one, up to the variation within the window.

    rho~_tau(m) >= rho*_t - var_{r,t} - 2 D var_{p,t}, if H_p(eta) at tau(m) contains an MDP of diameter D.
    Where N = 0 its proof needs p_t instead of p-. A display in it has p_tau(m) where p- is meant.
    """
    for trace in context.covered_traces():
        usable = trace.inside[trace.episode]
        diameter = trace.diameters_at_start[trace.episode]
        floor = trace.gains - trace.var_r - 2 * diameter * trace.var_p
        gain = trace.gain[trace.episode][usable]
        evidence.printed.at_most(trace.name, floor[usable], gain, trivial=1.0, scaled=trace.scaled)
    return "Tried at every step of every run on which E_r and E_p hold, with the diameter of the MDP at tau(m)"


@checks("lemma-5", "optimistic and true transitions", "Lemma 5 (lemma:cross_p_error)", 98)
def lemma_5(context: CheckContext, evidence: Evidence) -> str:
    """Replacing p~ by p_t in the Bellman equation costs little.

    |sum_s' (p~_tau(m) - p_t)(s' | s, a) gamma~(s')| <= 2 D (var_{p,t} + 2 rad_p(s, a) + eta), for all pairs.
    """
    for trace in context.covered_traces():
        times = _sampled_times(trace)
        times = times[trace.inside[trace.episode[times - 1]]]
        episode = trace.episode[times - 1]
        off = trace.p_tilde[episode] - trace.all_transitions(times - 1)
        left = np.abs((off * trace.bias[episode][:, None, :]).sum(axis=2))
        diameter = trace.diameters_at_start[episode][:, None]
        right = 2 * diameter * (trace.var_p[times - 1, None] + 2 * trace.rad_p[episode] + trace.widening)
        evidence.printed.at_most(trace.name, left, right, trivial=2 * diameter, scaled=trace.scaled)
    return "The sum is at most span(gamma~) <= 2 D for any p~, so a larger right side is vacuous"


@checks("proposition-2", "the regret of one step", "Proposition 2 (prop:error)", 21)
def proposition_2(context: CheckContext, evidence: Evidence) -> str:
    """Under E_r and E_p the regret of a step is bounded by quantities of its episode.

    If H_p(eta) at tau(m) contains a p of diameter at most D, then for every t in the episode
    rho*_t - r_t(s_t, a_t) <= sum_s' p_t(s' | s_t, a_t) gamma~(s') - gamma~(s_t) + 1 / sqrt(tau(m))
    + 2 var_{r,t} + 4 D (var_{p,t} + eta) + 2 rad_r(s_t, a_t) + 4 D rad_p(s_t, a_t). (Printed with rad_p(s, a).)
    Every step of its proof is tried: by Lemma 3, by E_r, by Properties 1 and 2. Lemmas 4 and 5 have checks of
    their own.
    """
    for trace in context.covered_traces():
        try_one_step(evidence, trace, trace.diameters_at_start[trace.episode], trace.inside[trace.episode])
    return (
        f"Tried at up to {STEPS_PER_RUN:,} steps of each run on which E_r and E_p hold. A right side of 1 or more "
        "is vacuous. The proof gives 2 D eta where 4 D eta is printed"
    )


def try_one_step(evidence: Evidence, trace: RunTrace, diameter: Floats, usable: NDArray[np.bool_]) -> None:
    """Try the bound and the steps of its proof at the usable steps of a run, at most STEPS_PER_RUN of them."""
    row = np.flatnonzero(usable)[:: max(1, trace.horizon // STEPS_PER_RUN)]
    m, pair, state = trace.episode[row], trace.pairs[row], trace.run.states[row]
    bias, here, widest = trace.bias[m], trace.bias[m, state], diameter[row]
    rad_r, rad_p = trace.rad_r[m, pair], trace.rad_p[m, pair]
    var_r, regret = trace.var_r[row], trace.regret[row]
    precision = 1 / np.sqrt(trace.starts)[m]
    right = (trace.p_steps[row] * bias).sum(axis=1) - here + precision
    right += 2 * var_r + 4 * widest * (trace.var_p[row] + trace.widening) + 2 * rad_r + 4 * widest * rad_p
    printed, name = evidence.printed, trace.name
    printed.at_most(name, regret, right, trivial=1.0, scaled=trace.scaled)

    reward = trace.gains[row] - regret  # r_t(s_t, a_t)
    believed, mean = trace.reward_upper[m, pair], trace.r_bar[m, pair]
    own = trace.gain[m] + here - (trace.p_tilde[m, pair] * bias).sum(axis=1)
    seen = trace.counts[m, pair] > 0
    played = trace.policy[trace.episode, trace.run.states] == trace.run.actions
    trace.try_algorithm(evidence)
    evidence.library.at_most(f"{name}, actions that are not the plan's", float((~played).sum()), 0.0)
    printed.step(f"{name}, by Lemma 3", (mean - var_r)[seen], reward[seen])
    printed.step(f"{name}, by E_r", believed - 2 * rad_r, mean)
    printed.step(f"{name}, by Property 2", own - precision, believed)
    printed.step(f"{name}, by Property 1", trace.upper_values[m, pair] - here, trace.gain[m])
