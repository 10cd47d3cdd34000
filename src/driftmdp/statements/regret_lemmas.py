"""Appendices C and D: the regret of one step, and the lemmas that bound the parts of Theorem 1's regret."""

import itertools

import numpy as np
from numpy.typing import NDArray

from driftmdp import formulas
from driftmdp.agents import SWUCRL2CW
from driftmdp.formulas import lemmas
from driftmdp.mdp import Space
from driftmdp.simulation import simulate
from driftmdp.statements.context import CheckContext, one_jump, shop
from driftmdp.statements.registry import checks
from driftmdp.statements.run_trace import RunTrace, trace_run
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
    tried = f"Tried at up to {STEPS_PER_RUN:,} steps of each run on which E_r and E_p hold"
    return f"{tried}. A right side of 1 or more is vacuous. The proof gives 2 D eta where 4 D eta is printed"


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


def try_regret(evidence: Evidence, trace: RunTrace, diameter: float, lost: bool = True) -> tuple[float, float]:
    """Try the sum of the four lemmas on a run, and Algorithm 1 itself. Return the regret and the bound.

    The sum is Theorem 1's explicit bound, or without ``lost`` episodes that of Theorems 3 and 4.
    """
    space, t, scale = trace.problem.space, trace.horizon, trace.agent.scale
    right = lemmas.regret(space, t, *trace.budgets, trace.window, trace.widening, diameter, scale, lost=lost)
    regret = float(trace.regret.sum())
    evidence.printed.at_most(trace.name, regret, right, trivial=t, scaled=trace.scaled)
    trace.try_algorithm(evidence)
    return regret, right


@checks("lemma-6", "the size of Q_T", "Lemma 6 (lemma:Q_size)", 100)
def lemma_6(context: CheckContext, evidence: Evidence) -> str:
    """Few episodes, more than W apart, can have their true MDP outside the widened region.

    Under E_p, |Q_T| <= B_p / eta. For each member some p_t within the W steps before it is more than eta away from
    p_tau(m), for some pair (eq:Q_size1). At least as much variation lies between them (eq:Q_size3).
    """
    for trace in context.covered_traces():
        bound = trace.budgets[1] / trace.widening
        some = trace.starts.size if trace.q_set else 0
        evidence.printed.at_most(trace.name, len(trace.q_set), bound, trivial=some, scaled=trace.scaled)
        for tau in trace.starts[trace.q_set].tolist():
            name, distance = f"{trace.name}, tau = {tau}", _largest_distance(trace, tau)
            evidence.printed.step(f"{name}, eq:Q_size1: how far p_t was from p_tau", trace.widening, distance)
            evidence.printed.step(f"{name}, eq:Q_size3: what was varied", distance, trace.var_p[tau - 1])
    return "Vacuous where Q_T is empty or the bound is at least M(T). p_t was more than eta away before each member"


def _largest_distance(trace: RunTrace, tau: int) -> float:
    """Return the largest |p_tau - p_t|_1 of any pair over the window before tau."""
    _, group = trace.problem.drifting.distinct_steps(rewards=False)
    first = max(1, tau - trace.window)
    _, kinds = np.unique(group[first - 1 : tau - 1], return_index=True)
    rows = trace.all_transitions(np.append(first - 1 + kinds, tau - 1))  # one of each kind in the window, tau last
    return float(np.abs(rows[:-1] - rows[-1]).sum(axis=2).max())


@checks("lemma-7", "Q~_T covers the episodes outside the region", "Lemma 7 (lemma:Q_tilde)", 101)
def lemma_7(context: CheckContext, evidence: Evidence) -> str:
    """Outside Q~_T the true MDP at the start of an episode is plausible.

    For m not in Q~_T: p_tau(m)( . | s, a) in H_{p,tau(m)}(s, a; eta) for all pairs.
    """
    for trace in context.traces():
        outside = float((~trace.inside & ~trace.q_cover).sum())
        trivial = 0.0 if trace.inside.all() else np.inf
        evidence.printed.at_most(trace.name, outside, 0.0, trivial=trivial, scaled=trace.scaled)
        gaps = np.diff(trace.starts[trace.q_set])
        evidence.printed.step(f"{trace.name}, members are more than W apart", trace.window + 1, gaps)
    return "Vacuous on runs in which p_tau(m) is always inside"


@checks("lemma-8", "the regret of Q~_T", "Lemma 8 (lemma:Q_error)", 102)
def lemma_8(context: CheckContext, evidence: Evidence) -> str:
    """Episodes in Q~_T cost at most 2 W per member of Q_T, so at most 2 B_p W / eta under E_p."""
    for trace in context.covered_traces():
        bound = lemmas.lost_episodes(trace.budgets[1], trace.window, trace.widening)
        some = trace.horizon if trace.q_set else 0
        evidence.printed.at_most(trace.name, trace.parts["lost"], bound, trivial=some, scaled=trace.scaled)
        steps = float(trace.lengths[trace.q_cover].sum())
        evidence.printed.step(f"{trace.name}, steps in Q~_T", steps, 2 * trace.window * len(trace.q_set))
        evidence.printed.step(f"{trace.name}, lengths of episodes", trace.lengths, trace.window)
    return "Vacuous where Q_T is empty. No episode exceeded W steps, and Q~_T had at most 2 W per member of Q_T"


@checks("lemma-9", "switching policies", "Lemma 9 (lemma:episode_errror)", 103)
def lemma_9(context: CheckContext, evidence: Evidence) -> str:
    """Changing policy, chance and imprecise plans cost O~(D_max (M(T) + sqrt(T))).

    Explicitly, with probability 1 - delta, at most 2 D M(T) + 2 D sqrt(2 T ln(1/delta)) + sum_t 1/sqrt(tau(m)). The
    last sum is printed as at most sum over i = 1 .. ceil(T/W) of W / sqrt(i W), which leaves out the first block.
    Corrected: SA + 2 sqrt(2 min(W, T)) + 2 sqrt(T).
    """
    for trace in context.traces():
        precision = float((1 / np.sqrt(trace.starts)[trace.episode]).sum())
        w, t, space = trace.window, trace.horizon, trace.problem.space
        printed = float((w / np.sqrt(w * np.arange(1, -(-t // w) + 1))).sum())
        evidence.printed.step(f"{trace.name}, sum of 1/sqrt(tau)", precision, printed)
        evidence.corrected.step(f"{trace.name}, sum of 1/sqrt(tau)", precision, lemmas.precision(space, t, w))
        if trace.covered:
            bound = lemmas.switching(space, t, w, trace.max_diameter, trace.agent.delta)
            evidence.corrected.at_most(trace.name, trace.parts["switching"], bound, trivial=t, scaled=trace.scaled)
    name = "inventory, s = 0, a = 1, gamma~ = (0, 1): |E[Y_t | H_{t-1}]|, where H_{t-1} has R_t"
    evidence.printed.step(name, _information_in_reward(), 0.0)
    evidence.test = "Holds with probability 1 - 1/T on each run, by Azuma and Hoeffding"
    same_order = "sum_t 1/sqrt(tau(m)) <= SA + 2 sqrt(2 min(W, T)) + 2 sqrt(T), of the same order"
    evidence.correction = f"{same_order}. R_t must not be in H_{{t-1}}, because it may reveal s_{{t+1}}"
    return "The display's gamma~(s_{tau(m)+1}) is meant to be gamma~(s_{tau(m+1)}). The order holds"


def _information_in_reward() -> float:
    """Return how much the reward changes Pr(s' = 1) in an inventory of capacity 1 after ordering one.

    The filtration of the proof has R_t in H_{t-1}, and with it s_{t+1}, where rewards follow demand.
    """
    problem = shop(capacity=1, horizon=4, zeta=0.5)
    pair = problem.space.pair(0, 1)
    rewards = problem.drifting.anchor_rewards[:, pair]
    leads = problem.drifting.anchor_transitions.toarray().reshape(2, problem.space.n_pairs, 2)[:, pair, 1]
    law = problem.drifting.weights.arrays.toarray()[0]
    same = rewards == rewards[0]
    return abs(float(law[same] @ leads[same] / law[same].sum()) - float(law @ leads))


@checks("lemma-10", "variation within the window", "Lemma 10 (lemma:adv_error)", 104)
def lemma_10(context: CheckContext, evidence: Evidence) -> str:
    """Samples of other MDPs in the window cost O((B_r + D_max B_p) W + D_max T eta).

    Its proof prints sum_t var_{r,t} <= B_r W, as if a change stayed in the window for W steps. It stays for up to
    2 W - 1, because an episode can begin up to W steps later and last W. Corrected: 2 B_r W and 2 B_p W.
    """
    jump = trace_run("one jump at t = W = 100", one_jump(horizon=400, at=100), 0, window=100, widening=0.1)
    for trace in [jump, *context.traces()]:
        t, w, d, (b_r, b_p) = trace.horizon, trace.window, trace.max_diameter, trace.budgets
        for kind, varied, budget in (("r", trace.var_r, b_r), ("p", trace.var_p, b_p)):
            evidence.printed.step(f"{trace.name}, sum of var_{kind}", varied.sum(), budget * w)
            evidence.corrected.step(f"{trace.name}, sum of var_{kind}", varied.sum(), (2 * w - 1) * budget)
        bound = lemmas.variation(t, b_r, b_p, w, trace.widening, d)
        evidence.corrected.at_most(trace.name, trace.parts["variation"], bound, trivial=t)
    evidence.correction = "sum_t var_t <= (2 W - 1) B, twice the printed constants 2 B_r W and 4 D_max B_p W"
    return "The sums are exact on every run. The jump shows that the factor is needed"


@checks("lemma-11", "estimation errors", "Lemma 11 (lemma:sto_error)", 105)
def lemma_11(context: CheckContext, evidence: Evidence) -> str:
    """The radii along a run sum to O~(D_max S sqrt(A) T / sqrt(W)), with certainty.

    In each block between multiples of W, sum of 1/sqrt(N+) <= (sqrt(2) + 2) sqrt(SAW). The sum and its constant
    hold, but two steps of the proof do not. First, nu <= N fails where N = 0. Second, take 2 pairs and W = 15, with
    pair 0 for 14 steps, pair 1 for 2, pair 0 for 12, and pair 1 up to T = 30, so that the block is whole. Then the
    line before eq:pf_sto_error_2nd is 12, eq:pf_sto_error_2nd is 9.36 and eq:pf_sto_error_3rd is 11.83. For S = 1,
    where D_max = 0, the order lacks Theorem 1's sqrt(SA) T / sqrt(W).
    """
    rng, widest = context.rng("lemma-11"), 0.0
    for trace in [*context.traces(), *context.shop_traces()]:
        t, w, agent = trace.horizon, trace.window, trace.agent
        bound = lemmas.estimation(trace.problem.space, t, w, trace.max_diameter, agent.delta, agent.scale)
        evidence.both(trace.name, trace.parts["estimation"], bound, trivial=t, scaled=trace.scaled)
    for i in range(context.by_effort(30, 300)):
        n_pairs, w, t = int(rng.integers(1, 5)), int(rng.integers(2, 60)), int(rng.integers(10, 600))
        roots, lengths = _roots_by_block(_random_pairs(rng, n_pairs, t), n_pairs, w)
        bounds = (2 + np.sqrt(2)) * np.sqrt(n_pairs * lengths)
        widest = max(widest, float((roots / bounds).max()))
        evidence.both(f"any sequence of pairs {i}, block by block", roots, bounds)
        space = Space.uniform(1, n_pairs)
        radius = float(formulas.paper_radii([1.0], space, t).reward[0])
        whole = lemmas.estimation(space, t, w, diameter=0.0)
        evidence.corrected.step(f"any sequence of pairs {i}, formulas.lemmas", 2 * radius * roots.sum(), whole)
    _try_proof(evidence)
    evidence.correction = "nu <= N+, and induction on N+ itself. The lemma and its constant hold"
    reached = f"The sum reached {widest:.2f} of its bound on artificial sequences of pairs"
    return f"{reached}. Two steps of its proof fail"


def _try_proof(evidence: Evidence) -> None:
    """Try two steps of the proof of Lemma 11 on one block: nu <= N, and the lines that follow eq:pf_sto_error_1st.

    Pair 0 for 14 steps, pair 1 for 2, pair 0 for 12, pair 1 for 2, W = 15, T = 30: the block j = 1 is not the last,
    t = 15 .. 29, and begins with pair 1. Episode m_j is that step alone, as N+ = 1, so nu_{m_j} of pair 0 is 0, and
    the next one has all of its 12 visits.
    """
    window, pairs = 15, np.repeat([0, 1, 0, 1], [14, 2, 12, 2])
    starts = [start for start in doubling_schedule(pairs, 2, window) if window <= start < 2 * window]
    edges = [start - 1 for start in starts] + [2 * window - 1]
    visits = np.array([np.bincount(pairs[a:b], minlength=2) for a, b in itertools.pairwise(edges)])  # nu[m, pair]
    visits_before = int((pairs[: window - 1] == 1).sum())  # N of pair 1 at tau(m_j) = W
    name = "W = 15, pair 0 for 14 steps, pair 1 for 2, pair 0 for 12, pair 1 up to T = 30"
    nu = visits[:, 0]
    before = np.cumsum(nu)[:-1]  # the sum of nu_m' over m' = m_j .. m - 1, for m > m_j
    line = nu[0] / np.sqrt(max(nu[0], 1)) + (nu[1:] / np.sqrt(np.maximum(before, 1))).sum()
    total = max(nu.sum(), 1)
    evidence.printed.step(f"{name}: eq:pf_sto_error_3rd for pair 0", line, (np.sqrt(2) + 2) * np.sqrt(total))
    second = np.sqrt(max(nu[0], 1)) + (np.sqrt(2) + 1) * np.sqrt(total)
    evidence.printed.step(f"{name}: eq:pf_sto_error_2nd for pair 0", line, second)
    evidence.printed.step(f"{name}: nu of pair 1 in m_j, and N", visits[0, 1], visits_before)


def _random_pairs(rng: np.random.Generator, n_pairs: int, t: int) -> np.ndarray:
    """Return a sequence of pairs: runs of one pair, of random lengths."""
    lengths = rng.geometric(rng.choice([0.02, 0.1, 0.5]), size=t)
    return np.repeat(rng.integers(0, n_pairs, size=t), lengths)[:t]


def _roots_by_block(pairs: np.ndarray, n_pairs: int, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of 1/sqrt(N+) in each block between multiples of W, and the blocks' lengths."""
    starts = doubling_schedule(pairs, n_pairs, window)
    sums = np.zeros(pairs.size // window + 1)
    lengths = np.zeros(sums.size)
    for start, end in zip(starts, [*starts[1:], pairs.size + 1], strict=True):
        steps = pairs[start - 1 : end - 1]
        sums[start // window] += (1 / np.sqrt(_visits_in_window(pairs, n_pairs, window, start)[steps])).sum()
        lengths[start // window] += steps.size
    return sums[lengths > 0], lengths[lengths > 0]


def doubling_schedule(pairs: np.ndarray, n_pairs: int, window: int) -> list[int]:
    """Return the starts of episodes for a sequence of pairs: [CSZ20] alg:swr-ucrl2, lines 4 to 9, from 1."""
    starts: list[int] = []
    remaining = np.zeros(n_pairs, int)
    for t, pair in enumerate(pairs.tolist(), start=1):
        if t == 1 or t % window == 0 or remaining[pair] <= 0:
            starts.append(t)
            remaining = _visits_in_window(pairs, n_pairs, window, t)
        remaining[pair] -= 1
    return starts


def _visits_in_window(pairs: np.ndarray, n_pairs: int, window: int, t: int) -> np.ndarray:
    """Return N+ of every pair at time t."""
    return np.maximum(1, np.bincount(pairs[max(1, t - window) - 1 : t - 1], minlength=n_pairs))


@checks("lemma-12", "how many episodes", "Lemma 12 (lemma:number_episode)", 106)
def lemma_12(context: CheckContext, evidence: Evidence) -> str:
    """The number of episodes is M(T) <= SA (2 + log2 W) T / W, with certainty.

    Corrected: M(T) <= (floor(T/W) + 1) (SA (1 + floor(log2 W)) + 1). Blocks that begin at multiples of W begin an
    episode too, and the blocks at both ends count in full.
    """
    lone = one_jump(horizon=66, at=33)
    episodes = simulate(SWUCRL2CW.for_problem(lone, window=66, widening=0.1), lone, seed=0).plans
    _try_count(evidence, "T = W = 66, S = A = 1", episodes, lone.space, 66, 66)
    for trace in [*context.traces(), *context.shop_traces()]:
        space = trace.problem.space
        _try_count(evidence, trace.name, trace.starts.size, space, trace.horizon, trace.window)
        trace.try_algorithm(evidence)
    rng = context.rng("lemma-12")
    for i in range(context.by_effort(30, 300)):
        n_pairs, w, t = int(rng.integers(1, 5)), int(rng.integers(1, 60)), int(rng.integers(10, 600))
        count = len(doubling_schedule(_random_pairs(rng, n_pairs, t), n_pairs, w))
        _try_count(evidence, f"any sequence of pairs {i}", count, Space.uniform(1, n_pairs), t, w)
    evidence.correction = "(floor(T/W) + 1) (SA (1 + floor(log2 W)) + 1)"
    return "Tried on runs, whose episodes start where Algorithm 1 says, and on artificial sequences of pairs"


def _try_count(evidence: Evidence, name: str, episodes: int, space: Space, t: int, w: int) -> None:
    printed = space.n_pairs * (2 + np.log2(w)) * t / w
    corrected = (t // w + 1) * (space.n_pairs * (1 + int(np.log2(w))) + 1)
    evidence.printed.at_most(name, episodes, printed, trivial=t)
    evidence.corrected.at_most(name, episodes, corrected, trivial=t)
    evidence.corrected.step(f"{name}, formulas.lemmas.episodes", episodes, lemmas.episodes(space, t, w))
