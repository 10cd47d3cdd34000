"""Maintenance of a machine that wears [D63]: when to run it, to repair it, or to replace it.

=========  ==================  =========================================================================
symbol     name here           meaning
=========  ==================  =========================================================================
L          levels              wear at which the machine has failed. 0 is new, so there are L + 1 states
s          state               level of wear, 0 .. L
g(s)       output              chance that a period's output is good, q (1 - l s / L), and 0 if failed
q, l       quality, loss       that chance if new, and the share of it lost by wear just before failure
w          wear                chance that a running machine wears by one level in a period
f          breakdown           chance of a sudden failure in a period is f s / L
p          repair_price        share of a period, and of its good output, that a repair costs
v, d       repaired, restores  chance that a repair succeeds in a period, and the levels it takes back
n          installed           chance that a replacement is ready in a period. Meanwhile there is no output
e          emergency           factor of n if the machine has failed
=========  ==================  =========================================================================

=======  ===========  ==================================================================================
action   reward       next state
=======  ===========  ==================================================================================
replace  0            0 with chance n (e n if failed), else s
run      g(s)         L with chance f s / L, otherwise s + 1 with chance w, else s
repair   (1 - p)g(s)  max(s - d, 0) with chance v, otherwise as run with chance 1 - p, else s
=======  ===========  ==================================================================================

A new machine cannot be repaired, and a failed one can only be replaced. During a repair the machine runs for the
rest of the period and may wear in it.

An anchor is a kind of work with its own w and f, l, p and n. A mixture of kinds is a period whose work is one of
them by chance.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.problems.outcomes import transition_table
from driftmdp.problems.registry import register
from driftmdp.problems.schedules import drifting_between
from driftmdp.system import require_memory
from driftmdp.validation import as_fraction, as_integer, as_number

MIN_CHANCE = 0.01  # a chance of 0 would leave states out of reach
REPLACE, REPAIR = 0, 2
ACTIONS = ("replace", "run", "repair")


class Work(NamedTuple):
    """A kind of work: its values, or the factors of the usual ones. Sudden failures change as wear does."""

    wear: float
    loss: float
    repair_price: float
    installed: float


REGIMES = {
    "usual": Work(1.0, 1.0, 1.0, 1.0),
    "fine": Work(0.4, 1.6, 0.4, 0.75),
    "rough": Work(2.0, 0.25, 1.6, 1.5),
}


@register("maintenance-v1")
def maintenance(
    levels: int = 11,
    quality: float = 0.95,
    loss: float = 0.6,
    wear: float = 0.45,
    breakdown: float = 0.02,
    repair_price: float = 0.6,
    repaired: float = 0.3,
    restores: int = 3,
    installed: float = 0.3,
    emergency: float = 0.5,
    horizon: int = 5000,
    drift: str = "seasonal",
    cycles: float | None = None,
    changes: int = 5,
    noise: str = "bernoulli",
) -> Problem:
    """When to run, repair or replace a machine that wears, while the work and the prices change.

    In each period: see how worn the machine is, and run it, repair it or replace it. The reward is 1 if the
    period's output is good and 0 if not, so the gain is the share of good periods. A worn machine is good less
    often and may fail suddenly. A repair costs part of the output of each period that it takes. A replacement
    costs all of it, for longer if the machine has failed.

    The wear is endogenous: only the decision maker's own actions and chance change it. What drifts is the work.
    ``fine`` work wears the machine slowly and needs a good one, with cheap repairs and slow deliveries. ``rough``
    work wears it fast but a worn machine will do, with dear repairs and quick deliveries. ``usual`` work is in
    between. The noise is that of a yes or no: good or not.

    It tests whether an agent gives up a habit: in fine work the best policy repairs at once, in rough work it runs
    the machine until it is all but worn out and never repairs it. The gain of replacing at a fixed level has a
    closed form, and without repairs such a policy is optimal. Numbers are in docs/applications/maintenance.md.

    Mean rewards are chances of good output, and ``reward_range`` is (0, 1). The defaults are plausible, not fitted.

    Parameters
    ----------
    levels
        L, the level of wear at which the machine has failed, at least 1.
    quality
        Chance that a new machine's output is good, 0 to 1.
    loss
        Share of that chance that usual work loses by wear just before failure, 0 to 0.6. Fine work loses 1.6 times
        as much.
    wear
        Chance that usual work wears the machine by one level in a period, 0.01 to 0.5. Rough work has twice this
        chance.
    breakdown
        Chance of a sudden failure in a period of usual work just before the machine is worn out, 0 to 0.5. It is
        proportional to the wear. Rough work has twice this chance.
    repair_price
        Share of a period, and of its good output, that a repair costs in usual work, 0 to 0.6. In rough work it
        costs 1.6 times as much.
    repaired
        Chance that a repair succeeds in a period, 0 to 1.
    restores
        Levels of wear that a repair takes back, at least 1.
    installed
        Chance that a planned replacement is ready in a period of usual work, 0.01 to 0.6. In rough work it has 1.5
        times this chance.
    emergency
        Factor of ``installed`` for a machine that has failed, 0.01 to 1.
    horizon
        T, periods, at least 1.
    drift
        ``stationary`` (usual work), ``slow``, ``seasonal`` and ``fast`` (linear from usual to fine to rough and
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
    >>> from driftmdp.problems import maintenance
    >>> problem = maintenance(horizon=1000)
    >>> problem.drifting
    <DriftingMdp: 1,000 steps, 3 anchors, 12 states, 33 pairs>
    >>> for anchor in problem.drifting.anchors:
    ...     print([problem.space.action_names[s][planning.optimal_gain(anchor).policy[s]] for s in (2, 3, 9)])
    ['run', 'repair', 'replace']
    ['repair', 'repair', 'replace']
    ['run', 'run', 'run']
    """
    machine = WornMachine(
        as_integer(levels, "levels", minimum=1),
        quality=as_fraction(quality, "quality"),
        repaired=as_fraction(repaired, "repaired"),
        restores=as_integer(restores, "restores", minimum=1),
        emergency=as_number(emergency, "emergency", MIN_CHANCE, 1.0),
    )
    usual = Work(
        wear=as_number(wear, "wear", MIN_CHANCE, 0.5),
        loss=as_number(loss, "loss", 0.0, 0.6),
        repair_price=as_number(repair_price, "repair_price", 0.0, 0.6),
        installed=as_number(installed, "installed", MIN_CHANCE, 0.6),
    )
    breakdown = as_number(breakdown, "breakdown", 0.0, 0.5)
    anchors = []
    for factors in REGIMES.values():
        work = Work(*(value * factor for value, factor in zip(usual, factors, strict=True)))
        transitions = machine.transitions(work, breakdown * factors.wear)
        anchors.append(Mdp(machine.space, machine.rewards(work), transitions))
    drifting = drifting_between(anchors, drift, horizon, cycles, changes)
    return Problem(drifting, noise=noise, reward_range=(0.0, 1.0))


class WornMachine:
    """The levels of wear of a machine, and for each pair its level and its action."""

    def __init__(self, levels: int, quality: float, repaired: float, restores: int, emergency: float) -> None:
        require_memory(2000 * (levels + 1), f"levels + 1 = {levels + 1:,}")
        self.levels, self.quality, self.repaired, self.emergency = levels, quality, repaired, emergency
        n_actions = np.full(levels + 1, len(ACTIONS))
        n_actions[0] = 2  # nothing to repair
        n_actions[levels] = 1
        state_names = ["new", *(f"wear {s}" for s in range(1, levels)), "failed"]
        self.space = Space(n_actions, state_names, ACTIONS)
        self.level = self.space.pair_states
        self.action = np.arange(self.space.n_pairs) - self.space.offsets[self.level]
        self.mended = np.maximum(self.level - min(restores, levels), 0)

    def rewards(self, work: Work) -> NDArray[np.float64]:
        """Return the chance of good output of each pair."""
        good = self.quality * (1 - work.loss * self.level / self.levels)
        return good * self.running_share(work)

    def running_share(self, work: Work) -> NDArray[np.float64]:
        """Return the share of a period in which the machine runs."""
        return np.asarray(np.array([0.0, 1.0, 1 - work.repair_price])[self.action])

    def transitions(self, work: Work, breakdown: float) -> sp.csr_array:
        """Return the next-state distribution of each pair."""
        mends = self.repaired * (self.action == REPAIR)
        runs = (1 - mends) * self.running_share(work)
        breaks = breakdown * self.level / self.levels
        fails, wears = runs * breaks, runs * (1 - breaks) * work.wear
        ready = work.installed * np.where(self.level == self.levels, self.emergency, 1.0) * (self.action == REPLACE)
        outcomes = (  # chance, next state
            (fails, np.full_like(self.level, self.levels)),
            (wears, np.minimum(self.level + 1, self.levels)),
            (ready, np.zeros_like(self.level)),
            (mends, self.mended),
            (np.maximum(1 - fails - wears - ready - mends, 0.0), self.level),  # rounding may miss 0
        )
        return transition_table(self.space, outcomes)
