"""The diameter of a tiny MDP, Definition 1 of the paper, over distinct states (PAPER_NOTES 23)."""

import itertools
import math

import numpy as np


def diameter_by_enumeration(transitions):
    """max over s != s' of the least expected hitting time over all deterministic policies."""
    n = len(transitions)
    worst = 0.0
    for target in range(n):
        best = [math.inf] * n
        for policy in itertools.product(*(range(len(rows)) for rows in transitions)):
            chain = [transitions[s][policy[s]] for s in range(n)]
            for s, time in enumerate(hitting_times(chain, target)):
                best[s] = min(best[s], time)
        worst = max([worst] + [best[s] for s in range(n) if s != target])
    return worst


def hitting_times(chain, target):
    """Expected steps to `target` from each state of the Markov chain `chain[s][s2]`."""
    n = len(chain)
    sure = _states_that_surely_arrive(chain, target)
    inside = [s for s in sure if s != target]
    times = [math.inf] * n
    times[target] = 0.0
    if inside:
        system = np.array([[float(s == u) - chain[s][u] for u in inside] for s in inside])
        for s, time in zip(inside, np.linalg.solve(system, np.ones(len(inside))), strict=True):
            times[s] = float(time)
    return times


def _reaches(chain, start, avoid=None):
    seen, todo = {start}, [start]
    while todo:
        s = todo.pop()
        if s == avoid:
            continue
        for after, probability in enumerate(chain[s]):
            if probability > 0 and after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def _states_that_surely_arrive(chain, target):
    """States from which no state that cannot reach the target is met before the target."""
    n = len(chain)
    can = {s for s in range(n) if target in _reaches(chain, s)}
    return [s for s in range(n) if _reaches(chain, s, avoid=target) <= can]
