"""Proposition 3, the perils of drift: averaging worlds of diameter 1 gives one of diameter Theta(W)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftmdp import planning, problems
from driftmdp.agents import SWUCRL2CW
from driftmdp.mdp import Mdp
from driftmdp.statements.context import CheckContext
from driftmdp.statements.regions import Floats, diameter_of_two_states
from driftmdp.statements.registry import statement
from driftmdp.statements.verdict import Evidence


@dataclass(frozen=True)
class InsideRegion:
    """Diameters after the scripted trajectory of W = 4 tau steps.

    Attributes
    ----------
    window
        W, which is also T.
    latent
        The largest diameter of a world that was met.
    empirical
        The diameter of the empirical MDP.
    smallest
        The smallest diameter of any MDP in the agent's confidence region.
    largest_radius
        The largest transition radius there, widening included.
    """

    window: int
    latent: float
    empirical: float
    smallest: float
    largest_radius: float


def diameters_inside(tau: int, widening: float) -> InsideRegion:
    """Let SWUCRL2-CW live through the scripted trajectory, and return the diameters inside its confidence region.

    Examples
    --------
    >>> found = diameters_inside(tau=25, widening=0.0)
    >>> found.window, found.latent, round(found.empirical, 6)
    (100, 1.0, 26.0)
    """
    problem = problems.perils(tau=tau)
    window = problem.horizon
    agent = SWUCRL2CW(problem.space, window + 1, window=window, widening=widening, delta=1 / window)
    states, actions = problem.scripted_trajectory()
    for state, action, following in zip(states[:-1].tolist(), actions.tolist(), states[1:].tolist(), strict=True):
        agent.act(state)
        agent.observe(float(state), following, action=action)
    agent.plan()
    beliefs = agent.beliefs()
    p_hat: Floats = agent.successor_counts().toarray() / np.maximum(1.0, agent.counts())[:, None]
    empirical = planning.diameter(Mdp(problem.space, np.zeros(4), p_hat))
    return InsideRegion(
        window=window,
        latent=planning.max_diameter(problem.drifting),
        empirical=float(empirical),
        smallest=diameter_of_two_states(p_hat, beliefs.radii),
        largest_radius=float(beliefs.radii.max()),
    )


@statement("proposition-3", "the perils of drift", "Proposition 3 (lemma:peril1)", 60)
def proposition_3(context: CheckContext) -> Evidence:
    """There are worlds of diameter 1 whose average, as a learner sees it, has diameter Theta(W).

    p_1, ..., p_W alternate between two deterministic MDPs of diameter 1, with total variation O(1).
    Under a scripted policy with W = 4 tau the empirical MDP has diameter tau + 1, and every MDP in
    H_p(0) has diameter Omega(sqrt(W / log W)). With widening, H_p(eta) contains one of diameter at most 2 / eta.
    Here log W stands for the radii's log(SAT / delta), so T must be polynomial in W; tau = 1 leaves pairs unseen.
    """
    evidence = Evidence()
    eta = 1.0
    taus = [25, 100, 400, 700] + ([6400, 25_600] if context.thorough else [])
    found = [diameters_inside(tau, 0.0) for tau in taus]
    ratios = []
    for tau, inside in zip(taus, found, strict=True):
        instance = f"W = {inside.window}"
        problem = problems.perils(tau=tau)
        evidence.printed.equal(f"{instance}, each MDP has diameter 1", inside.latent, 1.0)
        evidence.printed.equal(f"{instance}, B_p = 6", problem.drifting.variation().transition, 6.0)
        evidence.printed.equal(f"{instance}, empirical diameter tau + 1", inside.empirical, tau + 1, 1e-6 * tau)
        rate = np.sqrt(inside.window / np.log(inside.window))
        ratios.append(inside.smallest / rate)
        if inside.largest_radius < 2:
            evidence.printed.at_most(f"{instance}, smallest diameter in H_p(0)", 0.15 * rate, inside.smallest)
        widened = diameters_inside(tau, eta)
        evidence.printed.at_most(f"{instance}, smallest diameter in H_p({eta:g})", widened.smallest, 2 / eta)
    evidence.why = (
        f"the smallest diameter in H_p(0) is {ratios[-1]:.3f} sqrt(W / ln W) at W = {found[-1].window} "
        f"({found[-1].smallest:.1f}; empirical {found[-1].empirical:.0f}), and at most 2 / eta with widening; "
        "checked with the constant 0.15 on the regions of the agent itself"
    )
    return evidence
