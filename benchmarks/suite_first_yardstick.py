"""The yardstick against that of the first edition: ``python -m benchmarks.suite_first_yardstick out/suite``.

The first edition's was SWUCRL2-CW with the best of 12 windows and 5 scales on 5 tuning seeds. It is chosen here on
every problem of a suite folder at T = 5,000, run on the same fresh seeds, and compared with the folder's yardstick.
Both regrets are at least the slack.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from driftmdp.experiments import Spec, load, run
from driftmdp.experiments.best_window import geometric_windows
from driftmdp.experiments.spec import Choice, SeedRange
from driftmdp.statistics import median_interval
from driftmdp.suite import packaged_suite, read_leaderboard

SCALES = [1.0, 0.3, 0.1, 0.05, 0.02]
LONGEST = 5000


def first_yardstick(problem: Choice, horizon: int, folder: Path) -> float:
    """Return the mean regret of the first edition's yardstick on 20 fresh seeds."""
    grid: dict[str, list[Any]] = {"window": geometric_windows(4, horizon, 12), "scale": SCALES}
    arms = Choice(name="SWUCRL2CW", parameters={"widening": 0.0}, grid=grid)
    run(_spec(problem, arms, SeedRange(first=1000, count=5)), folder / "tuning")
    best = load(folder / "tuning").query(
        'SELECT "agent.window" AS win, "agent.scale" AS scale FROM runs GROUP BY ALL ORDER BY avg(regret) LIMIT 1'
    )
    arm = {"window": int(best["win"][0]), "scale": float(best["scale"][0]), "widening": 0.0}
    run(_spec(problem, Choice(name="SWUCRL2CW", parameters=arm), SeedRange(first=0, count=20)), folder / "fresh")
    return float(load(folder / "fresh").runs["regret"].mean())


def _spec(problem: Choice, agent: Choice, seeds: SeedRange) -> Spec:
    return Spec(name="first yardstick", seeds=seeds, problems=[problem], agents=[agent])


def main() -> None:
    """Run what is missing, and print the ratios and their median."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what `driftmdp suite` wrote, such as out/suite")
    parser.add_argument(
        "--out", type=Path, default=Path("out/suite-first-yardstick"), help="the folder of the results"
    )
    given = parser.parse_args()
    tasks = {task.slug: task for task in packaged_suite().tasks()}
    ratios = []
    for contest in read_leaderboard(given.folder).family("reported"):
        if contest.horizon <= LONGEST:
            first = first_yardstick(tasks[contest.slug].problem, contest.horizon, given.out / contest.slug)
            ratios.append(max(contest.mean(contest.yardstick), contest.slack) / max(first, contest.slack))
            print(f"{contest.label:45} {ratios[-1]:.3f}", flush=True)
    found = median_interval(ratios)
    harder, easier = np.mean(np.array(ratios) < 0.999), np.mean(np.array(ratios) > 1.001)
    interval = f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]"
    print(f"Regret over the first yardstick's, median of {len(ratios)}: {interval}")
    print(f"harder on {harder:.0%}, easier on {easier:.0%}, at most {max(ratios):.3f}")


if __name__ == "__main__":
    main()
