"""What a check found: trials of the printed claim and of its corrected form, and the verdict that follows.

A trial is one instance and one inequality, left <= right. It is vacuous where the right side is at least what is
true anyway (``trivial``: a regret bound above T, a radius of 2). Its margin is (right - left) / max(|left|,
|right|): 0 is equality, 1 means that the left side is nothing beside the right one, below 0 it is broken.

==================  ================================================================================================
verdict             when
==================  ================================================================================================
holds               the printed form held in every trial, and at least one of them was not vacuous; the printed
                    form is the statement with those displayed steps of its proof that are tried
holds as corrected  the printed form was broken, as the counterexample shows; the corrected form held in every trial
fails as printed    the printed form was broken, and a corrected form as well, or there is none
vacuous             nothing was broken, but no trial said anything
not testable        it is no statement that numbers could contradict
not carried out     the check broke down, or the code was seen not to do what the paper says: a fault of this
                    library, not of the paper
==================  ================================================================================================

A caveat stands beside a verdict and says how far it reaches.

==========================  ========================================================================================
caveat                      when
==========================  ========================================================================================
with scaled radii           every trial that said something had radii smaller than theory's
in one reading              the words can be read in two ways; the verdict is that of the reading that is given
in parts                    the statement was tried part by part; as a whole it says nothing at these horizons
too loose to detect faults  the bound is so far from what was seen that a faulty algorithm keeps it too, and nothing
                            else in the check shows it
==========================  ========================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-9
Floats = NDArray[np.float64]


class Verdict(StrEnum):
    """What became of a statement."""

    HOLDS = "holds"
    CORRECTED = "holds as corrected"
    FAILS = "fails as printed"
    VACUOUS = "vacuous"
    NOT_TESTABLE = "not testable"
    BROKEN = "not carried out"


class Caveat(StrEnum):
    """How far a verdict reaches."""

    SCALED = "with scaled radii"
    READ = "in one reading"
    PARTS = "in parts"
    LOOSE = "too loose to detect faults"


@dataclass(frozen=True)
class Trial:
    """One inequality on one instance: ``left <= right``.

    An aside is a step of a proof, or an identity: it can break the statement, but has no part in its margin.
    A scaled one is of a run with radii smaller than theory's.
    """

    instance: str
    left: float
    right: float
    vacuous: bool = False
    aside: bool = False
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


class TrialCount:
    """Trials of one form of a statement."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []

    def at_most(
        self,
        instance: str,
        left: ArrayLike,
        right: ArrayLike,
        trivial: ArrayLike = math.inf,
        aside: bool = False,
        scaled: bool = False,
    ) -> None:
        """Try left <= right; of arrays, the worst entry that is not vacuous counts."""
        lefts, rights, top = np.broadcast_arrays(
            *(np.atleast_1d(np.asarray(x, float)) for x in (left, right, trivial))
        )
        if lefts.size == 0:
            return
        held, slack, vacuous = _holds(lefts, rights), _margins(lefts, rights), rights >= top
        order = np.where(held, np.where(vacuous, 10.0 + slack, slack), slack - 10.0)  # what is broken comes first
        worst = np.unravel_index(int(np.argmin(order)), order.shape)
        sides = float(lefts[worst]), float(rights[worst])
        self.trials.append(Trial(instance, *sides, bool(vacuous[worst]), aside, scaled))

    def step(self, instance: str, left: ArrayLike, right: ArrayLike) -> None:
        """Try a step of the proof: left <= right, an aside."""
        self.at_most(instance, left, right, aside=True)

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
        """The trials that did not hold."""
        return [trial for trial in self.trials if not trial.holds]

    @property
    def instances(self) -> list[Trial]:
        """The trials of the statement itself."""
        return [trial for trial in self.trials if not trial.aside]

    @property
    def telling(self) -> list[Trial]:
        """Those that were not vacuous."""
        return [trial for trial in self.instances if not trial.vacuous or not trial.holds]


@dataclass(frozen=True)
class Finding:
    """What the check of a statement found.

    Attributes
    ----------
    name, title, where, claim
        The statement: its name, its subject, its place in the paper, and what it says.
    verdict, caveats
        See the module's tables.
    instances, vacuous
        How many instances were tried, and on how many of them the inequality says nothing.
    margin
        The worst margin among those that say something; NaN if there are none. Of the corrected form where there is
        one.
    why
        What was found, in words.
    counterexample
        Where the printed form is broken.
    correction
        What holds instead.
    test
        The statistical test and its error rate, if chance is involved.
    seconds
        How long it took.
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
        """How many instances were tried, in a few letters."""
        return f"{self.instances} ({self.vacuous} vacuous)" if self.vacuous else str(self.instances)


class Evidence:
    """What speaks for and against a statement: trials of the printed form and of a corrected one.

    Attributes
    ----------
    printed, corrected
        The trails to which trials are added: ``printed.at_most(instance, left, right, trivial=...)``, ``equal``,
        ``seldom`` for probabilities, ``step`` for a step of the proof.
    library
        The trail of what this library must do so that the others mean something: what is broken here is no
        counterexample, and leaves no verdict.
    why
        What was found, in words.
    correction
        What holds where the printed form fails.
    test
        The statistical test and its error rate.
    only_words
        Whether it is no statement that numbers could contradict.
    caveats
        How far the verdict reaches. That only scaled radii said something is found by itself.
    """

    def __init__(self, *caveats: Caveat) -> None:
        self.printed, self.corrected, self.library = TrialCount(), TrialCount(), TrialCount()
        self.why = self.correction = self.test = ""
        self.only_words = False
        self._caveats = caveats

    def both(
        self,
        instance: str,
        left: ArrayLike,
        right: ArrayLike,
        trivial: ArrayLike = math.inf,
        scaled: bool = False,
    ) -> None:
        """Try an inequality that is the same in both forms."""
        self.printed.at_most(instance, left, right, trivial, scaled=scaled)
        self.corrected.at_most(instance, left, right, trivial, scaled=scaled)

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """How far the verdict reaches."""
        if self.verdict not in (Verdict.HOLDS, Verdict.CORRECTED):
            return ()
        telling = self.deciding.telling
        scaled = (Caveat.SCALED,) if telling and all(trial.scaled for trial in telling) else ()
        return scaled + self._caveats

    @property
    def verdict(self) -> Verdict:
        """What follows."""
        printed, corrected = self.printed, self.corrected
        if self.library.broken:
            return Verdict.BROKEN
        if self.only_words:
            return Verdict.NOT_TESTABLE
        if corrected.broken or (printed.broken and not corrected.telling):
            return Verdict.FAILS
        if not self.deciding.telling:
            return Verdict.VACUOUS
        return Verdict.CORRECTED if printed.broken else Verdict.HOLDS

    @property
    def deciding(self) -> TrialCount:
        """The form whose margin counts."""
        return self.corrected if self.corrected.trials else self.printed

    @property
    def reason(self) -> str:
        """Why the verdict is what it is: ``why``, or the fault of this library."""
        faults = self.library.broken
        return f"this library does not do what the paper says: {faults[0]}" if faults else self.why

    @property
    def counterexample(self) -> str:
        """Where the corrected form is broken most, if it is; else the first trial that breaks the printed one."""
        if self.library.broken:
            return ""
        if self.corrected.broken:
            return str(min(self.corrected.broken, key=lambda trial: trial.margin))
        broken = sorted(self.printed.broken, key=lambda trial: trial.aside)  # the statement before its proof
        return f"{'in the proof, ' if broken[0].aside else ''}{broken[0]}" if broken else ""

    @property
    def margin(self) -> float:
        """The worst margin among trials that say something."""
        return min((trial.margin for trial in self.deciding.telling), default=math.nan)


def _holds(left: Floats, right: Floats) -> NDArray[np.bool_]:
    """Return whether left <= right, to rounding; nothing that is not a number holds."""
    return np.asarray(left <= right + ROUNDING * np.maximum(1.0, np.minimum(np.abs(left), np.abs(right))))


def _margins(left: Floats, right: Floats) -> Floats:
    """Return (right - left) / max(|left|, |right|), at least 0 where it holds; 1 or -1 where a side is infinite."""
    size = np.maximum(np.maximum(np.abs(left), np.abs(right)), ROUNDING)
    with np.errstate(invalid="ignore"):
        slack = np.where(np.isfinite(size), (right - left) / size, np.where(left < right, 1.0, -1.0))
    return np.where(_holds(left, right), np.maximum(0.0, slack), slack)


def critical_count(runs: int, probability: float, error: float) -> int:
    """Return the least k such that Pr(Binomial(runs, probability) >= k) <= error.

    Examples
    --------
    >>> critical_count(runs=200, probability=0.05, error=1e-3)
    22
    """
    from scipy.stats import binom

    return int(binom.isf(error, runs, probability)) + 1
