"""What a detector reports: its alarms, and the summary of the agent around it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Alarm:
    """An alarm of a detector.

    Attributes
    ----------
    t
        The step after which it fired.
    state, action
        The pair.
    stream
        ``"rewards"`` or ``"next-states"``.
    statistic, threshold
        What the detector found, and what it fires above.
    after
        How many observations of the pair lie after the change, as the detector sees it. 0 for cumulative sums.
    """

    t: int
    state: int
    action: int
    stream: str
    statistic: float
    threshold: float
    after: int


@dataclass(frozen=True)
class DetectingSummary:
    """What a detector found, and what its learner has to say.

    Attributes
    ----------
    alarms
        All alarms so far.
    learner
        The summary of the learner, of the time since its last restart.
    """

    alarms: tuple[Alarm, ...]
    learner: Any
