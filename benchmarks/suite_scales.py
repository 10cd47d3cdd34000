"""How the scale of each optimist is chosen for all problems: ``python -m benchmarks.suite_scales [--out FOLDER]``.

Radii of theory are vacuous at these horizons. So beside its theory's constants each optimist runs in the suite with
one scale of its radii or bonuses ("x 0.1"). That scale is chosen here, on the tuning family up to T = 5,000 and on
tuning seeds, with nothing of the reported family. A ratio is an agent's mean regret over the least of any agent and
scale on the problem, or over the slack if that is more. The scale with the least median ratio over problems wins.
"""

import argparse
import fnmatch
from pathlib import Path

import pandas as pd

from driftmdp.cli.output import print_columns
from driftmdp.experiments import Spec, load, run
from driftmdp.experiments.spec import Choice, SeedRange
from driftmdp.progress import make_progress
from driftmdp.suite import SuiteTask, packaged_suite
from driftmdp.suite.leaderboard import SLACK

SCALES = [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003]
SCALED = [
    Choice(name="SWUCRL2CW", parameters={"budgets": "exact"}),
    Choice(name="BORL"),
    Choice(name="UCRL2"),
    Choice(name="UCRL2", label="UCRL2 vanishing", parameters={"episodes": "vanishing"}),
    Choice(name="UCRL2B"),
    Choice(name="UCRL2S"),
    Choice(name="RestartedUCRL2B"),
    Choice(name="VariationAwareUCRL"),
    Choice(name="UCRL3"),
    Choice(name="KLUCRL"),
    Choice(name="OptimisticQ"),
    Choice(name="MASTER"),
    Choice(name="MASTER", label="MASTER, tests x 0.001", parameters={"test_scale": 0.001}),
    Choice(name="RestartQ"),
    Choice(name="RBOCPDUCRL2"),
]
LONGEST = 5000
N_SEEDS = 5
ROWS = """
    SELECT problem, agent_base AS agent, "agent.scale" AS scale, avg(regret) AS regret,
           any_value(runs.horizon * (reward_high - reward_low)) AS most
    FROM runs JOIN problems USING (problem_id) GROUP BY ALL
"""


def scale_spec(tasks: list[SuiteTask]) -> Spec:
    """Return every agent with every scale on the problems of some tasks."""
    seeds = SeedRange(first=tasks[0].seeds["tuning"].first, count=N_SEEDS)
    agents = [agent.model_copy(update={"grid": {"scale": SCALES}}) for agent in SCALED]
    return Spec(name="scales", seeds=seeds, problems=[task.problem for task in tasks], agents=agents)


def median_ratios(regrets: pd.DataFrame) -> pd.DataFrame:
    """Return the median ratio over problems, one row per agent and one column per scale."""
    least = regrets.groupby("problem")["regret"].transform("min").clip(lower=SLACK * regrets["most"])
    ratios = regrets.assign(ratio=regrets["regret"] / least)
    return ratios.pivot_table(index="agent", columns="scale", values="ratio", aggfunc="median", sort=False)


def main() -> None:
    """Run what is missing, and print the median ratios and the winners."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="out/suite-scales", help="the folder of the results")
    parser.add_argument("--only", default="*", help="only problems whose folder's name in the suite fits")
    given = parser.parse_args()
    family = [task for task in packaged_suite().tasks() if task.family == "tuning" and task.horizon <= LONGEST]
    tasks = [task for task in family if fnmatch.fnmatch(task.slug, given.only)]
    run(scale_spec(tasks), Path(given.out), engine="threads", progress=make_progress())
    table = median_ratios(load(given.out).query(ROWS))[SCALES]
    rows = [
        [str(agent), *(f"{ratio:.2f}" for ratio in row), f"{row.idxmin():g}"] for agent, row in table.iterrows()
    ]
    print(f"Median regret over the least of any agent and scale, on {len(tasks)} problems:\n")
    print_columns(rows, ["agent", *(f"{scale:g}" for scale in SCALES), "winner"], numbers=range(1, len(SCALES) + 2))


if __name__ == "__main__":
    main()
