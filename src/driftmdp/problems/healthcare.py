"""One place on a ward, patient after patient: which treatment while resistance to the drugs comes and goes.

==============  ===========  ===============================================================================
symbol          name here    meaning
==============  ===========  ===============================================================================
c               condition    of the patient in the morning: 0 well, 1 mild, 2 serious, 3 critical
l               level        resistance to the reserve drug on this ward, 0 .. L - 1
(c, l)          state        4 L states, index L c + l
a               treatment    watch, drug A, drug B, reserve drug
n, w            natural,     chance to improve without a drug, and to get worse without improving
                worsen
e(a, l)         effects      chance that the treatment works: 0, e_A, e_B, and e_R (1 - l / L)
i(a, l)         improve      1 - (1 - n)(1 - e(a, l)): nature or the drug
b(a)            burden       chance that side effects spoil the day, 0 for watching
u(c)            COMFORT      chance of a good day in a condition: 1, 0.6, 0.3, 0
d               discharge    chance that a patient who is well in the evening goes home
k, f            build, fade  chance that the level rises on a day with the reserve drug, or falls on another
r               rewards      (1 - b(a)) E[u(c')], with c' the condition in the evening
==============  ===========  ===============================================================================

A step is a day. It ends one condition better with chance i, one worse with chance (1 - i) w, and else as before.
Well is the best and critical the worst. Who goes home in the evening is followed by a new patient, who is mild,
serious or critical with chances 0.5, 0.35, 0.15. So no state is the last one. Deaths are not modelled: they would
free the place, which the average reward would count as a gain.

Treatment as a Markov decision process is as in [SBSR04]. That resistance to one drug makes another work better is
known as collateral sensitivity [RA21].
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.odds import times_odds
from driftmdp.problems.outcomes import transition_table
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_fraction, as_integer, as_number

CONDITIONS = ("well", "mild", "serious", "critical")
COMFORT = np.array([1.0, 0.6, 0.3, 0.0])
INTAKE = np.array([0.0, 0.5, 0.35, 0.15])
TREATMENTS = ("watch", "drug A", "drug B", "reserve drug")
MIN_CHANCE, MAX_CHANCE = 0.01, 0.99  # a chance of 0 or 1 would leave states out of reach


class Strain(NamedTuple):
    """The strain that goes round: factors of the usual odds that drug A works, that drug B does, and of w."""

    drug_a: float
    drug_b: float
    worsen: float


REGIMES = {
    "usual": Strain(1.0, 1.0, 1.0),
    "resists A": Strain(0.1, 2.0, 1.5),
    "resists B": Strain(2.0, 0.1, 1.5),
}


@register("healthcare-v1")
def healthcare(
    levels: int = 5,
    drug_a: float = 0.35,
    drug_b: float = 0.4,
    reserve: float = 0.85,
    burden_a: float = 0.1,
    burden_b: float = 0.2,
    burden_reserve: float = 0.4,
    natural: float = 0.05,
    worsen: float = 0.2,
    build: float = 0.3,
    fade: float = 0.1,
    discharge: float = 0.3,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "bernoulli",
) -> Problem:
    """Which treatment for each patient of a ward's place while resistance to the drugs comes and goes.

    The decision of each day: watch, give drug A, give drug B, or give the reserve drug, which works against every
    strain until its use has made the ward's germs resistant to it.

    - States: the patient's condition in the morning (well, mild, serious, critical) and the ward's level of
      resistance to the reserve drug. 20 with the defaults. A new patient follows who goes home.
    - Rewards: the chance of a good day, in the range (0, 1). The patient feels well and has no side effects.
    - Endogenous: the condition, and the level that earlier use of the reserve drug built up.
    - Drift: the anchors are three strains. Against the ``usual`` one both drugs work. The next ``resists A`` and
      the last ``resists B``. These two are more sensitive to the other drug, and make patients worse faster.
    - Noise: a day is good or not (``bernoulli``). The course of the illness is random too.

    It tests tracking which of two actions works, with a costly third that is safe in the short run.

    Parameters
    ----------
    levels
        Levels of resistance to the reserve drug, at least 1. At level l of L it works with 1 - l / L of its chance.
    drug_a, drug_b, reserve
        Chance that the drug works in a day, 0 to 1, against the usual strain.
    burden_a, burden_b, burden_reserve
        Chance that side effects spoil the day, 0 to 1.
    natural
        Chance to improve in a day without a drug, 0.01 to 0.99.
    worsen
        Chance that a patient who does not improve gets worse, 0 to 1, with the usual strain.
    build, fade
        Chance that the level rises on a day with the reserve drug, and that it falls on another, 0.01 to 1.
    discharge
        Chance that a patient who is well in the evening goes home, 0.01 to 0.99.
    horizon
        T, days, at least 1.
    drift
        ``stationary`` (the usual strain), ``slow``, ``seasonal`` and ``fast`` (linear from strain to strain and
        back, 1, 5 or 20 times), ``reward-only`` and ``transition-only`` (twice, with the other fixed), or
        ``abrupt`` (jumps in that order).
    cycles
        Cycles over the horizon, instead of the drift's own number, at least 0.
    changes
        Jumps of ``abrupt``, at least 0.
    noise
        Reward noise.

    Examples
    --------
    >>> from driftmdp import planning
    >>> from driftmdp.problems import healthcare
    >>> problem = healthcare(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 20 states, 80 pairs>
    >>> problem.space.state_names[5]
    'mild, level 0'
    >>> best = [int(planning.optimal_gain(anchor).policy[5]) for anchor in problem.drifting.anchors]
    >>> [problem.space.action_names[5][action] for action in best]
    ['drug A', 'drug B', 'drug A']
    """
    ward = Ward(
        as_integer(levels, "levels", minimum=1),
        as_number(build, "build", MIN_CHANCE, 1.0),
        as_number(fade, "fade", MIN_CHANCE, 1.0),
        as_number(discharge, "discharge", MIN_CHANCE, MAX_CHANCE),
    )
    drug_a, drug_b = as_fraction(drug_a, "drug_a"), as_fraction(drug_b, "drug_b")
    reserve = as_fraction(reserve, "reserve")
    sides = as_fraction(burden_a, "burden_a"), as_fraction(burden_b, "burden_b")
    burden = np.array([0.0, *sides, as_fraction(burden_reserve, "burden_reserve")])[ward.treatment]
    natural = as_number(natural, "natural", MIN_CHANCE, MAX_CHANCE)
    worsen = as_fraction(worsen, "worsen")
    anchors = []
    for strain in REGIMES.values():
        effects = np.array([0.0, times_odds(drug_a, strain.drug_a), times_odds(drug_b, strain.drug_b), reserve])
        improve = 1 - (1 - natural) * (1 - ward.strength * effects[ward.treatment])
        evenings = ward.evenings(improve, times_odds(worsen, strain.worsen))
        anchors.append(Mdp(ward.space, (1 - burden) * (evenings @ COMFORT), ward.transitions(evenings)))
    drifting = drifting_between(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, start=ward.levels, noise=noise, reward_range=(0.0, 1.0))


class Ward:
    """The states of a place on a ward, and for each pair the condition, the level and the treatment."""

    def __init__(self, levels: int, build: float, fade: float, discharge: float) -> None:
        n_conditions, n_treatments = len(CONDITIONS), len(TREATMENTS)
        require_memory(13_000.0 * levels, f"levels = {levels:,}")
        self.levels, self.build, self.fade, self.discharge = levels, build, fade, discharge
        names = [f"{condition}, level {level}" for condition in CONDITIONS for level in range(levels)]
        self.space = Space(np.full(n_conditions * levels, n_treatments), names, list(TREATMENTS))
        self.condition, self.level = np.divmod(self.space.pair_states, levels)
        self.treatment = np.arange(self.space.n_pairs) % n_treatments
        self.is_reserve = self.treatment == n_treatments - 1
        self.strength = np.where(self.is_reserve, 1 - self.level / levels, 1.0)

    def evenings(self, improve: NDArray[np.float64], worsen: float) -> NDArray[np.float64]:
        """Return the distribution of the condition in the evening, shape (pairs, conditions)."""
        law = np.zeros((self.space.n_pairs, len(CONDITIONS)))
        pairs = np.arange(self.space.n_pairs)
        worse = (1 - improve) * worsen
        # A well patient cannot get better nor a critical one worse: both chances then add to staying as before.
        for chance, step in ((improve, -1), (worse, 1), (1 - improve - worse, 0)):
            law[pairs, np.clip(self.condition + step, 0, len(CONDITIONS) - 1)] += chance
        return law

    def transitions(self, evenings: NDArray[np.float64]) -> sp.csr_array:
        """Return the next-state distribution of each pair: who is well may go home, and the level moves."""
        mornings = evenings.copy()
        mornings[:, 0] *= 1 - self.discharge
        mornings += self.discharge * evenings[:, :1] * INTAKE
        chance = np.where(self.is_reserve, self.build, self.fade)
        moved = np.clip(self.level + np.where(self.is_reserve, 1, -1), 0, self.levels - 1)
        outcomes = []
        for condition, share in enumerate(mornings.T):
            outcomes.append((share * chance, self.levels * condition + moved))
            outcomes.append((share * (1 - chance), self.levels * condition + self.level))
        return transition_table(self.space, outcomes)
