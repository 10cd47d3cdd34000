"""The rules that every problem must keep."""

import pickle

import numpy as np

from driftmdp.agents import FixedPolicy, Random
from driftmdp.agents.parameters import checked_problem
from driftmdp.mdp import Problem
from driftmdp.planning import check_communicating
from driftmdp.simulation import simulate
from driftmdp.testing.checks import CheckReport, Skip, require, run_checks

SLACK = 1e-9


def check_problem(problem: Problem, seed: int = 0) -> CheckReport:
    """Check that a problem keeps the rules, and return which ones were checked.

    - at the first, a middle and the last step every row is a distribution and every mean reward within the range;
    - those MDPs communicate, so that rho*_t is one number (skipped with the reason where they do not);
    - the same seed gives the same run, and a copy made by pickling too;
    - what is emitted has the mean that the problem states (a test that fails wrongly once in a million);
    - two agents with one seed meet the same random draws.

    Examples
    --------
    >>> import driftmdp as dm
    >>> print(dm.testing.check_problem(dm.problems.two_state(horizon=100)))
    two-state-v1
      passed   rows are distributions, rewards within the range
      passed   the MDPs communicate
      passed   the same seed gives the same run
      passed   a pickled copy runs the same
      passed   two agents meet the same draws
      skipped  emitted rewards have the stated mean: it has no reward noise
    """
    checked_problem(problem)
    checks = {
        "rows are distributions, rewards within the range": _is_sound,
        "the MDPs communicate": _communicates,
        "the same seed gives the same run": _is_repeatable,
        "a pickled copy runs the same": _survives_pickling,
        "two agents meet the same draws": _meets_the_same_draws,
        "emitted rewards have the stated mean": _emits_the_mean,
    }
    return run_checks(problem.name, checks, problem, seed)


def _some_steps(problem: Problem) -> list[int]:
    return sorted({1, (problem.horizon + 1) // 2, problem.horizon})


def _is_sound(problem: Problem, seed: int) -> None:
    low, high = problem.reward_range
    for t in _some_steps(problem):
        mdp = problem.drifting.at(t)
        sums = np.asarray(mdp.transitions.sum(axis=1)).ravel()
        worst = sums[np.abs(sums - 1).argmax()]
        require(bool(abs(worst - 1) <= SLACK), f"a row of p_t sums to {worst} at t={t}.")
        inside = mdp.rewards.min() >= low - SLACK and mdp.rewards.max() <= high + SLACK
        require(bool(inside), f"mean rewards at t={t} leave the range ({low:g}, {high:g}).")


def _communicates(problem: Problem, seed: int) -> None:
    for t in _some_steps(problem):
        try:
            check_communicating(problem.drifting.at(t))
        except ValueError as error:
            raise Skip(f"at t={t}: {error}") from None


def _is_repeatable(problem: Problem, seed: int) -> None:
    _same_run(problem, problem, seed)


def _survives_pickling(problem: Problem, seed: int) -> None:
    _same_run(problem, pickle.loads(pickle.dumps(problem)), seed)


def _same_run(problem: Problem, other: Problem, seed: int) -> None:
    agent = Random(problem.space)
    one, two = simulate(agent, problem, seed), simulate(agent, other, seed)
    same = np.array_equal(one.states, two.states) and np.array_equal(one.rewards, two.rewards)
    require(same, "two runs with one seed differ.")


def _meets_the_same_draws(problem: Problem, seed: int) -> None:
    last = problem.space.n_actions - 1
    one, two = (simulate(a, problem, seed) for a in (Random(problem.space), FixedPolicy(problem.space, last)))
    following = [np.append(run.states[1:], run.final_state) for run in (one, two)]
    alike = (one.states == two.states) & (one.actions == two.actions)
    same = (one.rewards == two.rewards) & (following[0] == following[1])
    require(bool(same[alike].all()), "the same action in the same state at the same time had other results.")


def _emits_the_mean(problem: Problem, seed: int) -> None:
    if problem.noise.kind == "none":
        raise Skip("it has no reward noise")
    run = simulate(Random(problem.space), problem, seed)
    errors = run.rewards - run.mean_rewards
    low, high = problem.reward_range
    width = max(high - low, 4 * problem.noise.sigma)
    bound = width * np.sqrt(14.5 * errors.size / 2)  # Hoeffding: 2 exp(-14.5) is below one in a million
    total = errors.sum()
    require(bool(abs(total) <= bound), f"{errors.size} rewards miss their means by {total:.3g} in total.")
