"""Which window is best for a problem: a grid of them, beside a theorem's choice and Adaptive."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftmdp import engines
from driftmdp.agents import SWUCRL2CW, Adaptive, Agent
from driftmdp.agents.parameters import checked_problem
from driftmdp.agents.swucrl2_cw import tuned_to
from driftmdp.display import safely, table
from driftmdp.engines.base import leave_if_rerun
from driftmdp.errors import InvalidInputError, VacuousPlansWarning
from driftmdp.experiments.results import short_number
from driftmdp.mdp import Problem
from driftmdp.planning import optimal_gains
from driftmdp.progress import Progress, as_progress, watched
from driftmdp.simulation import simulate
from driftmdp.simulation.run import vacuous_advice
from driftmdp.statistics import holm, mean_interval, sign_flip_test
from driftmdp.validation import as_integer, quietly, warn

if TYPE_CHECKING:
    import pandas as pd

SHORTEST_WINDOW, N_WINDOWS = 4, 12  # of the default grid
TEST_LEVEL = 0.05


class WindowScore(NamedTuple):
    """The regret of one agent, over seeds that nothing was chosen on.

    Attributes
    ----------
    name
        ``window 53``, ``theorem-1: window 20`` (with one state, ``bandit: ...``), or ``Adaptive``.
    window
        W, or None for Adaptive.
    regret, low, high
        The mean dynamic regret, and the ends of its 95% bootstrap interval.
    p_value
        Of the differences from the best window, paired by seed (sign flips, Holm). NaN for that window itself.
    vacuous_share
        The mean share of plans in which every radius was vacuous.
    """

    name: str
    window: int | None
    regret: float
    low: float
    high: float
    p_value: float
    vacuous_share: float


@dataclass(frozen=True, eq=False, repr=False)
class BestWindow:
    """The windows of a problem, scored.

    Attributes
    ----------
    problem, horizon, scale, seeds
        The problem's name and length, the factor on the radii, and how many seeds were scored.
    best
        The window with the least mean regret over as many *other* seeds.
    scores
        Of every window, ascending, then of a theorem's window and of Adaptive.
    """

    problem: str
    horizon: int
    scale: float
    seeds: int
    best: int
    scores: tuple[WindowScore, ...]

    @property
    def windows(self) -> tuple[WindowScore, ...]:
        """The scores of the windows that were tried."""
        return self.scores[:-2]

    @property
    def tied(self) -> tuple[int, ...]:
        """The windows that do not differ from the best at the 5% level, the best among them."""
        return tuple(int(row.window or 0) for row in self.windows if not row.p_value < TEST_LEVEL)

    @property
    def is_vacuous(self) -> bool:
        """Whether every plan with a window was vacuous. Then all windows do the same, and none is best."""
        return all(row.vacuous_share == 1.0 for row in self.scores[:-1])

    def to_frame(self) -> pd.DataFrame:
        """Return the scores as a table, one row per score."""
        import pandas as pd

        return pd.DataFrame(self.scores)

    def __repr__(self) -> str:
        return f"BestWindow(problem={self.problem!r}, scale={self.scale:g}, best={self.best}, tied={self.tied})"

    def __str__(self) -> str:
        lines = [f"{name:28}{regret:>24}{vacuous:>16}" for name, regret, vacuous in (HEADER, *self._rows())]
        return "\n".join([self._title(), *lines, self._verdict()])

    @safely
    def _repr_html_(self) -> str:
        return table(HEADER, [*self._rows(), (self._verdict(), "", "")], self._title())

    def _title(self) -> str:
        return f"{self.problem}, T = {self.horizon:,}: SWUCRL2-CW, radii x {self.scale:g}, {self.seeds} seeds"

    def _rows(self) -> list[tuple[str, str, str]]:
        return [
            (
                row.name,
                f"{short_number(row.regret)} [{short_number(row.low)}, {short_number(row.high)}]",
                "" if np.isnan(row.vacuous_share) else f"{row.vacuous_share:.0%}",
            )
            for row in self.scores
        ]

    def _verdict(self) -> str:
        if self.is_vacuous:
            return vacuous_advice(self.scale)
        others = [f"{window:,}" for window in self.tied if window != self.best]
        if len(self.windows) == 1:
            return f"Only window {self.best:,} was tried."
        best = f"Best, chosen on {self.seeds} other seeds: window {self.best:,}."
        if others:
            return f"{best} It cannot be told apart from {', '.join(others)}."
        return f"{best} All other windows of the grid differ from it."


HEADER = "", "dynamic regret [95%]", "vacuous plans"


def best_window(
    problem: Problem,
    windows: Iterable[int] | None = None,
    scale: float = 0.1,
    widening: float | None = None,
    seeds: int = 20,
    workers: int | None = None,
    engine: str = "threads",
    progress: Progress | bool | None = None,
    scheduler: str | None = None,
) -> BestWindow:
    """Try SWUCRL2-CW with many windows on a problem, beside a theorem's window and Adaptive.

    The best window is chosen on seeds of its own, ``seeds .. 2 seeds - 1``. All scores are of the seeds
    ``0 .. seeds - 1``, on which nothing was chosen. With one seed every agent meets the same random draws.

    Parameters
    ----------
    problem
        The problem to learn. Its exact drift is used for the regret and for the theorem's window.
    windows
        The windows to try, each from 1 to T. By default 12 in equal ratios, from 4 to T.
    scale
        A factor on every radius. Theory's own, 1, is vacuous at horizons of thousands of steps.
    widening
        eta, by default sqrt(B_p W / T), Theorem 1's for the window.
    seeds
        How many seeds are scored, at least 2. As many more choose. With fewer than 6 no difference is significant.
    workers, engine, scheduler
        As for ``experiments.run``: how many runs at a time, and where. They change nothing in the result.
    progress
        True shows a progress bar. An object with ``begin``, ``advance`` and ``end`` gets these calls.

    Returns
    -------
    BestWindow
        ``best``, ``tied``, and ``scores`` with intervals. It prints as a table.

    Raises
    ------
    InvalidInputError
        If an argument is wrong.

    Warns
    -----
    VacuousPlansWarning
        If every plan with a window was vacuous. Then no window is better than another.

    Examples
    --------
    >>> from driftmdp.experiments import best_window
    >>> import driftmdp as dm
    >>> problem = dm.problems.two_state(horizon=500)
    >>> found = best_window(problem, windows=[5, 50, 500], seeds=8)
    >>> found.best in found.tied, len(found.scores)
    (True, 5)
    """
    if engine != "threads":
        leave_if_rerun()
    tried = _checked_windows(windows, checked_problem(problem).horizon)
    n, watcher = as_integer(seeds, "seeds", minimum=2), as_progress(progress)
    given: dict[str, Any] = {"scale": scale} | ({} if widening is None else {"widening": widening})
    theory = SWUCRL2CW.for_problem(problem, **given)
    windowed: list[Agent] = [SWUCRL2CW.for_problem(problem, window=window, **given) for window in tried]
    agents = [*windowed, theory, Adaptive.for_problem(problem)]
    tasks = [(agent, seed) for agent in windowed for seed in range(n, 2 * n)]
    tasks += [(agent, seed) for agent in agents for seed in range(n)]
    optimum = float(optimal_gains(problem.drifting, allow_transient=True).sum())
    chosen = engines.make(engines.choose(engine, len(tasks), scheduler=scheduler), workers, scheduler)
    outcomes = chosen.map(functools.partial(_regret, problem, optimum), tasks)
    values = _values(watched(outcomes, len(tasks), watcher)).reshape(-1, n, 2)
    best = int(values[: len(tried), :, 0].mean(axis=1).argmin())
    names: list[tuple[str, int | None]] = [(f"window {window:,}", window) for window in tried]
    names += [(f"{tuned_to(problem, {}).rule}: window {theory.window:,}", theory.window), ("Adaptive", None)]
    scores = _scores(names, values[len(tried) :], best)
    found = BestWindow(problem.name, problem.horizon, theory.scale, n, tried[best], scores)
    if found.is_vacuous:
        warn(f"Every plan was {vacuous_advice(theory.scale)}", VacuousPlansWarning)
    return found


def geometric_windows(shortest: int, longest: int, count: int) -> list[int]:
    """Return up to ``count`` different windows, each about the same factor longer than the one before.

    Examples
    --------
    >>> from driftmdp.experiments.best_window import geometric_windows
    >>> geometric_windows(4, 5000, 6)
    [4, 17, 69, 289, 1201, 5000]
    """
    lengths = np.geomspace(min(shortest, longest), longest, count)
    return [int(window) for window in np.unique(np.rint(lengths).astype(np.int64))]


def _checked_windows(windows: Iterable[int] | None, horizon: int) -> list[int]:
    if windows is None:
        return geometric_windows(SHORTEST_WINDOW, horizon, N_WINDOWS)
    if isinstance(windows, str) or not isinstance(windows, Iterable):
        raise InvalidInputError(f"windows must be a list of whole numbers; got {windows!r}.")
    found = sorted({as_integer(window, f"windows[{i}]", 1, horizon) for i, window in enumerate(windows)})
    if not found:
        raise InvalidInputError("windows must hold at least one; got none.")
    return found


@quietly()
def _regret(problem: Problem, optimum: float, task: tuple[Agent, int]) -> tuple[float, float]:
    """Return the dynamic regret of a run, and the share of its plans that were vacuous."""
    agent, seed = task
    run = simulate(agent, problem, seed)
    return optimum - float(run.mean_rewards.sum()), run.vacuous_share


def _values(outcomes: Iterable[engines.TaskOutcome]) -> NDArray[np.float64]:
    """Return the values in the order of the tasks, or raise the error of the first that failed."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.index)
    for outcome in ordered:
        if outcome.error is not None:
            raise outcome.error
    return np.array([outcome.value for outcome in ordered])


def _scores(
    names: Sequence[tuple[str, int | None]], values: NDArray[np.float64], best: int
) -> tuple[WindowScore, ...]:
    """Return the scores from (regret, vacuous share) by agent and seed."""
    regrets = values[:, :, 0]
    interval = mean_interval(regrets.T)
    tests = [sign_flip_test(row - regrets[best]) for row in regrets]
    tests[best] = np.nan
    columns = interval.estimate, interval.low, interval.high, holm(tests), values[:, :, 1].mean(axis=1)
    return tuple(
        WindowScore(*name, *map(float, numbers))
        for name, numbers in zip(names, zip(*columns, strict=True), strict=True)
    )
