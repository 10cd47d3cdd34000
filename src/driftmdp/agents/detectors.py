"""The detectors of :class:`~driftmdp.agents.Detecting`, with their constants.

===================  =================================================================================  ==========
detector             it fires when                                                                      reference
===================  =================================================================================  ==========
GLRDetector          two parts of a stream are far likelier under two laws than under one               [BKMS22]
RunLengthDetector    a Laplace predictor that began later has called a stream better than the first     [AMF20]
CUSUMDetector        observations stay on one side of the mean of the first ones                        [LLS18]
PageHinkleyDetector  observations stay on one side of the mean of all of them                           [LLS18]
===================  =================================================================================  ==========
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from driftmdp.errors import InvalidInputError
from driftmdp.kernels import detection_arrays
from driftmdp.kernels.detection_arrays import WatchParams
from driftmdp.validation import as_integer, as_number, one_of

FINEST = 1e-3  # level of rewards
SMALLEST_DELTA = 1e-300
SUPPORTS = ("seen", "all")


@dataclass(frozen=True)
class GLRDetector:
    """The generalised likelihood ratio of [BKMS22]: Bernoulli for mean rewards, multinomial for next states.

    Parameters
    ----------
    resolution
        Rewards are also sorted into levels of this width, in units of their range, and the levels compared as next
        states are: a reward with little noise shows a change within a few visits. None leaves this out.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=500)
    >>> plain = dm.agents.GLRDetector(resolution=None)
    >>> dm.agents.Detecting.for_problem(problem, detector=plain).detector
    GLRDetector(resolution=None)
    """

    resolution: float | None = 0.2

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolution", _checked_resolution(self.resolution))


@dataclass(frozen=True)
class RunLengthDetector:
    """Restarted Bayesian run lengths, R-BOCPD [AMF20], with Laplace predictors of next states and reward levels.

    Parameters
    ----------
    hazard
        eta, the weight of a predictor that begins now, by default the agent's ``delta``, shared by all streams.
    support
        The categories that a predictor allows for: those ``"seen"`` by the pair since its restart, or ``"all"``
        states and levels, as in [AMM23].
    resolution
        The width of a level of rewards, in units of their range.

    Examples
    --------
    >>> import driftmdp as dm
    >>> dm.agents.RunLengthDetector(hazard=0.001)
    RunLengthDetector(hazard=0.001, support='seen', resolution=0.2)
    """

    hazard: float | None = None
    support: str = "seen"
    resolution: float = 0.2

    def __post_init__(self) -> None:
        if self.hazard is not None:
            object.__setattr__(self, "hazard", as_number(self.hazard, "hazard", SMALLEST_DELTA, 1.0))
        one_of(self.support, "support", SUPPORTS)
        object.__setattr__(self, "resolution", as_number(self.resolution, "resolution", FINEST, 1.0))


@dataclass(frozen=True)
class CUSUMDetector:
    """Two cumulative sums around the mean of the first observations, CUSUM of [LLS18].

    Rewards are summed as they are, in units of their range. Each next state has sums of its own, of 1 where it
    followed and 0 where another did.

    Parameters
    ----------
    margin
        epsilon, which a sum loses at each observation: changes below it are not looked for.
    threshold
        h, at which a sum fires, by default ln(streams / delta) / (8 margin).
    warmup
        M, the number of first observations. Their mean should be surer than the margin.

    Examples
    --------
    >>> import driftmdp as dm
    >>> dm.agents.CUSUMDetector(margin=0.1)
    CUSUMDetector(margin=0.1, threshold=None, warmup=100)
    """

    margin: float = 0.2
    threshold: float | None = None
    warmup: int = 100

    def __post_init__(self) -> None:
        _check_sums(self, least_warmup=1)  # without any there is no mean


@dataclass(frozen=True)
class PageHinkleyDetector:
    """Two cumulative sums around the mean of all observations so far, the Page-Hinkley test of [LLS18].

    Parameters
    ----------
    margin, threshold
        As those of :class:`CUSUMDetector`.
    warmup
        The number of observations before it may fire.

    Examples
    --------
    >>> import driftmdp as dm
    >>> dm.agents.PageHinkleyDetector()
    PageHinkleyDetector(margin=0.15, threshold=None, warmup=20)
    """

    margin: float = 0.15
    threshold: float | None = None
    warmup: int = 20

    def __post_init__(self) -> None:
        _check_sums(self, least_warmup=0)


Detector: TypeAlias = GLRDetector | RunLengthDetector | CUSUMDetector | PageHinkleyDetector
DETECTORS: dict[str, type[Detector]] = {
    "glr": GLRDetector,
    "run-length": RunLengthDetector,
    "cusum": CUSUMDetector,
    "page-hinkley": PageHinkleyDetector,
}


def _checked_resolution(resolution: float | None) -> float | None:
    return None if resolution is None else as_number(resolution, "resolution", FINEST, 1.0)


def _check_sums(detector: CUSUMDetector | PageHinkleyDetector, least_warmup: int) -> None:
    object.__setattr__(detector, "margin", as_number(detector.margin, "margin", 1e-6, 1.0))
    object.__setattr__(detector, "warmup", as_integer(detector.warmup, "warmup", least_warmup))
    if detector.threshold is not None:
        object.__setattr__(detector, "threshold", as_number(detector.threshold, "threshold", 1e-9))


def as_detector(detector: Any, constants: Mapping[str, Any]) -> Detector:
    """Return a detector from its name and constants, or from itself."""
    if isinstance(detector, str):
        kind = DETECTORS[one_of(detector, "detector", DETECTORS)]
        try:
            return kind(**constants)
        except TypeError as error:
            rule = f"detector_parameters must be those of {kind.__name__}"
            raise InvalidInputError(f"{rule}; got {constants!r} ({error}).") from None
    if isinstance(detector, GLRDetector | RunLengthDetector | CUSUMDetector | PageHinkleyDetector):
        if constants:
            rule = "detector_parameters must be None for a detector that has its constants"
            raise InvalidInputError(f"{rule}; got {constants!r}.")
        return detector
    names = ", ".join(map(repr, DETECTORS))
    raise InvalidInputError(f"detector must be one of {names}, or one of the detectors; got {detector!r}.")


def default_delta(detector: Detector, horizon: int) -> float:
    """Return the delta of a detector: 1/sqrt(T) for likelihood ratios [BKMS22], 1/T for the others."""
    return 1.0 / math.sqrt(horizon) if isinstance(detector, GLRDetector) else 1.0 / horizon


def watch_params(detector: Detector, shared: WatchParams, delta: float, n_states: int) -> WatchParams:
    """Return the numbers of a detector for the kernel. ``shared`` has those that do not depend on it."""
    if isinstance(detector, CUSUMDetector | PageHinkleyDetector):
        threshold, share = detector.threshold, 0.0
        if threshold is None:
            # A sum of terms in [0, 1] with drift -margin exceeds h with probability exp(-8 margin h) at most.
            share = 1.0 / (8.0 * detector.margin)
            threshold = share * math.log(1.0 / delta)
        is_cusum = isinstance(detector, CUSUMDetector)
        kind = detection_arrays.CUSUM if is_cusum else detection_arrays.PAGE_HINKLEY
        shared = shared._replace(threshold=threshold, share=share)
        return shared._replace(kind=kind, margin=detector.margin, warmup=detector.warmup)
    resolution = detector.resolution or 0.0
    n_levels = math.ceil(1.0 / resolution) if resolution else 0
    shared = shared._replace(resolution=resolution, n_levels=n_levels)
    if isinstance(detector, GLRDetector):
        return shared._replace(kind=detection_arrays.GLR, log_odds=math.log(1.0 / delta))
    eta, share = (delta, 1.0) if detector.hazard is None else (detector.hazard, 0.0)
    levels, states = (n_levels + 1, n_states) if detector.support == "all" else (0, 0)
    shared = shared._replace(reward_categories=levels, state_categories=states)
    return shared._replace(kind=detection_arrays.RUN_LENGTH, log_odds=math.log(1.0 / eta), share=share)
