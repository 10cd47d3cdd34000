"""Appendix B: the self-normalised inequality, and Lemma 1, coverage of the confidence regions."""

import functools
from collections.abc import Callable, Iterator

import numpy as np

from driftmdp import formulas, problems
from driftmdp.agents import SWUCRL2CW
from driftmdp.mdp import Problem, Space
from driftmdp.simulation import Run, simulate
from driftmdp.statements.context import CheckContext
from driftmdp.statements.registry import checks
from driftmdp.statements.run_trace import trace_run, transitions_along
from driftmdp.statements.verdict import Evidence, Floats

TEST = "One-sided binomial test for each instance, error rate 0.001"


@checks("proposition-7", "the self-normalised inequality", "Proposition 7 (prop:self-norm)", 95)
def self_normalised(context: CheckContext, evidence: Evidence) -> str:
    """Sums of sub-Gaussian noise at chosen times stay within 2 R sqrt(log(T / delta') / n), for all t at once.

    For xi_q conditionally R-sub-Gaussian and Y_q >= 0 known before it, with probability at least 1 - delta', for
    all t <= T: sum of xi_q Y_q / n <= 2 R sqrt(log(T / delta') / n), n = max(1, sum of Y_q^2). It is applied to Y
    in {0, 1} with R = 1, though the text says 2-sub-Gaussian. R = 1 is right, as each xi lies in an interval of
    length 2.
    """
    rng = context.rng("proposition-7")
    paths, horizon, delta = context.by_effort(4000, 100_000), 100, 0.05
    worst = 0.0
    for noise in ("gaussian", "signs", "skewed"):
        for choice in ("always", "when behind", "coin", "by weights"):
            ratio = _largest_ratios(rng, noise, choice, paths, horizon, delta)
            worst = max(worst, float(ratio.max()))
            broken = int((ratio > 1).sum())
            evidence.printed.seldom(f"{noise} noise, taken {choice}, {paths} paths", broken, paths, delta)
    evidence.test = TEST
    return f"The largest sum was {worst:.2f} of its bound, on {paths} paths of {horizon} steps"


def _largest_ratios(
    rng: np.random.Generator, noise: str, choice: str, paths: int, horizon: int, delta: float
) -> Floats:
    """Return the largest ratio over time of each path's sum to its bound, shape (paths,)."""
    draws: dict[str, Callable[[], Floats]] = {
        "gaussian": lambda: rng.standard_normal(paths),
        "signs": lambda: rng.choice([-1.0, 1.0], paths),
        "skewed": lambda: np.where(rng.random(paths) < 0.1, 1.8, -0.2),  # in an interval of length 2, mean 0
    }
    total, taken, ratio = np.zeros(paths), np.zeros(paths), np.zeros(paths)
    for _ in range(horizon):
        y = {
            "always": np.ones(paths),
            "when behind": (total <= 0).astype(float),
            "coin": (rng.random(paths) < 0.5).astype(float),
            "by weights": np.where(total <= 0, 2.0, 0.5),
        }[choice]
        total += y * draws[noise]()
        taken += y**2
        visits = np.maximum(1.0, taken)
        bound = formulas.lemmas.self_normalised(visits, horizon, delta)
        ratio = np.maximum(ratio, total / visits / bound)
    return ratio


@checks("lemma-1", "the confidence regions cover", "Lemma 1 (lemma:estimation)", 20)
def lemma_1(context: CheckContext, evidence: Evidence) -> str:
    """The mean rewards and transitions of the window lie in the regions, all the time, with high probability.

    E_r: |r^_t - r-_t| <= rad_{r,t} for all s, a, t, and Pr(E_r) >= 1 - delta / 2. E_p: p-_t in H_{p,t}(0) for all
    s, a, t, and Pr(E_p) >= 1 - delta / 2. As printed E_p fails for certain. At t = 1 every N is 0, so p-_1 = 0 is
    no distribution. Corrected: for all pairs with N > 0.
    """
    first = trace_run("a run", problems.two_state(horizon=50), seed=0, window=10, widening=0.1)
    missing = 1 - first.p_bar[0].sum(axis=1)
    evidence.printed.at_most("t = 1: what the masses of p-_1(. | s, a) lack to 1", missing, 0.0)
    runs, delta, largest = context.by_effort(40, 1000), 0.1, [0.0, 0.0]
    garnet = functools.partial(problems.garnet, n_states=3, n_actions=2, branching=3, horizon=3000)
    for name, problem, window in [
        ("Garnet, Bernoulli rewards", garnet(noise="bernoulli"), 1500),
        ("Garnet, Gaussian rewards", garnet(noise="gaussian(1)"), 300),
        ("bandit", problems.bandit(n_arms=2, horizon=3000), 1000),
    ]:
        agent = SWUCRL2CW.for_problem(problem, window=window, widening=0.1, delta=delta)
        ratios = np.array([error_ratios(problem, simulate(agent, problem, seed), agent) for seed in range(runs)])
        for kind, column in (("E_r", 0), ("E_p", 1)):
            broken = int((ratios[:, column] > 1).sum())
            evidence.corrected.seldom(f"{name}, {kind} broken in {runs} runs", broken, runs, delta / 2)
            largest[column] = max(largest[column], float(ratios[:, column].max()))
    for states, actions, t in [(2, 1, 10), (2, 2, 100), (5, 3, 5000), (20, 4, 10**6), (100, 1, 1000)]:
        space, size = Space.uniform(states, actions), f"S = {states}, A = {actions}, T = {t}"
        log = np.log(4.0 * space.n_pairs * float(t) ** 3)  # delta = 1/T, and two-sided: 4, where the proof has 2
        radii = formulas.paper_radii([1.0], space, t)
        evidence.corrected.step(f"{size}: the proof's form of rad_r", 2 * np.sqrt(log), radii.reward)
        proof = 2 * np.sqrt(log + states * np.log(2))
        evidence.corrected.step(f"{size}: the proof's form of rad_p", proof, radii.transition)
    evidence.test = TEST
    evidence.correction = "Require coverage of pairs with N > 0 only. The others have the whole simplex"
    shares = f"{largest[0]:.2f} of rad_r or {largest[1]:.2f} of rad_p"
    return f"In {runs} runs of each kind, at every t, no error exceeded {shares}, so the radii are conservative"


def error_ratios(problem: Problem, run: Run, agent: SWUCRL2CW) -> tuple[float, float]:
    """Return the largest ratios of error to radius of a run, for rewards and transitions, over all pairs and t."""
    low, high = problem.reward_range
    pairs = problem.space.offsets[run.states].astype(np.int64) + run.actions
    following = np.append(run.states[1:], run.final_state).astype(np.int64)
    rewards = (run.rewards - run.mean_rewards) / (high - low)
    seen = np.eye(problem.space.n_states)[following]
    moves = seen - transitions_along(problem.drifting, np.arange(problem.horizon), pairs)
    unit = formulas.paper_radii([1.0], problem.space, problem.horizon, agent.delta)
    worst_r = worst_p = 0.0
    for visits, since in _windows_of_visits(run, pairs, problem.space, agent.window):
        n = np.arange(1, visits.size + 1)[since:, None]
        off_r = np.abs(np.cumsum(rewards[visits])[since:, None]) / np.sqrt(n)
        off_p = np.abs(np.cumsum(moves[visits], axis=0))[since:].sum(axis=1, keepdims=True) / np.sqrt(n)
        worst_r = max(worst_r, float(off_r.max(initial=0.0)))
        worst_p = max(worst_p, float(off_p.max(initial=0.0)))
    return worst_r / float(unit.reward[0]), worst_p / float(unit.transition[0])


def _windows_of_visits(run: Run, pairs: np.ndarray, space: Space, window: int) -> Iterator[tuple[np.ndarray, int]]:
    """Return the visits in the window for each episode and pair, and how many of them precede it, minus one.

    For t within an episode the window reaches from (tau - W) v 1 to t - 1, so it grows visit by visit.
    """
    order = np.argsort(pairs, kind="stable")
    edges = np.searchsorted(pairs[order], np.arange(space.n_pairs + 1))
    starts = run.episode_starts - 1
    ends = np.append(starts[1:], run.horizon)
    for pair in range(space.n_pairs):
        times = order[edges[pair] : edges[pair + 1]]
        firsts = np.searchsorted(times, np.maximum(0, starts - window))
        befores, lasts = np.searchsorted(times, starts), np.searchsorted(times, ends)
        for first, before, last in zip(firsts.tolist(), befores.tolist(), lasts.tolist(), strict=True):
            if last > first:
                yield times[first:last], max(0, before - first - 1)
