"""The yardstick: the best in hindsight among several kinds of arms, searched from coarse to fine.

A kind of arm is an agent with a window, a scale, both or neither. The first round tries a coarse grid of each kind.
Each refinement adds arms around the best one of each kind, halfway, on a log scale, to the next values that were
tried. A kind that is far behind is not refined. Few seeds tell many arms apart badly. So the best arms meet again
in finals, on more seeds, and the best there is the yardstick.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from driftmdp.display import brief
from driftmdp.experiments.best_window import geometric_windows
from driftmdp.experiments.identity import labelled
from driftmdp.experiments.spec import Choice, Strict

NO_RADIUS = 1e-6  # a scale so small stands for 0, an end and no edge: still smaller ones hardly change a run
FAR_BEHIND = 0.5  # a kind whose best arm is this share worse than the best of all is not refined


class WindowGrid(Strict):
    """Up to ``count`` windows, geometric from ``shortest`` to T."""

    shortest: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1)]


class ArmKind(Strict):
    """An agent of the yardstick, with the windows and scales of the coarse grid. It may have none of them."""

    name: Annotated[str, Field(min_length=1)]
    parameters: dict[str, Any] = Field(default_factory=dict)
    windows: WindowGrid | None = None
    scales: list[Annotated[float, Field(gt=0)]] = Field(default_factory=list)

    def scales_or_none(self) -> list[float | None]:
        """Return the scales of the coarse grid, or None alone if it has no scale."""
        return [*self.scales] or [None]

    def windows_to(self, horizon: int) -> list[int | None]:
        """Return the windows of the coarse grid, or None alone if it has no window."""
        return [*geometric_windows(self.windows.shortest, horizon, self.windows.count)] if self.windows else [None]


@dataclass(frozen=True)
class Arm:
    """An agent of the yardstick with its window and scale. None if it has no such parameter.

    Attributes
    ----------
    kind
        The agent.
    window, scale
        Its parameters that are searched.
    """

    kind: ArmKind
    window: int | None
    scale: float | None

    __repr__ = brief

    @property
    def searched(self) -> dict[str, Any]:
        """The window and the scale, if it has them."""
        found = {"window": self.window, "scale": self.scale}
        return {key: value for key, value in found.items() if value is not None}

    @property
    def label(self) -> str:
        """Its name among the arms."""
        return labelled(self.kind.name, self.searched)

    @property
    def choice(self) -> Choice:
        """The arm as an agent of a spec."""
        return Choice(name=self.kind.name, label=self.label, parameters=self.kind.parameters | self.searched)

    def on_edge(self, horizon: int) -> bool:
        """Return whether a wider grid might have a better arm. Window T and radii of nearly 0 are ends."""
        windows, scales = self.kind.windows_to(horizon), self.kind.scales
        is_shortest = self.window is not None and self.window == windows[0] and self.window < horizon
        is_outer = self.scale is not None and self.scale > NO_RADIUS and self.scale in {min(scales), max(scales)}
        return is_shortest or is_outer


class Yardstick(Strict):
    """The kinds of arms among which the best is chosen in hindsight, rounds of refinement, and finalists."""

    label: Annotated[str, Field(min_length=1)]
    refinements: Annotated[int, Field(ge=0)] = 0
    finalists: Annotated[int, Field(ge=1)] = 1
    arms: Annotated[list[ArmKind], Field(min_length=1)]

    def coarse_arms(self, horizon: int) -> list[Arm]:
        """Return the arms of the first round."""
        return [
            Arm(kind, window, scale)
            for kind in self.arms
            for window, scale in itertools.product(kind.windows_to(horizon), kind.scales_or_none())
        ]

    def finer_arms(self, tried: Sequence[Arm], regrets: Mapping[str, float]) -> list[Arm]:
        """Return the arms of the next round, given the mean regrets by label so far."""
        least = min(regrets.values())
        found = []
        for kind in self.arms:
            own = [arm for arm in tried if arm.kind == kind]
            best = ranked_arms(own, regrets)[0]
            if regrets.get(best.label, math.inf) <= least + FAR_BEHIND * abs(least):
                found += _neighbours(best, own)
        return found


def ranked_arms(arms: Iterable[Arm], regrets: Mapping[str, float]) -> list[Arm]:
    """Return the arms by mean regret, the least first; of equals, the first."""
    return sorted(arms, key=lambda arm: regrets.get(arm.label, math.inf))


def _neighbours(best: Arm, tried: Sequence[Arm]) -> list[Arm]:
    """Return the arms halfway from the best one to the next windows and to the next scales."""
    windows = _midpoints(best.window, {arm.window for arm in tried})
    scales = _midpoints(best.scale, {arm.scale for arm in tried})
    found = [Arm(best.kind, round(window), best.scale) for window in windows]
    found += [Arm(best.kind, best.window, scale) for scale in scales]
    return [arm for arm in found if arm not in tried]


def _midpoints(value: float | None, tried: Iterable[float | None]) -> list[float]:
    """Return the geometric midpoints, to two digits, between a value and the next ones that were tried."""
    if value is None:
        return []
    others = [other for other in tried if other is not None]
    below = max((other for other in others if other < value), default=value)
    above = min((other for other in others if other > value), default=value)
    middles = [(low, _middle(low, high), high) for low, high in ((below, value), (value, above))]
    return [middle for low, middle, high in middles if low < middle < high]


def _middle(low: float, high: float) -> float:
    # A log scale has no place for 0, so a third of the other value is halfway to it.
    return float(f"{high / 3 if low <= NO_RADIUS else math.sqrt(low * high):.2g}")
