"""What a detector reports: its alarms, and the summary of the agent around it."""

from dataclasses import dataclass
from typing import Any

from driftmdp.display import MOST_ROWS, brief, counted


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

    __repr__ = brief

    def __str__(self) -> str:
        where = f"t={self.t}: {self.stream.replace('-', ' ')} of action {self.action} in state {self.state}"
        after = f", {counted(self.after, 'visit')} after the change" if self.after else ""
        return f"{where}, {self.statistic:.4g} above {self.threshold:.4g}{after}"


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

    __repr__ = brief

    def __str__(self) -> str:
        lines = [f"  {alarm}" for alarm in self.alarms[:MOST_ROWS]]
        more = [f"  and {len(self.alarms) - MOST_ROWS:,} more"] if len(self.alarms) > MOST_ROWS else []
        learner = [] if self.learner is None else [f"learner: {self.learner}"]
        return "\n".join([counted(len(self.alarms), "alarm") + (":" if lines else ""), *lines, *more, *learner])
