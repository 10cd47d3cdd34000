"""A world in a few lines of text: when, where, and what the last step did."""

from __future__ import annotations

from driftmdp.mdp import Problem, Space

SMALL = 20  # states that fit on a line


def picture(problem: Problem, t: int, state: int, last: tuple[int, int, float] | None) -> str:
    """Return the time, the states with ours in brackets, and the last step (state, action, reward).

    Examples
    --------
    >>> import driftmdp as dm
    >>> print(picture(dm.problems.river_swim(horizon=100), 3, 1, (0, 1, 0.0)))
    river-swim-v1, 3 of 100 steps done
     0 [1] 2  3  4  5
    last: action right in state 0, reward 0
    """
    return "\n".join([
        f"{problem.name}, {t} of {problem.horizon} steps done",
        _states(problem.space, state),
        "last: none" if last is None else _step(problem.space, *last),
    ])  # fmt: skip


def _states(space: Space, state: int) -> str:
    """Return all states, or of many only ours."""
    if space.n_states > SMALL:
        return f"state {space.state_name(state)}, one of {space.n_states}; more than {SMALL} are not drawn"
    names = (space.state_name(s) for s in range(space.n_states))
    return "".join(f"[{name}]" if s == state else f" {name} " for s, name in enumerate(names)).rstrip()


def _step(space: Space, state: int, action: int, reward: float) -> str:
    name = space.action_name(state, action)
    return f"last: action {name} in state {space.state_name(state)}, reward {reward:.6g}"
