"""Measures against an epidemic: how strictly to restrict contacts while contagion and patience change.

========  ==============  ==========================================================================
symbol    name here       meaning
========  ==============  ==========================================================================
N         groups          groups of people, such as villages or school classes
L, i      levels          level at which the count stops, and infected groups before the week, 0 .. L
a         action          the measure: none, mild, strict or lockdown, and its share of a lockdown, m(a)
c(a)      contacts        share of the contacts that are left, 1 - strength m(a)
R         contagion       groups that one infected group infects in a week, all others healthy, no measure
z         imports         chance that a healthy group is infected from outside in a week
v         recovery        chance that an infected group is well after the week
q(i, a)   infection       1 - (1 - z) exp(-c(a) R i / N), chance that a healthy group is infected
X, Y      well, ill       Binomial(i, v) groups that recover and Binomial(N - i, q(i, a)) that fall ill
i'        next state      min(i - X + Y, L)
h, b      harm, burden    chances that the illness at level L, and that a lockdown, spoils a group's week
r         rewards         (1 - h (i / L)^2) (1 - b m(a)^2), share of groups that have a normal week
========  ==============  ==========================================================================

This is the SIS model in discrete time [AB00] with a binomial number of new infections and recoveries: who recovers
may fall ill again. An anchor is a regime with its own R, h and b.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drifting_between
from driftmdp.validation import as_fraction, as_integer, as_number

MAX_GROUPS = 100  # floats can hold the smallest chance, so that every level can be reached
MIN_IMPORTS, MAX_IMPORTS = 0.001, 0.5
MIN_RECOVERY, MAX_RECOVERY = 0.05, 0.95
MAX_CONTAGION = 5.0
MAX_HARM, MAX_BURDEN = 0.8, 0.6  # times the largest factor of a regime they are still chances
MEASURES = {"none": 0.0, "mild": 0.4, "strict": 0.7, "lockdown": 1.0}


class EpidemicRegime(NamedTuple):
    """A regime of the epidemic: factors of the usual contagion, harm and burden."""

    contagion: float
    harm: float
    burden: float


REGIMES = {
    "usual": EpidemicRegime(1.0, 1.0, 1.0),
    "variant": EpidemicRegime(2.0, 1.25, 0.6),
    "summer": EpidemicRegime(0.5, 0.75, 1.6),
}


@register("epidemic-v1")
def epidemic(
    groups: int = 40,
    levels: int = 16,
    contagion: float = 1.2,
    imports: float = 0.01,
    recovery: float = 0.5,
    strength: float = 0.75,
    harm: float = 0.8,
    burden: float = 0.5,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "binomial(40)",
) -> Problem:
    """How strictly to restrict contacts against an epidemic while variants come and patience wears out.

    **Decision.** Before each week: see how many groups of people are infected, and choose a measure. The states are
    the numbers of infected groups, 0 .. L, where L means "L or more". The actions are none, mild, strict and
    lockdown. The reward is the expected share of groups that have a normal week. The illness spoils more weeks the
    more groups have it (quadratic, as hospitals fill up), and a measure spoils more the stricter it is.

    **Endogenous** is the number of infected groups: measures today decide how many fall ill. Cases from outside
    keep the epidemic from dying out. **What drifts** are the contagion, the harm of the illness and the burden of
    the measures. In the ``variant`` regime contagion doubles and people accept measures. In ``summer`` it halves
    and they resent them. **Noise** is the count of normal weeks among 40 groups, beside who falls ill by chance.

    **It tests** control that must be stricter or laxer by regime in the same state: at 2 infected groups of 40 the
    best measure is mild in the usual regime, a lockdown under the variant, none in summer. With the defaults the
    oracle of each step keeps 70.6 % of the weeks normal, the best fixed policy measured 66.7 %, a random one 49.7 %
    (20 seeds, docs/applications/epidemic.md). The defaults are plausible, not fitted. Without contagion the groups
    are independent, and the optimal gain has a closed form.

    Parameters
    ----------
    groups
        N, groups of people, from ``levels`` to 100.
    levels
        L, infected groups at which the count stops, 1 to N.
    contagion
        R of the usual regime: groups that one infected group infects per week without measures, 0 to 5.
    imports
        Chance that a healthy group is infected from outside in a week, 0.001 to 0.5.
    recovery
        Chance that an infected group is well after a week, 0.05 to 0.95.
    strength
        Share of the contacts that a lockdown avoids, 0 to 1. Strict avoids 0.7 of that, mild 0.4.
    harm
        Chance that the illness spoils a group's week at level L in the usual regime, 0 to 0.8.
    burden
        Chance that a lockdown spoils a group's week in the usual regime, 0 to 0.6.
    horizon
        T, weeks, at least 1.
    drift
        ``stationary`` (the usual regime), ``seasonal``, ``slow`` and ``fast`` (linear from usual to variant to
        summer and back, 5, 1 or 20 times), ``reward-only`` and ``transition-only`` (twice, with the other fixed),
        or ``abrupt`` (jumps in that order).
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import epidemic
    >>> problem = epidemic(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 17 states, 68 pairs>
    >>> best = [planning.optimal_gain(anchor).policy[2] for anchor in problem.drifting.anchors]
    >>> [problem.space.action_names[2][action] for action in best]
    ['mild', 'lockdown', 'none']
    """
    groups = as_integer(groups, "groups", 1, MAX_GROUPS)
    levels = as_integer(levels, "levels", 1, groups)
    contagion = as_number(contagion, "contagion", 0.0, MAX_CONTAGION)
    imports = as_number(imports, "imports", MIN_IMPORTS, MAX_IMPORTS)
    recovery = as_number(recovery, "recovery", MIN_RECOVERY, MAX_RECOVERY)
    strength = as_fraction(strength, "strength")
    harm = as_number(harm, "harm", 0.0, MAX_HARM)
    burden = as_number(burden, "burden", 0.0, MAX_BURDEN)
    population = Population(groups, levels, imports, recovery, strength)
    anchors = [
        Mdp(
            population.space,
            population.rewards(harm * regime.harm, burden * regime.burden),
            population.transitions(contagion * regime.contagion),
        )
        for regime in REGIMES.values()
    ]
    drifting = drifting_between(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, noise=noise, reward_range=(0.0, 1.0))


class Population:
    """The levels and measures of a population, and for each pair the infected groups and the lockdown's share."""

    def __init__(self, groups: int, levels: int, imports: float, recovery: float, strength: float) -> None:
        self.groups, self.levels = groups, levels
        self.imports, self.recovery, self.strength = imports, recovery, strength
        names = [f"{infected} infected" for infected in range(levels + 1)]
        if levels < groups:
            names[-1] = f"{levels} or more infected"
        self.space = Space(np.full(levels + 1, len(MEASURES)), names, [*MEASURES])
        self.infected = np.repeat(np.arange(levels + 1), len(MEASURES))
        self.measure = np.tile([*MEASURES.values()], levels + 1)

    def rewards(self, harm: float, burden: float) -> NDArray[np.float64]:
        """Return the expected share of normal weeks of each pair."""
        ill, restricted = harm * (self.infected / self.levels) ** 2, burden * self.measure**2
        return np.asarray((1 - ill) * (1 - restricted))

    def transitions(self, contagion: float) -> NDArray[np.float64]:
        """Return the next-state distribution of each pair."""
        pressure = contagion * (1 - self.strength * self.measure) * self.infected / self.groups
        falls_ill = 1 - (1 - self.imports) * np.exp(-pressure)
        return np.stack([self._following(i, q) for i, q in zip(self.infected.tolist(), falls_ill, strict=True)])

    def _following(self, infected: int, falls_ill: float) -> NDArray[np.float64]:
        still_ill = binomial_law(infected, 1 - self.recovery)
        law = np.convolve(still_ill, binomial_law(self.groups - infected, falls_ill))
        return np.append(law[: self.levels], law[self.levels :].sum())


def binomial_law(trials: int, chance: float) -> NDArray[np.float64]:
    """Return the chances of 0 .. ``trials`` successes.

    Examples
    --------
    >>> from driftmdp.problems.epidemic import binomial_law
    >>> binomial_law(2, 0.5)
    array([0.25, 0.5 , 0.25])
    """
    return np.array([math.comb(trials, n) * chance**n * (1 - chance) ** (trials - n) for n in range(trials + 1)])
