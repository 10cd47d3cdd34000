"""Section 7: transitions bounded from below, and inventory control."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from driftmdp import formulas, planning, problems
from driftmdp.agents import SWUCRL2CW, Random
from driftmdp.formulas import bounds, lemmas
from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
from driftmdp.problems.schedules import blocks, swing
from driftmdp.simulation import simulate
from driftmdp.statements.bench import Bench
from driftmdp.statements.finding import Evidence
from driftmdp.statements.ledger import Ledger, keep_ledger
from driftmdp.statements.one_step import try_one_step
from driftmdp.statements.regions import Floats
from driftmdp.statements.registry import statement
from driftmdp.statements.worlds import LEVELS, STAY_OR_MOVE, shop

__all__ = [
    "assumption_2",
    "assumption_3",
    "lemma_13",
    "proposition_4",
    "proposition_5",
    "proposition_6",
    "remark_10",
    "theorem_3",
    "theorem_4",
]

EPISODES = 60  # at which regions are looked into, per run


def _zeta(ledger: Ledger) -> float:
    assert isinstance(ledger.problem, problems.InventoryProblem)
    return ledger.problem.zeta


def _chosen(ledger: Ledger) -> np.ndarray:
    return np.unique(np.linspace(0, ledger.starts.size - 1, EPISODES).astype(int))


def _order_up(space: Space) -> np.ndarray:
    """Return the pair of each state that fills the shelf, a = S - s."""
    return np.asarray(space.offsets[1:] - 1)


@statement("assumption-2", "a way from everywhere to everywhere", "Assumption 2 (ass:alternative)", 70)
def assumption_2(bench: Bench) -> Evidence:
    """For every s, s' some action a leads from s to s' with probability at least zeta, at all times.

    An assumption on the world: checked for inventory, where a = S - s does it for every s'.
    """
    evidence = Evidence()
    for capacity, zeta in [(1, 0.4), (3, 0.1), (6, 0.02)]:
        problem = shop(capacity, 400, zeta)
        for t in (1, 150, 250, 400):
            rows = problem.drifting.at(t).transitions.toarray()[_order_up(problem.space)]
            evidence.printed.at_most(f"capacity {capacity}, t = {t}", zeta, rows)
    evidence.why = "satisfied by inventories with Assumption 3"
    return evidence


@statement("assumption-3", "strictly positive demand", "Assumption 3 (ass:pmf)", 74)
def assumption_3(bench: Bench) -> Evidence:
    """Pr(X_t = s) >= zeta > 0 for all t and all s in 0 .. S.

    An assumption on demand. S + 1 probabilities sum to at most 1, so zeta <= 1 / (S + 1) and D- >= S + 1.
    """
    evidence = Evidence()
    means = np.array([0.5, 1.5, 0.5, 1.5])  # of the shop
    for capacity, zeta in [(1, 0.4), (3, 0.1), (6, 0.02), (20, 0.002)]:
        problem = shop(capacity, 400, zeta)
        law = problem.drifting.weights.arrays.toarray()[:, :capacity]  # the last is Pr(X >= S)
        evidence.printed.at_most(f"capacity {capacity}, Pr(X = s) for s < S", zeta, law)
        poisson = np.exp(-means) * means**capacity / math.factorial(capacity)
        full = (1 - (capacity + 1) * zeta) * poisson + zeta
        evidence.printed.at_most(f"capacity {capacity}, Pr(X = S)", zeta, full)
        rest = 1 - law.sum(axis=1)
        evidence.printed.step(
            f"capacity {capacity}, Pr(X = S) <= Pr(X >= S)", full, rest.reshape(4, -1).mean(axis=1)
        )
        evidence.printed.at_most(f"capacity {capacity}, zeta <= 1 / (S + 1)", zeta, 1 / (capacity + 1))
    evidence.why = (
        "the laws of problems.inventory, whose last anchor is X >= S; equality where only the floor is left"
    )
    return evidence


@statement("remark-10", "inventory satisfies Assumption 2", "Remark 10", 75)
def remark_10(bench: Bench) -> Evidence:
    """Ordering S - s leads from s to every s' with probability Pr(X_t = S - s') >= zeta.

    As printed this is an equality for every s'; for s' = 0 it is Pr(X_t >= S), which is larger.
    """
    evidence = Evidence()
    problem = problems.inventory(capacity=2, horizon=3, demand=problems.Poisson(4.0), zeta=0.05)
    rows = problem.drifting.at(1).transitions.toarray()[_order_up(problem.space)]
    law = (1 - 3 * 0.05) * np.exp(-4.0) * np.array([1.0, 4.0, 8.0]) + 0.05  # Pr(X = 0, 1, 2)
    for target in range(3):
        name = f"capacity 2, Poisson(4), to s' = {target}"
        gap = np.abs(rows[:, target] - law[2 - target])
        evidence.printed.at_most(f"{name}: |p - Pr(X = {2 - target})|", gap, 1e-9)
        evidence.corrected.at_most(name, law[2 - target] - 1e-12, rows[:, target])
        if target > 0:
            evidence.corrected.equal(f"{name}, equality", rows[:, target], law[2 - target], 1e-9)
    evidence.correction = "equality for s' > 0; for s' = 0 it is Pr(X_t >= S) >= Pr(X_t = S)"
    evidence.why = "an empty shelf hides how much more was wanted"
    return evidence


def _constructed(ledger: Ledger, m: int) -> Floats:
    """Return the p of the proof of Lemma 13: p- where N > 0, the true p_t elsewhere."""
    seen = (ledger.counts[m] > 0)[:, None]
    return np.asarray(np.where(seen, ledger.p_bar[m], ledger.p_then[m]))


@statement("lemma-13", "a plausible p with mass zeta", "Lemma 13 (lemma:diameter_Hp)", 107)
def lemma_13(bench: Bench) -> Evidence:
    """Under E_p, H_p(0) contains a p that also leads from every s to every s' with probability at least zeta.

    p(s' | s, a_(s,s')) >= zeta for every pair of states, at every t: take p- where N > 0 and p_t elsewhere.
    """
    evidence = Evidence()
    for ledger in bench.shop_ledgers():
        if not ledger.covered:
            continue
        for m in _chosen(ledger):
            built, radius = _constructed(ledger, int(m)), ledger.rad_p[m]
            apart = np.abs(built - ledger.p_hat[m]).sum(axis=1)
            name = f"{ledger.name}, t = {ledger.starts[m]}"
            evidence.printed.step(f"{name}, it is in H_p(0)", apart, radius)
            rows = built[_order_up(ledger.problem.space)]
            evidence.printed.at_most(name, _zeta(ledger), rows, trivial=np.inf)
    evidence.why = "the p of the proof, built at the starts of episodes"
    return evidence


@statement("proposition-4", "a plausible MDP of diameter 1/zeta", "Proposition 4 (prop:diameter)", 71)
def proposition_4(bench: Bench) -> Evidence:
    """Under Assumption 2 and E_p, H_p(0) contains a p whose MDP has diameter at most D- = 1/zeta, at every t."""
    evidence = Evidence()
    largest = 0.0
    for ledger in bench.shop_ledgers():
        if not ledger.covered:
            continue
        for m in _chosen(ledger):
            space = ledger.problem.space
            rows = _constructed(ledger, int(m))
            found = planning.diameter(Mdp(space, np.zeros(space.n_pairs), rows / rows.sum(axis=1, keepdims=True)))
            largest = max(largest, float(found))
            evidence.printed.at_most(f"{ledger.name}, t = {ledger.starts[m]}", found, 1 / _zeta(ledger))
    evidence.why = f"the largest diameter was {largest:.2f}, D- = {1 / _zeta(bench.shop_ledgers()[0]):g}"
    return evidence


@statement("proposition-5", "the regret of one step without widening", "Proposition 5 (prop:error_alternative)", 72)
def proposition_5(bench: Bench) -> Evidence:
    """Proposition 2 with eta = 0 and D- = 1/zeta in the place of D, for every t."""
    evidence = Evidence()
    cases = [ledger for ledger in bench.shop_ledgers() if ledger.covered]
    cases.append(bench.once("positive", lambda: _positive_ledger(bench)))
    for ledger in cases:
        zeta = _zeta(ledger) if isinstance(ledger.problem, problems.InventoryProblem) else 1.0
        everywhere = np.ones(ledger.horizon, np.bool_)
        try_one_step(evidence, ledger, np.full(ledger.horizon, 1 / zeta), everywhere)
    evidence.why = "inventory, where 1/zeta makes it vacuous, and a world with zeta = 1"
    return evidence


def _two_ways(horizon: int) -> Problem:
    """Return two states, to stay or to move for sure (zeta = 1), whose rewards swing."""
    space = Space.uniform(2, 2)
    anchors = [Mdp(space, [0.0, 0.1, 1.0, 0.9], STAY_OR_MOVE), Mdp(space, [1.0, 0.9, 0.0, 0.1], STAY_OR_MOVE)]
    moving = swing(LEVELS, 1.0)[blocks(horizon, LEVELS, LEVELS - 1)]
    return Problem(DriftingMdp(anchors, moving), reward_range=(0.0, 1.0), name="two ways")


def _positive_ledger(bench: Bench) -> Ledger:
    problem = _two_ways(bench.many(50_000, 200_000))
    chosen = formulas.tuned(problem.space, problem.horizon, *problem.budget(), "theorem-3")
    return keep_ledger("two ways, scale 0.001", problem, 0, window=chosen.window, widening=0.0, scale=0.001)


def _without_widening(ledger: Ledger, zeta: float) -> float:
    """Return Theorem 3's explicit bound for a run."""
    space, t, scale = ledger.problem.space, ledger.horizon, ledger.agent.scale
    return lemmas.regret(space, t, *ledger.budgets, ledger.window, 0.0, 1 / zeta, scale, lost=False)


@statement("theorem-3", "regret without widening", "Theorem 3 (thm:main_alternative)", 73)
def theorem_3(bench: Bench) -> Evidence:
    """Under Assumption 2, with eta = 0: O~(B_r W + D- (B_p W + S sqrt(A) T / sqrt(W) + SAT / W + sqrt(T))).

    With W* = S^(2/3) A^(1/2) T^(2/3) (B_r + B_p + 1)^(-2/3): O~(D- (B_r + B_p + 1)^(1/3) S^(2/3) A^(1/2) T^(2/3)).
    """
    evidence = Evidence()
    cases = [(ledger, _zeta(ledger)) for ledger in bench.shop_ledgers() if ledger.covered]
    cases.append((bench.once("positive", lambda: _positive_ledger(bench)), 1.0))
    for ledger, zeta in cases:
        regret = float(ledger.regret.sum())
        evidence.printed.at_most(ledger.name, regret, _without_widening(ledger, zeta), trivial=ledger.horizon)
    for states, actions, t in [(2, 2, 10**4), (10, 3, 10**6), (50, 5, 10**9)]:
        for b in (0.0, 1.0, t**0.5, float(t)):
            space = Space.uniform(states, actions)
            w = states ** (2 / 3) * actions**0.5 * (t / (b + 1)) ** (2 / 3)
            terms = b * w + states * actions**0.5 * t / w**0.5 + states * actions * t / w + t**0.5
            order = bounds.theorem_3(space, t, b / 2, b / 2, 1.0)
            chosen = formulas.tuned(space, t, b / 2, b / 2, "theorem-3").window
            name = f"S = {states}, T = {t:.0e}, B = {b:.0e}"
            evidence.printed.step(f"{name}: W* of formulas.tuned", abs(chosen - w), 1.0)
            evidence.printed.step(f"{name}: orders at W*", terms, 8 * order)
    evidence.why = (
        "runs with the explicit constants; the orders of all terms at W* are at most 8 times the claimed one"
    )
    return evidence


@statement("proposition-6", "pseudo-rewards have the same regret", "Proposition 6 (prop:pse)", 76)
def proposition_6(bench: Bench) -> Evidence:
    """For any policy the dynamic regret is the same in costs and in pseudo-rewards, on coupled demands.

    sum_t (rho*_t - E[r_t]) = sum_t (rho*pseudo_t - E[r^pseudo_t]), as r^pseudo_t = r_t + l E[X_t] for every
    pair. In its proof eq:pse3 subtracts l X_t from *mean* rewards, path by path: that holds for realised
    rewards only.
    """
    evidence = Evidence()
    problem = shop(capacity=4, horizon=2000, zeta=0.05)
    pseudo = problem.drifting
    shift = problem.cost_shift
    costs = np.stack([problem.mean_costs(t) for t in range(1, problem.horizon + 1)])
    steps, group = pseudo.distinct_steps()
    kinds = [Mdp(problem.space, -costs[step], pseudo.at(int(step) + 1).transitions) for step in steps]
    true_gains = np.array([planning.optimal_gain(kind, allow_transient=True).gain for kind in kinds])[group]
    pseudo_gains = planning.optimal_gains(pseudo, allow_transient=True)
    for name, agent in [
        ("SWUCRL2-CW", SWUCRL2CW.for_problem(problem, window=500, widening=0.0, scale=0.1)),
        ("Random", Random.for_problem(problem)),
    ]:
        for seed in range(bench.many(3, 20)):
            run = simulate(agent, problem, seed)
            pairs = problem.space.offsets[run.states].astype(np.int64) + run.actions
            true_means = -costs[np.arange(problem.horizon), pairs]
            left = np.cumsum(true_gains - true_means)
            right = np.cumsum(pseudo_gains - run.mean_rewards)
            instance = f"{name}, seed {seed}"
            for trail in (evidence.printed, evidence.corrected):
                trail.equal(f"{instance}, at every t", left, right, 1e-9 * problem.horizon)
            realised, demand = _realised(problem, run.states, run.actions, seed)
            evidence.corrected.step(
                f"{instance}, realised R + l X is what was observed", np.abs(realised - run.rewards).max(), 1e-9
            )
            gap = abs(float((true_means - run.mean_rewards).sum() + problem.costs.lost_sale * demand.sum()))
            evidence.printed.step(f"{instance}, eq:pse3 with mean rewards", gap, 1e-9 * problem.horizon)
    expected = 0.75 * np.repeat([0.5, 1.5, 0.5, 1.5], problem.horizon // 4) + 0.25 * 2.0  # of the shop, by hand
    evidence.corrected.step("l E[X_t]", np.abs(shift - problem.costs.lost_sale * expected).max(), 1e-9)
    evidence.corrected.step("rho* differ by l E[X_t]", np.abs(true_gains - pseudo_gains + shift).max(), 1e-6)
    evidence.correction = "read R_t for r_t in eq:pse3, or take expectations first; the proposition stands"
    evidence.why = "the regrets agree to 1e-9 a step, path by path, with gains solved for both kinds of reward"
    return evidence


def _realised(
    problem: problems.InventoryProblem, states: NDArray[np.int32], actions: NDArray[np.int32], seed: int
) -> tuple[Floats, Floats]:
    """Return -C_t + l X_t with the run's own demands drawn again, and the demands."""
    luck = problem.luck(np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0]))
    demand = np.array(
        [
            problem.sample(t + 1, int(s), int(a), luck).anchor
            for t, (s, a) in enumerate(zip(states, actions, strict=True))
        ]
    )
    costs, lost = problem.costs, problem.costs.lost_sale
    paid = [costs.true_cost(int(s), int(a), int(x)) for s, a, x in zip(states, actions, demand, strict=True)]
    return lost * demand - np.array(paid), demand


@statement("theorem-4", "regret in inventory control", "Theorem 4 (thm:main_inventory)", 77)
def theorem_4(bench: Bench) -> Evidence:
    """Under Assumption 3, with eta = 0: O~(B_r W + D- (B_p W + S^(3/2) T / sqrt(W) + S^2 T / W + sqrt(T))).

    With W* = S T^(2/3) (B_r + B_p + 1)^(-2/3): O~(D- (B_r + B_p + 1)^(1/3) S T^(2/3)). Capacity S means S + 1
    states and (S + 1)(S + 2) / 2 pairs, which are used in every constant.
    """
    evidence = Evidence()
    for ledger in bench.shop_ledgers():
        if ledger.covered:
            right = _without_widening(ledger, _zeta(ledger))
            evidence.printed.at_most(ledger.name, float(ledger.regret.sum()), right, trivial=ledger.horizon)
    problem, zeta = shop(1, 3_000_000, 0.49, low=0.6, high=0.7), 0.49
    short = shop(1, 4, 0.49, low=0.6, high=0.7)  # the same four laws, a day each: the same gains and budgets
    gains = np.repeat(planning.optimal_gains(short.drifting), problem.horizon // 4)
    (b_r, b_p), (low, high) = short.budget(), problem.reward_range
    agent = SWUCRL2CW(problem.space, problem.horizon, problem.horizon, 0.0, reward_range=(low, high))
    regret = float(simulate(agent, problem, seed=0).dynamic_regret(problem, gains)[-1]) / (high - low)
    right = lemmas.regret(
        problem.space, problem.horizon, b_r / (high - low), b_p, agent.window, 0.0, 1 / zeta, lost=False
    )
    name = "capacity 1, T = 3,000,000, theory's radii"
    evidence.printed.at_most(name, regret, right, trivial=problem.horizon)
    for capacity, t in [(1, 10**4), (10, 10**6), (50, 10**9)]:
        for b in (0.0, 1.0, t**0.5, float(t)):
            w = capacity * (t / (b + 1)) ** (2 / 3)
            chosen = formulas.tuned(Space.uniform(capacity, 1), t, b / 2, b / 2, "theorem-4").window
            evidence.printed.step(
                f"S = {capacity}, T = {t:.0e}, B = {b:.0e}: W* of formulas.tuned", abs(chosen - min(t, w)), 1.0
            )
            terms = b * w + capacity**1.5 * t / w**0.5 + capacity**2 * t / w + t**0.5
            order = bounds.theorem_4(Space.uniform(capacity, 1), t, b / 2, b / 2, 1.0)
            evidence.printed.step(f"S = {capacity}, T = {t:.0e}, B = {b:.0e}: orders at W*", terms, 8 * order)
    useful = bounds.useful_horizon(lambda t: bounds.theorem_4(problem.space, t, 0.1, 0.1, zeta, explicit=True))
    large = shop(20, 10, 0.002)
    there = bounds.useful_horizon(lambda t: bounds.theorem_4(large.space, t, 1.0, 1.0, 0.002, explicit=True))
    evidence.test = "holds with probability 1 - 2/T on each run"
    later = "at no T below 4e18" if there == math.inf else f"from T = {there:.0e} on"
    evidence.why = (
        f"{name}: regret {regret:,.0f}, bound {right:,.0f}. With W* it is below T from T = {useful:.1e} on (B_r = "
        f"B_p = 0.1); for capacity 20, zeta = 0.002 and B_r = B_p = 1 {later}"
    )
    return evidence
