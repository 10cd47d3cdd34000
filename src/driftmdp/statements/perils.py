"""Proposition 3, the perils of drift: averaging MDPs of diameter 1 gives one of diameter Theta(W)."""

from dataclasses import dataclass

import numpy as np

from driftmdp import planning, problems
from driftmdp.agents import SWUCRL2CW
from driftmdp.mdp import Mdp
from driftmdp.statements.context import CheckContext
from driftmdp.statements.registry import checks
from driftmdp.statements.run_trace import diameter_of_two_states
from driftmdp.statements.verdict import Evidence, Floats


@dataclass(frozen=True)
class InsideRegion:
    """Diameters after the scripted trajectory of W = 4 tau steps.

    Attributes
    ----------
    window
        W, which is also T.
    latent
        The largest diameter of a true MDP on the way.
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
    """Feed the scripted trajectory to SWUCRL2-CW and return the diameters inside its confidence region.

    Examples
    --------
    >>> from driftmdp.statements.perils import diameters_inside
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
    latent = planning.max_diameter(problem.drifting)
    empirical = float(planning.diameter(Mdp(problem.space, np.zeros(4), p_hat)))
    smallest = diameter_of_two_states(p_hat, beliefs.radii)
    return InsideRegion(window, latent, empirical, smallest, float(beliefs.radii.max()))


@checks("proposition-3", "the perils of drift", "Proposition 3 (lemma:peril1)", 60)
def proposition_3(context: CheckContext, evidence: Evidence) -> str:
    """There are MDPs of diameter 1 whose average, as a learner sees it, has diameter Theta(W).

    p_1, ..., p_W alternate between two deterministic MDPs of diameter 1, with total variation O(1).
    Under a scripted policy with W = 4 tau the empirical MDP has diameter tau + 1, and every MDP in
    H_p(0) has diameter Omega(sqrt(W / log W)). With widening, H_p(eta) contains one of diameter at most 2 / eta.
    Here log W stands for the radii's log(SAT / delta), so T must be polynomial in W. With tau = 1 some pairs stay
    unseen.
    """
    eta, ratio = 1.0, 0.0
    for tau in [25, 100, 400, 700] + ([6400, 25_600] if context.thorough else []):
        inside, widened = diameters_inside(tau, 0.0), diameters_inside(tau, eta)
        instance, b_p = f"W = {inside.window}", problems.perils(tau=tau).drifting.variation().transition
        evidence.printed.equal(f"{instance}, each MDP has diameter 1", inside.latent, 1.0)
        evidence.printed.equal(f"{instance}, B_p = 6", b_p, 6.0)
        evidence.printed.equal(f"{instance}, empirical diameter tau + 1", inside.empirical, tau + 1, 1e-6 * tau)
        rate = np.sqrt(inside.window / np.log(inside.window))
        ratio = inside.smallest / rate
        if inside.largest_radius < 2:
            evidence.printed.at_most(f"{instance}, smallest diameter in H_p(0)", 0.15 * rate, inside.smallest)
        evidence.printed.at_most(f"{instance}, smallest diameter in H_p({eta:g})", widened.smallest, 2 / eta)
    smallest = f"the smallest diameter in H_p(0) is {inside.smallest:.1f}, which is {ratio:.3f} sqrt(W / ln W)"
    found = f"At W = {inside.window} {smallest}, and the empirical diameter is {inside.empirical:.0f}"
    how = "Checked with the constant 0.15 on the regions of the agent itself"
    return f"{found}. With widening the smallest is at most 2 / eta. {how}"


@checks("remark-8", "why the perils arise", "Remark 8", 61)
def remark_8(context: CheckContext, evidence: Evidence) -> str:
    """Samples of different pairs come from different times, and regions are narrow: this causes Proposition 3."""
    evidence.only_words = True
    return "This is an explanation. Its numbers, W/4 visits per pair and p^ = p-, are in proposition-3"


@checks("remark-9", "tighter is not always better", "Remark 9", 62)
def remark_9(context: CheckContext, evidence: Evidence) -> str:
    """The tightest confidence region need not give the lowest regret bound in non-stationary MDPs."""
    evidence.only_words = True
    return "This reads Proposition 3 and Theorem 1. Measured regret is in docs/numerical-section.md"
