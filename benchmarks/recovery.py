"""How soon agents are good again after a change of the world: ``python -m benchmarks.recovery``.

The worlds are the abrupt problems of the drift suite at T = 20,000, so that all have phases of the same length, on
seeds that the suite does not use. A *phase* is the time from one change to the next. Worlds of more than 400 pairs
are left out, because they would take most of the time.

The *loss* of a step is what its action costs in the long run in the world in force: rho* + h(s) - r(s, a) -
sum of p(s' | s, a) h(s'), with that world's optimal gain rho* and bias h. It is 0 for an optimal action. The mean
loss of a policy that is kept is its regret per step, rho* minus its gain, but the luck of the transitions is not in
it. An agent is *within 10% of the new optimum* when its mean loss, over 100 steps and over seeds, is at most 10% of
what play at random loses, rho* minus the gain of random play. The steps until then are those before the first such
100 steps. Where there are none, they are the length of the phase, and the change is counted as "never".

Only changes that matter count: those after which the policy that was optimal before is not within 10%. Medians are
over changes. Intervals are over problems, drawn with all their changes. *Cost* is the loss of the phase in units of
a step of random play: it has no threshold, so that what an agent loses after it has recovered is there too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from driftmdp.experiments.catalogue import agent_maker
from driftmdp.experiments.spec import Choice
from driftmdp.suite import packaged_suite, parse_agent

__all__ = ["Phase", "Recovery", "main", "phases_of", "recoveries", "steps_until"]

# Labels of the suite, or agents written as a call: "UCRL2(scale=0.1)".
AGENTS = (
    "Adaptive",
    "Adaptive 1",
    "PSRL + GLR",
    "PSRL",
    "Sliding-window PSRL",
    "R-BOCPD x 0.01",
    "UCRL2-VM x 0.01",
)
FIRST_SEED, N_SEEDS = 3000, 10
HORIZON, MOST_PAIRS = 20_000, 400
WINDOW = 100
NEAR = 0.1
RESAMPLES = 2000

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Regime:
    """A world that is in force for a while: what each pair loses, and what random play loses per step."""

    mdp: dm.Mdp
    losses: Floats
    random_loss: float
    policy: NDArray[np.int32]

    @classmethod
    def of(cls, mdp: dm.Mdp) -> Regime:
        """Return a world with its losses."""
        best, space = dm.planning.optimal_gain(mdp, allow_transient=True), mdp.space
        losses = best.gain + best.bias[space.pair_states] - mdp.rewards - mdp.transitions @ best.bias
        evenly = 1.0 / space.n_actions[space.pair_states]
        return cls(mdp, losses, best.gain - float(dm.planning.policy_gain(mdp, evenly).mean()), best.policy)

    def is_solved_by(self, policy: NDArray[np.int32]) -> bool:
        """Return whether a policy is within 10% of the optimum from every state."""
        gains = dm.planning.policy_gain(self.mdp, policy)
        best = float(dm.planning.policy_gain(self.mdp, self.policy).max())
        return bool(best - gains.min() <= NEAR * self.random_loss)


class Phase(NamedTuple):
    """The steps from a change up to the next, from 0, the world in force, and whether the change matters."""

    first: int
    end: int
    regime: Regime
    matters: bool


class Recovery(NamedTuple):
    """What an agent did after one change."""

    agent: str
    problem: str
    is_noisy: bool
    steps: int
    is_never: bool
    cost: float


def phases_of(problem: dm.Problem) -> list[Phase]:
    """Return the phases after the changes of a problem, without the first phase."""
    steps, group = problem.drifting.distinct_steps()
    regimes = {int(g): Regime.of(problem.drifting.at(int(steps[g]) + 1)) for g in np.unique(group)}
    starts = np.flatnonzero(np.diff(group)) + 1
    found = []
    for first, end in zip(starts, [*starts[1:], problem.horizon], strict=True):
        before, now = regimes[int(group[first - 1])], regimes[int(group[first])]
        found.append(Phase(int(first), int(end), now, not now.is_solved_by(before.policy)))
    return found


def steps_until(losses: Floats, limit: float, window: int = WINDOW) -> tuple[int, bool]:
    """Return the steps before the first window whose mean is at most a limit, and whether there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.recovery import steps_until
    >>> steps_until(np.array([1.0, 1.0, 0.1, 0.0, 0.0, 1.0]), limit=0.1, window=2)
    (2, False)
    >>> steps_until(np.array([1.0, 0.0, 1.0]), limit=0.1, window=2)
    (3, True)
    """
    sums = np.concatenate([[0.0], np.cumsum(losses)])
    width = min(window, losses.size)
    near = np.flatnonzero((sums[width:] - sums[:-width]) / width <= limit)
    return (int(near[0]), False) if near.size else (losses.size, True)


def recoveries(problem: dm.Problem, label: str, agents: Iterable[Choice], seeds: Iterable[int]) -> list[Recovery]:
    """Return what each agent does after each change of a problem that matters."""
    phases = [phase for phase in phases_of(problem) if phase.matters]
    is_noisy, seeds = str(problem.noise) != "none", list(seeds)
    found = []
    for agent in agents if phases else ():
        made = agent_maker(agent.name).make(problem, **agent.parameters)
        runs = [dm.simulate(made, problem, seed) for seed in seeds]
        pairs = [problem.space.offsets[run.states] + run.actions for run in runs]
        for phase in phases:
            scale = phase.regime.random_loss
            losses = np.mean([phase.regime.losses[own[phase.first : phase.end]] for own in pairs], axis=0)
            steps, is_never = steps_until(losses, NEAR * scale)
            name = agent.label or agent.name
            found.append(Recovery(name, label, is_noisy, steps, is_never, float(losses.sum() / scale)))
    return found


def chosen_agents(texts: Sequence[str]) -> list[Choice]:
    """Return agents by their labels in the suite, or as calls."""
    known = {agent.label or agent.name: agent.choice for agent in packaged_suite().agents}
    return [known[text] if text in known else parse_agent(text).choice for text in texts]


def abrupt_problems(family: str) -> dict[str, dm.Problem]:
    """Return the abrupt problems of a family by label, all with the same horizon."""
    chosen = {
        task.label: task.problem
        for task in packaged_suite().tasks()
        if task.family == family and task.parameters.get("drift") == "abrupt"
    }
    made = {
        label: dm.problems.make(problem.name, **problem.parameters | {"horizon": HORIZON})
        for label, problem in chosen.items()
    }
    return {label: problem for label, problem in made.items() if problem.space.n_pairs <= MOST_PAIRS}


def median_over_changes(by_problem: Sequence[Floats]) -> str:
    """Return the median of all numbers, with its 95% bootstrap interval over problems."""
    rng = np.random.default_rng(0)
    picks = rng.integers(len(by_problem), size=(RESAMPLES, len(by_problem)))
    medians = [np.median(np.concatenate([by_problem[i] for i in row])) for row in picks]
    low, high = np.quantile(medians, [0.025, 0.975])
    return f"{np.median(np.concatenate(by_problem)):,.0f} [{low:,.0f}, {high:,.0f}]"


def table(found: Sequence[Recovery], is_noisy: bool) -> str:
    """Return the table of the problems with noise in their rewards, or of those without, as Markdown."""
    of_kind = [one for one in found if one.is_noisy == is_noisy]
    problems = list(dict.fromkeys(one.problem for one in of_kind))
    kind = "with noise in the rewards" if is_noisy else "without noise in the rewards"
    lines = [f"| agent, {kind} | steps until within 10% | never | cost of the phase |", "|---|---|---|---|"]
    for agent in dict.fromkeys(one.agent for one in of_kind):
        own = [[one for one in of_kind if (one.agent, one.problem) == (agent, name)] for name in problems]
        steps, costs = ([np.array([getattr(one, key) for one in part], float) for part in own]
                        for key in ("steps", "cost"))  # fmt: skip
        never, changes = sum(one.is_never for part in own for one in part), sum(map(len, own))
        shown = [median_over_changes(steps), f"{never} of {changes}", median_over_changes(costs)]
        lines.append(f"| {agent} | {' | '.join(shown)} |")
    return "\n".join([*lines, "", f"{len(problems)} problems."])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the two tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recovery", description=__doc__)
    parser.add_argument("--agents", nargs="+", default=AGENTS, help="labels of the suite, or calls")
    parser.add_argument("--family", default="reported", choices=("reported", "tuning"), help="of problems")
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help="how many")
    given = parser.parse_args(arguments)
    agents, seeds = chosen_agents(given.agents), range(FIRST_SEED, FIRST_SEED + given.seeds)
    found: list[Recovery] = []
    for label, problem in abrupt_problems(given.family).items():
        found += recoveries(problem, label, agents, seeds)
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(table(found, is_noisy=False), table(found, is_noisy=True), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
