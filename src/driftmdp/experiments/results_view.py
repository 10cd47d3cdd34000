"""What a notebook shows of results: the mean regret of every agent in every problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.display import MOST_ROWS, facts, table
from driftmdp.statistics import mean_interval

if TYPE_CHECKING:
    from driftmdp.experiments.results import Results

RESAMPLES = 500  # a notebook should not wait
MOST_RUNS = 100_000  # what has more shows its size only
REGRETS = "SELECT problem, agent, list(regret) AS regrets FROM runs GROUP BY ALL ORDER BY min(position)"


def results_view(results: Results) -> str:
    """Return a table of mean regrets with their intervals, or the size if there are very many runs."""
    asked = results.manifest
    n_cells, n_seeds = len(asked["cells"]), len(asked["seeds"])
    title = f"Results of {asked['name']}"
    if n_cells * n_seeds > MOST_RUNS:
        return facts(title, problems=len(asked["problems"]), agents=len(asked["agents"]), seeds=n_seeds)
    found = results.query(REGRETS)
    rows = [_row(*values) for values in found.head(MOST_ROWS).to_numpy()]
    header = ["problem", "agent", "seeds", "mean regret", "95% interval"]
    return table(header, rows, title, left_out=len(found) - len(rows))


def _row(problem: str, agent: str, regrets: NDArray[np.float64]) -> tuple[Any, ...]:
    found = mean_interval(regrets, resamples=RESAMPLES)
    interval = "" if np.isnan(found.low) else f"{number(found.low)} to {number(found.high)}"
    return problem, agent, len(regrets), found.estimate, interval


def number(value: float) -> str:
    """Return a number with four digits, or whole from a thousand on."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
