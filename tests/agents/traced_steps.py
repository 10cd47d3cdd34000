"""A run of SWUCRL2-CW, and the files that its steps go through. As a program, prints them as JSON."""

import json
import sys
from pathlib import Path

import driftmdp as dm
from driftmdp.simulation.setup import prepare_run

PACKAGE = Path(dm.__file__).parent
PROBLEM = dm.problems.river_swim(horizon=160)
AGENT = dm.agents.SWUCRL2CW.for_problem(PROBLEM, window=40, widening=0.05, scale=0.02)


def simulated():
    """Return a run by the compiled loop, as lists."""
    run = dm.simulate(AGENT, PROBLEM, seed=7)
    return {
        name: getattr(run, name).tolist() for name in ("states", "actions", "rewards", "sweeps", "episode_starts")
    }


def files_of(step):
    """Return the files of the package with a function that a step executes."""
    files = set()

    def note(frame, event, _):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE) and file.name != "__init__.py":
            files.add(str(file.relative_to(PACKAGE)))

    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(None)
    return sorted(files)


def live_plans(run):
    """Return the files of ``act`` and ``observe`` for each step of a run that plans."""
    agent, found = AGENT.copy(), []
    following = [*run["states"][1:], 0]  # where the last step leads does not matter

    def step(row):
        assert agent.act(run["states"][row]) == run["actions"][row]
        agent.observe(run["rewards"][row], following[row])

    for row in range(PROBLEM.horizon):
        files = files_of(lambda row=row: step(row))
        if row + 1 in run["episode_starts"]:
            found.append(files)
    return found


def compiled_plans(run):
    """Return the files of the compiled loop for each step of a run that plans."""
    player, context = prepare_run(AGENT, PROBLEM, 7)
    rows = [files_of(lambda row=row: player._play_rows(context, row, row + 1)) for row in range(PROBLEM.horizon)]
    return [rows[t - 1] for t in run["episode_starts"]]


if __name__ == "__main__":
    played = simulated()
    print(json.dumps([played, live_plans(played), compiled_plans(played)]))
