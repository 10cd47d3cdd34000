"""The result of a check: trials of the printed claim and of its corrected form, and the verdict that follows.

A trial is one instance and one inequality, left <= right. It is vacuous where the right side is at least what is
true anyway (``trivial``: a regret bound above T, a radius of 2). Its margin is (right - left) / max(|left|,
|right|). A margin of 0 is equality, near 1 the left side is negligible, below 0 the inequality fails.

==================  ================================================================================================
verdict             when
==================  ================================================================================================
holds               The printed form held in every trial, and at least one of them was not vacuous. The printed form
                    is the statement with those displayed steps of its proof that are tried.
holds as corrected  The printed form failed, as the counterexample shows. The corrected form held in every trial.
fails as printed    The printed form failed, and a corrected form failed as well or does not exist.
vacuous             Nothing failed, but every trial was vacuous.
not testable        The statement makes no claim that numbers could contradict.
not carried out     The check raised an error, or the code does not do what the paper says. That is a fault of this
                    library, not of the paper.
==================  ================================================================================================

A caveat limits a verdict.

==========================  ========================================================================================
caveat                      when
==========================  ========================================================================================
with scaled radii           Every trial that was not vacuous had radii smaller than theory's.
in one reading              The text has two readings. The verdict is that of the reading given.
in parts                    The statement was tried part by part. As a whole it is vacuous at these horizons.
too loose to detect faults  A faulty algorithm satisfies the bound too, and nothing else in the check detects it.
==========================  ========================================================================================
"""

import math
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftmdp.deprecation import warn_renamed

ROUNDING = 1e-9
Floats = NDArray[np.float64]


class Verdict(StrEnum):
    """The outcome of checking a statement."""

    HOLDS = "holds"
    CORRECTED = "holds as corrected"
    FAILS = "fails as printed"
    VACUOUS = "vacuous"
    NOT_TESTABLE = "not testable"
    BROKEN = "not carried out"


class Caveat(StrEnum):
    """A limit of a verdict."""

    SCALED = "with scaled radii"
    READ = "in one reading"
    PARTS = "in parts"
    LOOSE = "too loose to detect faults"


@dataclass(frozen=True)
class Trial:
    """One inequality on one instance: ``left <= right``.

    A proof step, or an identity, can break the statement but has no part in its margin. ``scaled`` marks a run with
    radii smaller than theory's.
    """

    instance: str
    left: float
    right: float
    vacuous: bool = False
    proof_step: bool = False
    scaled: bool = False

    @property
    def holds(self) -> bool:
        """Whether it held, to rounding."""
        return bool(_holds(np.array(self.left), np.array(self.right)))

    @property
    def margin(self) -> float:
        """``(right - left) / max(|left|, |right|)``; at least 0 where it holds."""
        return float(_margins(np.array(self.left), np.array(self.right)))

    def __str__(self) -> str:
        return f"{self.instance}: {self.left:.6g} {'<=' if self.holds else '>'} {self.right:.6g}"


class Trials:
    """Trials of one form of a statement."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []

    def at_most(
        self,
        instance: str,
        left: ArrayLike,
        right: ArrayLike,
        trivial: ArrayLike = math.inf,
        proof_step: bool = False,
        scaled: bool = False,
    ) -> None:
        """Try left <= right. Of arrays, the worst entry that is not vacuous counts."""
        sides = (np.atleast_1d(np.asarray(side, float)) for side in (left, right, trivial))
        lefts, rights, top = np.broadcast_arrays(*sides)
        if lefts.size == 0:
            return
        held, slack, vacuous = _holds(lefts, rights), _margins(lefts, rights), rights >= top
        order = np.where(held, np.where(vacuous, 10.0 + slack, slack), slack - 10.0)  # failures come first
        worst = np.unravel_index(int(np.argmin(order)), order.shape)
        shown = float(lefts[worst]), float(rights[worst]), bool(vacuous[worst])
        self.trials.append(Trial(instance, *shown, proof_step, scaled))

    def step(self, instance: str, left: ArrayLike, right: ArrayLike) -> None:
        """Try a step of the proof: left <= right, with no part in the margin."""
        self.at_most(instance, left, right, proof_step=True)

    def equal(self, instance: str, left: ArrayLike, right: ArrayLike, tolerance: float = ROUNDING) -> None:
        """Try ``|left - right| <= tolerance``."""
        self.at_most(instance, np.abs(np.asarray(left, float) - np.asarray(right, float)), tolerance)

    def seldom(self, instance: str, hits: int, runs: int, probability: float, error: float = 1e-3) -> None:
        """Try "this happens with at most this probability" by a one-sided binomial test.

        A true claim is rejected with probability at most ``error``.
        """
        self.at_most(instance, float(hits), critical_count(runs, probability, error) - 1.0, trivial=float(runs))

    @property
    def broken(self) -> list[Trial]:
        """The trials that failed."""
        return [trial for trial in self.trials if not trial.holds]

    @property
    def instances(self) -> list[Trial]:
        """The trials of the statement itself, without the steps of its proof."""
        return [trial for trial in self.trials if not trial.proof_step]

    @property
    def telling(self) -> list[Trial]:
        """The old name of ``informative``."""
        warn_renamed("telling", "informative")
        return self.informative

    @property
    def informative(self) -> list[Trial]:
        """Those instances that were not vacuous."""
        return [trial for trial in self.instances if not trial.vacuous or not trial.holds]


@dataclass(frozen=True)
class Finding:
    """The result of checking a statement.

    Attributes
    ----------
    name, title, where, claim
        The statement: its name, its subject, its place in the paper, and its text.
    verdict, caveats
        See the module's tables.
    instances, vacuous
        How many instances were tried, and how many of them were vacuous.
    margin
        The worst margin among those that were not vacuous, NaN if there are none. It is that of the corrected form
        if there is one.
    why
        The reason for the verdict, in words.
    counterexample
        Where the printed form fails.
    correction
        What holds instead.
    test
        The statistical test and its error rate, if chance is involved.
    seconds
        How long the check took.
    """

    name: str
    title: str
    where: str
    claim: str = field(repr=False)
    verdict: Verdict
    instances: int
    vacuous: int
    margin: float
    why: str = field(repr=False)
    caveats: tuple[Caveat, ...] = ()
    counterexample: str = field(default="", repr=False)
    correction: str = field(default="", repr=False)
    test: str = field(default="", repr=False)
    seconds: float = field(default=0.0, repr=False)

    @property
    def label(self) -> str:
        """The label in the paper's source, or the place if it has none."""
        return self.where.rpartition("(")[2].rstrip(")")

    @property
    def outcome(self) -> str:
        """The verdict with its caveats."""
        return ", ".join([self.verdict, *self.caveats])

    @property
    def tried(self) -> str:
        """The number of instances tried, as short text."""
        return f"{self.instances} ({self.vacuous} vacuous)" if self.vacuous else str(self.instances)


class Evidence:
    """Trials of the printed form of a statement and of a corrected one, and the verdict that follows.

    Attributes
    ----------
    printed, corrected
        The trials of both forms. Add one by ``printed.at_most(instance, left, right, trivial=...)``, ``equal``,
        ``seldom`` for probabilities, or ``step`` for a step of the proof.
    library
        Trials of what this library must do for the others to mean something. A failure here is no counterexample,
        and the check counts as not carried out.
    why
        The reason for the verdict, in words.
    correction
        What holds where the printed form fails.
    test
        The statistical test and its error rate.
    only_words
        Whether the statement makes no claim that numbers could contradict.
    caveats
        The limits of the verdict. The caveat "with scaled radii" is found from the trials.
    """

    def __init__(self, *caveats: Caveat) -> None:
        self.printed, self.corrected, self.library = Trials(), Trials(), Trials()
        self.why = self.correction = self.test = ""
        self.only_words = False
        self._caveats = caveats

    def both(
        self, instance: str, left: ArrayLike, right: ArrayLike, trivial: ArrayLike = math.inf, scaled: bool = False
    ) -> None:
        """Try an inequality that is the same in both forms."""
        for form in (self.printed, self.corrected):
            form.at_most(instance, left, right, trivial, scaled=scaled)

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """The limits of the verdict."""
        if self.verdict not in (Verdict.HOLDS, Verdict.CORRECTED):
            return ()
        scaled = all(trial.scaled for trial in self.decisive.informative)
        return ((Caveat.SCALED,) if scaled else ()) + self._caveats

    @property
    def verdict(self) -> Verdict:
        """The verdict by the module's table."""
        printed, corrected = self.printed, self.corrected
        if self.library.broken:
            return Verdict.BROKEN
        if self.only_words:
            return Verdict.NOT_TESTABLE
        if corrected.broken or (printed.broken and not corrected.informative):
            return Verdict.FAILS
        if not self.decisive.informative:
            return Verdict.VACUOUS
        return Verdict.CORRECTED if printed.broken else Verdict.HOLDS

    @property
    def deciding(self) -> Trials:
        """The old name of ``decisive``."""
        warn_renamed("Evidence.deciding", "Evidence.decisive")
        return self.decisive

    @property
    def decisive(self) -> Trials:
        """The form whose margin counts."""
        return self.corrected if self.corrected.trials else self.printed

    @property
    def reason(self) -> str:
        """The reason for the verdict: ``why``, or the fault of this library."""
        faults = self.library.broken
        return f"This library does not do what the paper says: {faults[0]}" if faults else self.why

    @property
    def counterexample(self) -> str:
        """Where the corrected form fails most, if it does. Otherwise the first failure of the printed form."""
        if self.library.broken:
            return ""
        if self.corrected.broken:
            return str(min(self.corrected.broken, key=lambda trial: trial.margin))
        broken = sorted(self.printed.broken, key=lambda trial: trial.proof_step)  # the statement before its proof
        return f"{'in the proof, ' if broken[0].proof_step else ''}{broken[0]}" if broken else ""

    @property
    def margin(self) -> float:
        """The worst margin among trials that are not vacuous."""
        return min((trial.margin for trial in self.decisive.informative), default=math.nan)


def _holds(left: Floats, right: Floats) -> NDArray[np.bool_]:
    """Return whether left <= right, to rounding. NaN never holds."""
    return np.asarray(left <= right + ROUNDING * np.maximum(1.0, np.minimum(np.abs(left), np.abs(right))))


def _margins(left: Floats, right: Floats) -> Floats:
    """Return (right - left) / max(|left|, |right|), at least 0 where it holds, 1 or -1 if a side is infinite."""
    size = np.maximum(np.maximum(np.abs(left), np.abs(right)), ROUNDING)
    with np.errstate(invalid="ignore"):
        slack = np.where(np.isfinite(size), (right - left) / size, np.where(left < right, 1.0, -1.0))
    return np.where(_holds(left, right), np.maximum(0.0, slack), slack)


def critical_count(runs: int, probability: float, error: float) -> int:
    """Return the least k such that Pr(Binomial(runs, probability) >= k) <= error.

    Examples
    --------
    >>> from driftmdp.statements.verdict import critical_count
    >>> critical_count(runs=200, probability=0.05, error=1e-3)
    22
    """
    from scipy.special import bdtrc  # scipy.stats takes half a second to import

    beyond = bdtrc(np.arange(runs), runs, probability)  # Pr(Binomial > k)
    return int(np.count_nonzero(beyond > error)) + 1
